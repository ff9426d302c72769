internal import Arguments
internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// `keytree policy`: shows the policy, and changes which additional files it allows in the store's folder.
enum PolicyCommand: Command {
  static let history = HistoryUse.after

  private static let names = OperandDeclaration(
    "NAME", count: .oneOrMore, completion: .file,
    help: "a file, by its path from the top of the store; with `/` at the end, a folder and everything in it"
  )

  static let declaration = CommandDeclaration(
    name: "policy", summary: "show the policy, and allow additional files in the store",
    details: [
      "The policy is the signed file that says who belongs to the keyring, who can read which group, and which "
        + "additional files may be in the history. `keytree group` changes people and groups.",
      "`sync`, `clone` and `verify` refuse every other file in a push, because other programs could act on it. "
        + "Executable files, links and nested repositories are refused under any name.",
      "Without a subcommand, it shows the policy.",
    ],
    subcommands: [show, allow, disallow], impliedSubcommand: show.name,
    examples: [
      Example(
        "keytree policy allow README.md .github/workflows/verify.yml", "every machine accepts these files"),
      Example("keytree policy show", "shows who can read which items, and which files are allowed"),
    ],
    exitCodes: [3, 4, 5, 7, 9, 11, 12, 14])

  private static let show = CommandDeclaration(
    name: "show", summary: "show people, groups and allowed files",
    examples: [Example("keytree policy show --json", "for programs")], exitCodes: [4, 9])

  private static let allow = CommandDeclaration(
    name: "allow", summary: "allow additional files in the store",
    details: ["Only admins can allow files. Every person who can push can then change their contents."],
    operands: [names],
    examples: [Example("keytree policy allow LICENSE docs/", "allows a file, and everything in a folder")],
    exitCodes: [3, 4, 5, 7, 9, 11, 12, 14])

  private static let disallow = CommandDeclaration(
    name: "disallow", summary: "stop allowing files",
    details: [
      "Existing versions stay in the history. Remove the file first, with `keytree git rm NAME` and a commit: "
        + "`verify` and the hook of a server refuse a commit that still contains it."
    ],
    operands: [names],
    examples: [Example("keytree policy disallow docs/", "new versions are refused from now on")],
    exitCodes: [3, 4, 7, 9, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    // Before the key is used, because a name that cannot be allowed is a usage error.
    let names = call.arguments.operands.map(\.approximateText)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    switch call.path.last?.name {
    case "allow": try allow(names, keyring, call)
    case "disallow": try disallow(names, keyring, call)
    default: show(keyring, call)
    }
    return .done
  }

  private static func show(_ keyring: Keyring, _ call: CommandCall) {
    let policy = keyring.policy
    if call.globals.json { return call.console.print(json: json(policy)) }
    var list = FactList()
    list.add("keyring", policy.keyring.hex)
    list.add("generation", String(policy.generation))
    policy.addFacts(to: &list, me: keyring.ownFingerprint)
    call.console.print(list)
  }

  private static func allow(_ names: [String], _ keyring: Keyring, _ call: CommandCall) throws {
    if let name = names.first(where: { !AllowedName.isValid($0) }) {
      throw call.misuse(
        .other(
          "\(ErrorReport.quote(name)) cannot be allowed: it belongs to the store or to git, or is not a path in the "
            + "store"
        ))
    }
    let new = names.filter { !keyring.policy.files.contains($0) }
    guard !new.isEmpty else {
      throw CommandError.other(
        .alreadyExists, message: "the policy already allows \(list(names))",
        hint: "`keytree policy show` lists what it allows")
    }
    try change(new.map { .allow(file: $0) }, "allow \(count(new))", keyring, call)
    call.console.say("Allowed \(list(new)).")
  }

  private static func disallow(_ names: [String], _ keyring: Keyring, _ call: CommandCall) throws {
    if let name = names.first(where: { !keyring.policy.files.contains($0) }) {
      throw CommandError.other(
        .notFound, message: "the policy does not allow \(ErrorReport.quote(name))",
        hint: "`keytree policy show` lists what it allows")
    }
    try change(names.map { .disallow(file: $0) }, "disallow \(count(names))", keyring, call)
    call.console.say("\(list(names)) \(names.count == 1 ? "is" : "are") no longer allowed.")
    warn(of: try committed(only: names, of: keyring.policy, call), call)
  }

  /// Returns the committed files that a policy allows only because of some of its names.
  private static func committed(
    only names: [String], of policy: Policy, _ call: CommandCall
  ) throws -> [String] {
    guard let repository = try call.repository() else { return [] }
    var next = policy
    next.files.subtract(names)
    let before = Set(try repository.strangers(outside: AllowedFiles(beside: policy)).map(\.path))
    return try repository.strangers(outside: AllowedFiles(beside: next)).map(\.path)
      .filter { !before.contains($0) }.map { String($0.dropFirst(repository.prefix.count)) }
  }

  /// The largest number of files that the warning names.
  private static let namedLimit = 20

  /// Warns that `verify` and the hook of a server refuse commits with files that are no longer allowed.
  private static func warn(of files: [String], _ call: CommandCall) {
    if files.isEmpty { return }
    let rest = files.count - namedLimit
    let words = files.prefix(namedLimit).map(\.shellWord).joined(separator: " ")
    call.console.complain(
      "keytree: warning: \(files.count == 1 ? "1 file is" : "\(files.count) files are") still committed, and a "
        + "server's hook refuses the next push; run `keytree git rm \(words)` and commit"
        + (rest > 0 ? ", and do the same for \(rest) more" : ""))
  }

  private static func change(
    _ edits: [PolicyEdit], _ subject: String, _ keyring: Keyring, _ call: CommandCall
  ) throws {
    let change = try keyring.plan(edits)
    _ = try call.make(change, of: keyring, subject: subject)
  }

  private static func list(_ names: [String]) -> String {
    names.joined(separator: ", ")
  }

  /// Returns the number of files, for the subject of a commit. The subject is ASCII and therefore contains no names.
  private static func count(_ names: [String]) -> String {
    names.count == 1 ? "1 additional file" : "\(names.count) additional files"
  }

  private static func json(_ policy: Policy) -> JSONValue {
    .object([
      JSONMember("files", policy.filesJSON), JSONMember("generation", .integer(Int64(policy.generation))),
      JSONMember("groups", policy.groupsJSON), JSONMember("keyring", .string(policy.keyring.hex)),
      JSONMember("people", policy.peopleJSON),
    ])
  }
}
