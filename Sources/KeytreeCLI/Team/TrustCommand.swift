internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// `keytree trust`: accepts the policy of a store on this machine.
enum TrustCommand: Command {
  static let fingerprint = OptionDeclaration(
    "fingerprint", .required(ValueDeclaration("FPR", .text)),
    help: "accept the policy without a prompt if this admin has signed it")

  static let declaration = CommandDeclaration(
    name: "trust", summary: "accept the people of a store on this machine",
    details: [
      "A store can easily be replaced by a copy with another reader. Therefore each machine accepts the people of a "
        + "store once: compare the fingerprints with those that you know from another source, such as `gpg "
        + "--list-keys` on your other machine. The command shows what has changed since the last time.",
      "If the store has a remote, the command first receives what the remote has, as `keytree sync --pull-only` does. "
        + "If it cannot, it reports why and shows the policy of this clone. If this clone has commits of its own and "
        + "the remote has a newer policy, that policy is shown, and the remote is merged after you have accepted it.",
      "If a merge has dropped a newer policy and you are an admin, the command signs the accepted one again, so that "
        + "other machines do not report an old policy.",
      "Scripts give the full fingerprint of the admin who must have signed the policy. A policy that is not newer "
        + "than the accepted one is never accepted in this way.",
    ],
    options: [fingerprint],
    examples: [
      Example("keytree trust", "shows who can read the store, and asks"),
      Example("keytree trust --fingerprint C86E40475C0FBD627777428CC11945FA7D8856D8", "for scripts"),
    ],
    exitCodes: [3, 4, 7, 9, 11, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let expected = try expectedAdmin(call)
    let (path, host) = (try call.storePath(), try call.host())
    var options = Synchronization.Options()
    options.asksPerson = call.mayAsk
    let reception = RemoteReception(call, options)
    let fetched = try reception.receiveForTrust()
    let trust: Trust
    do {
      trust = if let fetched { try Trust(fetched, host: host) } else { try Trust(at: path, host: host) }
    } catch {
      if case .policyNotTrusted(let reason) = error { throw refusal(reason) }
      throw error
    }
    defer { call.explain(trust.engineStatistics) }
    let code: ExitCode
    do {
      code = try decide(trust, at: path, expected: expected, call)
    } catch TerminalError.promptImpossible {
      throw unasked
    }
    if let fetched { try reception.mergeAccepted(fetched) }
    if trust.standing == .first { try rebuildIndex(at: path, call) }
    if try PolicyMerge.signPastDropped(call) {
      call.console.say("hint: `keytree sync` sends it.")
    }
    return code
  }

  /// Shows the policy, asks the user unless a fingerprint is given, and accepts the policy.
  ///
  /// - Parameters:
  ///   - path: the folder of the store.
  ///   - isOtherStore: true if commands use another store without `--store`.
  static func decide(
    _ received: Trust, at path: String, isOtherStore: Bool = false, expected: Fingerprint?,
    _ call: CommandCall
  ) throws -> ExitCode {
    let isAccepted = received.standing == .accepted
    let past = isAccepted ? nil : try history(of: received, at: path, call)
    let trust = try past.map { past throws(KeyringError) in try received.following(past) } ?? received
    if !call.globals.json { show(trust, call.console) }
    if let obstacle = trust.obstacle { throw refusal(obstacle) }
    if let past { try checkHistory(of: trust, past, expected: expected, call) }
    guard trust.signer != nil else {
      throw noOwnKey(try OwnKeys(host: try call.host()), trust, folder: isOtherStore ? path : nil)
    }
    if let expected { try check(trust, signedBy: expected) }
    if !isAccepted || trust.changesSigner {
      if !isAccepted, expected == nil, try !call.console.confirm("Accept these people on this machine") {
        throw TerminalError.cancelled(action: "nothing was accepted")
      }
      try trust.accept()
    }
    try placeFiles(of: path, AllowedFiles(beside: trust.policy), call)
    if call.globals.json {
      call.console.print(json: json(trust))
    } else {
      call.console.say(isAccepted ? "Already accepted." : "Accepted.")
    }
    return .done
  }

  /// Returns the policies of the history of a store; nil if it has none.
  private static func history(
    of trust: Trust, at path: String, _ call: CommandCall
  ) throws -> HistoricalPolicies? {
    guard let repository = try Repository.find(store: path, git: call.git(in:)) else { return nil }
    let past = try Synchronization.fetchedPolicies(in: repository)
    if trust.isOnBranch(of: past) { return past }
    // The checked-out branch also has the policies that only this machine has made.
    return try PolicyHistoryReader(in: repository).steps(branch: try repository.git.commit("HEAD"))
  }

  /// The error if nobody can be asked whether to accept the policy.
  private static var unasked: CommandError {
    .other(
      .cancelled, message: "nothing was accepted: keytree cannot ask without a terminal",
      hint: "compare the fingerprint of the admin who has signed the policy with one that you know; then "
        + "`keytree trust --fingerprint FPR` accepts it")
  }

  /// Throws an error if the policy to accept is not the newest one of its history. Warns if two sides of the history
  /// contradict each other.
  private static func checkHistory(
    of trust: Trust, _ past: HistoricalPolicies, expected: Fingerprint?, _ call: CommandCall
  ) throws {
    do {
      try trust.requireNewest(in: past)
    } catch KeyringError.policyNotTrusted(let reason) {
      // The user decides between two sides; a script does not.
      guard case .contradictory = reason, expected == nil else { throw refusal(reason) }
      call.console.complain("keytree: warning: \(reason.message)")
    }
    if let problem = past.problem { throw problem }
  }

  /// Builds the index of a clone anew from the records, once its people are accepted, and commits it. It is not signed, so
  /// that a person who can push could hide items in it.
  static func rebuildIndex(at path: String, _ call: CommandCall) throws {
    let host = try call.host()
    guard try Keyring.open(at: path, host: host).rebuildIndex(),
      let repository = try Repository.find(store: path, git: call.git(in:))
    else { return }
    let tree = try StoreFolder.open(path)
    let committer = Committer(repository: repository, tree: tree, timeout: host.lockTimeout) {
      Keyring.ownName(in: tree, host: host)
    }
    do {
      _ = try committer.commitPending()
    } catch {
      throw NotCommittedError(error)
    }
  }

  /// Adds files to the work tree that a clone has withheld until the policy was accepted.
  private static func placeFiles(
    of path: String, _ allowed: AllowedFiles, _ call: CommandCall
  ) throws {
    let found = try Repository.find(store: path, git: call.git(in:))
    guard let repository = found else { return }
    try call.placeWithheldFiles(
      in: repository, of: try StoreFolder.open(path), allowed, isTold: true)
  }

  /// Returns the admin given with `--fingerprint`.
  static func expectedAdmin(_ call: CommandCall) throws -> Fingerprint? {
    guard let text = call.arguments.text(fingerprint) else { return nil }
    let compact = text.filter { $0 != " " }.uppercased()
    guard let expected = Fingerprint(compact) else {
      throw call.misuse(.other("`--fingerprint` takes all 40 or 64 digits of a fingerprint"))
    }
    return expected
  }

  /// Returns the error for a policy that cannot be accepted. The usual hint, to run `trust`, would not help here.
  static func refusal(_ reason: PolicyDistrust) -> CommandError {
    let hint =
      switch reason {
      case .restored, .contradictory: reason.hint
      case .keyExchanged:
        "restore the file in `keys` from git; `keytree group refresh KEYFILE` imports a newer key"
      default:
        "restore `policy.json`, its signature and `keys` from git or a backup, or ask an admin you know"
      }
    return .other(
      .policyNotTrusted, message: "the policy of the store is not trusted: \(reason.message)", hint: hint)
  }

  private static func noOwnKey(_ keys: OwnKeys, _ trust: Trust, folder: String?) -> CommandError {
    .other(
      .cannotDecrypt, message: "cannot accept the policy: none of your secret keys belongs to a person in it",
      hint: JoinHint.text(for: keys, in: trust.policy, former: trust.preferred, folder: folder))
  }

  private static func check(_ trust: Trust, signedBy expected: Fingerprint) throws {
    guard trust.signedBy == expected else {
      throw CommandError.other(
        .policyNotTrusted,
        message: "the policy of the store is not trusted: it is signed by "
          + "\(trust.signedBy?.text ?? "no admin"), not by \(expected.text)",
        hint:
          "compare the fingerprints; `keytree trust` without `--fingerprint` asks you whether to accept the policy"
      )
    }
    let reason: String
    switch trust.standing {
    case .first, .accepted, .newer:
      guard let person = trust.changedKeys.first else { return }
      reason = PolicyDistrust.keyChanged(person, name: trust.policy.people[person]?.name ?? "").message
    case .forgotten, .keysChanged, .forked, .older: reason = words(trust.standing)
    }
    throw CommandError.other(
      .policyNotTrusted, message: "the policy of the store is not trusted: \(reason)",
      hint: "run `keytree trust` without `--fingerprint`, review the changes, and answer the question")
  }

  private static func words(_ standing: Trust.Standing) -> String {
    switch standing {
    case .first: "this machine has not accepted any policy of this keyring"
    case .forgotten: "this machine's record of the accepted policy cannot be read"
    case .accepted: "accepted on this machine"
    case .keysChanged: "accepted on this machine, but with other key files"
    case .newer: "newer than the one this machine has accepted"
    case .forked: "this machine has accepted another policy of the same generation"
    case .older: "OLDER than the one this machine has accepted: an old policy may have been restored"
    }
  }

  private static func show(_ trust: Trust, _ console: Console) {
    var list = FactList()
    list.add("keyring", trust.policy.keyring.hex)
    list.add("policy", "generation \(trust.policy.generation), \(words(trust.standing))")
    if let signer = trust.signedBy {
      list.add("signed by", "\(signer.text)  \(trust.policy.name(of: signer))")
    }
    trust.policy.addFacts(to: &list, me: trust.signer)
    for person in trust.changedKeys {
      list.add("key file", "\(person.text)  \(trust.policy.name(of: person)), CHANGED since it was accepted")
    }
    console.print(list)
    if !trust.changedKeys.isEmpty {
      console.say(
        "hint: an older key file may lack a revocation; `gpg --show-keys FILE` shows the files in `keys/`.")
    }
    guard let accepted = trust.accepted, trust.standing != .accepted, trust.standing != .keysChanged
    else { return }
    console.print("")
    let changes = PolicyDifference(from: accepted, to: trust.policy).lines
    console.print(changes.isEmpty ? "No person, group or file changes." : "Changes:")
    for line in changes { console.print(wrapping: line, indent: 4) }
  }

  private static func json(_ trust: Trust) -> JSONValue {
    .object([
      JSONMember("accepted", .bool(true)), JSONMember("keyring", .string(trust.policy.keyring.hex)),
      JSONMember("generation", .integer(Int64(trust.policy.generation))),
      JSONMember("signedBy", trust.signedBy.map { .string($0.text) } ?? .null),
      JSONMember("people", trust.policy.peopleJSON), JSONMember("groups", trust.policy.groupsJSON),
      JSONMember("files", trust.policy.filesJSON),
    ])
  }
}
