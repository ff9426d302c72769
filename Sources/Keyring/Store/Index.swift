public import KeyringModel

/// The searchable attributes of all items of a store.
///
/// An index has no way to decrypt anything: what is handed one can show attributes only.
public struct Index: Sendable {
  let tree: FileTree
  private let lockTimeout: Double

  init(tree: FileTree, lockTimeout: Double) {
    self.tree = tree
    self.lockTimeout = lockTimeout
  }

  /// Opens the index of the store at a path.
  ///
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, or a file error.
  public static func open(at path: String, host: HostContext) throws(KeyringError) -> Index {
    Index(tree: try StoreFolder.open(path), lockTimeout: host.lockTimeout)
  }

  /// The items that match a query, without decrypting anything or starting a process.
  ///
  /// - Throws: `KeyringError.invalidQuery` before any file is read, `.busy` when a writer that was cut off
  ///   or is at work does not let go of the lock, or a file error.
  public func find(_ query: Query) throws(KeyringError) -> Matches {
    do {
      try query.validate()
    } catch {
      throw .invalidQuery(error)
    }
    // A writer that is at work now will be done in a moment; one that was killed will not.
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      if before.isPending { break }
      let matches = try IndexSearch.run(query, in: tree)
      if try ReaderSnapshot(of: tree) == before { return matches }
    }
    return try findUnderLock(query)
  }

  /// Looks again while no writer is at work, after finishing one that was cut off.
  func findUnderLock(_ query: Query) throws(KeyringError) -> Matches {
    let lock = try StoreLock(tree, timeout: lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    return try IndexSearch.run(query, in: tree)
  }
}
