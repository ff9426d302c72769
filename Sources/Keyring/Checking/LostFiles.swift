package import KeyringModel

/// The missing files of an item in the store: its record, its encrypted file, or both.
package struct MissingFiles: Sendable, Equatable {
  /// The path of the item.
  package let path: ItemPath
  /// The index line of the item; nil if its record exists.
  package let line: ItemRecord?
  /// The digest of the missing encrypted file, from the record or, if that is missing too, from the index. Nil if the
  /// file exists.
  package let sealed: ContentDigest?

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
  package func missingFiles() throws(KeyringError) -> [MissingFiles] {
    let survey = try StoreSurvey(of: self)
    let reader = ItemReader(keyring: self)
    var places: [ItemPath: StoreSurvey.ItemFiles] = [:]
    var missing: [MissingFiles] = []
    for item in survey.items where !item.isLocal {
      places[item.path] = item
      guard item.hasRecord, !item.hasSecret, !(try Keyring.isThere(item.file, in: tree)),
        let bytes = try reader.recordBytes(at: item.path, isLocal: false),
        // An unreadable record does not identify the encrypted file.
        let file = try? RecordFile(parsing: bytes), file.record.path == item.path
      else { continue }
      missing.append(MissingFiles(path: item.path, line: nil, sealed: file.record.sealed))
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
        missing.append(MissingFiles(path: path, line: record, sealed: hasSecret ? nil : record.sealed))
      }
    }
    return missing.sorted { $0.path < $1.path }
  }

  /// Restores missing files of items in one transaction.
  ///
  /// A record is written if a member of its group has signed it. An encrypted file is written if such a record contains
  /// its digest. Existing files are never overwritten.
  ///
  /// - Parameter found: The bytes of records and encrypted files by their paths in the store.
  /// - Returns: The sorted paths of the files that were written.
  /// - Throws: `KeyringError.policyNotTrusted`, `.busy`, `.unsafeFolder`, `.engine`, or a file error.
  package func restore(_ found: [String: [UInt8]]) throws(KeyringError) -> [String] {
    try requireTrust()
    let items = try verifiedItems(among: found)
    if items.isEmpty { return [] }
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    var transaction = Transaction(in: tree)
    var written: [String] = []
    do {
      for item in items {
        // Another process may have changed the item after its record was verified.
        let current = try currentBytes(item.recordFile)
        guard current == nil ? item.isNew : current == item.record else { continue }
        if current == nil {
          try transaction.place(item.record, at: item.recordFile)
          written.append(item.recordFile)
        }
        if let secret = item.secret, !(try Keyring.isThere(item.secretFile, in: tree)) {
          try transaction.place(secret, at: item.secretFile)
          written.append(item.secretFile)
        }
      }
    } catch {
      transaction.abandon()
      throw error
    }
    try transaction.commit(under: lock, subject: "restore missing files")
    return written.sorted()
  }

  /// Returns the items with at least one file to restore. Items without a verified record are left out.
  private func verifiedItems(among found: [String: [UInt8]]) throws(KeyringError) -> [FoundItem] {
    var candidates: [FoundItem] = []
    for path in Set(found.keys.compactMap(StoreLayout.itemPath(ofFile:))).sorted() {
      let recordFile = StoreLayout.recordFile(path, isLocal: false)
      let secretFile = StoreLayout.itemFile(path, isLocal: false)
      let stored = try currentBytes(recordFile)
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
  /// The bytes of the record in the store or, if there is none, of the record in the history.
  let record: [UInt8]
  /// True if the store has no record.
  let isNew: Bool
  /// The bytes of the encrypted file, if it was found and has the digest in the record.
  var secret: [UInt8]?
}
