internal import KeyringModel
internal import Synchronization

/// The index of an open store in memory, for a process that makes many queries.
///
/// Each query first checks that nothing has changed since the files were read, with a fixed number of system calls:
/// the record of the lock, the names in `.keytree`, and the stamps of the index folders. They change with every
/// transaction, and whenever a file is replaced by another, as git and most editors do. They do not change when a file
/// is overwritten in place. So once per second, and whenever one of them has changed, the stamps of all files are
/// compared, and files with another stamp are read again.
///
/// A stamp is not trusted while it is so recent that another change could have the same stamp. Until it is old enough,
/// each query compares the stamps in the folder again and reads the file again.
///
/// Reading the whole index takes as long as about 40 queries to the files, so it is not done for a process that makes
/// only a few queries.
final class IndexCache: Sendable {
  /// The longest time, in nanoseconds, for which a change to a file that is overwritten in place can go unnoticed.
  static let sweepInterval: Int64 = 1_000_000_000

  private let tree: FileTree
  private let clock: FileClock
  /// The index as it was last read. A query copies it and then searches without the mutex.
  private let kept = Mutex<CachedIndex?>(nil)
  /// Held while files are read, so that concurrent queries read them once. Must not be held while waiting for the
  /// store's lock.
  private let reading = Mutex<Void>(())
  private let asked = Atomic(0)

  init(tree: FileTree, clock: FileClock) {
    self.tree = tree
    self.clock = clock
  }

  /// Counts a query, and returns true if there were enough queries to make caching the index worthwhile.
  func shouldCache() -> Bool { asked.add(1, ordering: .relaxed).newValue > Index.patience }

  /// Makes ``shouldCache()`` return true from now on.
  func cacheFromNow() { asked.store(Index.patience, ordering: .relaxed) }

  /// Returns true if a query is answered faster from memory than from the files.
  ///
  /// The cache finds records only by exact values. For any other query, the files are searched faster as long as few
  /// lines have to be parsed.
  static func isFaster(for query: Query) -> Bool {
    query.predicates.contains { ExactKey.of($0) != nil } || !QueryPlan(query).isSelective
  }

  /// Answers queries from memory after updating the cache.
  ///
  /// - Parameter snapshot: A snapshot taken after the queries were made, without a pending transaction.
  /// - Returns: nil if files had to be read and a writer was active at the same time.
  /// - Throws: A file error.
  func find(_ queries: [Query], since snapshot: ReaderSnapshot) throws(KeyringError) -> [Matches]? {
    if let index = try current(at: snapshot) { return try index.find(queries, in: tree) }
    // `Mutex.withLock` does not preserve the type of the error.
    let result = reading.withLock { _ in
      Result { () throws(KeyringError) in try update() }
    }
    guard let (index, cost) = try result.get() else { return nil }
    return try index.find(queries, in: tree, cost: cost)
  }

  /// Answers queries under the store's lock, so that no Keytree writer is active.
  ///
  /// - Throws: A file error.
  func find(_ queries: [Query], under lock: borrowing StoreLock) throws(KeyringError) -> [Matches] {
    let result = reading.withLock { _ in
      Result { () throws(KeyringError) in try read(at: ReaderSnapshot(of: tree)) }
    }
    let (index, cost) = try result.get()
    kept.withLock { $0 = index }
    return try index.find(queries, in: tree, cost: cost)
  }

  /// Returns the cached index if nothing has changed since it was read, otherwise nil.
  private func current(at snapshot: ReaderSnapshot) throws(KeyringError) -> CachedIndex? {
    guard let index = kept.withLock({ $0 }), index.count == snapshot.count, index.isSettled,
      (0..<Self.sweepInterval).contains(clock.elapsed() - index.swept)
    else { return nil }
    for folder in index.folders where try folder.hasChanged(in: tree, clock: clock) { return nil }
    return index
  }

  /// Reads the changed files unless another thread has done so. Returns nil if a writer was active at the same time.
  private func update() throws(KeyringError) -> (index: CachedIndex, cost: SearchStatistics)? {
    let before = try ReaderSnapshot(of: tree)
    if before.isPending { return nil }
    if let index = try current(at: before) { return (index, SearchStatistics()) }
    var (index, cost) = try read(at: before)
    let isWhole = try ReaderSnapshot(of: tree) == before
    // The files may be from different states of the store. Each file's content is still valid until the file changes.
    if !isWhole { index.count = nil }
    kept.withLock { $0 = index }
    return isWhole ? (index, cost) : nil
  }

  private func read(
    at snapshot: ReaderSnapshot
  ) throws(KeyringError) -> (index: CachedIndex, cost: SearchStatistics) {
    var cost = SearchStatistics()
    let old = kept.withLock { $0 }
    let swept = clock.elapsed()
    let folders = try [false, true].map { isLocal throws(KeyringError) in
      let last = old?.folders[isLocal ? 1 : 0] ?? CachedFolder(isLocal: isLocal)
      return try last.updated(from: tree, clock: clock, cost: &cost)
    }
    return (CachedIndex(count: snapshot.count, swept: swept, folders: folders), cost)
  }
}
