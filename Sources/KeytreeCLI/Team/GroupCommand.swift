internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree group`: shows and changes who can read which items.
enum GroupCommand: Command {
  static let history = HistoryUse.after

  static let admin = OptionDeclaration(
    "admin", help: "make the person an admin, who can change people and groups")
  static let member = OptionDeclaration("member", help: "make an admin an ordinary member")
  static let fingerprint = OptionDeclaration(
    "fingerprint", .required(ValueDeclaration("FPR", .text)),
    help: "accept the key, or its changes, without a prompt if it has this fingerprint", isRepeatable: true)
  static let name = OptionDeclaration(
    "name", .required(ValueDeclaration("NAME", .text)),
    help: "the name of a person whose key has no user id, as `NAME <MAIL>`")
  static let encryptTo = OptionDeclaration(
    "encrypt-to", .required(ValueDeclaration("SUBKEY", .text)),
    help: "encrypt items to this subkey of the key instead of the newest one", isRepeatable: true)
  static let compromised = OptionDeclaration(
    "compromised", help: "somebody else may have the old key: list the secrets that have to be changed")
  static let all = OptionDeclaration(
    "all", help: "remove the person from every group, and so from the keyring")
  static let force = OptionDeclaration("force", help: "continue even if you lose access yourself")

  private static let group = OperandDeclaration(
    "GROUP", completion: .group, help: "the group; every keyring has `default`")
  private static let changeCodes: [Int32] = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14]

  static let declaration = CommandDeclaration(
    name: "group", summary: "show and change who can read which items",
    details: [
      "An item belongs to a group and is encrypted to its members. If you change the members of a group or renew a "
        + "key, the group's items are re-encrypted with new session keys, all in one transaction and one commit, or "
        + "not at all. If this is interrupted, run the same command again to continue.",
      "Only admins can change people and groups. Other machines accept changes that an admin has signed, and report "
        + "them; any other change blocks writing there.",
      "Without a subcommand, it lists the groups.",
      "A person who could read an item may have kept its secret: `keytree rotate status` lists the secrets that have "
        + "to be changed after a member has left.",
    ],
    subcommands: [list, show, create, delete, add, remove, refresh, replace, reseal],
    impliedSubcommand: list.name,
    examples: [
      Example("keytree group add default bob.asc", "lets Bob read all items of the group"),
      Example("keytree group remove default bob@example.org", "removes Bob, and re-encrypts the items"),
    ],
    exitCodes: changeCodes)

  private static let list = CommandDeclaration(
    name: "list", aliases: ["ls"], summary: "list the groups with their members and items",
    examples: [Example("keytree group list", "prints one line for each group")], exitCodes: [4, 9])

  private static let show = CommandDeclaration(
    name: "show", summary: "list the members of a group", operands: [group],
    examples: [Example("keytree group show default", "prints one line for each member")], exitCodes: [4, 9])

  private static let create = CommandDeclaration(
    name: "create", summary: "create a group with you as its only member",
    operands: [OperandDeclaration("GROUP", help: "the name of the new group")],
    examples: [Example("keytree group create ops", "add other members with `keytree group add ops`")],
    exitCodes: changeCodes)

  private static let delete = CommandDeclaration(
    name: "delete", summary: "delete a group that has no items", operands: [group],
    examples: [Example("keytree group delete ops", "is refused while items belong to the group")],
    exitCodes: changeCodes)

  private static let add = CommandDeclaration(
    name: "add", summary: "add people to a group",
    details: [
      "KEYFILE is a file with the person's public key. A fingerprint or a mail address selects a key in your own "
        + "GnuPG keyring, or a person who is already in the keyring. Compare the fingerprint with that person: anyone "
        + "who has that key can read everything in the group, and anyone can create a key with any mail address. "
        + "Unless the fingerprint was given, the command asks for confirmation on a terminal, and requires "
        + "`--fingerprint` otherwise.",
      "With `--admin`, a person who is already in the group becomes an admin; with `--member`, an admin becomes an "
        + "ordinary member.",
      "Items are encrypted to the newest valid subkey of the key; of your own key, to the newest one whose secret key "
        + "is on this machine. `--encrypt-to` selects others, for example one for each device.",
    ],
    operands: [
      group,
      OperandDeclaration(
        "KEYFILE|FPR|MAIL", .bytes, count: .oneOrMore, completion: .file,
        help: "the keys, as files, full fingerprints or mail addresses"),
    ],
    options: [admin, member, fingerprint, name, encryptTo],
    examples: [
      Example("keytree group add default bob.asc", "shows the fingerprint, and asks for confirmation"),
      Example(
        "keytree group add default bob@example.org", "uses the key with this address in your own keyring"),
      Example(
        "keytree group add ops B5F28C0DCD5A74569FA573FFB3B71ABCA803B25F --admin",
        "uses a key from your own keyring"),
    ],
    exitCodes: changeCodes)

  private static let remove = CommandDeclaration(
    name: "remove", aliases: ["rm"], summary: "remove people from a group",
    details: [
      "A person who is in no other group is removed from the keyring, even an admin. The items that the person could "
        + "read are re-encrypted for the remaining members; older versions in the history can still be decrypted with "
        + "the old key."
    ],
    operands: [
      group,
      OperandDeclaration(
        "FPR|MAIL", count: .oneOrMore, help: "the people, by full fingerprint or email address"),
    ],
    options: [all, force],
    examples: [
      Example("keytree group remove default bob@example.org", "removes Bob, and re-encrypts the items")
    ],
    exitCodes: changeCodes)

  private static let refresh = CommandDeclaration(
    name: "refresh", summary: "import renewed keys and keys with new subkeys",
    details: [
      "Reads the given keys, or without an operand the keys of all members from your own GnuPG keyring. Only newer "
        + "information about the same keys is imported: an older file does not remove a revocation or a later "
        + "expiration date. A key that cannot be used does not prevent the import of the others.",
      "If a name changes, a subkey is revoked as compromised, or items are no longer encrypted to a subkey, the command "
        + "asks for confirmation on a terminal, and requires `--fingerprint` for each such key otherwise. Records that "
        + "a compromised subkey has signed are signed again with your key, and listed for review.",
      "A key file in the store that is missing, or is not the one that the policy names, is restored first. A member who "
        + "is not an admin sees the changes, and what to send to an admin.",
    ],
    operands: [
      OperandDeclaration(
        "KEYFILE|FPR|MAIL", .bytes, count: .any, completion: .file,
        help: "the keys (default: the keys of all members)")
    ],
    options: [fingerprint, encryptTo],
    examples: [
      Example("keytree group refresh", "imports changes from your own GnuPG keyring"),
      Example("keytree group refresh bob.asc", "imports Bob's renewed key"),
    ],
    exitCodes: changeCodes)

  private static let replace = CommandDeclaration(
    name: "replace", summary: "replace the key of a person by a new key",
    details: [
      "The new key gets the role and all groups of the old one, which is removed. The items are re-encrypted, and the "
        + "records that the old key has signed are signed again. Replace your own key on the machine that has both "
        + "secret keys, or ask an admin to do it.",
      "The person stays a reader, so no secret has to be changed. With `--compromised`, `keytree rotate status` lists "
        + "every secret that the old key could decrypt.",
    ],
    operands: [
      OperandDeclaration("OLD", help: "the person, by the fingerprint or mail address of the old key"),
      OperandDeclaration(
        "NEW", .bytes, completion: .file, help: "the new key, as a file, full fingerprint or mail address"),
    ],
    options: [compromised, fingerprint, name, encryptTo],
    examples: [
      Example(
        "keytree group replace B5F28C0DCD5A74569FA573FFB3B71ABCA803B25F bob-2026.asc",
        "shows the new fingerprint, and asks for confirmation")
    ],
    exitCodes: changeCodes)

  private static let reseal = CommandDeclaration(
    name: "reseal", summary: "re-encrypt items whose recipients are not the members of their groups",
    details: [
      "A merge can leave such items, for example if an item was added on one machine while a member was removed on "
        + "another."
    ],
    examples: [Example("keytree group reseal", "changes only items with wrong recipients")],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    // The parser guarantees that there is a subcommand: `list` if none is given.
    let subcommand = call.path.last?.name
    if subcommand == "refresh" {
      for repair in try call.restoreKeyFiles() { call.console.complain("keytree: \(repair.line)") }
    }
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    let people = TeamPeople(call: call, keyring: keyring)
    switch subcommand {
    case "list": try GroupList(keyring).print(call)
    case "show": try GroupList(keyring).printMembers(of: try groupName(call), call)
    case "create": try GroupChange(people: people).create(try newName(call))
    case "delete": try GroupChange(people: people).delete(try groupName(call))
    case "add": return try GroupChange(people: people).add(to: try groupName(call))
    case "remove": try GroupChange(people: people).remove(from: try groupName(call))
    case "refresh": return try KeyRefresh(people: people).run()
    case "replace": try KeyReplacement(people: people).run()
    default: try GroupChange(people: people).reseal()
    }
    return .done
  }

  private static func groupName(_ call: CommandCall) throws -> String {
    call.arguments.operand(0)?.text ?? ""
  }

  private static func newName(_ call: CommandCall) throws -> String {
    let name = try groupName(call)
    guard GroupName.isValid(name) else {
      throw call.misuse(.other("a group name consists of letters, digits, `.`, `_` and `-`"))
    }
    return name
  }
}
