internal import KeyringModel

extension Keyring {
  /// Compares index, records, encrypted files, policy and keys with each other. Nothing in the store is changed and no lock is taken, so
  /// that a store which can only be read can be checked, too; a change that was cut off is reported.
  ///
  /// When something is found while another process writes, it looks again, at last while writers wait.
  ///
  /// - Parameters:
  ///   - decrypts: whether every item is decrypted, which needs the user's key.
  ///   - progress: told how many of how many items are done, in each round.
  /// - Returns: what was found.
  /// - Throws: `KeyringError.busy` when writers keep at it; `.engine` when GnuPG cannot be used, nobody can be asked
  ///   for a passphrase, or the question was cancelled; `.policyNotTrusted` when the policy in the store cannot be
  ///   read; `.transactionUnknown` when a newer version was cut off; or a file error.
  public func check(
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

  /// The store's lock; nil when somebody else can write in the store and this user cannot.
  func lockIfWritable() throws(KeyringError) -> StoreLock? {
    do throws(KeyringError) {
      return try StoreLock(tree, timeout: host.lockTimeout)
    } catch {
      guard case .file = error else { throw error }
      return nil
    }
  }

  /// Looks while no writer is at work; nil without the lock.
  private func run(
    _ check: StoreCheck, under lock: consuming StoreLock?
  ) throws(KeyringError) -> CheckReport? {
    guard let lock else { return nil }
    defer { withExtendedLifetime(lock) {} }
    return try check.run()
  }

  /// Brings a store in order without deleting anything, and without a secret key: changes that were cut off are finished,
  /// the index is rebuilt from the records, items go back to the place that their records name, and what belongs nowhere
  /// goes into a quarantine folder. The store's lock is held all the time.
  ///
  /// - Parameters:
  ///   - decrypts: whether the check that follows decrypts every item.
  ///   - progress: told how many of how many items are done, in each of two passes.
  /// - Returns: what was repaired, and what is still wrong.
  /// - Throws: `KeyringError.policyNotTrusted`; `.busy`; `.shardRefused` when the lines of the items do not fit into
  ///   a shard; `.unsafeFolder` when others can write to a folder that something would go to; and as
  ///   `check(decrypts:progress:)`. After any but a file error the store is as it was, but for the changes that were
  ///   cut off before.
  public func repair(
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

  /// Finishes changes that were cut off; one whose record cannot be read, or that the
  /// store has changed since, goes into a quarantine folder.
  ///
  /// - Returns: what was repaired.
  /// - Throws: as `repair(decrypts:progress:)`.
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
