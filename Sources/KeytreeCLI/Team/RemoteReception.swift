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
  /// - Throws: errors that are not about git or the remote.
  func receiveForTrust() throws {
    do {
      try receive()
    } catch KeyringError.policyNotTrusted(.notPinned) {
      call.console.complain(
        "keytree: warning: this clone has commits of its own, so the changes of the remote are merged after you have "
          + "accepted the policy")
    } catch KeyringError.policyNotTrusted {
      // The command reads the policy itself, and reports the reason with another hint.
    } catch let error where error is GitError || error is SyncError {
      let message = ErrorReport(describing: error).message ?? "it failed"
      call.console.complain(
        "keytree: warning: nothing was received from the remote, and this clone may be outdated: \(message)")
    }
  }

  /// Receives what the remote has into a store whose policy was not accepted.
  ///
  /// - Throws: the errors of `Synchronization.run`, except that of a clone with commits of its own.
  func receiveUnaccepted() throws {
    guard let repository = try repository() else { return }
    do {
      tell(try synchronize(try unacceptedKeyring(), repository))
    } catch KeyringError.policyNotTrusted(.notPinned) {
      // The policy must be accepted first, which the caller reports.
    }
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
    tell(result)
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
    return try Synchronization(
      keyring, tree: tree, repository: repository, timeout: host.lockTimeout, options: options,
      author: { Keyring.ownName(in: tree, host: host) }
    ).run()
  }

  private func tell(_ result: Synchronization.Report) {
    let report = SyncReport(result, pullsOnly: true)
    report.say(call.console)
    report.warn(call.console)
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
