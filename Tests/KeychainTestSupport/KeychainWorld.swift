package import Foundation
internal import KeychainServices
internal import Keyring
package import TestSupport

/// A store with real GnuPG that the keychain functions of this process use during a test. Only one test at a time has
/// it.
///
/// It belongs to the thread that created it, so its test must not give up the thread with `await`.
package final class KeychainWorld {
  /// The lock that is held while the settings of this process are changed.
  package static let lock = NSRecursiveLock()
  /// The store.
  package let store: GnuPGStore
  private let before: KeychainSettings

  /// Creates a store and takes the lock.
  ///
  /// - Parameters:
  ///   - owner: The owner of the store.
  ///   - agentConfiguration: Lines for gpg-agent.conf.
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

  /// Restores the settings and releases the lock for the next test.
  package func close() {
    KeychainSettings.current = before
    Self.lock.unlock()
  }
}
