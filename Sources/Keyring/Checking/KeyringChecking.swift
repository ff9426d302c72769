internal import KeyringModel

extension Keyring {
  /// Holds index, items, policy and keys against each other; changes nothing but what a writer that was cut
  /// off has left to do.
  ///
  /// - Parameters:
  ///   - decrypts: whether every item is decrypted and held against its line, which needs the user's key.
  ///   - progress: told how many of how many items are done.
  /// - Throws: `KeyringError.busy`, `.engine` when GnuPG cannot be used at all, or a file error.
  public func check(
    decrypts: Bool = false, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> CheckReport {
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    var damaged: [Finding] = []
    do {
      try Transaction.recover(in: tree, under: lock)
    } catch {
      guard case .transactionDamaged(let folder) = error else { throw error }
      damaged.append(Finding(folder, .transaction))
    }
    let check = StoreCheck(keyring: self, decrypts: decrypts, progress: progress)
    var report = try check.run(try StoreSurvey(of: tree))
    report.findings = damaged + report.findings
    return report
  }

  /// Brings a store in order without deleting anything: lines are rebuilt from sealed items, items go back
  /// to the place they name themselves, and what belongs nowhere goes into a quarantine folder.
  ///
  /// - Parameters:
  ///   - decrypts: whether items that look right are decrypted, too.
  ///   - progress: told how many of how many items are done, in each of two passes.
  /// - Returns: what was repaired, and what is still wrong.
  /// - Throws: `KeyringError.policyNotTrusted`, and as `check(decrypts:progress:)`.
  public func repair(
    decrypts: Bool = false, progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> CheckReport {
    if let distrust { throw .policyNotTrusted(distrust) }
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    let quarantine = Quarantine.newFolder(at: host.clock())
    var repairs: [Repair] = []
    while true {
      do {
        try Transaction.recover(in: tree, under: lock)
        break
      } catch {
        guard case .transactionDamaged(let folder) = error else { throw error }
        let target = "\(quarantine)/\(RelativePath.name(of: folder))"
        try files(tree.rename(folder, to: target))
        repairs.append(.quarantined(path: folder, to: target))
      }
    }
    var repair = StoreRepair(keyring: self, quarantine: quarantine, decrypts: decrypts)
    repairs += try repair.run(try StoreSurvey(of: tree), under: lock, progress: progress)
    let check = StoreCheck(keyring: self, decrypts: decrypts, progress: progress)
    var report = try check.run(try StoreSurvey(of: tree))
    report.repairs = repairs
    return report
  }
}
