package import KeyringModel
internal import OpenPGP

/// An encrypted file below `items` that another program for pass stores, such as a phone app, has added or changed.
///
/// No member has signed it. Anyone who can write to the store or push to its repository can create such a file, so
/// nothing is done with it until the user has agreed.
package struct ForeignFile: Sendable, Equatable {
  /// The kind of change.
  package enum Kind: Sendable, Equatable {
    /// The file has no record.
    case added
    /// The file replaces that of an item, whose verified record contains another digest.
    case changed(ItemRecord)
    /// The file changes an item, and a merge has kept it at a second path. The item keeps the file that its record
    /// describes.
    case kept(ItemRecord)
  }

  /// The path in the store.
  package let path: String
  /// The kind of change.
  package let kind: Kind
  /// The digest of the file; nil if the file is larger than the limit.
  package let digest: ContentDigest?
  /// The time of the last change of the file on this machine.
  package let modified: Timestamp

  /// The item that the file changes; nil for a new file.
  package var item: ItemRecord? {
    switch kind {
    case .added: nil
    case .changed(let record), .kept(let record): record
    }
  }

  /// True if the file is at the path of the item's own file.
  package var replacesItemFile: Bool {
    if case .changed = kind { return true }
    return false
  }
}

extension Keyring {
  /// Returns the files that other programs have added or changed, sorted by path. Reads all encrypted files, but
  /// decrypts nothing.
  ///
  /// A file is a change of an item only if it is an OpenPGP message and not the file of another item. Everything else
  /// is damage, which `check` reports. Items that exist on this machine only are left out.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` when the policy in the store cannot be read; `.engine`; a file error.
  package func foreignFiles() throws(KeyringError) -> [ForeignFile] {
    try foreignFiles(in: try StoreSurvey(of: self))
  }

  /// Returns the files in a survey that other programs have added or changed, sorted by path.
  func foreignFiles(in survey: StoreSurvey) throws(KeyringError) -> [ForeignFile] {
    let lines = LineTable(survey.shards)
    let shared = survey.items.filter { !$0.isLocal && $0.hasSecret }
    // A file with an index line but without a record belongs to an item whose record was lost.
    let added = shared.filter { !$0.hasRecord && lines[$0.file] == nil }.map(\.file) + survey.foreignFiles
    var found: [ForeignFile] = []
    for path in added {
      guard let status = try files(tree.status(path)) else { continue }
      found.append(
        ForeignFile(
          path: path, kind: .added, digest: try digest(ofForeign: path), modified: status.modified))
    }
    found = try namingItems(in: found)
    let recorded = shared.filter { $0.hasRecord && lines[$0.file] != nil }
    let differs = try WorkerPool(workers: host.workers).map(recorded.count) {
      (number) throws(KeyringError) in
      try self.digest(ofForeign: recorded[number].file) != lines[recorded[number].file]?.sealed
    }
    let changed = zip(recorded, differs).filter(\.1).map(\.0.path)
    found += try changes(at: changed, known: lines.digests)
    return found.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  /// Returns new files in which those that a merge has kept beside the file of an item have this item.
  ///
  /// - Parameter added: The files without a record.
  private func namingItems(in added: [ForeignFile]) throws(KeyringError) -> [ForeignFile] {
    let paths = added.map { file in file.digest.flatMap { SecondPath.item(of: file.path, $0) } }
    let reader = ItemReader(keyring: self)
    var claims: [ItemPath: RecordClaim] = [:]
    for path in paths.compactMap({ $0 }) where claims[path] == nil {
      guard let bytes = try reader.readableRecord(at: path, isLocal: false) else { continue }
      claims[path] = RecordClaim(bytes, path: path)
    }
    if claims.isEmpty { return added }
    var records: [ItemPath: ItemRecord] = [:]
    for case .success(let verified) in try verify(Array(claims.values)) {
      records[verified.record.path] = verified.record
    }
    return zip(added, paths).map { file, path in
      guard let record = path.flatMap({ records[$0] }) else { return file }
      return ForeignFile(path: file.path, kind: .kept(record), digest: file.digest, modified: file.modified)
    }
  }

  /// Returns findings in which the files that other programs have changed are not called damaged.
  ///
  /// - Parameters:
  ///   - findings: The findings of a check.
  ///   - time: Returns the time of a change; nil if it is unknown.
  /// - Throws: The errors of ``foreignFiles()``.
  package func namingChanges(
    in findings: [Finding], time: (ForeignFile) -> Timestamp? = { _ in nil }
  ) throws(KeyringError) -> [Finding] {
    let paths = findings.compactMap { finding in
      finding.kind == .damaged(.notAsRecorded) ? StoreLayout.itemPath(ofFile: finding.path) : nil
    }
    if paths.isEmpty { return findings }
    let lines = LineTable(try StoreSurvey(of: self).shards)
    var files: [String: ForeignFile] = [:]
    for file in try changes(at: paths, known: lines.digests) { files[file.path] = file }
    return findings.map { finding in
      guard finding.kind == .damaged(.notAsRecorded), let file = files[finding.path], let record = file.item
      else { return finding }
      return Finding(
        finding.path, .changed(recorded: record.secretModified, found: time(file)), commit: finding.commit)
    }
  }

  /// Returns the paths of findings about files that other programs have added or changed.
  ///
  /// A file without a record is not one of them if the index has the item: then the record was lost or removed.
  ///
  /// - Parameter findings: The findings of a check, with named changes.
  /// - Throws: The errors of ``foreignFiles()``.
  func adoptablePaths(among findings: [Finding]) throws(KeyringError) -> Set<String> {
    let paths = Set(findings.filter(\.kind.isAdoptable).map(\.path))
    // A file with another finding, such as a wrong line of the index, was not changed by a program for pass stores.
    let others = Set(findings.filter { !$0.kind.isAdoptable }.map(\.path))
    if paths.isEmpty { return [] }
    let lines = LineTable(try StoreSurvey(of: self).shards)
    let lost = findings.filter { $0.kind == .notAdopted && lines[$0.path] != nil }.map(\.path)
    return paths.subtracting(others).subtracting(lost)
  }

  /// Returns the changed files of items.
  ///
  /// - Parameters:
  ///   - paths: The items whose files do not have the digest in the index.
  ///   - known: The digests of all files in the index. A file with one of them is the file of another item.
  private func changes(
    at paths: [ItemPath], known: Set<ContentDigest>
  ) throws(KeyringError) -> [ForeignFile] {
    if paths.isEmpty { return [] }
    let reader = ItemReader(keyring: self)
    var claims: [RecordClaim] = []
    for path in paths {
      claims.append(RecordClaim(try reader.readableRecord(at: path, isLocal: false) ?? [], path: path))
    }
    var found: [ForeignFile] = []
    for case .success(let verified) in try verify(claims) {
      let path = StoreLayout.itemFile(verified.record.path, isLocal: false)
      guard let message = try foreignMessage(at: path), let status = try files(tree.status(path)) else {
        continue
      }
      let digest = ContentDigest(of: message)
      guard digest != verified.record.sealed, !known.contains(digest), isMessage(message) else { continue }
      found.append(
        ForeignFile(
          path: path, kind: .changed(verified.record), digest: digest, modified: status.modified))
    }
    return found
  }

  /// Returns true if bytes are an OpenPGP message that is encrypted to public keys.
  ///
  /// - Parameter bytes: The bytes of a file.
  package func isMessage(_ bytes: [UInt8]) -> Bool {
    // The reason does not matter here: the file is damaged.
    (try? engine.recipients(of: bytes)) != nil
  }

  private func digest(ofForeign path: String) throws(KeyringError) -> ContentDigest? {
    try foreignMessage(at: path).map { ContentDigest(of: $0) }
  }

  /// Returns the bytes of a file; nil if it is missing, too large, or not a regular file with one name.
  func foreignMessage(at path: String) throws(KeyringError) -> [UInt8]? {
    do throws(FileError) {
      return try tree.read(path, limit: StoreLayout.sealedItemLimit)
    } catch {
      guard case .system = error.reason else { return nil }
      throw .file(error)
    }
  }

  /// Reads a file that another program has added or changed.
  ///
  /// - Returns: The bytes; nil if the file has changed since it was listed, or is too large.
  /// - Throws: A file error.
  package func message(of file: ForeignFile) throws(KeyringError) -> [UInt8]? {
    guard let digest = file.digest, let bytes = try foreignMessage(at: file.path) else { return nil }
    return ContentDigest(of: bytes) == digest ? bytes : nil
  }
}

extension FileStatus {
  /// The time of the last change of the content. Any program can set it.
  fileprivate var modified: Timestamp { Timestamp(microseconds: stamp.modification / 1000) }
}
