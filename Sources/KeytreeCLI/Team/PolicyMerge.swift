internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// The merge of two concurrent policies: the remote policy is accepted, and the local changes are reapplied on top.
struct PolicyMerge {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Runs the merge. If it is interrupted, another run continues it.
  ///
  /// - Returns: true if the store has changed.
  /// - Throws: `KeyringError` with the reason why the remote policy cannot be accepted, or the local changes cannot be
  ///   reapplied.
  func run() throws -> Bool {
    let (path, host) = (try call.storePath(), try call.host())
    let past: HistoricalPolicies
    if let repository = try call.repository() {
      past = try PolicyHistoryReader(in: repository).steps()
    } else {
      past = HistoricalPolicies([])
    }
    defer { call.store.closeKeyring() }
    let merge = try Keyring.reapply(at: path, host: host, past: past)
    try tell(merge)
    guard !merge.edits.isEmpty else {
      try confirmDroppedReaders(of: merge)
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

  /// Reports the remote changes, and asks for confirmation if they add people, readers or admins.
  private func tell(_ merge: PolicyRebase) throws {
    let (mine, theirs) = (merge.accepted, merge.keyring.policy)
    let lines = PolicyDifference(from: mine, to: theirs).lines
    if lines.isEmpty { return }
    call.console.complain(
      "keytree: changes of people and groups on the remote, compared with the policy that this machine has accepted:"
    )
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
