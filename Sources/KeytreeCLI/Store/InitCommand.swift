internal import Arguments
internal import CommandSupport
internal import Encoding
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
    help: "the key of the owner, by fingerprint or email address; not needed if you have only one key")
  static let noGit = OptionDeclaration(
    "no-git", help: "do not create a git repository, and keep no history")

  static let declaration = CommandDeclaration(
    name: "init", summary: "create a store",
    details: [
      "Creates the folder, the policy with you as its only person, and the pin, which records that this machine "
        + "trusts the policy. Without `--key`, it uses the only usable secret key of your GnuPG home; if you have "
        + "several, it asks on a terminal. A key is usable if it can encrypt and sign, and is not expired, revoked or "
        + "disabled.",
      "Git keeps the history, with one commit for every change. The store gets its own repository, unless its folder "
        + "is in the work tree of another repository that does not ignore it. A commit shows which items changed, as "
        + "the index does. Its author is the user in your git configuration, otherwise the owner of the key.",
      "A repository can contain only one store. If it already contains a store, another one is refused; `--no-git` "
        + "creates it without a history.",
    ],
    options: [key, GroupCommand.encryptTo, noGit],
    examples: [
      Example("keytree init", "creates the store in the default folder"),
      Example(
        "keytree init --store ~/work.keytree --key alice@example.org",
        "uses another folder and a specific key"),
    ],
    exitCodes: [3, 5, 6, 10, 11, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let (path, host) = (try call.storePath(), try call.host())
    try refuseExisting(path, host)
    if !call.arguments.has(noGit) { try call.refuseSecondStore(path) }
    let owner = try owner(call, host)
    let choice = try encryptionChoice(of: owner.fingerprint, call, host)
    let store = try Keyring.prepare(
      at: path, owner: owner.fingerprint, encryptTo: choice?.subkeys ?? [], host: host)
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
    call.console.say("Created the store \(path).")
    call.console.say("Its owner is \(show(owner)).")
    for line in lines { call.console.say(line) }
    if let choice { call.tellSkipped(choice) }
    let program = call.globals.store == nil ? "keytree" : "keytree --store \(path)"
    call.console.say(
      "hint: `\(program) add github.com/alice` stores a password; `\(program) get github.com/alice` prints it."
    )
    if let passStore = call.environment.passStore {
      call.console.say(
        "hint: `\(program) import \(passStore.shellWord) --dry-run` shows what an import of your pass store would add."
      )
    }
    return .done
  }

  /// Returns the subkeys of the owner's key to encrypt to; nil if none is valid, which creating the store reports.
  private static func encryptionChoice(
    of owner: Fingerprint, _ call: CommandCall, _ host: HostContext
  ) throws -> EncryptionChoice? {
    let key: PublicKey?
    do {
      key = try UserKeyring(locations: host.engineLocations).publicKey(owner)
    } catch {
      throw KeyringError.engine(error, nil)
    }
    return try key.flatMap { key in
      try call.requireOwnersOfGivenSubkeys(among: [key])
      return try call.encryptionChoice(of: key, secrets: try call.secretSubkeys()[owner])
    }
  }

  /// Creates a repository for the store, unless `--no-git` was given.
  ///
  /// - Returns: the messages about it.
  private static func makeHistory(_ call: CommandCall, _ path: String) throws -> [String] {
    if call.arguments.has(noGit) { return [] }
    guard call.git(in: path).program != nil else {
      return [
        "It has no history: git is not installed.",
        "hint: install git (`apt install git`), then run `keytree git init`.",
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

  /// Throws if a file exists at the path of the store.
  private static func refuseFile(_ path: String) throws {
    var facts = stat()
    guard unsafe stat(path, &facts) == 0, facts.st_mode & S_IFMT != S_IFDIR else { return }
    throw CommandError.other(
      .alreadyExists,
      message: "cannot create the store \(path): a file exists at this path, and a store is a folder",
      hint: "give another folder with `--store DIR`, or move the file")
  }

  /// Returns the key that was named, or the only one that can be used.
  private static func owner(_ call: CommandCall, _ host: HostContext) throws -> OwnKeys.Candidate {
    let keys = try OwnKeys(host: host)
    let name = call.arguments.text(key)
    let candidates = if let name { try keys.matching(name) } else { keys.candidates }
    let usable = candidates.filter { $0.problem == nil }
    if let first = usable.first {
      if usable.count == 1 { return first }
      guard call.console.inputIsTerminal, !call.globals.noInput else {
        throw CommandError.severalKeys(usable.map(show))
      }
      return try chosen(among: usable, call.console)
    }
    let expired = candidates.filter { $0.problem?.isExpired == true }
    if candidates.count == 1, let only = expired.first, let problem = only.problem {
      throw CommandError.other(
        .recipientUnusable, message: "cannot use the key \(show(only)): \(problem.message)",
        hint: "\(only.key.extensionCommands(at: host.clock())) extends it; then run the command again")
    }
    // If the one matching key cannot be used, its own reason is the answer.
    if name != nil, candidates.count == 1, let only = candidates.first, let problem = only.problem {
      throw KeyringError.engine(.unusableKey(only.fingerprint, problem), nil)
    }
    // With a wrong clock no key can be used, and a new one would be no better.
    for candidate in candidates {
      guard case .fromFuture(let time)? = candidate.problem else { continue }
      throw KeyringError.engine(.unusableKey(candidate.fingerprint, .fromFuture(time)), nil)
    }
    // If a name matches no key, list the existing keys, because one of them may be meant.
    let seen = candidates.isEmpty ? keys.candidates : candidates
    throw CommandError.noUsableKey(
      named: name, seen.map { key in show(key) + (key.problem.map { ": " + $0.message } ?? "") },
      someAreUsable: !keys.usable.isEmpty)
  }

  /// The number of wrong answers after which the question is not repeated.
  private static let attempts = 3

  /// Asks which of several keys is that of the owner.
  ///
  /// - Throws: `cancelled` without a valid answer.
  private static func chosen(
    among keys: [OwnKeys.Candidate], _ console: Console
  ) throws -> OwnKeys.Candidate {
    for (number, key) in keys.enumerated() { console.complain("\(number + 1)  \(show(key))") }
    for _ in 0..<attempts {
      guard let answer = try console.ask("Number of the owner's key"), !answer.isEmpty else { break }
      if let number = Int(answer), keys.indices.contains(number - 1) { return keys[number - 1] }
      console.complain("Give a number from 1 to \(keys.count).")
    }
    throw TerminalError.cancelled(action: "no store was created")
  }

  /// Returns the fingerprint and the first user ID of a key.
  private static func show(_ key: OwnKeys.Candidate) -> String {
    ([key.fingerprint.text] + key.userIDs.prefix(1).map(Person.shownName)).joined(separator: " ")
  }
}
