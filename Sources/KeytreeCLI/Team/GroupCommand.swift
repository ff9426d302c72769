internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel

/// `keytree group`: shows and changes who can read which items.
enum GroupCommand: Command {
  static let history = HistoryUse.after

  static let admin = OptionDeclaration("admin", help: "let the person change people and groups, too")
  static let member = OptionDeclaration("member", help: "take the role of an admin back from the person")
  static let fingerprint = OptionDeclaration(
    "fingerprint", .required(ValueDeclaration("FPR", .text)),
    help: "accept the key in the file without a question when it is this one")
  static let all = OptionDeclaration(
    "all", help: "take the person out of every group, and so out of the keyring")
  static let force = OptionDeclaration("force", help: "also when you lose access yourself")

  private static let group = OperandDeclaration("GROUP", help: "the group; every keyring has `default`")
  private static let changeCodes: [Int32] = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

  static let declaration = CommandDeclaration(
    name: "group", summary: "say who can read what, and change it",
    details: [
      "An item belongs to a group, and is sealed to its members. To change who is in a group, or to renew a key, "
        + "seals the group's items again with fresh session keys: everything in one change of the store and one "
        + "commit, or nothing. When that is cut off, the same command goes on where it was.",
      "Only admins change people and groups. What they sign is accepted by the others' machines with a word about "
        + "it; anything else stops writing there.",
      "Whoever could read an item once may have kept it: `keytree rotate status` lists what has to be changed "
        + "after somebody has left.",
    ],
    subcommands: [list, show, create, delete, add, remove, refresh, reseal],
    examples: [
      Example("keytree group add default bob.asc", "lets Bob read all items of the group"),
      Example("keytree group remove default bob@example.org", "takes him out, and seals its items again"),
    ],
    exitCodes: changeCodes)

  private static let list = CommandDeclaration(
    name: "list", aliases: ["ls"], summary: "list the groups with their members and items",
    examples: [Example("keytree group list", "a line for each group")], exitCodes: [4, 9])

  private static let show = CommandDeclaration(
    name: "show", summary: "list the members of a group", operands: [group],
    examples: [Example("keytree group show default", "a line for each member")], exitCodes: [4, 9])

  private static let create = CommandDeclaration(
    name: "create", summary: "make a group with you in it", operands: [group],
    examples: [Example("keytree group create ops", "others come with `keytree group add ops`")],
    exitCodes: changeCodes)

  private static let delete = CommandDeclaration(
    name: "delete", summary: "take away a group that has no items", operands: [group],
    examples: [Example("keytree group delete ops", "refused while items belong to it")],
    exitCodes: changeCodes)

  private static let add = CommandDeclaration(
    name: "add", summary: "let somebody read the items of a group",
    details: [
      "KEYFILE is the person's public key as a file; a fingerprint takes it from your own GnuPG keyring, or is "
        + "that of somebody who belongs to the keyring already. Compare the fingerprint with the person: whoever "
        + "has that key can read everything in the group. A key from a file is asked about on a terminal, and "
        + "needs `--fingerprint` elsewhere.",
      "With `--admin` somebody who is in the group already becomes an admin, with `--member` an admin becomes a "
        + "member like others.",
    ],
    operands: [
      group,
      OperandDeclaration("KEYFILE|FPR", .bytes, completion: .file, help: "the key, or its full fingerprint"),
    ],
    options: [admin, member, fingerprint],
    examples: [
      Example("keytree group add default bob.asc", "shows the fingerprint, and asks"),
      Example(
        "keytree group add ops B5F28C0DCD5A74569FA573FFB3B71ABCA803B25F --admin", "from your own keyring"),
    ],
    exitCodes: changeCodes)

  private static let remove = CommandDeclaration(
    name: "remove", aliases: ["rm"], summary: "take somebody out of a group",
    details: [
      "Somebody who is in no group any more is removed from the keyring, also an admin. What the person could read "
        + "is sealed again for the others; older versions in the history stay readable with the old key."
    ],
    operands: [
      group,
      OperandDeclaration(
        "FPR|MAIL", count: .oneOrMore, help: "the person: full fingerprint or mail address; also several"),
    ],
    options: [all, force],
    examples: [Example("keytree group remove default bob@example.org", "and seals the items again")],
    exitCodes: changeCodes)

  private static let refresh = CommandDeclaration(
    name: "refresh", summary: "take over keys that were prolonged or have new subkeys",
    details: [
      "From a file, or without one for all members from your own GnuPG keyring. Only newer facts about the same "
        + "keys are taken: a revocation or a later end stays when an older file comes."
    ],
    operands: [
      OperandDeclaration(
        "KEYFILE|FPR", .bytes, count: .optional, completion: .file, help: "one key; else all members' keys")
    ],
    examples: [Example("keytree group refresh bob.asc", "Bob has prolonged his key")],
    exitCodes: changeCodes)

  private static let reseal = CommandDeclaration(
    name: "reseal", summary: "seal items again that are not for just the members of their groups",
    details: ["A merge may leave such items: one was added over there while somebody left here."],
    examples: [Example("keytree group reseal", "items that are right are left alone")],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12])

  static func run(_ call: CommandCall) throws -> ExitCode {
    // The parser guarantees that there is a subcommand.
    let subcommand = call.path.last?.name
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    switch subcommand {
    case "list": try GroupList(keyring).print(call)
    case "show": try GroupList(keyring).printMembers(of: try name(call), call)
    case "create": try GroupChange(call, keyring).create(try newName(call))
    case "delete": try GroupChange(call, keyring).delete(try name(call))
    case "add": try GroupChange(call, keyring).add(to: try name(call))
    case "remove": try GroupChange(call, keyring).remove(from: try name(call))
    case "refresh": try GroupChange(call, keyring).refresh()
    default: try GroupChange(call, keyring).reseal()
    }
    return .done
  }

  private static func name(_ call: CommandCall) throws -> String {
    call.arguments.operand(0)?.text ?? ""
  }

  private static func newName(_ call: CommandCall) throws -> String {
    let name = try name(call)
    guard GroupName.isValid(name) else {
      throw call.misuse(.other("the name of a group is letters, digits, `.`, `_` and `-`"))
    }
    return name
  }
}
