package import Foundation
internal import KeychainServices
internal import Keyring
package import TestSupport

/// A store with real GnuPG that the functions of this process use while a test runs; one test at a time.
///
/// It belongs to the thread that made it, so a test that has one does not give its thread away with `await`.
package final class KeychainWorld {
  /// Held by whoever has changed the settings of this process.
  package static let lock = NSRecursiveLock()
  /// The store.
  package let store: GnuPGStore
  private let before: KeychainSettings

  /// Makes a store and takes the turn.
  ///
  /// - Parameters:
  ///   - owner: Whose store it is.
  ///   - agentConfiguration: Lines for the agent's configuration.
  package init(owner: GnuPGKey = .alice, agentConfiguration: [String] = []) throws {
    Self.lock.lock()
    before = KeychainSettings.current
    store = GnuPGStore(try GnuPGHome(secret: [owner], agentConfiguration: agentConfiguration))
    _ = try store.create(owner: owner)
    var settings = KeychainSettings(environment: [:])
    settings.store = store.path
    settings.gnupgHome = store.host.gnupgHome
    settings.engineBase = store.host.engineBase
    settings.stateBase = store.host.stateBase
    settings.searchPath = store.host.searchPath
    KeychainSettings.current = settings
  }

  /// Ends the use of the store; the next test may go on.
  package func close() {
    KeychainSettings.current = before
    Self.lock.unlock()
  }
}
