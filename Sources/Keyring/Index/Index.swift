public import KeyringModel

/// The searchable attributes of all items of a store.
///
/// An index cannot decrypt anything, so code that receives only an index can show attributes only.
public struct Index: Sendable {
  /// The number of queries that are answered from the files before the index is cached in memory, if the host enables
  /// the cache.
  package static let patience = 16

  let tree: FileTree
  private let lockTimeout: Double
  private let cache: IndexCache?

  init(tree: FileTree, host: HostContext) {
    self.tree = tree
    lockTimeout = host.lockTimeout
    cache = host.keepsIndex ? IndexCache(tree: tree, clock: host.fileClock) : nil
  }

  /// Opens the index of the store at a path.
  ///
  /// - Parameters:
  ///   - path: The store's folder.
  ///   - host: The context of this machine. Its ``HostContext/keepsIndex`` determines whether queries are answered
  ///     from memory.
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, or a file error.
  public static func open(at path: String, host: HostContext) throws(KeyringError) -> Index {
    Index(tree: try StoreFolder.open(path), host: host)
  }

  /// Creates the index of a store whose folder was opened and checked.
  package init(in folder: FileTree, host: HostContext) { self.init(tree: folder, host: host) }

  /// Returns the items that match a query, without decrypting anything or starting a process.
  ///
  /// - Throws: `KeyringError.invalidQuery` before any file is read, `.busy` if a transaction is pending or a writer is
  ///   active and the lock is not released in time, or a file error.
  public func find(_ query: Query) throws(KeyringError) -> Matches {
    try find([query])[0]
  }

  /// Returns the items that match each of several queries. A shard that concerns several queries is read once.
  ///
  /// - Returns: The matches of each query, in the order of the queries, all from the same state of the store.
  /// - Throws: The errors of `find(_:)` for one query.
  package func find(_ queries: [Query]) throws(KeyringError) -> [Matches] {
    if queries.isEmpty { return [] }
    return try find(
      queries,
      in: cache.flatMap { $0.shouldCache() && queries.allSatisfy(IndexCache.isFaster) ? $0 : nil })
  }

  /// Caches the index in memory from the next query on, if the host enables the cache, for a process that is known to
  /// make many queries.
  package func cacheFromNow() { cache?.cacheFromNow() }

  /// Returns the items that match a query according to the files, without the cache. Changes are based on this.
  ///
  /// - Throws: The errors of `find(_:)`.
  func findInFiles(_ query: Query) throws(KeyringError) -> Matches { try find([query], in: nil)[0] }

  private func find(_ queries: [Query], in cache: IndexCache?) throws(KeyringError) -> [Matches] {
    do {
      for query in queries { try query.validate() }
    } catch {
      throw .invalidQuery(error)
    }
    if let matches = try findWithoutLock(queries, in: cache) { return matches }
    return try findUnderLock(queries, in: cache)
  }

  /// Searches without the lock. Returns nil if a writer was active.
  private func findWithoutLock(_ queries: [Query], in cache: IndexCache?) throws(KeyringError) -> [Matches]? {
    // An active writer finishes soon, but a writer that was killed leaves its transaction pending.
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      if before.isPending { break }
      if let cache {
        guard let matches = try cache.find(queries, since: before) else { continue }
        // A writer that becomes active after the cache was searched can also make the index appear lost for a moment.
        if matches.contains(where: \.isIndexLost) { break }
        return matches
      }
      let matches = try IndexSearch.run(queries, in: tree)
      if try ReaderSnapshot(of: tree) == before { return matches }
    }
    return nil
  }

  /// Searches under the lock, after finishing an interrupted transaction.
  func findUnderLock(_ queries: [Query], in cache: IndexCache? = nil) throws(KeyringError) -> [Matches] {
    let lock = try StoreLock(tree, timeout: lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    if let cache { return try cache.find(queries, under: lock) }
    return try IndexSearch.run(queries, in: tree)
  }
}
