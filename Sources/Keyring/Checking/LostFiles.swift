package import KeyringModel

/// The files of an item in the store that are missing or damaged: its record, its encrypted file, or both.
package struct LostFiles: Sendable, Equatable {
  /// The path of the item.
  package let path: ItemPath
  /// The index line of the item; nil if its record is intact.
  package let line: ItemRecord?
  /// The digest of the lost encrypted file, from the record or, if that is lost too, from the index. Nil if the file is
  /// intact.
  package let sealed: ContentDigest?
  /// The digests of the damaged contents, by the paths of the files that exist and are damaged.
  package var damaged: [String: ContentDigest] = [:]

  /// The path of the record in the store.
  package var recordFile: String { StoreLayout.recordFile(path, isLocal: false) }
  /// The path of the encrypted file in the store.
  package var secretFile: String { StoreLayout.itemFile(path, isLocal: false) }
}

extension Keyring {
  /// Lists the items that have missing files, according to their records and the index. Nothing is verified here: the
  /// result only says which files to look for, and ``restore(_:)`` verifies each file before it writes it.
  ///
  /// Items that exist on this machine only are left out, because they are not in the history.
  ///
  /// - Returns: The missing files, sorted by path.
  /// - Throws: `KeyringError.policyNotTrusted` when the policy in the store cannot be read; a file error.
  package func missingFiles() throws(KeyringError) -> [LostFiles] {
    try missingFiles(in: try StoreSurvey(of: self))
  }

  /// Lists the items in a survey that have missing files.
  func missingFiles(in survey: StoreSurvey) throws(KeyringError) -> [LostFiles] {
    let reader = ItemReader(keyring: self)
    var places: [ItemPath: StoreSurvey.ItemFiles] = [:]
    var missing: [LostFiles] = []
    for item in survey.items where !item.isLocal {
      places[item.path] = item
      guard item.hasRecord, !item.hasSecret, !(try Keyring.isThere(item.file, in: tree)),
        let bytes = try reader.recordBytes(at: item.path, isLocal: false),
        // An unreadable record does not identify the encrypted file.
        let file = try? RecordFile(parsing: bytes), file.record.path == item.path
      else { continue }
      missing.append(LostFiles(path: item.path, line: nil, sealed: file.record.sealed))
    }
    var seen: Set<ItemPath> = []
    for shard in survey.shards where !shard.isLocal {
      for line in shard.shard.lines {
        guard let record = line.record, let path = line.path, places[path]?.hasRecord != true,
          seen.insert(path).inserted,
          !(try Keyring.isThere(StoreLayout.recordFile(path, isLocal: false), in: tree))
        else { continue }
        let file = StoreLayout.itemFile(path, isLocal: false)
        let hasSecret = try Keyring.isThere(file, in: tree)
        missing.append(LostFiles(path: path, line: record, sealed: hasSecret ? nil : record.sealed))
      }
    }
    return missing.sorted { $0.path < $1.path }
  }

  /// Restores missing and damaged files of items in one transaction.
  ///
  /// A record is written if a member of its group has signed it. An encrypted file is written if such a record contains
  /// its digest. An existing file is replaced only if it still has the damaged content, which is moved to a quarantine
  /// folder.
  ///
  /// - Parameters:
  ///   - found: The bytes of records and encrypted files by their paths in the store.
  ///   - damaged: The digests of the damaged contents that may be replaced, by path.
  /// - Returns: The repairs, sorted by path.
  /// - Throws: `KeyringError.policyNotTrusted`, `.busy`, `.unsafeFolder`, `.engine`, or a file error.
  package func restore(
    _ found: [String: [UInt8]], replacing damaged: [String: ContentDigest] = [:]
  ) throws(KeyringError) -> [Repair] {
    try requireTrust()
    let items = try verifiedItems(among: found, replacing: damaged)
    if items.isEmpty { return [] }
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    var restoration = Restoration(
      transaction: Transaction(in: tree), damaged: damaged, quarantine: Quarantine.newFolder(at: host.clock())
    )
    do {
      for item in items {
        // Another process may have changed the item after its record was verified.
        let current = try currentBytes(item.recordFile)
        let isReplaceable = current.map { damaged[item.recordFile] == ContentDigest(of: $0) } ?? true
        guard item.isNew ? isReplaceable : current == item.record else { continue }
        if item.isNew { try restoration.place(item.record, at: item.recordFile, instead: current) }
        guard let secret = item.secret else { continue }
        if try Keyring.isThere(item.secretFile, in: tree) {
          guard let current = try ItemReader(keyring: self).readableMessage(at: item.path),
            damaged[item.secretFile] == ContentDigest(of: current)
          else { continue }
          try restoration.place(secret, at: item.secretFile, instead: current)
        } else {
          try restoration.place(secret, at: item.secretFile, instead: nil)
        }
      }
    } catch {
      restoration.transaction.abandon()
      throw error
    }
    return try restoration.commit(under: lock)
  }

  /// Returns the items with at least one file to restore. Items without a verified record are left out.
  private func verifiedItems(
    among found: [String: [UInt8]], replacing damaged: [String: ContentDigest]
  ) throws(KeyringError) -> [FoundItem] {
    var candidates: [FoundItem] = []
    for path in Set(found.keys.compactMap(StoreLayout.itemPath(ofFile:))).sorted() {
      let recordFile = StoreLayout.recordFile(path, isLocal: false)
      let secretFile = StoreLayout.itemFile(path, isLocal: false)
      var stored = try currentBytes(recordFile)
      if let bytes = stored, damaged[recordFile] == ContentDigest(of: bytes) { stored = nil }
      guard let record = stored ?? found[recordFile] else { continue }
      candidates.append(
        FoundItem(
          path: path, recordFile: recordFile, secretFile: secretFile, record: record, isNew: stored == nil,
          secret: found[secretFile]))
    }
    let results = try verify(candidates.map { RecordClaim($0.record, path: $0.path) })
    return zip(candidates, results).compactMap { item, result in
      guard case .success(let verified) = result else { return nil }
      var item = item
      if item.secret.map({ ContentDigest(of: $0) }) != verified.record.sealed { item.secret = nil }
      return item.isNew || item.secret != nil ? item : nil
    }
  }

  /// Returns the bytes of a record; nil if there is none; empty if the path contains something other than a record,
  /// which must not be overwritten.
  private func currentBytes(_ file: String) throws(KeyringError) -> [UInt8]? {
    do throws(FileError) {
      return try tree.read(file, limit: StoreLayout.recordFileLimit)
    } catch {
      guard case .system = error.reason else { return [] }
      throw .file(error)
    }
  }
}

/// An item that has files in the history.
private struct FoundItem {
  let path: ItemPath
  let recordFile: String
  let secretFile: String
  /// The bytes of the record in the store or, if it is lost, of the record in the history.
  let record: [UInt8]
  /// True if the record of the store is missing or damaged.
  let isNew: Bool
  /// The bytes of the encrypted file, if it was found and has the digest in the record.
  var secret: [UInt8]?
}

/// The transaction that restores files.
private struct Restoration: ~Copyable {
  var transaction: Transaction
  let damaged: [String: ContentDigest]
  let quarantine: String
  private var repairs: [Repair] = []

  init(transaction: consuming Transaction, damaged: [String: ContentDigest], quarantine: String) {
    self.transaction = transaction
    (self.damaged, self.quarantine) = (damaged, quarantine)
  }

  /// Stages a file, and moves the damaged one to the quarantine folder.
  mutating func place(_ bytes: [UInt8], at path: String, instead old: [UInt8]?) throws(KeyringError) {
    if old != nil {
      let target = "\(quarantine)/\(path)"
      transaction.move(path, to: target)
      repairs.append(.quarantined(path: path, to: target))
    }
    try transaction.place(bytes, at: path)
    repairs.append(.restoredFile(path))
  }

  /// Commits the transaction.
  ///
  /// - Returns: The repairs.
  consuming func commit(under lock: borrowing StoreLock) throws(KeyringError) -> [Repair] {
    let repairs = repairs
    try transaction.commit(under: lock, subject: "restore files from the history")
    return repairs
  }
}
