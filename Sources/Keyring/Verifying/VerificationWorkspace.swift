internal import Glibc
internal import KeyringModel
package import OpenPGP
internal import Synchronization

/// A private workspace for verifying stores without a secret key: an empty GnuPG home without prompts or agent, and
/// space for files. Everything is in one private folder that is removed at the end.
package final class VerificationWorkspace: Sendable {
  private let home: TemporaryHome
  private let host: HostContext
  private let standIn: (any OpenPGPEngine)?
  private let listings = Mutex(0)
  private let folders = Mutex(0)
  private let engines = Mutex<[KeySet: any OpenPGPEngine]>([:])

  /// The cache key of an engine: the keyring and the digests of the key files.
  private struct KeySet: Hashable {
    let keyring: KeyringID
    let digests: [Fingerprint: ContentDigest]
  }

  /// Creates the folder.
  ///
  /// - Parameters:
  ///   - host: The properties of this machine. The user's GnuPG home and agent are not used.
  ///   - standIn: A replacement for GnuPG, for tests.
  /// - Throws: `KeyringError.engine` when no private folder can be created.
  package init(host: HostContext, engine standIn: (any OpenPGPEngine)? = nil) throws(KeyringError) {
    do {
      home = try TemporaryHome(withoutKeyIn: host.engineBase, name: "verify", searchPath: host.searchPath)
    } catch {
      throw .engine(error, nil)
    }
    var separate = host
    separate.gnupgHome = home.home
    separate.engineBase = home.runtimeFolder + "/keytree"
    separate.interaction = .never
    self.host = separate
    self.standIn = standIn
  }

  /// Removes everything. Must be called once, at the end.
  package func remove() { home.remove() }

  /// The properties of this machine, with the private GnuPG home.
  var context: HostContext { host }

  /// Returns a new path in this folder on each call. Nothing exists at the path yet.
  package func newPath() -> String {
    let number = folders.withLock { count in
      count += 1
      return count
    }
    return "\(home.folder)/files-\(number)"
  }

  /// Removes a folder of this workspace early, because the folders of many branches could fill the memory. Files that
  /// cannot be removed now are removed with the workspace.
  ///
  /// - Parameter path: A path from ``newPath()``.
  package func removeFolder(at path: String) {
    FolderRemoval.removeContent(of: path)
    _ = unsafe rmdir(path)
  }

  /// Returns an engine that has some public keys and no secret keys. The same keys return the same engine.
  func engine(for keyring: KeyringID, keys: [Fingerprint: [UInt8]]) -> any OpenPGPEngine {
    if let standIn { return standIn.with(keys: keys) }
    let set = KeySet(keyring: keyring, digests: keys.mapValues { ContentDigest(of: $0) })
    return engines.withLock { engines in
      if let known = engines[set] { return known }
      let engine = host.engine(for: keyring, keys: keys)
      engines[set] = engine
      return engine
    }
  }

  /// Returns the keys in a file, as GnuPG lists them; an empty array if it finds none.
  func keys(in file: [UInt8]) throws(EngineError) -> [PublicKey] {
    try home.keys(in: file) { listings.withLock { $0 += 1 } }
  }

  /// The counts of cryptographic operations in this workspace.
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
