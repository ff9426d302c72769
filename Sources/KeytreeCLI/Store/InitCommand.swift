internal import Arguments
internal import CommandSupport
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Sync
internal import Terminal

/// `keytree init`: creates a store.
enum InitCommand: Command {
  static let history = HistoryUse.after
  static let key = OptionDeclaration(
    "key", .required(ValueDeclaration("FPR|MAIL", .text)),
    help: "the key of the owner, by fingerprint or mail address; not needed when there is only one")
  static let noGit = OptionDeclaration(
    "no-git", help: "keep no history: make no git repository of the store")

  static let declaration = CommandDeclaration(
    name: "init", summary: "make a store",
    details: [
      "Makes the folder, the policy with you as its only person, and the pin that says that this machine "
        + "trusts it. Without `--key` the one usable secret key of your GnuPG home is taken; with several, "
        + "you have to choose. A key is usable when it can encrypt and sign, and is neither expired, revoked "
        + "nor disabled.",
      "Git keeps the history, with one commit for every change: in a repository of its own, unless the folder "
        + "lies in the work tree of another one that does not ignore it. A commit says which items changed, "
        + "as the index does. It is by the person whom git knows, else by the owner of the key.",
      "A repository has one store. In one that has a store already, another one is refused; `--no-git` makes it without "
        + "a history.",
    ],
    options: [key, noGit],
    examples: [
      Example("keytree init", "makes the store in the usual place"),
      Example("keytree init --store ~/work.keytree --key alice@example.org", "another place, a named key"),
    ],
    exitCodes: [3, 5, 6, 10, 11])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let (path, host) = (try call.storePath(), try call.host())
    try refuseExisting(path, host)
    if !call.arguments.has(noGit) { try call.refuseSecondStore(path) }
    let owner = try owner(call, host)
    let store = try Keyring.prepare(at: path, owner: owner.fingerprint, host: host)
    // Before the policy is written: an existing store then has its history, even if this command is interrupted.
    let lines = try makeHistory(call, path)
    let keyring: Keyring = try store.finish()
    call.explain(keyring.engineStatistics)
    if call.globals.json {
      call.console.write([
        JSONMember("fingerprint", .string(owner.fingerprint.text)),
        JSONMember("keyring", .string(keyring.policy.keyring.hex)),
        JSONMember("store", .string(path)),
      ])
    }
    call.console.say("Made the store \(path).")
    call.console.say("Its owner is \(show(owner)).")
    for line in lines { call.console.say(line) }
    return .done
  }

  /// Creates a repository for the store, unless `--no-git` was given.
  ///
  /// - Returns: the messages about it.
  private static func makeHistory(_ call: CommandCall, _ path: String) throws -> [String] {
    if call.arguments.has(noGit) { return [] }
    guard call.git(in: path).program != nil else {
      return [
        "It has no history: git is not installed.",
        "hint: `apt install git`, then `keytree git init` begins one.",
      ]
    }
    return try call.makeHistory(path)
  }

  /// Reports an existing store before GnuPG is called, regardless of the available keys.
  private static func refuseExisting(_ path: String, _ host: HostContext) throws {
    do {
      _ = try Index.open(at: path, host: host)
    } catch {
      if case .noStore = error { return try refuseFile(path) }
      throw error
    }
    throw KeyringError.storeExists(path: path)
  }

  /// Throws if a file has the path of the store; `stat(2)`.
  private static func refuseFile(_ path: String) throws {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT != S_IFDIR else { return }
    throw CommandError.other(
      .alreadyExists,
      message: "cannot make the store \(path): a file is there, and a store is a folder",
      hint: "give the folder with `--store DIR`, or move the file away")
  }

  /// Returns the key that was named, or the only one that can be used.
  private static func owner(_ call: CommandCall, _ host: HostContext) throws -> OwnKeys.Candidate {
    let keys = try OwnKeys(host: host)
    let name = call.arguments.text(key)
    let candidates = name.map(keys.matching) ?? keys.candidates
    let usable = candidates.filter { $0.problem == nil }
    if let first = usable.first {
      if usable.count == 1 { return first }
      throw CommandError.severalKeys(usable.map(show))
    }
    // If the one matching key cannot be used, its own reason is the answer.
    if name != nil, candidates.count == 1, let only = candidates.first, let problem = only.problem {
      throw KeyringError.engine(.unusableKey(only.fingerprint, problem), nil)
    }
    // If a name matches no key, list the existing keys, because one of them may be meant.
    let seen = candidates.isEmpty ? keys.candidates : candidates
    throw CommandError.noUsableKey(
      named: name, seen.map { key in show(key) + (key.problem.map { ": " + $0.message } ?? "") },
      someAreUsable: !keys.usable.isEmpty)
  }

  /// Returns the fingerprint and the first user ID of a key.
  private static func show(_ key: OwnKeys.Candidate) -> String {
    ([key.fingerprint.text] + key.userIDs.prefix(1)).joined(separator: " ")
  }
}
