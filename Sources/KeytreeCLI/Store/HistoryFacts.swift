internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Sync

/// The facts about a store's history that `status` shows.
struct HistoryFacts {
  private enum State {
    case none
    case kept(branch: String?, top: String?, waiting: Int?, distance: Distance?, stop: String?)
    case unknown(String)
  }

  private let state: State

  /// Reads the facts from the repository of a store.
  init(_ call: CommandCall) {
    do {
      guard let repository = try call.repository() else {
        state = .none
        return
      }
      let branch = try repository.branch()
      let (folder, host) = (try call.store.folder(), try call.host())
      var waiting = try CommitJournal(of: folder).waiting(for: repository.identity)
      // Before the policy is accepted, nothing is committed, and a new clone has no pending changes.
      if waiting == nil, Keyring.ownName(in: folder, host: host) == nil { waiting = 0 }
      state = .kept(
        branch: branch, top: repository.prefix.isEmpty ? nil : repository.top, waiting: waiting,
        distance: try Distance(in: repository),
        stop: Self.stop(repository))
    } catch {
      state = .unknown(ErrorReport(describing: error).message ?? "it failed")
    }
  }

  /// Returns the reason why nothing is committed now: an unfinished operation in the repository.
  private static func stop(_ repository: Repository) -> String? {
    do {
      try repository.requireQuiet()
      try repository.requireMerged()
      return nil
    } catch GitError.locked {
      // A lock comes and goes. If it stays, the pending commit reports it.
      return nil
    } catch {
      return ErrorReport(describing: error).message
    }
  }

  /// The facts as text, escaped.
  var message: String {
    switch state {
    case .none: return "none"
    case .unknown(let reason): return reason
    case .kept(let branch, let top, let waiting, let distance, let stop):
      let place = branch.map { "on the branch \($0)" } ?? "on no branch"
      let around =
        (top.map { " of \($0)" } ?? "") + (distance.map(Self.message(of:)) ?? "")
        + (stop.map { "; \($0)" } ?? "")
      switch waiting {
      case 0: return place + around
      case 1: return place + around + "; 1 change is not committed"
      case let count?: return place + around + "; \(count) changes are not committed"
      case nil: return place + around + "; changes are not committed"
      }
    }
  }

  private static func message(of distance: Distance) -> String {
    let parts = [(distance.ahead, "ahead of"), (distance.behind, "behind")].filter { $0.0 > 0 }
      .map { "\($0.0) \($0.1)" }
    let place = distance.remote
    return ", \(parts.isEmpty ? "up to date with" : parts.joined(separator: " and ")) \(place) when last seen"
  }

  /// The facts as JSON.
  var json: JSONValue {
    guard case .kept(let branch, _, let waiting, let distance, let stop) = state else { return .null }
    return .object([
      JSONMember("ahead", distance.map { .integer(Int64($0.ahead)) } ?? .null),
      JSONMember("behind", distance.map { .integer(Int64($0.behind)) } ?? .null),
      JSONMember("branch", branch.map { .string($0) } ?? .null),
      JSONMember("stopped", stop.map { .string($0) } ?? .null),
      JSONMember("uncommitted", waiting.map { .integer(Int64($0)) } ?? .null),
    ])
  }
}
