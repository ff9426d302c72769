internal import CSystem
internal import KeyringModel
internal import Synchronization

extension Engine {
  /// Runs an operation that needs a secret key. If it fails in a way that a missing agent can cause, the connection to
  /// the agent is repaired and the operation is run again once.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation; `agentUnreachable` when the agent cannot be started; `restrictedAgent` when
  ///   it does not let this engine rule out prompts.
  func withAgent<R: ~Copyable>(
    _ operation: (Session) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let before = repairCount
    let session = try session()
    do {
      try requireUnrestrictedAgent(session)
      return try operation(session)
    } catch {
      // Connecting is cheap; gpgconf needs two processes.
      guard error.mayBeCausedByMissingAgent || error == .corrupt && !session.home.redirect.isAgentReachable,
        let mended = try mend(session, since: before, error)
      else { throw error }
      try requireUnrestrictedAgent(mended)
      return try operation(mended)
    }
  }

  /// Checks, for an engine that does not let the agent prompt, that the agent accepts this.
  ///
  /// If the agent refuses gpg's option about prompts, the first key that gpg tries fails, but gpg uses the next one
  /// without the option. The order of the keys in the message would decide whether the agent prompts.
  private func requireUnrestrictedAgent(_ session: Session) throws(EngineError) {
    if case .pinentry = interaction { return }
    if try connection(session).isRestricted() { throw .restrictedAgent }
  }

  /// Prepares a connection to the agent for commands that gpg does not have.
  ///
  /// - Throws: `agentUnreachable` when the redirect is missing.
  func connection(_ session: Session) throws(EngineError) -> AgentConnection {
    guard let socket = session.home.redirect.socket else {
      throw .agentUnreachable(detail: "the path of the agent's socket is not known")
    }
    return try AgentConnection(socket: socket)
  }

  // A restart of the machine may have removed the redirect. The socket path may have changed because /run/user was
  // created or removed. The agent may not be running: gpg is not allowed to start one in the engine home.
  private func mend(
    _ session: Session, since before: Int, _ error: EngineError
  ) throws(EngineError) -> Session? {
    // One thread at a time. Mutex.withLock loses the type of the error.
    let result = mending.withLock { _ in
      Result { () throws(EngineError) in
        // Another thread has repaired the connection since this one started.
        repairCount == before ? try mend(session, error) : try self.session()
      }
    }
    return try result.get()
  }

  private func mend(_ session: Session, _ error: EngineError) throws(EngineError) -> Session? {
    // If the connection was correct before and an agent answers, the message is encrypted to other people.
    if isAgentConnectionChecked, session.home.redirect.isAgentReachable { return nil }
    let gpgconf = try tools().gpgconf
    let place = AgentRedirect(path: try gpgconf.places(home: session.home.path).agentSocket)
    let socket = try gpgconf.places(home: locations.userHome).agentSocket
    let isInPlace = place == session.home.redirect && place.socket == AgentRedirect.end(of: socket)
    if isInPlace, place.isAgentReachable {
      agentConnectionWasChecked()
      // Another process may have started the agent a moment ago.
      if case .agentUnreachable = error { return session }
      return nil
    }
    defer { agentConnectionWasRepaired() }
    if !isInPlace { try place.point(to: socket) }
    if !place.isAgentReachable { try gpgconf.launchAgent(home: locations.userHome, socket: socket) }
    if place == session.home.redirect { return session }
    try SmallFile.write(EngineHome.stampBytes(place), to: EngineHome.stamp(session.home.path))
    forgetHome()
    return try self.session()
  }
}

extension EngineError {
  // gpg reports a missing agent like a missing key.
  fileprivate var mayBeCausedByMissingAgent: Bool {
    switch self {
    case .notARecipient, .unusableKey(_, .noSecretKey), .agentUnreachable, .other: true
    default: false
    }
  }
}
