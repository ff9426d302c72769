import Foundation
import KeychainTestSupport
import Keyring
import TestSupport

@testable import KeychainServices

/// A store with a stand-in for GnuPG that the functions of this process use during a test. It is for tables of many
/// cases that do not depend on the cryptography. Only one test at a time has this store or a `KeychainWorld`.
///
/// It has a second group, `team`, to which items can be moved.
final class StandInWorld {
  let store = StandInStore()
  /// The engine for calls that must not ask for a passphrase.
  let silentEngine = EngineDouble(readers: [EngineDouble.fingerprint(1)])
  private let settings: KeychainSettings
  private let opening: KeychainSession.Opening

  /// - Parameters:
  ///   - hasStore: True if the store is created, too.
  ///   - changeHost: Changes the context of the machine.
  init(hasStore: Bool = true, changeHost: (inout HostContext) -> Void = { _ in }) throws {
    KeychainWorld.lock.lock()
    settings = KeychainSession.shared.settings
    opening = KeychainSession.shared.opening
    let (engine, silent) = (store.engine, silentEngine)
    var host = store.host
    host.keepsIndex = true
    changeHost(&host)
    KeychainSession.shared.settings = KeychainSettings(environment: ["KEYTREE_STORE": store.path])
    KeychainSession.shared.opening = { [host] settings, asks throws(KeyringError) in
      let asks = asks && settings.allowsInteraction
      var host = host
      host.secretLifetime = settings.secretLifetime
      host.sharesTransactions = true
      return try Keyring.open(at: settings.store, host: host, faults: nil, engine: asks ? engine : silent)
    }
    do {
      if hasStore { try makeStore() }
    } catch {
      close()
      throw error
    }
  }

  private func makeStore() throws {
    try store.create()
    try accept { $0.groups["team"] = [store.owner] }
  }

  /// Changes the policy, signs it, and accepts it on this machine.
  func accept(_ change: (inout Policy) -> Void) throws {
    var policy = try store.open().policy
    policy.previous = ContentDigest(of: policy.encode())
    policy.generation += 1
    change(&policy)
    let folder = URL(fileURLWithPath: store.path)
    let bytes = policy.encode()
    let signature = try store.engine.signDetached(bytes, signer: store.owner)
    try Data(bytes).write(to: folder.appendingPathComponent("policy.json"))
    try Data(signature).write(to: folder.appendingPathComponent("policy.json.asc"))
    try Trust(at: store.path, host: store.host, engine: store.engine, own: [store.owner]).accept()
  }

  func close() {
    KeychainSession.shared.opening = opening
    KeychainSession.shared.settings = settings
    KeychainWorld.lock.unlock()
  }

  /// The content of the store, to detect whether a call has changed it.
  var digest: StoreDigest { StoreDigest(of: store.path) }
}
