internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// The commands about keychains as a whole. There is one, the store, and nothing locks it: GnuPG's agent asks for a
/// passphrase when one is needed.
enum SecurityKeychains {
  static let list = SecurityCommand(
    "list-keychains", "d:hs", usage: "[-d domain]", "List the keychains: the store, when it is there."
  ) { call in try show(call, or: nil) }

  static let standard = SecurityCommand(
    "default-keychain", "d:hs", usage: "[-d domain]", "Show the default keychain, which is the store."
  ) { call in try show(call, or: "SecKeychainCopyDomainDefault") }

  static let login = SecurityCommand(
    "login-keychain", "d:hs", usage: "[-d domain]", "Show the login keychain, which is the store."
  ) { call in try show(call, or: "SecKeychainCopyLogin") }

  static let information = SecurityCommand(
    "show-keychain-info", "h", usage: "[keychain]", "Show the settings of the keychain."
  ) { call in
    if call.options.has("h") { throw SecurityFailure.usage }
    _ = try call.openIndex()
    call.console.complain("Keychain \(SecurityText.show(Array(try call.keychain().utf8))) no-timeout")
  }

  static let unlock = SecurityCommand(
    "unlock-keychain", "hp:u", secrets: "p", usage: "[-u] [-p password] [keychain]",
    "Accepted: a store is never locked, and a password is not looked at."
  ) { call in
    if call.options.has("h") { throw SecurityFailure.usage }
    _ = try call.openIndex()
    call.note("a store is never locked; GnuPG asks for the passphrase of your key when it is needed")
  }

  static let lock = SecurityCommand(
    "lock-keychain", "ah", usage: "[-a | keychain]", "Not offered: GnuPG's agent keeps the passphrase."
  ) { call in
    if call.options.has("h") { throw SecurityFailure.usage }
    throw SecurityFailure(
      .unimplemented, at: "SecKeychainLock",
      ["hint: `gpgconf --reload gpg-agent` makes the agent forget all passphrases"])
  }

  static let dump = SecurityCommand(
    "dump-keychain", "adhiro:", usage: "[-a] [keychain...]",
    "Print the attributes of all items; never their passwords."
  ) { call in
    if call.options.has("h") { throw SecurityFailure.usage }
    if call.options.has("d") || call.options.has("r") {
      throw SecurityFailure(
        .parameter, at: "SecKeychainItemCopyAttributesAndData",
        [
          "security: the passwords of all items are never printed at once",
          "hint: `find-generic-password -w` prints one, `keytree export` writes a copy of all",
        ])
    }
    let index = try call.openIndex()
    let keychain = try call.keychain()
    let matches = try securityCall("SecKeychainSearchCreateFromAttributes") {
      try index.find(Query())
    }
    call.call.tell(matches.problems)
    for record in matches.items {
      call.console.write(SecurityItem(record, in: keychain).text)
      if call.console.outputIsClosed { return }
    }
  }

  /// Prints the place of the store.
  ///
  /// - Parameter place: what has failed when there is no store; nil when that is no failure.
  private static func show(_ call: SecurityCall, or place: String?) throws {
    if call.options.has("h") { throw SecurityFailure.usage }
    if call.options.has("s") {
      throw SecurityFailure(
        .unimplemented, at: "SecKeychainSetSearchList", ["hint: `KEYTREE_STORE` says where the store is"])
    }
    let keychain = try call.keychain()
    do {
      _ = try call.call.openIndex()
    } catch KeyringError.noStore {
      guard let place else { return }
      throw SecurityFailure(
        .noDefaultKeychain, at: place, ErrorReport(KeyringError.noStore(path: keychain)).lines)
    } catch {
      throw SecurityFailure(error, at: place ?? "SecKeychainOpen")
    }
    call.console.print("    \(SecurityText.show(Array(keychain.utf8)))")
  }
}
