internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// The commands for whole keychains. The only keychain is the store. It is never locked: GnuPG's agent asks for a
/// passphrase if one is needed.
enum SecurityKeychains {
  static let list = SecurityCommand(
    "list-keychains", "d:hs", usage: "[-d domain]", "List the keychains: the store, if it exists."
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
    "Accepted: a store is never locked, and the password is ignored."
  ) { call in
    if call.options.has("h") { throw SecurityFailure.usage }
    _ = try call.openIndex()
    call.note("a store is never locked; GnuPG asks for the passphrase of your key if it is needed")
  }

  static let lock = SecurityCommand(
    "lock-keychain", "ah", usage: "[-a | keychain]", "Not supported: GnuPG's agent caches the passphrase."
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
          "hint: `find-generic-password -w` prints one password, `keytree export` exports all items",
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

  /// Prints the path of the store.
  ///
  /// - Parameter place: the Apple function that fails if the store does not exist; nil if that is not a failure.
  private static func show(_ call: SecurityCall, or place: String?) throws {
    if call.options.has("h") { throw SecurityFailure.usage }
    if call.options.has("s") {
      throw SecurityFailure(
        .unimplemented, at: "SecKeychainSetSearchList",
        ["hint: set the path of the store in `KEYTREE_STORE`"])
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
