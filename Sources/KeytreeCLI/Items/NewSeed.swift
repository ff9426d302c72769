internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OneTimePasswords
internal import Secrets
internal import Terminal

/// The storage of a new seed: `keytree otp add`.
enum NewSeed {
  /// Reads a seed from the terminal or from standard input, and stores it byte for byte if it is valid.
  ///
  /// - Throws: a usage error; the errors of a prompt; `other` if it is not a valid seed; `KeyringError`.
  static func store(_ call: CommandCall) throws {
    let storage = try NewItemStorage(
      call, mayReplace: call.arguments.has(AddCommand.update), isLocal: call.arguments.has(AddCommand.local),
      field: FieldName.oneTimePassword)
    let text = try read(call, for: storage.name)
    let seed: Seed
    do {
      seed = try Seed(text)
    } catch {
      throw CommandError(error, given: storage.name)
    }
    try storage.store(text, label: label(issuer: seed.issuer, account: seed.account))
  }

  /// Reads the seed. The prompt appears only once, because users paste a seed.
  private static func read(_ call: CommandCall, for name: String) throws -> SecretBytes {
    let console = call.console
    if console.inputIsTerminal {
      return try console.askSecret("Seed for \(name): ", limit: StoreLayout.secretLimit)
    }
    return try console.readAll(limit: StoreLayout.secretLimit)
  }

  /// Returns the label that an authenticator app would show.
  private static func label(issuer: String?, account: String?) -> String? {
    let parts = [issuer, account].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ": ")
  }
}
