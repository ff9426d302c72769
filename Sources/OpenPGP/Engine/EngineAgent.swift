internal import CSystem
internal import KeyringModel
internal import Synchronization

extension Engine {
  /// Runs an operation that needs a secret key. When it fails in a way that a missing agent explains, the way
  /// to the agent is mended and the operation tried once more.
  ///
  /// - Parameter operation: What to do.
  /// - Returns: What the operation returns.
  /// - Throws: What the operation throws; `agentUnreachable` when the agent cannot be started.
  func withAgent<R: ~Copyable>(
    _ operation: (Session) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let before = timesMended
    let session = try session()
    do {
      return try operation(session)
    } catch {
      // Connecting costs nothing; asking gpgconf costs two processes.
      guard error.mayBeForWantOfAnAgent || error == .corrupt && !session.home.redirect.leadsToAnAgent,
        let mended = try mend(session, since: before, error)
      else { throw error }
      return try operation(mended)
    }
  }

  // The redirect may be gone with a restart of the machine, its place may have moved with the coming and
  // going of /run/user, and the agent may not be running: gpg is not allowed to start one in the engine home.
  private func mend(
    _ session: Session, since before: Int, _ error: EngineError
  ) throws(EngineError) -> Session? {
    // One at a time. Mutex.withLock does not keep the type of the error.
    let result = mending.withLock { _ in
      Result { () throws(EngineError) in
        // Another thread has mended the way after this one had set out on it.
        timesMended == before ? try mend(session, error) : try self.session()
      }
    }
    return try result.get()
  }

  private func mend(_ session: Session, _ error: EngineError) throws(EngineError) -> Session? {
    // Asked once: with an agent at its end a way that was good is good, and the message is for somebody else.
    if wayIsKnownToBeGood, session.home.redirect.leadsToAnAgent { return nil }
    let gpgconf = try tools().gpgconf
    let place = AgentRedirect(path: try gpgconf.places(home: session.home.path).agentSocket)
    let socket = try gpgconf.places(home: locations.userHome).agentSocket
    let isInPlace = place == session.home.redirect && place.socket == AgentRedirect.end(of: socket)
    if isInPlace, place.leadsToAnAgent {
      wayWasFoundGood()
      // It may have been started a moment ago, by another process.
      if case .agentUnreachable = error { return session }
      return nil
    }
    defer { wayWasMended() }
    if !isInPlace { try place.point(to: socket) }
    if !place.leadsToAnAgent { try gpgconf.launchAgent(home: locations.userHome, socket: socket) }
    if place == session.home.redirect { return session }
    try SmallFile.write(EngineHome.stampBytes(place), to: EngineHome.stamp(session.home.path))
    forgetHome()
    return try self.session()
  }
}

extension EngineError {
  // gpg does not tell a missing agent from a missing key.
  fileprivate var mayBeForWantOfAnAgent: Bool {
    switch self {
    case .notARecipient, .unusableKey(_, .noSecretKey), .agentUnreachable, .other: true
    default: false
    }
  }
}
