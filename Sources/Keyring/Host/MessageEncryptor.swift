package import KeyringModel
package import OpenPGP
package import Secrets

/// Encrypts messages to given keys instead of the members of a group, for files outside of any store.
package struct MessageEncryptor: Sendable {
  private let engine: any OpenPGPEngine
  /// The primary fingerprints of the recipients.
  package let recipients: [Fingerprint]

  /// Prepares an engine that knows only the given keys. No process is started yet.
  ///
  /// - Parameters:
  ///   - keys: The key files of the recipients by primary fingerprint; not empty.
  ///   - host: The context of this machine.
  package init(keys: [Fingerprint: [UInt8]], host: HostContext) {
    recipients = keys.keys.sorted()
    engine = Engine(
      locations: host.engineLocations, keyringID: "foreign", keys: keys, interaction: host.interaction,
      acceptsForeignMessages: true)
  }

  /// The cryptographic operations so far.
  package var statistics: EngineStatistics { engine.statistics }

  /// Checks that every recipient has a key that can be encrypted to.
  ///
  /// - Throws: `KeyringError.engine` with `unusableKey` for the first recipient without such a key, or with another
  ///   error of GnuPG.
  package func check() throws(KeyringError) {
    do {
      try engine.checkRecipients(recipients.map { Recipient($0) })
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Encrypts for all recipients, without a signature.
  ///
  /// - Parameter plaintext: The plaintext.
  /// - Returns: A binary OpenPGP message.
  /// - Throws: `KeyringError.engine` with the reason.
  package func seal(_ plaintext: borrowing SecretBytes) throws(KeyringError) -> [UInt8] {
    do {
      return try engine.seal(plaintext, to: recipients)
    } catch {
      throw .engine(error, nil)
    }
  }
}
