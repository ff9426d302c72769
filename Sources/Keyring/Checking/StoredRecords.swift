internal import KeyringModel

/// The records in the folders of a store. The index is only a hint and may lack some of them.
struct StoredRecords: Sendable {
  /// One record.
  struct Entry: Sendable {
    let path: ItemPath
    let isLocal: Bool
    /// The verified record, or the reason to reject it.
    let result: Result<VerifiedRecord, RecordProblem>
  }

  /// The number of records in a batch, which are read and verified together.
  private static let portion = 4096

  /// Reads and verifies all records of a store.
  ///
  /// - Parameters:
  ///   - keyring: The store.
  ///   - survey: The files in its folders.
  ///   - body: Receives one batch of records at a time, in the order of their paths.
  /// - Throws: `KeyringError.engine`, a file error, or the error of `body`.
  static func forEachBatch(
    of keyring: Keyring, in survey: StoreSurvey, _ body: ([Entry]) throws(KeyringError) -> Void
  ) throws(KeyringError) {
    var files = survey.items.filter(\.hasRecord).map { (path: $0.path, isLocal: $0.isLocal) }[...]
    let pool = WorkerPool(workers: keyring.host.workers)
    while !files.isEmpty {
      let portion = Array(files.prefix(Self.portion))
      files = files.dropFirst(portion.count)
      let claims = try pool.map(portion.count) { (number) throws(KeyringError) -> RecordClaim? in
        let (path, isLocal) = portion[number]
        let bytes = try ItemReader(keyring: keyring).readableRecord(at: path, isLocal: isLocal)
        return RecordClaim(bytes ?? [], path: path, isLocal: isLocal)
      }.compactMap { $0 }
      let results = try keyring.verify(claims)
      try body(
        zip(portion, results).map { Entry(path: $0.path, isLocal: $0.isLocal, result: $1) })
    }
  }
}

/// The verified and the rejected records of a store.
package struct VerifiedRecords: Sendable {
  /// The records that a member of their group has signed.
  package private(set) var records: [VerifiedRecord] = []
  /// The paths of the rejected records, and the reasons.
  package private(set) var distrusted: [(path: ItemPath, fault: RecordProblem)] = []

  fileprivate init() {}

  fileprivate mutating func add(_ entry: StoredRecords.Entry) {
    switch entry.result {
    case .success(let record): records.append(record)
    case .failure(let fault): distrusted.append((entry.path, fault))
    }
  }
}

extension Keyring {
  /// Returns all records of the store, including those of items on this machine only.
  ///
  /// - Throws: `KeyringError.engine`, or a file error.
  package func verifiedRecords() throws(KeyringError) -> VerifiedRecords {
    try verifiedRecords(in: try StoreSurvey(of: self))
  }

  /// Returns all records of the store and the items with missing files, according to one survey of its folders.
  ///
  /// - Throws: The errors of ``verifiedRecords()`` and ``missingFiles()``.
  package func verifiedRecordsAndMissingFiles() throws(KeyringError) -> (VerifiedRecords, [LostFiles]) {
    let survey = try StoreSurvey(of: self)
    return (try verifiedRecords(in: survey), try missingFiles(in: survey))
  }

  private func verifiedRecords(in survey: StoreSurvey) throws(KeyringError) -> VerifiedRecords {
    var all = VerifiedRecords()
    try StoredRecords.forEachBatch(of: self, in: survey) { entries throws(KeyringError) in
      for entry in entries { all.add(entry) }
    }
    return all
  }
}

extension Keyring {
  /// Returns the verified records at the paths of index lines. They may differ from the lines.
  ///
  /// - Parameter lines: The items, as `find` returned them.
  /// - Throws: `KeyringError.itemDamaged` for a record that is not a regular file or too large, `.engine`, or a file
  ///   error.
  package func verifiedRecords(of lines: [ItemRecord]) throws(KeyringError) -> [VerifiedRecord] {
    let reader = ItemReader(keyring: self)
    var claims: [RecordClaim] = []
    for line in lines {
      guard let bytes = try reader.recordBytes(at: line.path, isLocal: line.isLocal) else { continue }
      claims.append(RecordClaim(bytes, path: line.path, isLocal: line.isLocal))
    }
    return try verify(claims).compactMap { result in
      // Rejected records are left out. `check` reports them.
      try? result.get()
    }
  }

  /// Returns the reason why an encrypted file is not the file of a verified record; nil if it is.
  ///
  /// A user who merges two versions signs for the file of one of them, so the signer of that version must be able to
  /// read the file.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - secret: The bytes of the encrypted file.
  /// - Throws: `KeyringError.engine`.
  package func fault(of record: VerifiedRecord, _ secret: [UInt8]) throws(KeyringError) -> RecordProblem? {
    guard ContentDigest(of: secret) == record.record.sealed else { return .damage(.notAsRecorded) }
    do throws(KeyringError) {
      try ItemReader(keyring: self).requireSignerAmongReaders(
        of: StoredItem(verified: record, message: secret))
      return nil
    } catch {
      switch error {
      case .itemDamaged(_, let damage): return .damage(damage)
      case .bindingMismatch(_, let mismatch): return .mismatch(mismatch)
      default: throw error
      }
    }
  }

  /// Returns the reason to reject a conflict copy; nil if it is valid.
  ///
  /// - Parameters:
  ///   - record: The bytes of its record.
  ///   - secret: The bytes of its encrypted file; nil if there is none.
  ///   - path: The path of its record in the store.
  /// - Throws: `KeyringError.engine`.
  package func fault(
    ofCopy record: [UInt8], _ secret: [UInt8]?, at path: String
  ) throws(KeyringError) -> RecordProblem? {
    switch try verifiedCopy(record, secret, at: path) {
    case .failure(let fault): fault
    case .success: nil
    }
  }

  /// Verifies a conflict copy, as `fault(ofCopy:_:at:)` does.
  package func verifiedCopy(
    _ record: [UInt8], _ secret: [UInt8]?, at path: String
  ) throws(KeyringError) -> Result<VerifiedRecord, RecordProblem> {
    let result = try verifier.verify(RecordClaim(record, path: nil))
    guard case .success(let verified) = result else { return result }
    let digest = ContentDigest(of: verified.file.line)
    guard path == StoreLayout.conflictFile(verified.record.id, digest, StoreLayout.recordExtension) else {
      return .failure(.mismatch(.place))
    }
    guard let secret else { return .failure(.damage(.missing)) }
    let isRecorded = ContentDigest(of: secret) == verified.record.sealed
    return isRecorded ? .success(verified) : .failure(.damage(.notAsRecorded))
  }
}
