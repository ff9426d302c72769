internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync
internal import Terminal

/// Receives what the remote has, before the user accepts a policy.
///
/// A newcomer may clone a store before an admin has added them; the policy that lets them in is on the remote. Nothing
/// that is received is trusted: the pin is written only by `trust`, after it has shown the people and asked.
struct RemoteReception {
  private let call: CommandCall
  private let options: Synchronization.Options

  /// Creates a reception. Nothing is pushed, whatever the options say.
  init(_ call: CommandCall, _ options: Synchronization.Options) {
    self.call = call
    var options = options
    options.pullsOnly = true
    self.options = options
  }

  /// Receives what the remote has, for `trust`. If that fails, for example without a network, a warning is printed, and
  /// the command continues with the files of this clone.
  ///
  /// - Returns: The policy of the remote if it can only be merged after the user has accepted that policy: it does not
  ///   follow the accepted one, or it is newer and this clone has commits of its own. nil otherwise.
  /// - Throws: errors that are not about git or the remote.
  func receiveForTrust() throws -> PolicyStep? {
    do {
      try receive()
    } catch KeyringError.policyNotTrusted(.notPinned) {
      return try fetchedPolicy()
    } catch KeyringError.policyNotTrusted {
      // The command reads the policy itself, and reports the reason with another hint.
    } catch SyncError.untrustedPolicy(let reason, let commit) {
      warn(SyncError.untrustedPolicy(reason, commit: commit))
      if case .restored = reason { return nil }
      return try repository().flatMap { try Synchronization.fetchedPolicy(in: $0) }
    } catch let error where error is GitError || error is SyncError {
      warn(error)
    }
    return nil
  }

  private func warn(_ error: any Error) {
    let message = ErrorReport(describing: error).message ?? "it failed"
    call.console.complain(
      "keytree: warning: nothing was received from the remote, and this clone may be outdated: \(message)")
  }

  /// Merges the remote after the user has accepted its policy. If that fails, a warning is printed, because the policy
  /// is accepted nevertheless.
  ///
  /// - Parameter step: the accepted policy.
  /// - Throws: errors that are not about git or the remote.
  func mergeAccepted(_ step: PolicyStep) throws {
    guard let repository = try repository() else { return }
    // The folder of the store does not have the policy and its key files yet.
    let keyring = try Keyring.open(accepted: step, in: try call.store.folder(), host: try call.host())
    do {
      try tell(try synchronize(keyring, repository))
    } catch let error where error is GitError || error is SyncError {
      let report = ErrorReport(describing: error)
      call.console.complain(
        "keytree: warning: the remote was not merged: \(report.message ?? "it failed")")
      call.console.complain("hint: run `keytree sync`")
    }
  }

  /// Receives what the remote has into a store whose policy was not accepted.
  ///
  /// - Returns: The newer policy of the remote if this clone has commits of its own, so that it was not merged; nil
  ///   otherwise.
  /// - Throws: the errors of `Synchronization.run`, except that of a clone with commits of its own.
  func receiveUnaccepted() throws -> PolicyStep? {
    guard let repository = try repository() else { return nil }
    do {
      try tell(try synchronize(try unacceptedKeyring(), repository))
      return nil
    } catch KeyringError.policyNotTrusted(.notPinned) {
      return try fetchedPolicy()
    }
  }

  /// Returns the policy of the remote if it is newer than that of this clone, and warns that nothing was merged.
  private func fetchedPolicy() throws -> PolicyStep? {
    call.console.complain(
      "keytree: warning: this clone has commits of its own, so the changes of the remote are merged after you have "
        + "accepted the policy")
    guard let repository = try repository(),
      let step = try Synchronization.fetchedPolicy(in: repository),
      // The policy of a commit was parsed when it was read.
      let theirs = try? Policy.parse(step.bytes)
    else { return nil }
    let own = try PolicyState(in: try call.store.folder()).policy
    return theirs.keyring == own.keyring && theirs.generation > own.generation ? step : nil
  }

  private func receive() throws {
    guard let repository = try repository() else { return }
    let result: Synchronization.Report
    do {
      result = try synchronize(try call.openKeyring(), repository)
    } catch KeyringError.policyNotTrusted(let reason) where reason.isWithoutPin {
      result = try synchronize(try unacceptedKeyring(), repository)
    }
    if result == Synchronization.Report() { return }
    try tell(result)
    do {
      // Accepts and reports a received policy that follows the accepted one.
      _ = try call.openKeyring()
    } catch KeyringError.policyNotTrusted(let reason) where reason.isWithoutPin {
      // The command now shows the policy and asks.
    }
  }

  /// Returns the repository of the store if it has a remote.
  private func repository() throws -> Repository? {
    guard let repository = try call.repository(), try Remote.find(in: repository) != nil else { return nil }
    try call.setUp(repository)
    return repository
  }

  private func unacceptedKeyring() throws -> Keyring {
    try Keyring.openUnaccepted(in: try call.store.folder(), host: try call.host())
  }

  private func synchronize(_ keyring: Keyring, _ repository: Repository) throws -> Synchronization.Report {
    let (tree, host) = (try call.store.folder(), try call.host())
    // The result may include a new policy.
    defer { call.store.closeKeyring() }
    let name = keyring.isAccepted ? keyring.policy.people[keyring.ownFingerprint]?.name : nil
    return try Synchronization(
      keyring, tree: tree, repository: repository, timeout: host.lockTimeout, options: options,
      author: { name }
    ).run()
  }

  private func tell(_ result: Synchronization.Report) throws {
    let report = SyncReport(result, pullsOnly: true)
    report.say(call.console)
    report.warn(call)
    try report.sayConflicts(call)
  }
}

extension PolicyDistrust {
  /// True if this machine has no readable record of an accepted policy.
  var isWithoutPin: Bool {
    switch self {
    case .notPinned, .pinUnreadable: true
    default: false
    }
  }
}
