/// The state of the store's transactions at one moment, by which a reader detects a concurrent writer.
///
/// Readers take no lock (DESIGN section 7). They take a snapshot before and after reading. If a transaction is half
/// applied, or one was applied in between, they read again under the lock.
struct ReaderSnapshot: Equatable {
  /// True if a transaction is committed but not completely applied.
  let isPending: Bool
  /// The number of transactions applied so far.
  let count: UInt64

  init(of tree: FileTree) throws(KeyringError) {
    let record = try files(tree.read(StoreLayout.lock, limit: 4096))
    count = record.flatMap { LockRecord(parsing: $0)?.count } ?? 0
    var pending = false
    for folder in try Transaction.pending(in: tree) where !pending {
      pending = try files(tree.status("\(folder)/\(StoreLayout.commit)") != nil)
    }
    isPending = pending
  }
}
