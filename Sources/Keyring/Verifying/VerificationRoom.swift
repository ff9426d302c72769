internal import Glibc
internal import KeyringModel
package import OpenPGP
internal import Synchronization

/// A place for looking at stores without a key: a GnuPG home of nobody, which nothing asks and no agent belongs to, and
/// room for files, all in one private folder that is removed in the end.
package final class VerificationRoom: Sendable {
  private let home: ThrowAwayHome
  private let host: HostContext
  private let standIn: (any SealingEngine)?
  private let listings = Mutex(0)
  private let folders = Mutex(0)
  private let engines = Mutex<[KeySet: any SealingEngine]>([:])

  /// Key files by whom they are of and what they are.
  private struct KeySet: Hashable {
    let keyring: KeyringID
    let digests: [Fingerprint: ContentDigest]
  }

  /// Makes the folder.
  ///
  /// - Parameters:
  ///   - host: What to know of the machine; neither the person's GnuPG home nor her agent is used.
  ///   - standIn: A stand-in for GnuPG, for tests.
  /// - Throws: `KeyringError.engine` when no private folder can be made.
  package init(host: HostContext, engine standIn: (any SealingEngine)? = nil) throws(KeyringError) {
    do {
      home = try ThrowAwayHome(withoutKeyIn: host.engineBase, name: "verify", searchPath: host.searchPath)
    } catch {
      throw .engine(error, nil)
    }
    var nobody = host
    nobody.gnupgHome = home.home
    nobody.engineBase = home.runtimeFolder + "/keytree"
    nobody.interaction = .never
    self.host = nobody
    self.standIn = standIn
  }

  /// Removes everything. To be called once, at the end.
  package func remove() { home.remove() }

  /// What is known of the machine in here.
  var context: HostContext { host }

  /// A path for a folder in here that does not exist yet, another one each time.
  package func newPath() -> String {
    let number = folders.withLock { count in
      count += 1
      return count
    }
    return "\(home.folder)/files-\(number)"
  }

  /// Removes a folder in here, so that those of many branches do not fill the memory. What cannot be removed now goes
  /// with the room.
  ///
  /// - Parameter path: A path from ``newPath()``.
  package func removeFolder(at path: String) {
    FolderRemoval.removeContent(of: path)
    _ = unsafe rmdir(path)
  }

  /// The engine that knows some keys and has no secret one. The same keys have the same engine.
  func engine(for keyring: KeyringID, keys: [Fingerprint: [UInt8]]) -> any SealingEngine {
    if let standIn { return standIn.with(keys: keys) }
    let set = KeySet(keyring: keyring, digests: keys.mapValues { ContentDigest(of: $0) })
    return engines.withLock { engines in
      if let known = engines[set] { return known }
      let engine = host.engine(for: keyring, keys: keys)
      engines[set] = engine
      return engine
    }
  }

  /// The keys in a file, as GnuPG lists them; none where it finds none.
  func keys(in file: [UInt8]) throws(EngineError) -> [PublicKey] {
    try home.keys(in: file) { listings.withLock { $0 += 1 } }
  }

  /// What cryptography was done in here.
  package var statistics: EngineStatistics {
    if let standIn { return standIn.statistics }
    return engines.withLock { engines in
      engines.values.reduce(into: EngineStatistics(processes: listings.withLock { $0 })) { sum, engine in
        let one = engine.statistics
        sum.decryptions += one.decryptions
        sum.encryptions += one.encryptions
        sum.processes += one.processes
      }
    }
  }
}
