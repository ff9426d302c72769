internal import KeyringModel
package import OpenPGP
package import Secrets

/// Decrypts messages that other programs made for this user, such as a store of pass.
package struct ForeignReader: Sendable {
  private let engine: any SealingEngine
  private let pool: WorkerPool

  /// Prepares an engine that knows all of the user's own keys; starts GnuPG to list them.
  ///
  /// - Throws: `KeyringError.engine` when GnuPG is missing or fails.
  package init(host: HostContext) throws(KeyringError) {
    let user = UserKeyring(locations: host.engineLocations)
    do {
      var keys: [Fingerprint: [UInt8]] = [:]
      for key in try user.secretKeys() { keys[key.fingerprint] = try user.exportMinimal(key.fingerprint) }
      engine = Engine(
        locations: host.engineLocations, keyringID: "foreign", keys: keys, interaction: host.interaction,
        acceptsForeignMessages: true)
    } catch {
      throw .engine(error, nil)
    }
    pool = WorkerPool(workers: host.workers)
  }

  /// What was done so far.
  package var statistics: EngineStatistics { engine.statistics }

  /// Decrypts one message; whether it is signed does not matter.
  ///
  /// - Parameter limit: the most bytes of plaintext that are accepted.
  /// - Throws: `KeyringError.engine` with the reason.
  package func open(_ message: [UInt8], limit: Int) throws(KeyringError) -> SecretBytes {
    do {
      return try engine.open(message, limit: limit)
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Calls `body` for every number below `count`, on several threads once it is known that decrypting works.
  ///
  /// A key with a passphrase is unlocked by the first message that can be decrypted. Until then one is tried
  /// after the other: several threads would ask several times, and again after a refusal (threat T36).
  ///
  /// - Parameters:
  ///   - count: how many pieces of work there are.
  ///   - isUnlocked: whether a result shows that decrypting works.
  ///   - body: the work; may be called from any thread.
  /// - Returns: the results in order.
  /// - Throws: the first error, after which no further piece is begun.
  package func map<T: Sendable, E: Error>(
    _ count: Int, isUnlocked: (T) -> Bool, _ body: @escaping @Sendable (Int) throws(E) -> T
  ) throws(E) -> [T] {
    var results: [T] = []
    while results.count < count {
      let result = try body(results.count)
      results.append(result)
      if isUnlocked(result) { break }
    }
    let done = results.count
    return results + (try pool.map(count - done) { number throws(E) in try body(done + number) })
  }
}
