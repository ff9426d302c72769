internal import Arguments
internal import CommandSupport
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// `keytree verify`: verifies a store, a commit or a push without any secret key.
enum VerifyCommand: Command {
  static let fingerprint = OptionDeclaration(
    "fingerprint", .required(ValueDeclaration("FPR", .text)),
    help: "the admin who must have signed the first policy; if it is repeated, one of these admins",
    isRepeatable: true)
  static let at = OptionDeclaration(
    "at", .required(ValueDeclaration("REV", .text)),
    help: "verify a commit and its history instead of the folder")
  static let preReceive = OptionDeclaration(
    "pre-receive",
    help: "run as the hook of a bare repository: verify a push, and refuse it if it is not valid")
  static let folder = OptionDeclaration(
    "folder", .required(ValueDeclaration("PATH", .text)),
    help: "the folder of the store in a bare repository, if the store is not at the top")
  static let strict = OptionDeclaration(
    "strict",
    help: "also fail if a key expires within 60 days, or if a file of another program is not adopted")

  private static let path = OperandDeclaration(
    "PATH", .text, count: .optional, completion: .folder,
    help: "the folder of the store, as with `--store` (default: your store)")

  static let declaration = CommandDeclaration(
    name: "verify", summary: "verify policies, recipients, keys and files without a secret key",
    details: [
      "For continuous integration and servers: it needs no secret key and no agent, never prompts, and changes "
        + "nothing. Each finding is one line: a path in the store, and the problem.",
      "It follows the policies through the whole history: each must be signed by an admin of the previous one, and "
        + "none may be rolled back. It can tell whether the first policy names the right people only if you give "
        + "`--fingerprint`, or if this machine has accepted the store. Then it checks the recipients of every item, "
        + "the keys (reported from 60 days before they expire), the index against the files, names, links, and files "
        + "that do not belong to a store.",
      "`--at` reads the files from the repository itself, so that no attribute or setting can hide a file. The store "
        + "can then be a bare repository.",
      "`--pre-receive` is for the `pre-receive` hook of a bare repository. It verifies every pushed branch and every "
        + "new commit, refuses to delete branches and to remove commits from them, and checks new policies against "
        + "those of the branch. Tags and other references are not verified.",
      "A bare repository does not record the folder of the store. If the store is not at the top, give its path from "
        + "the top with `--folder`, for `--at` as well as in the hook. Files outside the folder are not verified, but "
        + "another store there is refused.",
    ],
    operands: [path], options: [fingerprint, at, preReceive, folder, strict],
    examples: [
      Example("keytree verify", "verifies the store and its history"),
      Example("keytree verify ~/team", "verifies the store in another folder"),
      Example(
        "keytree verify --at HEAD --fingerprint C86E40475C0FBD627777428CC11945FA7D8856D8",
        "for continuous integration"),
      Example("keytree verify --pre-receive", "the complete `pre-receive` hook, after `#!/bin/sh`"),
      Example("keytree verify --pre-receive --folder team/keys", "the hook for a store in a folder"),
    ],
    exitCodes: [3, 4, 9, 11, 13])

  static func run(_ given: CommandCall) throws -> ExitCode {
    let call = try placed(given)
    if call.arguments.has(at), call.arguments.has(preReceive) {
      throw call.misuse(.conflict(at.display, preReceive.display))
    }
    let anchors = try anchors(call)
    // Created before the folder and stopped after its removal, so that no signal can leave the folder behind.
    let interruption = Interruption()
    defer { interruption?.stop() }
    let host = host(call)
    let room = try VerificationWorkspace(host: host)
    defer { room.remove() }
    defer { call.explain(room.statistics) }
    let result = Result {
      try call.arguments.has(preReceive)
        ? judgePush(call, anchors, room) : judgeStore(call, anchors, host, room)
    }
    // A signal also ends the running git, so the error of git does not matter.
    if interruption?.takeSignal() != nil {
      throw TerminalError.cancelled(action: "not everything was checked")
    }
    return try result.get()
  }

  /// Returns the call for the store in the operand.
  ///
  /// - Throws: a usage error for an operand together with `--store` or `--pre-receive`.
  private static func placed(_ call: CommandCall) throws -> CommandCall {
    guard let folder = call.arguments.operand(0)?.text else { return call }
    if call.arguments.has(preReceive) { throw call.misuse(.conflict(path.value.name, preReceive.display)) }
    if call.globals.store != nil {
      throw call.misuse(.conflict(path.value.name, GlobalOptions.store.display))
    }
    return call.at(store: folder.contains("/") ? folder : "./" + folder)
  }

  /// Returns the people given with `--fingerprint`.
  private static func anchors(_ call: CommandCall) throws -> [Fingerprint] {
    var anchors: [Fingerprint] = []
    for word in call.arguments.values(fingerprint) {
      guard let anchor = Fingerprint((word.text ?? "").filter { $0 != " " }.uppercased()) else {
        throw call.misuse(.other("`--fingerprint` takes all 40 or 64 digits of a fingerprint"))
      }
      anchors.append(anchor)
    }
    return anchors
  }

  /// Returns the folder of the store in a bare repository; empty for the top.
  private static func folder(_ call: CommandCall) throws -> String {
    guard let text = call.arguments.text(folder) else { return "" }
    let path = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard RelativePath.isPlain(path) else {
      throw call.misuse(.other("`--folder` takes a path from the top of the repository, such as `team/keys`"))
    }
    return path
  }

  /// Returns the facts about this machine. They have fallbacks, because a hook may run without a home folder.
  private static func host(_ call: CommandCall) -> HostContext {
    HostContext(
      engineBase: call.environment.runtimeBase ?? "/tmp/keytree-\(geteuid())",
      stateBase: "\(call.environment.stateHome ?? "/nonexistent")/keytree",
      searchPath: call.environment.searchPath, interaction: .never)
  }

  // MARK: A store

  private static func judgeStore(
    _ call: CommandCall, _ anchors: [Fingerprint], _ host: HostContext, _ room: VerificationWorkspace
  ) throws -> ExitCode {
    let path = try call.storePath()
    var start = PolicyHistory.Start()
    start.anchors = anchors
    start.accepted = { (keyring) in
      try AcceptedPolicy(of: keyring, stateBase: host.stateBase)
    }
    let progress = WorkProgress("verify", console: call.console)
    let result: Verification
    do {
      result = try verification(call, path, start, room, progress)
      progress.finish()
    } catch {
      progress.finish()
      throw error
    }
    let report = VerificationReport(result, branch: nil)
    report.print(to: call)
    report.say(to: call, isAnchored: !anchors.isEmpty)
    return report.exitCode(isStrict: call.arguments.has(strict))
  }

  private static func verification(
    _ call: CommandCall, _ path: String, _ start: PolicyHistory.Start, _ room: VerificationWorkspace,
    _ progress: WorkProgress
  ) throws -> Verification {
    guard let revision = call.arguments.text(at) else {
      if call.arguments.has(folder) { throw misplacedFolder(call) }
      let repository = try call.repository()
      return try Verification(ofStoreAt: path, in: repository, from: start, room: room) {
        progress.advance(to: $0, of: $1)
      }
    }
    let bare = Repository.bare(path, store: try folder(call), git: call.git(in:))
    if bare == nil, call.arguments.has(folder) { throw misplacedFolder(call) }
    let around = bare == nil ? try call.repository() : bare
    guard let repository = around else { throw GitError.noRepository(store: path) }
    let commit = try repository.commitForVerification(revision)
    guard let commit else { throw noCommit(revision) }
    return try Verification(ofCommit: commit, in: repository, from: start, room: room) {
      progress.advance(to: $0, of: $1)
    }
  }

  private static func misplacedFolder(_ call: CommandCall) -> UsageError {
    call.misuse(
      .other("`--folder` is for a bare repository; elsewhere `--store` names the folder of the store"))
  }

  private static func noCommit(_ name: String) -> CommandError {
    .other(
      .notFound, message: "no commit is named \(ErrorReport.quote(name))",
      hint: "`keytree git log --oneline` lists the commits")
  }

  // MARK: A push

  private static func judgePush(
    _ call: CommandCall, _ anchors: [Fingerprint], _ room: VerificationWorkspace
  ) throws -> ExitCode {
    let path = call.environment.text("GIT_DIR") ?? "."
    let store = try folder(call)
    guard let repository = Repository.bare(path, store: store, seesQuarantine: true, git: call.git(in:))
    else {
      throw GitError.notARepository(path: path)
    }
    let input = try call.console.readAll(limit: 16 << 20)
    let lines = unsafe input.withBytes { unsafe Array($0) }
    guard let references = PushedReference.list(lines) else {
      throw CommandError.other(
        .usage, message: "standard input is not the input that git gives to a `pre-receive` hook",
        hint: "git runs the hook itself; `keytree verify --at REV` verifies a commit")
    }
    var push = try PushVerification(in: repository, anchors: anchors, room: room)
    var code = ExitCode.done
    for reference in references {
      let branch = try push.look(at: reference)
      guard let branch else { continue }
      let report = VerificationReport(branch.result, branch: branch.name)
      report.print(to: call)
      // A push without a first policy adds to an existing chain.
      report.say(to: call, isAnchored: !anchors.isEmpty || branch.result.firstSigner == nil)
      let one = report.exitCode(isStrict: call.arguments.has(strict))
      if one != .done, code != .policyNotTrusted { code = one }
    }
    return code
  }
}
