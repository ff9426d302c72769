internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// The commands that find and delete passwords.
enum SecurityPasswords {
  private static let genericLetters = "[-a account] [-s service] [-l label] [-D kind] [-j comment] [-G value]"
  private static let internetLetters =
    "[-a account] [-s server] [-l label] [-D kind] [-j comment] [-d domain]"
  private static let moreGeneric = "\n        [-c creator] [-C type]"
  private static let moreInternet =
    "\n        [-p path] [-P port] [-r protocol] [-t type] [-c creator] [-C type]"

  static let findGeneric = SecurityCommand(
    "find-generic-password", "ha:c:C:D:G:j:l:s:wg",
    usage: genericLetters + moreGeneric + " [-g | -w] [keychain...]", "Find a generic password."
  ) { call in try find(call, .genericPassword) }

  static let findInternet = SecurityCommand(
    "find-internet-password", "ha:c:C:d:D:hgj:l:p:P:r:s:wt:",
    usage: internetLetters + moreInternet + " [-g | -w] [keychain...]", "Find an internet password."
  ) { call in try find(call, .internetPassword) }

  static let deleteGeneric = SecurityCommand(
    "delete-generic-password", "ha:c:C:D:G:j:l:s:g",
    usage: genericLetters + moreGeneric + " [keychain...]", "Delete a generic password.", writes: true
  ) { call in try delete(call, .genericPassword) }

  static let deleteInternet = SecurityCommand(
    "delete-internet-password", "ha:c:C:d:D:hgj:l:p:P:r:s:t:",
    usage: internetLetters + moreInternet + " [keychain...]", "Delete an internet password.", writes: true
  ) { call in try delete(call, .internetPassword) }

  static let genericAccess = SecurityCommand(
    "set-generic-password-partition-list", "a:c:C:D:G:hj:k:l:s:S:", secrets: "k",
    usage: genericLetters + moreGeneric + " [-S partitions] [-k password] [keychain]",
    "Set the partition list of a generic password: accepted and ignored."
  ) { call in try setAccess(call, .genericPassword) }

  static let internetAccess = SecurityCommand(
    "set-internet-password-partition-list", "a:c:C:d:D:hj:k:l:p:P:r:s:S:t:", secrets: "k",
    usage: internetLetters + moreInternet + " [-S partitions] [-k password] [keychain]",
    "Set the partition list of an internet password: accepted and ignored."
  ) { call in try setAccess(call, .internetPassword) }

  /// Prints the first match; only `-g` and `-w` decrypt.
  private static func find(_ call: SecurityCall, _ itemClass: ItemClass) throws {
    if call.options.has("h") { throw SecurityFailure.usage }
    let search = try SecuritySearch(call, itemClass)
    let isPlain = call.options.has("w")
    guard isPlain || call.options.has("g") else {
      let record = try search.first(in: try call.openIndex(), call)
      call.console.write(SecurityItem(record, in: try call.keychain()).text)
      return
    }
    let keyring = try call.openKeyring()
    let record = try search.first(in: keyring.index, call)
    let secret: SecretBytes
    do {
      secret = try keyring.secret(for: record, matching: search.query(for: record))
    } catch {
      throw SecurityFailure(error, at: "SecKeychainItemCopyContent")
    }
    if isPlain {
      call.console.writeExactly(SecurityText.plain(secret))
      call.console.write("\n")
      return
    }
    call.console.write(SecurityItem(record, in: try call.keychain()).text)
    call.console.writeDiagnostics("password: ")
    call.console.writeDiagnostics(secret: SecurityText.show(secret))
    call.console.writeDiagnostics("\n")
  }

  private static func delete(_ call: SecurityCall, _ itemClass: ItemClass) throws {
    if call.options.has("h") { throw SecurityFailure.usage }
    let search = try SecuritySearch(call, itemClass)
    // Without any condition, nothing is deleted.
    if search.isEmpty { throw SecurityFailure.usage }
    let keyring = try call.openKeyring()
    let record = try search.first(in: keyring.index, call)
    do {
      try keyring.requireRemovable([record])
      try keyring.delete([record])
    } catch {
      throw SecurityFailure(error, at: "SecKeychainItemDelete")
    }
    call.console.write(SecurityItem(record, in: try call.keychain()).text)
    call.console.complain("password has been deleted.")
  }

  /// Finds the item and changes nothing, because a store has no access lists for programs.
  private static func setAccess(_ call: SecurityCall, _ itemClass: ItemClass) throws {
    if call.options.has("h") { throw SecurityFailure.usage }
    let record = try SecuritySearch(call, itemClass).first(in: try call.openIndex(), call)
    call.console.write(SecurityItem(record, in: try call.keychain()).text)
    call.note("partition lists are not supported; nothing was changed")
  }
}
