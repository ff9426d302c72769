/// The number of transactions that a store has seen, in a form that survives a power cut.
///
/// The lock file counts the applied transactions, but it is not flushed to disk. A store with a history therefore also
/// has an empty file whose name contains the number of the last transaction. It is created before that transaction is
/// committed, in a folder that is flushed at that point. So a change is detected after a power cut even if the lock
/// file and the list of uncommitted changes were lost.
enum TransactionCount {
  private static let prefix = "count-"

  /// Returns the number of transactions in a store: the larger of the numbers in the lock file and in the file name.
  ///
  /// - Throws: A file error.
  static func current(in tree: FileTree) throws(FileError) -> UInt64 {
    let bytes = try tree.read(StoreLayout.lock, limit: 1 << 12) ?? []
    return max(LockRecord(parsing: bytes)?.count ?? 0, try noted(in: tree))
  }

  /// Returns the largest number in the names of the files; 0 without such a file.
  static func noted(in tree: FileTree) throws(FileError) -> UInt64 {
    try numbers(in: tree).max() ?? 0
  }

  /// Creates the file for a transaction. The caller flushes the folder.
  static func note(_ number: UInt64, in tree: FileTree) throws(FileError) {
    if try numbers(in: tree).contains(number) { return }
    try tree.createFile(path(number), [], isSynchronized: false)
  }

  /// Removes the file of a transaction that was not committed.
  static func forget(_ number: UInt64, in tree: FileTree) throws(FileError) { try tree.remove(path(number)) }

  /// Removes the files of earlier transactions.
  static func forget(before number: UInt64, in tree: FileTree) throws(FileError) {
    for old in try numbers(in: tree) where old < number { try forget(old, in: tree) }
  }

  private static func numbers(in tree: FileTree) throws(FileError) -> [UInt64] {
    try tree.list(StoreLayout.work).compactMap { name in
      name.hasPrefix(prefix) ? UInt64(name.dropFirst(prefix.utf8.count)) : nil
    }
  }

  private static func path(_ number: UInt64) -> String { "\(StoreLayout.work)/\(prefix)\(number)" }
}
