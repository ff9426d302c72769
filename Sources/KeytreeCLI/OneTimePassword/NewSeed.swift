internal import Arguments
internal import Keyring
internal import KeyringModel
internal import OneTimePasswords
internal import Secrets

/// A seed on its way into the store: `keytree otp add`.
enum NewSeed {
  /// Takes a seed from a person or from standard input, and stores it byte for byte once it is known to be one.
  ///
  /// - Throws: a usage error; what a prompt throws; `other` when it is no seed; `keyring`.
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

  /// A seed is pasted, not made up: it is asked for once.
  private static func read(_ call: CommandCall, for name: String) throws -> SecretBytes {
    let console = call.console
    if console.inputIsTerminal {
      return try console.askSecret("Seed for \(name): ", limit: StoreLayout.secretLimit)
    }
    return try console.readAll(limit: StoreLayout.secretLimit)
  }

  /// What an authenticator app would show.
  private static func label(issuer: String?, account: String?) -> String? {
    let parts = [issuer, account].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ": ")
  }
}
