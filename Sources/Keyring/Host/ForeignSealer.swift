package import KeyringModel
package import OpenPGP
package import Secrets

/// Makes messages for keys that are not the members of a group, for files outside of any store.
package struct ForeignSealer: Sendable {
  private let engine: any SealingEngine
  /// Whose keys the messages are for, by primary fingerprint.
  package let recipients: [Fingerprint]

  /// Prepares an engine that knows these keys and no others; nothing is started yet.
  ///
  /// - Parameters:
  ///   - keys: The key files of the recipients by primary fingerprint; not empty.
  ///   - host: What to know of the machine.
  package init(keys: [Fingerprint: [UInt8]], host: HostContext) {
    recipients = keys.keys.sorted()
    engine = Engine(
      locations: host.engineLocations, keyringID: "foreign", keys: keys, interaction: host.interaction)
  }

  /// What was done so far.
  package var statistics: EngineStatistics { engine.statistics }

  /// Makes sure that every recipient has a key that can be encrypted to.
  ///
  /// - Throws: `KeyringError.engine` with `unusableKey` for the first that has none, or what concerns GnuPG.
  package func check() throws(KeyringError) {
    do {
      _ = try engine.expectedRecipients(recipients)
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Encrypts for all recipients, without a signature.
  ///
  /// - Parameter plaintext: What to seal.
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
