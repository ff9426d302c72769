internal import Clocks
internal import KeyringModel
internal import OpenPGP

extension Keyring {
  /// Makes several changes in one transaction: all of them or none.
  ///
  /// Each change sees the changes before it. `find` and `secret(for:matching:)` see only the store on disk.
  ///
  /// - Parameter body: Makes the changes. If it throws, nothing is changed. It runs without the store's lock, because a
  ///   passphrase dialog may stay open for a long time. If another process has changed an item that `body` has read, it
  ///   runs again, up to three times in total. After that it runs under the lock, since the passphrase has already been
  ///   entered by then.
  /// - Throws: The errors of `body` and of `add`.
  public func transaction<R>(
    _ body: (inout WriteTransaction) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    try transaction(subject: nil, body)
  }

  /// Makes several changes in one transaction like `transaction(_:)`, with the caller's own commit subject.
  ///
  /// - Parameters:
  ///   - subject: One line of printable ASCII without a secret; nil for a subject that is derived from the changes.
  ///   - successor: The keyring with the policy that the change installs, under which the records are signed; nil to
  ///     sign under this keyring's policy.
  ///   - body: Makes the changes.
  package func transaction<R>(
    subject: String?, signingAs successor: Keyring? = nil,
    _ body: (inout WriteTransaction) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    if subject == nil, successor == nil, host.sharesTransactions { return try sharedTransaction(body) }
    return try ownTransaction(subject: subject, signingAs: successor, body)
  }

  /// Makes several changes in one transaction of their own.
  func ownTransaction<R>(
    subject: String?, signingAs successor: Keyring?,
    _ body: (inout WriteTransaction) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    try requireTrust()
    for _ in 0..<Self.attempts {
      let before = try ReaderSnapshot(of: tree)
      if before.isPending {
        try withoutWriters {}
        continue
      }
      var changes = WriteTransaction(keyring: self)
      let result: R
      do throws(KeyringError) {
        result = try body(&changes)
        try changes.sign(as: successor ?? self)
      } catch {
        // A writer may have replaced only one of the item's files when they were read.
        if error.isAboutFilesOfAnItem, try ReaderSnapshot(of: tree) != before { continue }
        throw error
      }
      if try commit(changes, subject, since: before) { return result }
    }
    // Pending changes are committed without the lock, so other processes may change the item again before the next
    // attempt. One of them succeeds each time.
    let limit = SystemClock.awake + .seconds(host.lockTimeout)
    repeat {
      let result = try lastAttempt(subject, signingAs: successor, body)
      if let result { return result }
      try history.commitBeforeReplacing()
    } while SystemClock.awake < limit
    throw .busy(holder: nil)
  }

  /// Prepares and commits changes under the lock.
  ///
  /// - Returns: nil if nothing was changed because pending changes have to be committed first.
  private func lastAttempt<R>(
    _ subject: String?, signingAs successor: Keyring?,
    _ body: (inout WriteTransaction) throws(KeyringError) -> R
  ) throws(KeyringError) -> R? {
    let lock = try lockForWriting()
    var changes = WriteTransaction(keyring: self)
    let result = try body(&changes)
    try changes.sign(as: successor ?? self)
    if try history.mustCommit(before: changes.replacedFiles) { return nil }
    defer { history.changeWasMade() }
    try changes.commit(under: lock, subject: subject)
    return result
  }

  private static let attempts = 3

  /// Takes the lock and commits changes. Returns false without committing if the files or the search results that the
  /// changes depend on have changed.
  func commit(
    _ changes: consuming WriteTransaction, _ subject: String?, since before: ReaderSnapshot
  ) throws(KeyringError) -> Bool {
    for _ in 0..<Self.attempts {
      // The lock is released before anything is committed to the history.
      let lock = try lockForWriting()
      if changes.dependsOnSearch, try ReaderSnapshot(of: tree).count != before.count { return false }
      guard try changes.stillApplies() else { return false }
      if try history.mustCommit(before: changes.replacedFiles) {
        _ = consume lock
        try history.commitBeforeReplacing()
        continue
      }
      defer { history.changeWasMade() }
      try changes.commit(under: lock, subject: subject)
      return true
    }
    return false
  }

  /// Takes the lock, finishes an interrupted transaction, and checks that the policy is still the accepted one.
  private func lockForWriting() throws(KeyringError) -> StoreLock {
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    try checkPolicy()
    return lock
  }

  /// Checks that the policy has not changed since the store was opened. Otherwise the recipients of an old policy could
  /// be used.
  private func checkPolicy() throws(KeyringError) {
    if trusted.isReplacing {
      let stored = try TrustedPolicy.read(in: tree).policy
      let pin = try PinStore(base: host.stateBase, keyring: stored.keyring).readPin()
      guard stored == policy, pin == trusted.pin else { throw .team(.overtaken) }
      return
    }
    let current = try TrustedPolicy(in: tree, stateBase: host.stateBase)
    if let distrust = current.distrust { throw .policyNotTrusted(distrust) }
    guard current.policy == policy else {
      throw .policyNotTrusted(.changed(generation: current.policy.generation, pinned: policy.generation))
    }
    // The accepted key files may have changed as well, and the engine still has the old keys.
    for (fingerprint, bytes) in current.keys where trusted.keys[fingerprint] != bytes {
      throw .policyNotTrusted(.keyChanged(fingerprint, name: policy.people[fingerprint]?.name ?? ""))
    }
    // If the state folder is not writable, the old pin stays in place and remains as valid as before.
    try? current.adoptKeys(stateBase: host.stateBase)
  }

  /// Checks that this user may write, before anything is encrypted or the user is asked for a passphrase.
  func requireTrust() throws(KeyringError) { try trusted.requireMembership() }
}

extension Keyring {
  /// Returns the bytes of a shard; empty if it does not exist.
  static func fileBytes(_ file: String, _ tree: FileTree) throws(KeyringError) -> [UInt8] {
    try files(tree.read(file, limit: StoreLayout.shardLimit)) ?? []
  }

  /// Returns the digest of an encrypted file; nil if it does not exist.
  static func digest(_ file: String, _ tree: FileTree) throws(KeyringError) -> ContentDigest? {
    try files(tree.read(file, limit: StoreLayout.sealedItemLimit)).map { ContentDigest(of: $0) }
  }

  /// Returns true if a file exists at a path.
  static func isThere(_ path: String, in tree: FileTree) throws(KeyringError) -> Bool {
    try files(tree.status(path)) != nil
  }
}
