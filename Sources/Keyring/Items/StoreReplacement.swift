internal import KeyringModel
internal import OpenPGP

extension Keyring {
  /// What a file of the store becomes.
  package enum NewFile: Sendable, Equatable {
    case bytes([UInt8])
    case removed
  }

  /// How many transactions the store has seen; two looks that see the same saw the same store.
  ///
  /// - Throws: a file error.
  package func transactionCount() throws(KeyringError) -> UInt64 {
    try files(TransactionCount.current(in: tree))
  }

  /// Replaces files of the store by what a merge came to, all or none.
  ///
  /// Nothing is encrypted and nothing is judged: also a policy that nobody here has accepted yet comes in like this, and
  /// then stands in the way of every change until somebody has.
  ///
  /// - Parameters:
  ///   - newFiles: what each file becomes, by its path in the store; files whose history is kept and no others.
  ///   - count: the count of transactions that the merge started from.
  ///   - subject: what is done, for the history; no secret.
  ///   - isExpected: whether a file is what the merge took it for: its path, and its bytes or nil where there is none.
  /// - Returns: the store's count with it; nil, and nothing happens, when the store has changed since.
  /// - Throws: `KeyringError.busy`, `.unsafeFolder`, or a file error.
  package func replace(
    _ newFiles: [String: NewFile], ifCountIs count: UInt64, subject: String,
    isExpected: (String, [UInt8]?) -> Bool
  ) throws(KeyringError) -> UInt64? {
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    guard try transactionCount() == count else { return nil }
    for path in newFiles.keys {
      let limit = max(StoreLayout.shardLimit, StoreLayout.sealedItemLimit)
      guard isExpected(path, try files(tree.read(path, limit: limit))) else { return nil }
    }
    if newFiles.isEmpty { return count }
    var transaction = Transaction(in: tree)
    do {
      for (path, file) in newFiles.sorted(by: { $0.key < $1.key }) {
        precondition(StoreLayout.isTracked(path), "only what is in the history comes from a merge")
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
    return try transactionCount()
  }

  /// Whether a message is sealed to just the members of a group, from its packets alone.
  package func isSealed(_ message: [UInt8], to group: String) -> Bool {
    // Of a group that is not known, or whose keys cannot be used, no message can be said to be right.
    guard let members = policy.groups[group], let expected = try? engine.expectedRecipients(members),
      let found = try? engine.recipients(of: message)
    else { return false }
    return Set(found) == expected && found.count == expected.count
  }
}
