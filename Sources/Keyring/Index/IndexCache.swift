internal import KeyringModel
internal import Synchronization

/// The index of an open store in memory, for a process that asks it many questions.
///
/// Each question first makes sure that nothing has changed since the files were read, by a fixed number of system
/// calls: the record of the lock, the names in `.keytree`, and the stamps of the folders of the index. They tell of
/// every transaction, and of every file that was put in place of another one, as git and most editors do. What they
/// do not tell of is a file that was overwritten in place; so once in a second, and whenever they tell of anything,
/// the stamps of all files are compared, and those that differ are read again.
///
/// Where a stamp is so young that another change could have had the same one, it is not relied on: a folder's is
/// compared again, and a file is read again, until it is old enough.
///
/// Reading everything takes as long as some 40 questions to the files, so a process that asks only a few does not do it.
final class IndexCache: Sendable {
  /// The longest time, in nanoseconds, for which a file that is overwritten in place can stay unnoticed.
  static let sweepInterval: Int64 = 1_000_000_000

  private let tree: FileTree
  private let clock: FileClock
  /// What was read last. A question takes it and searches it on its own.
  private let kept = Mutex<CachedIndex?>(nil)
  /// Held while files are read, so that threads that ask at once read them once. Nobody waits for the store's lock
  /// while holding it.
  private let reading = Mutex<Void>(())
  private let asked = Atomic(0)

  init(tree: FileTree, clock: FileClock) {
    self.tree = tree
    self.clock = clock
  }

  /// Counts a question, and tells whether there were enough of them to keep the index.
  func isWorthKeeping() -> Bool { asked.add(1, ordering: .relaxed).newValue > Index.patience }

  /// Whether a query is answered from memory faster than from the files.
  ///
  /// Values in memory are found by what they equal. Whatever else is asked, the files are searched faster as long as
  /// few lines have to be parsed.
  static func isFaster(for query: Query) -> Bool {
    query.predicates.contains { ExactKey.of($0) != nil } || !QueryPlan(query).isSelective
  }

  /// Answers queries from memory, after bringing it up to date.
  ///
  /// - Parameter snapshot: taken after the questions were asked; nothing may be pending in it.
  /// - Returns: nil when files had to be read and a writer was at work meanwhile.
  /// - Throws: a file error.
  func find(_ queries: [Query], since snapshot: ReaderSnapshot) throws(KeyringError) -> [Matches]? {
    if let index = try current(at: snapshot) { return try index.find(queries, in: tree) }
    // Mutex.withLock does not keep the type of the error.
    let result = reading.withLock { _ in
      Result { () throws(KeyringError) in try update() }
    }
    guard let (index, cost) = try result.get() else { return nil }
    return try index.find(queries, in: tree, cost: cost)
  }

  /// Answers queries while no writer of ours can be at work.
  ///
  /// - Throws: a file error.
  func find(_ queries: [Query], under lock: borrowing StoreLock) throws(KeyringError) -> [Matches] {
    let result = reading.withLock { _ in
      Result { () throws(KeyringError) in try read(at: ReaderSnapshot(of: tree)) }
    }
    let (index, cost) = try result.get()
    kept.withLock { $0 = index }
    return try index.find(queries, in: tree, cost: cost)
  }

  /// What is in memory, if nothing has changed since it was read.
  private func current(at snapshot: ReaderSnapshot) throws(KeyringError) -> CachedIndex? {
    guard let index = kept.withLock({ $0 }), index.count == snapshot.count, index.isSettled,
      (0..<Self.sweepInterval).contains(clock.elapsed() - index.swept)
    else { return nil }
    for folder in index.folders where try folder.hasChanged(in: tree, clock: clock) { return nil }
    return index
  }

  /// Reads what has changed, unless another thread has done that; nil when a writer was at work meanwhile.
  private func update() throws(KeyringError) -> (index: CachedIndex, cost: SearchStatistics)? {
    let before = try ReaderSnapshot(of: tree)
    if before.isPending { return nil }
    if let index = try current(at: before) { return (index, SearchStatistics()) }
    var (index, cost) = try read(at: before)
    let isWhole = try ReaderSnapshot(of: tree) == before
    // The files may be of different moments, but each of them need not be read again if it stays as it is.
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
