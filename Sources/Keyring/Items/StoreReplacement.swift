internal import KeyringModel
internal import OpenPGP

extension Keyring {
  /// The new content of a file of the store.
  package enum NewFile: Sendable, Equatable {
    case bytes([UInt8])
    case removed
  }

  /// Returns the number of transactions applied to the store. If two calls return the same number, the store has not
  /// changed in between.
  ///
  /// - Throws: A file error.
  package func transactionCount() throws(KeyringError) -> UInt64 {
    try files(TransactionCount.current(in: tree))
  }

  /// Replaces files of the store with the results of a merge: all of them or none.
  ///
  /// Nothing is encrypted or verified. The files may include a policy that this machine has not accepted yet, which
  /// blocks every change until the user accepts it.
  ///
  /// - Parameters:
  ///   - newFiles: The new content of each file, by its path in the store. Only tracked files are allowed.
  ///   - count: The transaction count that the merge started from.
  ///   - subject: The commit subject, without a secret.
  ///   - isExpected: Returns true if a file still has the content that the merge has read. Receives its path, and its
  ///     bytes or nil if it does not exist.
  /// - Returns: The new transaction count; nil if nothing was replaced because the store has changed since.
  /// - Throws: `KeyringError.busy`, `.unsafeFolder`, `.unfinished`, or a file error.
  package func replace(
    _ newFiles: [String: NewFile], ifCountIs count: UInt64, subject: String,
    isExpected: (String, [UInt8]?) -> Bool
  ) throws(KeyringError) -> UInt64? {
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    guard try transactionCount() == count else { return nil }
    var records: [String: [UInt8]] = [:]
    for path in newFiles.keys {
      let limit = max(StoreLayout.shardLimit, StoreLayout.sealedItemLimit)
      let bytes = try files(tree.read(path, limit: limit))
      guard isExpected(path, bytes) else { return nil }
      if path.hasSuffix(StoreLayout.recordExtension), StoreLayout.itemPath(ofFile: path) != nil {
        records[path] = bytes
      }
    }
    if newFiles.isEmpty { return count }
    try remember(newFiles, replacing: records)
    var transaction = Transaction(in: tree)
    do {
      for (path, file) in newFiles.sorted(by: { $0.key < $1.key }) {
        precondition(StoreLayout.isTracked(path), "a merge can only replace tracked files")
        switch file {
        case .bytes(let bytes): try transaction.place(bytes, at: path)
        case .removed: transaction.remove(path)
        }
      }
    } catch {
      transaction.abandon()
      throw error
    }
    try transaction.commit(under: lock, subject: subject)
    return try finishing { () throws(FileError) in try TransactionCount.current(in: tree) }
  }

  /// Returns true if a message is encrypted to exactly the members of a group, according to its packets.
  package func isSealed(_ message: [UInt8], to group: String) -> Bool {
    // False for an unknown group and for bytes that are not a message.
    guard let expected = policy.recipients(of: group), let found = try? engine.recipients(of: message)
    else { return false }
    return expected.areExactly(found)
  }
}
