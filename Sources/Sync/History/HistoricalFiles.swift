package import Keyring
package import KeyringModel

/// Finds missing and damaged files of items in the history without using a secret key.
package struct HistoricalFiles: Sendable {
  private let repository: Repository
  private let objects: ObjectReader

  /// The maximum number of paths in a command line, and of contents that are read at once.
  private static let pieceSize = 256

  /// Creates a search in the history of a repository.
  package init(in repository: Repository) {
    self.repository = repository
    objects = ObjectReader(git: repository.git)
  }

  /// Finds lost files at their paths, on any branch or reflog.
  ///
  /// A lost record is replaced by the one in the index if the history contains it. A missing one is otherwise replaced
  /// by the newest verified one. A lost encrypted file is replaced by the one with the digest in its record.
  ///
  /// - Parameters:
  ///   - missing: The results of `Keyring.missingFiles()` and `Keyring.damagedFiles()`.
  ///   - keyring: The store, whose policy is used to verify records.
  /// - Returns: The bytes by path in the store, for `Keyring.restore(_:replacing:)`.
  /// - Throws: The errors of `Git.run`; `KeyringError` if GnuPG cannot be used.
  package func find(_ missing: [LostFiles], for keyring: Keyring) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for start in stride(from: 0, to: missing.count, by: Self.pieceSize) {
      let piece = missing[start..<min(start + Self.pieceSize, missing.count)]
      let records = try records(piece.filter { $0.line != nil }, keyring)
      var wanted: [ContentDigest: [String]] = [:]
      for item in piece {
        if item.line != nil {
          guard let record = records[item.path] else { continue }
          found[item.recordFile] = record.file.bytes
          if item.sealed != nil { wanted[record.record.sealed, default: []].append(item.secretFile) }
        } else if let sealed = item.sealed {
          wanted[sealed, default: []].append(item.secretFile)
        }
      }
      for (digest, message) in try messages(wanted) {
        for file in wanted[digest] ?? [] { found[file] = message }
      }
    }
    return found
  }

  /// Finds the original files of items that other programs have changed, on any branch or reflog.
  ///
  /// - Parameter items: The verified records of the items.
  /// - Returns: The files with the digests in the records, by path in the store, for `Keyring.undo(_:originals:)`.
  /// - Throws: The errors of `Git.run`.
  package func originals(of items: [ItemRecord]) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for start in stride(from: 0, to: items.count, by: Self.pieceSize) {
      var wanted: [ContentDigest: [String]] = [:]
      for item in items[start..<min(start + Self.pieceSize, items.count)] {
        wanted[item.sealed, default: []].append(StoreLayout.itemFile(item.path, isLocal: false))
      }
      for (digest, message) in try messages(wanted) {
        for file in wanted[digest] ?? [] { found[file] = message }
      }
    }
    return found
  }

  /// Finds key files, on any branch or reflog.
  ///
  /// - Parameter wanted: The digests of the files.
  /// - Returns: The contents that were found, by digest.
  /// - Throws: The errors of `Git.run`.
  package func keyFiles(_ wanted: [Fingerprint: ContentDigest]) throws -> [ContentDigest: [UInt8]] {
    var found: [ContentDigest: [UInt8]] = [:]
    let digests = Set(wanted.values)
    let names = try contents(at: wanted.keys.map(StoreLayout.keyFile))
    for start in stride(from: 0, to: names.count, by: Self.pieceSize) {
      let piece = names[start..<min(start + Self.pieceSize, names.count)]
      for bytes in try objects.contents(of: piece, limit: StoreLayout.keyFileLimit).values {
        let digest = ContentDigest(of: bytes)
        if digests.contains(digest) { found[digest] = bytes }
      }
    }
    return found
  }

  /// Finds versions of items that plain git has merged, on any branch or reflog.
  ///
  /// - Parameter wanted: The records and encrypted files to look for.
  /// - Returns: The versions that were found, without verification.
  /// - Throws: The errors of `Git.run`.
  package func versions(_ wanted: WantedVersions) throws -> HistoricalVersions {
    var found = HistoricalVersions()
    let lines = wanted.records.values.reduce(into: Set()) { $0.formUnion($1) }
    let places = wanted.records.keys.sorted()
    for start in stride(from: 0, to: places.count, by: Self.pieceSize) {
      let files = places[start..<min(start + Self.pieceSize, places.count)].map {
        StoreLayout.recordFile($0, isLocal: false)
      }
      for bytes in try objects.contents(
        of: try contents(at: files), limit: RecordFile.maximumSize
      ).values {
        // Contents that are not records are ignored.
        guard let file = try? RecordFile(parsing: bytes) else { continue }
        let digest = ContentDigest(of: file.line)
        if lines.contains(digest) { found.records[digest] = bytes }
      }
    }
    let messages = Array(wanted.messages)
    for start in stride(from: 0, to: messages.count, by: Self.pieceSize) {
      var piece: [ContentDigest: [String]] = [:]
      for (digest, paths) in messages[start..<min(start + Self.pieceSize, messages.count)] {
        piece[digest] = paths.map { StoreLayout.itemFile($0, isLocal: false) }
      }
      found.messages.merge(try self.messages(piece)) { $1 }
    }
    return found
  }

  /// Returns the verified records that match the lines of the index, otherwise the newest verified ones.
  private func records(
    _ missing: [LostFiles], _ keyring: Keyring
  ) throws -> [ItemPath: VerifiedRecord] {
    let files = try objects.contents(
      of: try contents(at: missing.map(\.recordFile)), limit: RecordFile.maximumSize)
    let ordered = files.sorted { $0.key < $1.key }.map(\.value)
    let results: [Result<VerifiedRecord, RecordProblem>] = try keyring.verify(
      ordered.map { RecordClaim($0, path: nil) })
    // The reason why a record is not verified does not matter, because it is not used.
    let verified = Dictionary(grouping: results.compactMap { try? $0.get() }) { $0.record.path }
    var chosen: [ItemPath: VerifiedRecord] = [:]
    for item in missing {
      let versions = verified[item.path] ?? []
      chosen[item.path] =
        versions.first { $0.record == item.line }
        // The index may be wrong, so it does not decide that an older version replaces a record that exists.
        ?? (item.damaged[item.recordFile] == nil
          ? versions.max { $0.record.modified < $1.record.modified } : nil)
    }
    return chosen
  }

  /// Returns the encrypted files with some digests.
  private func messages(_ wanted: [ContentDigest: [String]]) throws -> [ContentDigest: [UInt8]] {
    var found: [ContentDigest: [UInt8]] = [:]
    let names = try contents(at: wanted.values.flatMap { $0 })
    for start in stride(from: 0, to: names.count, by: Self.pieceSize) {
      let piece = names[start..<min(start + Self.pieceSize, names.count)]
      for message in try objects.contents(of: piece, limit: StoreLayout.sealedItemLimit).values {
        let digest = ContentDigest(of: message)
        if wanted[digest] != nil { found[digest] = message }
      }
    }
    return found
  }

  /// Returns the object names of all contents that some files of the store have ever had.
  private func contents(at files: [String]) throws -> [String] {
    try objects.pastNames(of: files.map { repository.prefix + $0 }, in: ObjectReader.everywhere)
  }
}
