internal import KeyringModel

extension Keyring {
  /// Compares the index, the records, the encrypted files, the policy and the keys with each other. It changes nothing
  /// and takes no lock at first, so a read-only store can be checked. Interrupted changes are reported.
  ///
  /// If there are findings while another process writes, the check is repeated, the last time under the lock.
  ///
  /// - Parameters:
  ///   - decrypts: True to decrypt every item, which needs the user's key.
  ///   - progress: Receives the number of finished items and of all items, in each round.
  /// - Returns: The findings.
  /// - Throws: `KeyringError.busy` when other processes do not release the lock; `.engine` when GnuPG cannot be used,
  ///   no passphrase prompt is possible, or the prompt was cancelled; `.policyNotTrusted` when the policy in the store
  ///   cannot be read; `.transactionUnknown` when a change by a newer version was interrupted; or a file error.
  package func check(
    decrypts: Bool = false, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> CheckReport {
    let check = StoreCheck(keyring: self, decrypts: decrypts, progress: progress)
    var report = CheckReport()
    for _ in 0..<3 {
      let before = try ReaderSnapshot(of: tree)
      report = try check.run()
      let isLocked = try files(tree.isLocked(StoreLayout.lock))
      let isQuiet = try ReaderSnapshot(of: tree) == before && !isLocked
      if report.isClean || isQuiet { return report }
    }
    return try run(check, under: try lockIfWritable()) ?? report
  }

  /// Takes the store's lock. Returns nil if a file error prevents it, as in a store that this user cannot write to.
  func lockIfWritable() throws(KeyringError) -> StoreLock? {
    do throws(KeyringError) {
      return try StoreLock(tree, timeout: host.lockTimeout)
    } catch {
      guard case .file = error else { throw error }
      return nil
    }
  }

  /// Runs a check while no other process can write; returns nil without the lock.
  private func run(
    _ check: StoreCheck, under lock: consuming StoreLock?
  ) throws(KeyringError) -> CheckReport? {
    guard let lock else { return nil }
    defer { withExtendedLifetime(lock) {} }
    return try check.run()
  }

  /// Repairs a store without deleting anything and without a secret key. It finishes interrupted changes, rebuilds the
  /// index from the records, moves items to the paths that their records name, and quarantines files that do not belong
  /// to a store. It holds the store's lock until the end.
  ///
  /// - Parameters:
  ///   - decrypts: True if the check that follows decrypts every item.
  ///   - progress: Receives the number of finished items and of all items, in each of two passes.
  /// - Returns: The repairs, and the findings that remain.
  /// - Throws: `KeyringError.policyNotTrusted`; `.busy`; `.shardRefused` when the lines of the items do not fit into a
  ///   shard; `.unsafeFolder` when other users can write to a required folder; and the errors of
  ///   `check(decrypts:progress:)`. After any error except a file error the store is unchanged, except that interrupted
  ///   changes are finished.
  package func repair(
    decrypts: Bool = false, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> CheckReport {
    try requireTrust()
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    let quarantine = Quarantine.newFolder(at: host.clock())
    var repairs = try finishChanges(under: lock, quarantine)
    var repair = StoreRepair(keyring: self, quarantine: quarantine)
    repairs += try repair.run(try StoreSurvey(of: self), under: lock, progress: progress)
    var report = try StoreCheck(keyring: self, decrypts: decrypts, progress: progress).run()
    report.repairs = repairs
    return report
  }

  /// Builds the index anew from the records. A clone has it as it was pushed, but it is not signed, so it may hide items.
  ///
  /// - Returns: True if it was different. A store that this user cannot change stays as it is.
  /// - Throws: `KeyringError.busy`; `.shardRefused` when the lines of the items do not fit into a shard; or a file error.
  package func rebuildIndex() throws(KeyringError) -> Bool {
    if distrust != nil || !policy.isMember(trusted.signer) { return false }
    guard let lock = try lockIfWritable() else { return false }
    try Transaction.recover(in: tree, under: lock)
    var repair = StoreRepair(keyring: self, quarantine: Quarantine.newFolder(at: host.clock()))
    return try repair.rebuildIndex(try StoreSurvey(of: self), under: lock)
  }

  /// Finishes interrupted changes. A change is moved to a quarantine folder if its record cannot be read, or if the
  /// store has changed since.
  ///
  /// - Returns: The repairs.
  /// - Throws: The errors of `repair(decrypts:progress:)`.
  package func finishChanges() throws(KeyringError) -> [Repair] {
    try requireTrust()
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    return try finishChanges(under: lock, Quarantine.newFolder(at: host.clock()))
  }

  private func finishChanges(
    under lock: borrowing StoreLock, _ quarantine: String
  ) throws(KeyringError) -> [Repair] {
    var repairs: [Repair] = []
    while true {
      do {
        try Transaction.recover(in: tree, under: lock)
        return repairs
      } catch {
        let folder: String
        switch error {
        case .transactionDamaged(let name), .transactionOutdated(let name): folder = name
        default: throw error
        }
        let target = "\(quarantine)/\(RelativePath.name(of: folder))"
        try files { () throws(FileError) in
          try tree.rename(folder, to: target)
          try tree.synchronizeDirectory(quarantine)
          try tree.synchronizeDirectory(StoreLayout.work)
        }
        repairs.append(.quarantined(path: folder, to: target))
      }
    }
  }
}
