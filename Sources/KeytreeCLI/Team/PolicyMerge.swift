internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// The merge of two concurrent policies: the remote policy is accepted, and the local changes are reapplied on top.
struct PolicyMerge {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Completes the merge after the remote's policy is in the store. If it is interrupted, another run continues it.
  ///
  /// - Parameter digest: The digest of the policy that the user has already confirmed.
  /// - Returns: true if the store has changed.
  /// - Throws: `KeyringError` with the reason why the remote policy cannot be accepted, or the local changes cannot be
  ///   reapplied.
  func run(confirmed digest: ContentDigest?) throws -> Bool {
    let (path, host) = (try call.storePath(), try call.host())
    let past: HistoricalPolicies
    if let repository = try call.repository() {
      past = try PolicyHistoryReader(in: repository).steps()
    } else {
      past = HistoricalPolicies([])
    }
    defer { call.store.closeKeyring() }
    let merge = try Keyring.reapply(at: path, host: host, past: past)
    if ContentDigest(of: merge.keyring.policy.encode()) != digest { try confirm(merge) }
    guard !merge.edits.isEmpty else {
      try merge.keyring.accept()
      if !merge.dropped.isEmpty {
        call.console.complain(
          "keytree: warning: your changes of people and groups were not reapplied, because an admin has removed you"
        )
        call.console.complain("hint: ask an admin to make the changes")
      }
      return false
    }
    let change = try merge.keyring.plan(merge.edits, newKeys: merge.keys)
    let progress = WorkProgress("encrypt", console: call.console)
    defer { progress.finish() }
    let now = try merge.keyring.make(change, subject: "reapply changes of people and groups") {
      progress.advance(to: $0, of: $1)
    }
    call.console.say("Reapplied your changes of people and groups:")
    for line in PolicyDifference(from: change.before, to: now.policy).lines {
      call.console.say("  " + line)
    }
    return true
  }

  /// Reports the policy of the remote that `sync --reapply` takes, and asks for confirmation if it gives access to
  /// people or makes them admins.
  ///
  /// - Parameter repository: The repository, which has received the policy of the remote.
  /// - Returns: The digest of the policy.
  /// - Throws: `cannotReapply` if the policy is not trusted; `KeyringError`; `foreignPolicy`; `TerminalError.cancelled`.
  func acceptRemote(in repository: Repository) throws -> ContentDigest {
    guard let step = try Synchronization.fetchedPolicy(in: repository) else { throw SyncError.foreignPolicy }
    defer { call.store.closeKeyring() }
    try confirm(
      try Synchronization.rebase(
        try call.openKeyring(), onto: step, in: PolicyHistoryReader(in: repository)))
    return step.digest
  }

  private func confirm(_ merge: PolicyRebase) throws {
    try tell(
      "changes of people and groups on the remote, compared with the policy that this machine has accepted:",
      from: merge.accepted, to: merge.keyring.policy, question: "Accept these people and what they can read",
      refusal: "nothing was accepted or reapplied")
    if merge.edits.isEmpty { try confirmDroppedReaders(of: merge) }
  }

  /// Asks for confirmation if people were given access whom no admin of the remote's policy has added. If this user is
  /// added again, the next run sends the commits with items that are encrypted to them.
  private func confirmDroppedReaders(of merge: PolicyRebase) throws {
    let readers = merge.droppedReaders
    if readers.isEmpty { return }
    call.console.complain(
      "keytree: warning: your changes gave access to people whom the remote does not accept, and commits of this clone "
        + "are encrypted to them:")
    for person in readers {
      call.console.complain("  \(person.text)  \(merge.accepted.people[person]?.name ?? "unknown")")
    }
    call.console.complain(
      "hint: nothing is sent now; if an admin adds you again, `keytree sync` sends these commits; a new clone does not "
        + "have them")
    guard try call.console.confirm("Accept the policy, and keep these commits") else {
      throw TerminalError.cancelled(action: "nothing was accepted")
    }
  }

  /// The maximum number of policies that are created to pass the generation of a dropped policy.
  private static let maximumSteps: UInt64 = 100

  /// Prepares to drop the policy of the remote, as `sync --keep-policy` does: reports the difference, asks for
  /// confirmation if it gives access to people or makes them admins, and raises the generation of the policy of this
  /// clone above that of the remote, so that nobody takes it for an old one.
  ///
  /// - Parameter repository: The repository, which has received the policy of the remote.
  /// - Returns: The digest of the policy of the remote.
  /// - Throws: `KeyringError` if the user is not an admin or this clone's policy is not accepted; `foreignPolicy`;
  ///   `TerminalError.cancelled`.
  func dropRemote(in repository: Repository) throws -> ContentDigest {
    var keyring = try call.openKeyring()
    if let distrust = keyring.distrust { throw KeyringError.policyNotTrusted(distrust) }
    guard keyring.policy.admins.contains(keyring.ownFingerprint) else { throw KeyringError.team(.notAnAdmin) }
    guard let step = try Synchronization.fetchedPolicy(in: repository),
      let theirs = try? Policy.parse(step.bytes)
    else { throw SyncError.foreignPolicy }
    try tell(
      "what changes for machines that have accepted the people and groups of the remote:",
      from: theirs, to: keyring.policy, question: "Keep these people and what they can read",
      refusal: "nothing was merged")
    defer { call.store.closeKeyring() }
    for _ in 0..<Self.maximumSteps where keyring.policy.generation <= theirs.generation {
      keyring = try keyring.make(try keyring.plan([]), subject: "keep the people and groups of this clone")
      try call.commitPending()
    }
    return step.digest
  }

  /// Reports the difference of two policies, and asks for confirmation if it adds people, readers or admins.
  private func tell(
    _ title: String, from old: Policy, to new: Policy, question: String, refusal: String
  ) throws {
    let lines = PolicyDifference(from: old, to: new).lines
    if lines.isEmpty { return }
    call.console.complain("keytree: \(title)")
    for line in lines { call.console.complain("  " + line) }
    let admins = new.admins.contains { !old.admins.contains($0) }
    let people = new.people.keys.contains { new.isMember($0) && !old.isMember($0) }
    let readers = new.groups.contains { group, members in
      old.groups[group].map { old in members.contains { !old.contains($0) } } ?? false
    }
    guard admins || people || readers else { return }
    guard try call.console.confirm(question) else { throw TerminalError.cancelled(action: refusal) }
  }
}
