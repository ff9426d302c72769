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
      past = try Synchronization.fetchedPolicies(in: repository)
    } else {
      past = HistoricalPolicies([])
    }
    defer { call.store.closeKeyring() }
    let result = Result { () throws(KeyringError) in try Keyring.reapply(at: path, host: host, past: past) }
    if let problem = past.problem { throw problem }
    let merge = try result.get()
    if ContentDigest(of: merge.keyring.policy.encode()) != digest { try confirm(merge) }
    if merge.dropped.isEmpty { tellLeftOut(merge) }
    guard !merge.edits.isEmpty else {
      try merge.keyring.accept()
      if !merge.dropped.isEmpty {
        let newest = merge.keyring.policy.newestKey(of: merge.keyring.ownFingerprint)
        let isReplaced = merge.keyring.policy.isMember(newest)
        call.console.complain(
          "keytree: warning: your changes of people and groups were not reapplied, because an admin has "
            + (isReplaced ? "replaced your key by \(newest.text)" : "removed you"))
        call.console.complain(
          isReplaced
            ? "hint: import the secret of that key with `gpg --import FILE`, and make the changes again"
            : "hint: ask an admin to make the changes")
      }
      // A removed person cannot sign, and has been told of the removal.
      guard merge.keyring.policy.isMember(merge.keyring.ownFingerprint) else { return false }
      return try Self.signPastDropped(call)
    }
    let (before, now) = try apply(merge)
    call.console.say("Reapplied your changes of people and groups:")
    for line in PolicyDifference(from: before, to: now).lines {
      call.console.say("  " + line)
    }
    _ = try Self.signPastDropped(call)
    return true
  }

  /// Applies the local changes to the policy of the remote.
  ///
  /// - Returns: The policies before and after the changes.
  private func apply(_ merge: PolicyRebase) throws -> (before: Policy, after: Policy) {
    do {
      let (first, second) = try merge.keyring.separated(merge.edits)
      var keyring = try applyPossible(
        first, to: merge.keyring, newKeys: merge.keys, isInterim: !second.isEmpty)
      if !second.isEmpty { keyring = try apply(second, to: keyring) }
      return (merge.keyring.policy, keyring.policy)
    } catch {
      switch error {
      case KeyringError.team(.cannotReencrypt), KeyringError.team(.notAnAdmin):
        call.console.complain(
          "keytree: warning: your changes of people and groups cannot be applied to the policy of the remote")
        call.console.complain(
          "hint: ask another admin to make them, and run `keytree trust`, which accepts that policy without them"
        )
      default: break
      }
      throw error
    }
  }

  /// Reports the changes that are not reapplied because the other side has removed a person or changed a group.
  private func tellLeftOut(_ merge: PolicyRebase) {
    for person in merge.concurrent.removed {
      call.console.complain(
        "keytree: warning: your changes of the key and the groups of \(merge.accepted.name(of: person)) were not "
          + "reapplied, because an admin has removed that key")
    }
    for group in merge.concurrent.keptGroups {
      call.console.complain(
        "keytree: warning: the group \(ErrorReport.quote(group)) is kept: one side has deleted it, and the other one has "
          + "changed its members")
    }
  }

  /// Applies edits. A group into which the other side has stored an item since is not deleted.
  private func applyPossible(
    _ edits: [PolicyEdit], to keyring: Keyring, newKeys: [Fingerprint: [UInt8]], isInterim: Bool
  ) throws -> Keyring {
    do {
      return try apply(edits, to: keyring, newKeys: newKeys, isInterim: isInterim)
    } catch KeyringError.team(.groupInUse(let group, _)) {
      let rest = edits.filter { $0 != .delete(group: group) }
      guard rest.count < edits.count else { throw KeyringError.team(.groupInUse(group, items: 1)) }
      call.console.complain(
        "keytree: warning: the group \(ErrorReport.quote(group)) is not deleted, because it has items of the remote"
      )
      if !rest.isEmpty {
        return try applyPossible(rest, to: keyring, newKeys: newKeys, isInterim: isInterim)
      }
      if !isInterim { try keyring.accept() }
      return keyring
    }
  }

  private func apply(
    _ edits: [PolicyEdit], to keyring: Keyring, newKeys: [Fingerprint: [UInt8]] = [:],
    isInterim: Bool = false
  ) throws -> Keyring {
    try TeamChangeRun(call, keyring).make(
      keyring.plan(edits, newKeys: newKeys), "reapply changes of people and groups", isInterim: isInterim)
  }

  // MARK: Generations

  /// The number of signatures for which the user is not asked.
  private static let signaturesWithoutQuestion = 8
  /// The maximum number of signatures.
  private static let signatureLimit = 1000

  /// Signs the accepted policy again, if this user is an admin, until it is newer than each policy that a merge has dropped.
  ///
  /// The history decides, so an interrupted run can be repeated.
  ///
  /// - Parameter call: The call of the command.
  /// - Returns: True if the store has changed.
  /// - Throws: `KeyringError`, `GitError`, `SyncError`, `TerminalError.cancelled`.
  static func signPastDropped(_ call: CommandCall) throws -> Bool {
    guard let repository = try call.repository() else { return false }
    call.store.closeKeyring()
    defer { call.store.closeKeyring() }
    let keyring = try call.openKeyring()
    guard keyring.distrust == nil, keyring.policy.people.count > 1 else { return false }
    guard let dropped = try droppedGeneration(in: repository, try call.host()) else { return false }
    // The policy with the highest generation is the one that the merge has kept.
    let count = dropped + 1 - keyring.policy.generation
    if count <= 0 { return false }
    guard keyring.policy.admins.contains(keyring.ownFingerprint) else {
      call.console.complain(
        "keytree: warning: the history contains a policy that was dropped and that is not older than the accepted one"
      )
      call.console.complain("hint: ask an admin to run `keytree trust`, which signs the policy again")
      return false
    }
    try confirmSignatures(count, call)
    _ = try keyring.raiseGeneration(to: dropped + 1, subject: "accept the people and groups of the remote") {
      try call.commitPending()
    }
    call.console.say("Signed the policy again, so that it is newer than one that was dropped.")
    return true
  }

  private static func droppedGeneration(in repository: Repository, _ host: HostContext) throws -> Int? {
    // Created before the folder and stopped after its removal, so that no signal can leave the folder behind.
    let interruption = Interruption()
    defer { interruption?.stop() }
    let room = try VerificationWorkspace(host: host)
    defer { room.remove() }
    let result = Result { try PolicyHistory.droppedGeneration(in: repository, room: room) }
    // A signal also ends the running git, so the error of git does not matter.
    if interruption?.takeSignal() != nil {
      throw TerminalError.cancelled(action: "the policy was not signed again")
    }
    return try result.get()
  }

  /// Asks before many signatures are made. A person who can push may have dropped a chain of any length.
  private static func confirmSignatures(_ count: Int, _ call: CommandCall) throws {
    guard count <= signatureLimit else {
      throw CommandError.other(
        .failure,
        message:
          "the policy was not signed again: it is \(count) generations older than one that was dropped",
        hint: "clone an older state of the store, or create a new store and import this one")
    }
    if count <= signaturesWithoutQuestion { return }
    guard
      try call.console.confirm("Sign the policy \(count) times, once for each generation that was dropped")
    else {
      throw TerminalError.cancelled(action: "the policy was not signed again")
    }
  }

  /// Reports the policy of the remote that `sync --reapply` takes, and asks for confirmation if it gives access to
  /// people or makes them admins.
  ///
  /// - Parameter repository: The repository, which has received the policy of the remote.
  /// - Returns: The digest of the policy: the newest one of the remote.
  /// - Throws: `cannotReapply` if the policy is not trusted; `KeyringError`; `foreignPolicy`; `TerminalError.cancelled`.
  func acceptRemote(in repository: Repository) throws -> ContentDigest {
    guard let step = try Synchronization.fetchedPolicy(in: repository) else { throw SyncError.foreignPolicy }
    defer { call.store.closeKeyring() }
    let merge = try Synchronization.rebase(
      try call.openKeyring(), onto: step, past: try Synchronization.fetchedPolicies(in: repository))
    try requireSecret(for: merge)
    try merge.keyring.checkPolicy(after: merge.edits)
    try confirm(merge)
    return merge.step.digest
  }

  /// Refuses a merge after which this user could not sign their changes: the policy of the remote has only a key whose
  /// secret is not here, for example because they have replaced it since.
  private func requireSecret(for merge: PolicyRebase) throws {
    let (policy, own) = (merge.keyring.policy, merge.keyring.ownFingerprint)
    guard !merge.edits.isEmpty, policy.admins.contains(own),
      Set(try merge.keyring.ownPeople()).isDisjoint(with: policy.admins)
    else { return }
    let newest = merge.accepted.newestKey(of: own)
    throw CommandError.other(
      .recipientUnusable,
      message:
        "nothing was merged: your changes of people and groups cannot be reapplied, because the secret of your "
        + "admin key \(own.text) is not on this machine",
      hint: newest == own
        ? "ask another admin to make them, and run `keytree trust`, which accepts the policy without them"
        : "send another admin the output of `gpg --armor --export \(newest.text)`; they run "
          + "`keytree group replace \(own.text) FILE`; then run the same command again")
  }

  private func confirm(_ merge: PolicyRebase) throws {
    try tell(from: merge.base, to: merge.keyring.policy, isAccepted: merge.base == merge.accepted)
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
      call.console.complain("  \(person.text)  \(merge.accepted.people[person]?.shownName ?? "unknown")")
    }
    call.console.complain(
      "hint: nothing is sent now; if an admin adds you again, `keytree sync` sends these commits; a new clone does not "
        + "have them")
    guard try call.console.confirm("Accept the policy, and keep these commits") else {
      throw TerminalError.cancelled(action: "nothing was accepted")
    }
  }

  /// Prepares to drop the policy of the remote, as `sync --keep-policy` does: reports the difference, asks for
  /// confirmation, and raises the generation of the policy of this clone above that of the remote, so that other
  /// machines do not reject it as older.
  ///
  /// - Parameter repository: The repository, which has received the policy of the remote.
  /// - Returns: The digests of the policies to drop: that of the remote's commit, and the newest ones of the remote.
  /// - Throws: `KeyringError` if the user is not an admin or this clone's policy is not accepted; `CommandError` if the
  ///   policy of the remote is trusted; `foreignPolicy`; `TerminalError.cancelled`.
  func dropRemote(in repository: Repository) throws -> Set<ContentDigest> {
    let keyring = try call.openKeyring()
    if let distrust = keyring.distrust { throw KeyringError.policyNotTrusted(distrust) }
    let own = keyring.ownFingerprint
    guard keyring.policy.admins.contains(own) else { throw KeyringError.team(.notAnAdmin) }
    guard let step = try Synchronization.fetchedPolicy(in: repository) else { throw SyncError.foreignPolicy }
    let past = try Synchronization.fetchedPolicies(in: repository)
    let isRefused = try isRefused(step, by: keyring, past)
    if let problem = past.problem { throw problem }
    // Otherwise a person whom another admin has removed could return.
    guard isRefused else {
      throw CommandError.other(
        .failure, message: "nothing was merged: the policy of the remote is trusted, so it is not dropped",
        hint: "`keytree sync --reapply` accepts it and applies your changes on top")
    }
    let theirs = try keyring.newestSigned(upTo: step, past: past)
    if let problem = past.problem { throw problem }
    try confirmDropped(theirs, by: keyring.policy, of: own)
    defer { call.store.closeKeyring() }
    if let generation = theirs.map(\.generation).max() {
      try Self.confirmSignatures(generation + 1 - keyring.policy.generation, call)
      _ = try keyring.raiseGeneration(
        to: generation + 1, subject: "keep the people and groups of this clone"
      ) { try call.commitPending() }
    }
    return Synchronization.policies(droppedWith: step, theirs)
  }

  private func isRefused(_ step: PolicyStep, by keyring: Keyring, _ past: HistoricalPolicies) throws -> Bool {
    do throws(KeyringError) {
      _ = try keyring.rebase(onto: step, past: past)
      return false
    } catch {
      switch error {
      case .policyNotTrusted, .team(.noCommonPolicy): return true
      default: throw error
      }
    }
  }

  private func confirmDropped(_ dropped: [Policy], by mine: Policy, of own: Fingerprint) throws {
    for (index, theirs) in dropped.enumerated() {
      call.console.complain(
        "keytree: what changes for machines that have accepted the people and groups of the remote"
          + (dropped.count > 1 ? " (policy \(index + 1) of \(dropped.count)):" : ":"))
      for line in PolicyDifference(from: theirs, to: mine).lines { call.console.complain("  " + line) }
      if !theirs.admins.contains(own) {
        call.console.complain(
          "keytree: warning: the policy of the remote removes you as an admin, so machines that have accepted it "
            + "cannot accept yours, and need a new clone")
      }
    }
    if dropped.isEmpty {
      call.console.complain(
        "keytree: the policy of the remote is an older one, no admin has signed it, or it does not follow from one that "
          + "this clone knows"
      )
    }
    guard try call.console.confirm("Drop the policy of the remote") else {
      throw TerminalError.cancelled(action: "nothing was merged")
    }
  }

  /// Reports the changes of a policy of the remote, and asks for confirmation if they add people, readers or admins.
  private func tell(from mine: Policy, to theirs: Policy, isAccepted: Bool) throws {
    let lines = PolicyDifference(from: mine, to: theirs).lines
    if lines.isEmpty { return }
    call.console.complain(
      "keytree: changes of people and groups on the remote"
        + (isAccepted ? ", compared with the policy that this machine has accepted:" : ":"))
    for line in lines { call.console.complain("  " + line) }
    let admins = theirs.admins.contains { !mine.admins.contains($0) }
    let people = theirs.people.keys.contains { theirs.isMember($0) && !mine.isMember($0) }
    let readers = theirs.groups.contains { group, members in
      mine.groups[group].map { old in members.contains { !old.contains($0) } } ?? false
    }
    guard admins || people || readers else { return }
    guard try call.console.confirm("Accept these people and what they can read") else {
      throw TerminalError.cancelled(action: "nothing was accepted or reapplied")
    }
  }
}
