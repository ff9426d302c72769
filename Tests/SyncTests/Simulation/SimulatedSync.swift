import Encoding
import Keyring
import KeyringModel
import Sync

extension SimulatedWorld {
  /// Synchronizes a clone, as `keytree sync` does. If both sides have changed people or groups, it continues as
  /// `keytree sync --reapply`, or as `keytree sync --keep-policy` if that is refused; changes that cannot be reapplied
  /// are dropped, as with `keytree trust`.
  ///
  /// - Parameters:
  ///   - seat: The clone.
  ///   - faults: The faults to inject.
  ///   - addsReaders: True to also encrypt the items of a group to its new members, as `keytree group reseal` does.
  /// - Returns: A report.
  /// - Throws: The errors of the program.
  @discardableResult
  func sync(
    _ seat: SimulatedSeat, faults: FaultPlan? = nil, addsReaders: Bool = false
  ) throws -> Synchronization.Report {
    var report = Synchronization.Report()
    var options = Synchronization.Options()
    var takesTheirs = false
    do {
      report = try synchronize(seat, options, faults)
    } catch SyncError.policiesDiverged {
      takesTheirs = true
      do {
        options.policy = .theirs(try newestRemotePolicy(seat).digest)
        report = try synchronize(seat, options, faults)
      } catch SyncError.cannotReapply {
        takesTheirs = false
        options.policy = .ours(dropping: try drop(seat))
        report = try synchronize(seat, options, faults)
      }
    } catch KeyringError.policyNotTrusted {
      try trust(seat)
      report = try synchronize(seat, options, faults)
    }
    var hasChanged = try takesTheirs && reapply(seat)
    var keyring = try seat.open(faults: faults)
    if keyring.distrust != nil {
      // The command has reported the reason, and the user now accepts the policy of the remote.
      takesTheirs = true
      hasChanged = try reapply(seat)
      keyring = try seat.open(faults: faults)
      report.isUnsent = true
    }
    if keyring.distrust == nil, keyring.policy.isMember(seat.person) {
      if try keyring.renewPassRecipients() { hasChanged = true }
      hasChanged = try reencrypt(seat, keyring, addsReaders || takesTheirs) || hasChanged
    }
    if hasChanged || report.isUnsent {
      try seat.commit(faults: faults)
      report.add(try synchronize(seat, .init(), faults))
    }
    return report
  }

  private func fetchedPolicy(_ seat: SimulatedSeat) throws -> PolicyStep {
    guard let step = try Synchronization.fetchedPolicy(in: try seat.repository()) else {
      throw SyncError.foreignPolicy
    }
    return step
  }

  private func newestRemotePolicy(_ seat: SimulatedSeat) throws -> PolicyStep {
    try Synchronization.rebase(
      try seat.open(), onto: try fetchedPolicy(seat),
      past: try Synchronization.fetchedPolicies(in: try seat.repository())
    ).step
  }

  /// Raises the generation of the policy of a seat above that of the remote, whose policy is dropped.
  ///
  /// - Returns: The digests of the policies of the remote.
  private func drop(_ seat: SimulatedSeat) throws -> Set<ContentDigest> {
    let step = try fetchedPolicy(seat)
    let past = try Synchronization.fetchedPolicies(in: try seat.repository())
    let theirs = try seat.open().newestSigned(upTo: step, past: past)
    if let last = theirs.last { _ = try raiseGeneration(to: last.generation + 1, seat) }
    return Synchronization.policies(droppedWith: step, theirs)
  }

  private func synchronize(
    _ seat: SimulatedSeat, _ options: Synchronization.Options, _ faults: FaultPlan?
  ) throws -> Synchronization.Report {
    try Synchronization(
      try seat.open(faults: faults), tree: try FileTree(at: seat.path, faults: faults),
      repository: try seat.repository(), timeout: 30, options: options,
      author: { "\(seat.name) <x@example.org>" }
    ).run()
  }

  /// Reapplies the changes of people and groups of this machine on top of the remote's policy.
  ///
  /// - Returns: True if the store has changed.
  private func reapply(_ seat: SimulatedSeat) throws -> Bool {
    let rebase = try Keyring.reapply(
      at: seat.path, host: seat.host, past: try Synchronization.fetchedPolicies(in: try seat.repository()))
    if rebase.edits.isEmpty {
      try rebase.keyring.accept()
      return try signPastDropped(seat)
    }
    do throws(KeyringError) {
      let change = try rebase.keyring.plan(rebase.edits, newKeys: rebase.keys, force: true)
      _ = try rebase.keyring.make(change)
    } catch {
      switch error {
      case .team, .itemDamaged: break
      default: throw error
      }
      // For example because the other admin has removed this one.
      return try trust(seat)
    }
    _ = try signPastDropped(seat)
    return true
  }

  private func reencrypt(_ seat: SimulatedSeat, _ keyring: Keyring, _ addsReaders: Bool) throws -> Bool {
    let own = Set(keyring.policy.groups(of: seat.person))
    do throws(KeyringError) {
      let (count, waiting) = try keyring.removeUnauthorizedReaders(in: own)
      guard addsReaders, !waiting.isEmpty else { return count > 0 }
      return try keyring.reencryptOutdated(in: own) > 0 || count > 0
    } catch {
      switch error {
      // Another member, who can decrypt these items, re-encrypts them.
      case .team(.cannotReencrypt): return false
      // The command reports that an item of this clone is not signed by a member, and continues. This is so until others
      // have refused the item of a person who has left its group.
      case .itemDamaged(_, .badSignature): return false
      default: throw error
      }
    }
  }
}
