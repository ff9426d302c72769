public import KeyringModel

/// The searchable attributes of all items of a store.
///
/// An index has no way to decrypt anything: what is handed one can show attributes only.
public struct Index: Sendable {
  /// How many questions are answered from the files before the index is kept in memory, where that is wished.
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
  ///   - path: the store's folder.
  ///   - host: what to know of the machine; its ``HostContext/keepsIndex`` decides whether questions are answered
  ///     from memory.
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, or a file error.
  public static func open(at path: String, host: HostContext) throws(KeyringError) -> Index {
    Index(tree: try StoreFolder.open(path), host: host)
  }

  /// The items that match a query, without decrypting anything or starting a process.
  ///
  /// - Throws: `KeyringError.invalidQuery` before any file is read, `.busy` when a writer that was cut off
  ///   or is at work does not let go of the lock, or a file error.
  public func find(_ query: Query) throws(KeyringError) -> Matches {
    try find([query])[0]
  }

  /// The items that match each of several queries; what more than one of them concerns is read once.
  ///
  /// - Returns: The matches of each query, in the order of the queries, all from the same state of the store.
  /// - Throws: as `find(_:)` for one query.
  package func find(_ queries: [Query]) throws(KeyringError) -> [Matches] {
    if queries.isEmpty { return [] }
    return try find(
      queries,
      in: cache.flatMap { $0.isWorthKeeping() && queries.allSatisfy(IndexCache.isFaster) ? $0 : nil })
  }

  /// The same without what is kept in memory: a change is worked out on what the files say now.
  ///
  /// - Throws: as `find(_:)`.
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

  /// Returns nil if a writer was at work.
  private func findWithoutLock(_ queries: [Query], in cache: IndexCache?) throws(KeyringError) -> [Matches]? {
    // A writer that is at work now will be done in a moment; one that was killed will not.
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      if before.isPending { break }
      if let cache {
        guard let matches = try cache.find(queries, since: before) else { continue }
        // Items without an index are also what a writer leaves for a moment, who came after memory was asked.
        if matches.contains(where: \.isIndexLost) { break }
        return matches
      }
      let matches = try IndexSearch.run(queries, in: tree)
      if try ReaderSnapshot(of: tree) == before { return matches }
    }
    return nil
  }

  /// Looks again while no writer is at work, after finishing one that was cut off.
  func findUnderLock(_ queries: [Query], in cache: IndexCache? = nil) throws(KeyringError) -> [Matches] {
    let lock = try StoreLock(tree, timeout: lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    if let cache { return try cache.find(queries, under: lock) }
    return try IndexSearch.run(queries, in: tree)
  }
}
