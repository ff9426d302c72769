import Encoding
import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Subprocess
import Sync
import Synchronization
import TestSupport

/// The clock of a simulated machine, which the simulation can set.
final class MachineClock: Sendable {
  private let microseconds: Mutex<Int64>

  /// - Parameter start: The time before the first reading, in microseconds since 1970.
  init(start: Int64 = 1_790_000_000_000_000) { microseconds = Mutex(start) }

  /// Returns the next time.
  @Sendable func now() -> Timestamp {
    Timestamp(
      microseconds: microseconds.withLock { value in
        value += 1_000
        return value
      })
  }

  /// Sets the clock forward, or back.
  func jump(bySeconds seconds: Int64) { microseconds.withLock { $0 += seconds * 1_000_000 } }
}

/// A person at a machine, with a clone of the store and the policy that was accepted there.
struct SimulatedSeat: Sendable, CustomStringConvertible {
  let number: Int
  let name: String
  let person: Fingerprint
  let path: String
  let host: HostContext
  let clock: MachineClock
  let variables: [String: String]

  var description: String { "\(name)\(number)" }

  func makeGit(_ folder: String) -> Git {
    Git(in: folder, searchPath: "/usr/local/bin:/usr/bin:/bin", environment: .init(variables, locale: nil))
  }

  func repository() throws -> Repository {
    guard let repository = try Repository.find(store: path, git: makeGit) else {
      throw SimulationFailure("\(self) has no repository")
    }
    return repository
  }

  /// Returns the policies in the history of this clone.
  func past() throws -> HistoricalPolicies {
    let repository = try repository()
    return try PolicyHistoryReader(in: repository).steps(branch: try repository.git.commit("HEAD"))
  }

  /// Opens the store and accepts its policy if that follows the accepted one, as every command does.
  func open(faults: FaultPlan? = nil) throws -> Keyring {
    let tree = try StoreFolder.open(path, faults: faults)
    return try Keyring.open(in: tree, host: host) {
      // Without the history, the policy is not accepted, which the simulation reports.
      (try? past()) ?? HistoricalPolicies([])
    }
  }

  /// Commits the pending changes, as every command does after a change.
  func commit(faults: FaultPlan? = nil) throws {
    let tree = try FileTree(at: path, faults: faults)
    _ = try Committer(repository: try repository(), tree: tree, timeout: 30, author: { name }).commitPending()
  }

  /// Completes a change that was interrupted, as the next command does, also that of a person who may not write any
  /// more.
  func recover() throws {
    try CommitJournal(of: try FileTree(at: path)).withLock(timeout: 30) { _ in }
  }
}

/// The reason why a simulation has failed.
struct SimulationFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
