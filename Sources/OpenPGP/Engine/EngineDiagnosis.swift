internal import KeyringModel

extension Engine {
  /// Checks everything the engine depends on. Makes the engine home if it does not exist, and changes nothing else: no
  /// agent is started.
  ///
  /// - Returns: The report. Unknown facts are nil, and `failure` has the reason.
  package func report() -> EngineReport {
    var report = EngineReport(libraryVersion: Library.version, people: wanted)
    do throws(EngineError) {
      let tools = try tools()
      report.program = tools.program.path
      report.version = tools.program.version
      let places = try tools.gpgconf.places(home: locations.userHome)
      report.userHome = places.home
      let socket = AgentRedirect.end(of: places.agentSocket)
      report.agentSocket = socket
      report.agentIsReachable = LocalConnection.isPossible(to: socket)
      let home = try session().home
      report.engineHome = home.path
      let place = AgentRedirect(path: try tools.gpgconf.places(home: home.path).agentSocket)
      if let current = place.socket {
        report.redirect = current == socket ? .inPlace : .stale(socket: current)
      }
      report.keys = home.table.keys.values.sorted { $0.fingerprint < $1.fingerprint }
      let now = Self.now
      for key in report.keys { report.problems[key.fingerprint] = key.problem(for: .encrypt, at: now) }
      report.problems.merge(home.table.unreadable) { $1 }
    } catch {
      report.failure = error
    }
    return report
  }
}
