internal import KeyringModel

extension Keyring {
  /// Lists the items with damaged files: an encrypted file whose digest is not the one in the record, or a record that
  /// is not verified although the index names it. The result only says which files to look for, and
  /// ``restore(_:replacing:)`` verifies each file before it writes it.
  ///
  /// An encrypted file that another program has changed counts as damaged. Items that exist on this machine only are
  /// left out, because they are not in the history.
  ///
  /// - Returns: The damaged files, sorted by path.
  /// - Throws: `KeyringError.policyNotTrusted` when the policy in the store cannot be read; `.engine` when GnuPG cannot
  ///   be used; a file error.
  package func damagedFiles() throws(KeyringError) -> [LostFiles] {
    let survey = try StoreSurvey(of: self)
    let lines = LineTable(survey.shards)
    let reader = ItemReader(keyring: self)
    let items = survey.items.filter { !$0.isLocal }
    var damaged: [LostFiles] = []
    for start in stride(from: 0, to: items.count, by: Self.verifiedAtOnce) {
      let piece = items[start..<min(start + Self.verifiedAtOnce, items.count)]
      var records: [(item: StoreSurvey.ItemFiles, bytes: [UInt8]?)] = []
      for item in piece {
        records.append(
          (item, item.hasRecord ? try reader.readableRecord(at: item.path, isLocal: false) : nil))
      }
      let claims = records.map { RecordClaim($0.bytes ?? [], path: $0.item.path) }
      for (record, result) in zip(records, try verify(claims)) {
        if let lost = try lostFiles(of: record.item, record.bytes, result, lines, reader) {
          damaged.append(lost)
        }
      }
    }
    return damaged.sorted { $0.path < $1.path }
  }

  /// Returns true if an encrypted file is a damaged copy of another one, and not a new encryption by another program.
  ///
  /// Two encryptions of a secret differ in the encrypted session key at the beginning, and in the encrypted content at
  /// the end. Damage at one place leaves the other one as it is.
  ///
  /// - Parameters:
  ///   - bytes: The file.
  ///   - original: The file that the record of the item describes.
  package static func isDamagedCopy(_ bytes: [UInt8], of original: [UInt8]) -> Bool {
    bytes.prefix(comparedHead).elementsEqual(original.prefix(comparedHead))
      || bytes.suffix(comparedTail).elementsEqual(original.suffix(comparedTail))
  }

  /// The number of bytes at the beginning that contain a part of the encrypted session key.
  private static var comparedHead: Int { 64 }
  /// The number of bytes at the end, which contain only encrypted content.
  private static var comparedTail: Int { 32 }

  /// The number of records that are in memory at the same time.
  private static var verifiedAtOnce: Int { 4096 }

  /// Returns the damaged files of an item; nil if there are none, or if nothing says what their contents must be.
  private func lostFiles(
    of item: StoreSurvey.ItemFiles, _ record: [UInt8]?, _ result: Result<VerifiedRecord, RecordProblem>,
    _ lines: LineTable, _ reader: ItemReader
  ) throws(KeyringError) -> LostFiles? {
    var damaged: [String: ContentDigest] = [:]
    let line: ItemRecord?
    let sealed: ContentDigest
    switch result {
    case .success(let verified): (line, sealed) = (nil, verified.record.sealed)
    // A record at the path of another item is moved by the repair that follows.
    case .failure(.mismatch): return nil
    case .failure(.damage):
      guard let known = lines[item.file] else { return nil }
      (line, sealed) = (known, known.sealed)
      // An empty array is not the content of the file: it is too large, or not a file.
      if let record, !record.isEmpty { damaged[item.recordFile] = ContentDigest(of: record) }
      if let record, record.isEmpty {
        guard try Keyring.isEmptyFile(item.recordFile, in: tree) else { return nil }
        damaged[item.recordFile] = ContentDigest(of: record)
      }
    }
    let message = try reader.readableMessage(at: item.path)
    let isThere = try Keyring.isThere(item.file, in: tree)
    if let message, ContentDigest(of: message) != sealed { damaged[item.file] = ContentDigest(of: message) }
    if damaged.isEmpty { return nil }
    let isLost = damaged[item.file] != nil || !isThere
    return LostFiles(path: item.path, line: line, sealed: isLost ? sealed : nil, damaged: damaged)
  }

  private static func isEmptyFile(_ path: String, in tree: FileTree) throws(KeyringError) -> Bool {
    let status = try files(tree.status(path))
    return status?.kind == .regular && status?.size == 0
  }
}

extension ItemReader {
  /// Returns the bytes of the encrypted file at a path; nil if there is none, or if it is too large or not a regular
  /// file.
  func readableMessage(at path: ItemPath) throws(KeyringError) -> [UInt8]? {
    do throws(KeyringError) {
      return try message(at: path, isLocal: false)
    } catch {
      guard case .itemDamaged = error else { throw error }
      return nil
    }
  }
}
