internal import KeyringModel
package import OpenPGP
package import Secrets

/// Decrypts messages that other programs have encrypted for this user, for example in a pass store.
package struct MessageDecryptor: Sendable {
  private let engine: any OpenPGPEngine
  private let pool: WorkerPool

  /// Prepares an engine that knows the user's own keys; starts GnuPG to list them. A key that cannot be used is left out.
  ///
  /// - Throws: `KeyringError.engine` when GnuPG is missing or fails, or with the reason why a key cannot be used if no
  ///   other key is left.
  package init(host: HostContext) throws(KeyringError) {
    pool = WorkerPool(workers: host.workers)
    if let factory = host.engineFactory {
      var generator = SystemRandomNumberGenerator()
      engine = factory(KeyringID(using: &generator), [:])
      return
    }
    let user = UserKeyring(locations: host.engineLocations)
    do throws(EngineError) {
      var keys: [Fingerprint: [UInt8]] = [:]
      var unusable: EngineError?
      for key in try user.secretKeys() {
        do throws(EngineError) {
          keys[key.fingerprint] = try user.exportMinimal(key.fingerprint)
        } catch {
          guard case .unusableKey = error else { throw error }
          unusable = unusable ?? error
        }
      }
      if let unusable, keys.isEmpty { throw unusable }
      engine = Engine(
        locations: host.engineLocations, keyringID: "foreign", keys: keys, interaction: host.interaction,
        acceptsForeignMessages: true)
    } catch {
      throw .engine(error, nil)
    }
  }

  /// The cryptographic operations so far.
  package var statistics: EngineStatistics { engine.statistics }

  /// Decrypts one message, signed or not.
  ///
  /// - Parameter limit: The maximum size of the plaintext in bytes.
  /// - Throws: `KeyringError.engine` with the reason.
  package func open(_ message: [UInt8], limit: Int) throws(KeyringError) -> SecretBytes {
    do {
      return try engine.open(message, limit: limit)
    } catch {
      throw .engine(error, nil)
    }
  }

  /// Calls `body` for every number below `count`, on several threads once decryption is known to work.
  ///
  /// The first message that can be decrypted unlocks a key with a passphrase. Until then the messages are tried one
  /// after the other: several threads would show several passphrase prompts, and more after the user cancels one
  /// (threat T36).
  ///
  /// - Parameters:
  ///   - count: The number of tasks.
  ///   - isUnlocked: Returns true if a result shows that decryption works.
  ///   - body: The task. May be called from any thread.
  /// - Returns: The results in order.
  /// - Throws: The first error, after which no further task is started.
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
