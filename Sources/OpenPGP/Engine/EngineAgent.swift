internal import Glibc
internal import KeyringModel
internal import Synchronization

extension Engine {
  /// Runs an operation that needs a secret key. If it fails in a way that a missing agent or a damaged home can cause,
  /// the connection to the agent or the home is repaired and the operation is run again once.
  ///
  /// If a program such as systemd makes the socket for the agent, and the agent ends while gpg uses it, the operation is
  /// not run again: that looks like an answer of the agent.
  ///
  /// - Parameter operation: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation; `agentUnreachable` when the agent cannot be started, or ends during the
  ///   operation; `restrictedAgent` when it does not let this engine rule out prompts.
  func withAgent<R: ~Copyable>(
    _ operation: (Session) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let session = try session()
    let before = Attempt(agent: session.home.redirect.state, failedRepairs: failedRepairs.count)
    do {
      try requireUnrestrictedAgent(session)
      return try operation(session)
    } catch {
      guard error.mayBeCausedByMissingAgent || error.mayBeCausedByDamagedHome && !session.home.isIntact,
        let mended = try mend(since: before, error)
      else { throw error }
      try requireUnrestrictedAgent(mended)
      do {
        return try operation(mended)
      } catch {
        switch error {
        // If the agent ends while gpg uses it, GnuPG 2.2 reports a damaged message, and 2.4 the end of a file.
        case .corrupt, .other:
          if mended.home.redirect.isAgentAnswering { throw error }
          throw .agentUnreachable(detail: "it has ended during the operation")
        default: throw error
        }
      }
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

  /// Repairs the connection to the agent, if necessary, after an operation that may have failed because it did not
  /// reach the agent. A damaged home is made again.
  ///
  /// A restart of the machine may have removed the redirect. The path of the socket may have changed because /run/user
  /// was created or removed. The agent may not be running: gpg is not allowed to start one in the engine home. Another
  /// thread or process may have repaired this after the operation failed.
  ///
  /// - Parameters:
  ///   - before: The state before the operation.
  ///   - error: The error of the operation.
  /// - Returns: The session to try again with; nil if the operation reached the agent, so that the error is the answer.
  private func mend(
    since before: Attempt, _ error: EngineError
  ) throws(EngineError) -> Session? {
    // One thread at a time. Mutex.withLock loses the type of the error.
    let result = mending.withLock { _ in
      Result { () throws(EngineError) in try mendAlone(since: before, error) }
    }
    return try result.get()
  }

  private func mendAlone(since before: Attempt, _ error: EngineError) throws(EngineError) -> Session? {
    let session = try self.session()
    let redirect = session.home.redirect
    let isAnswering = redirect.isAgentAnswering
    // A second prompt for the same operation would be wrong, so an error of an agent that was there is final.
    let isFinal = isAnswering && before.agent != nil && redirect.state == before.agent && !error.isRepeatable
    if isFinal, error == .corrupt { return nil }
    // Connecting is cheap; gpgconf needs two processes.
    if isAnswering, isAgentConnectionChecked { return isFinal ? nil : session }
    // Starting an agent can take seconds to fail.
    let failed = failedRepairs
    if !isAnswering, failed.count != before.failedRepairs, let error = failed.error { throw error }
    do {
      let repaired = try repaired(session)
      agentConnectionWasChecked()
      if case .other = error, isFinal { return nil }
      // If the redirect was wrong, an agent that does not have the key may have answered.
      return isFinal && repaired.wasCorrect ? nil : repaired.session
    } catch {
      repairFailed(error)
      throw error
    }
  }

  /// Makes the home again if it redirects to another socket than gpgconf reports, and starts an agent if necessary.
  private func repaired(
    _ session: Session
  ) throws(EngineError) -> (session: Session, wasCorrect: Bool) {
    let gpgconf = try tools().gpgconf
    let place = AgentRedirect(path: try gpgconf.places(home: session.home.path).agentSocket)
    let socket = try gpgconf.places(home: locations.userHome).agentSocket
    let end = AgentRedirect.end(of: socket)
    let home = try home(keepingIf: \.isIntact, where: { $0.redirects(from: place, to: end) })
    if !home.redirect.isAgentAnswering {
      if end == socket {
        try gpgconf.launchAgent(home: locations.userHome, socket: socket)
      } else {
        // The user has redirected their home to an agent elsewhere. One that is started here would take its place.
        try Self.requireAgent(at: end)
      }
    }
    return (Session(program: session.program, home: home), home === session.home)
  }
}

extension Engine {
  /// Checks that a socket accepts a connection.
  ///
  /// - Throws: `agentUnreachable` with the path of the socket.
  private static func requireAgent(at socket: String) throws(EngineError) {
    do throws(LocalConnection.Failure) {
      _ = try LocalConnection(to: socket)
    } catch {
      throw EngineError(error, socket)
    }
  }
}

/// The state before an operation that needs the agent.
private struct Attempt {
  let agent: AgentRedirect.State?
  /// The number of repairs that failed until then.
  let failedRepairs: Int
}

extension AgentRedirect {
  /// True if an agent greets a connection to the socket. For a moment, the socket of an agent that has been killed still
  /// accepts connections.
  fileprivate var isAgentAnswering: Bool {
    guard let socket else { return false }
    do throws(EngineError) {
      _ = try AgentConnection(socket: socket)
      return true
    } catch {
      return false
    }
  }
}

extension EngineError {
  // gpg reports a missing agent like a missing key, and one that ends during an operation like a damaged message.
  fileprivate var mayBeCausedByMissingAgent: Bool {
    switch self {
    case .notARecipient, .unusableKey(_, .noSecretKey), .agentUnreachable, .corrupt, .other: true
    default: false
    }
  }

  fileprivate var mayBeCausedByDamagedHome: Bool {
    switch self {
    case .unusableKey, .unsafeEngine, .incomplete: true
    default: false
    }
  }

  /// True if the operation can be run again, because it was a command that shows no dialog. The agent may have ended
  /// without a change of its socket.
  fileprivate var isRepeatable: Bool {
    if case .agentUnreachable = self { true } else { false }
  }
}
