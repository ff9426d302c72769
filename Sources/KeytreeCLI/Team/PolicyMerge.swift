internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// Two policies that were made at once: theirs is taken, and this machine's changes are made again on top.
struct PolicyMerge {
  private let call: CommandCall

  init(_ call: CommandCall) { self.call = call }

  /// Does it. When it is cut off, doing it again goes on.
  ///
  /// - Returns: Whether the store has changed.
  /// - Throws: `KeyringError` with the reason why theirs cannot be taken, or mine cannot be made again.
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
      try merge.keyring.accept()
      return false
    }
    let change = try merge.keyring.plan(merge.edits, newKeys: merge.keys)
    let progress = WorkProgress("seal", console: call.console)
    defer { progress.finish() }
    let now = try merge.keyring.make(change, subject: "change people and groups again") {
      progress.advance(to: $0, of: $1)
    }
    call.console.say("Made your changes of people and groups again:")
    for line in PolicyDifference(from: change.before, to: now.policy).lines {
      call.console.say("  " + line)
    }
    return true
  }

  /// Tells what theirs brings, and asks whether it may bring readers and admins.
  private func tell(_ merge: PolicyRebase) throws {
    let (mine, theirs) = (merge.accepted, merge.keyring.policy)
    let lines = PolicyDifference(from: mine, to: theirs).lines
    if lines.isEmpty { return }
    call.console.complain(
      "keytree: people and groups of the other side, compared with what this machine has accepted:")
    for line in lines { call.console.complain("  " + line) }
    let admins = theirs.admins.contains { !mine.admins.contains($0) }
    let people = theirs.people.keys.contains { theirs.isMember($0) && !mine.isMember($0) }
    let readers = theirs.groups.contains { group, members in
      mine.groups[group].map { old in members.contains { !old.contains($0) } } ?? false
    }
    guard admins || people || readers else { return }
    guard try call.console.confirm("Accept these people and what they can read") else {
      throw TerminalError.cancelled(action: "nothing was accepted, and nothing made again")
    }
  }
}
