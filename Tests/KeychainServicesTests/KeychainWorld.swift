import Foundation
import Keyring
import KeychainServices
import TestSupport

/// A store with real GnuPG that the functions of this process use while a test runs; one test at a time.
final class KeychainWorld {
  /// Held by whoever has changed the settings of this process.
  static let lock = NSRecursiveLock()
  let store: GnuPGStore
  private let before: KeychainSettings

  /// - Parameters:
  ///   - owner: Whose store it is.
  ///   - agentConfiguration: Lines for the agent's configuration.
  init(owner: GnuPGKey = .alice, agentConfiguration: [String] = []) throws {
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

  func close() {
    KeychainSettings.current = before
    Self.lock.unlock()
  }
}
