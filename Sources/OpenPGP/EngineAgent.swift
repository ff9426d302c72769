internal import CSystem
internal import KeyringModel

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
      // Another thread has mended the way after this one had set out on it.
      if error.mayBeForWantOfAnAgent, timesMended != before { return try operation(self.session()) }
      // Connecting costs nothing; asking gpgconf costs two processes.
      guard error.mayBeForWantOfAnAgent || error == .corrupt && !session.home.redirect.leadsToAnAgent,
        let mended = try mend(session)
      else { throw error }
      return try operation(mended)
    }
  }

  // The redirect may be gone with a restart of the machine, its place may have moved with the coming and
  // going of /run/user, and the agent may not be running: gpg is not allowed to start one in the engine home.
  private func mend(_ session: Session) throws(EngineError) -> Session? {
    // Asked once: with an agent at its end a way that was good is good, and the message is for somebody else.
    if wayIsKnownToBeGood, session.home.redirect.leadsToAnAgent { return nil }
    let gpgconf = try tools().gpgconf
    let place = AgentRedirect(path: try gpgconf.places(home: session.home.path).agentSocket)
    let socket = try gpgconf.places(home: locations.userHome).agentSocket
    let isInPlace = place == session.home.redirect && place.socket == AgentRedirect.end(of: socket)
    if isInPlace, place.leadsToAnAgent {
      wayWasMended(isKnownToBeGood: true)
      // It may have been started a moment ago, by another process.
      return session
    }
    defer { wayWasMended(isKnownToBeGood: false) }
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
