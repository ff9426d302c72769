/// What a reader remembers to notice that a writer was at work while it read.
///
/// Readers take no lock (DESIGN section 6): they compare a snapshot from before with one from after, and
/// look again under the lock when a transaction is half applied or was applied in between.
struct ReaderSnapshot: Equatable {
  /// A transaction is decided but not yet applied as a whole.
  let isPending: Bool
  /// How many transactions were applied so far.
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
