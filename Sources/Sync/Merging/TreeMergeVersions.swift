internal import Keyring
internal import KeyringModel

/// Versions and encrypted files from the history.
extension TreeMerge {
  /// Returns the last versions of items before the merge base that a member has signed.
  ///
  /// Under a policy that nobody has accepted, the base can have a record that nobody may sign. It must not hide the
  /// version before it from the checks for older versions and for moves. The merge itself does not use that version,
  /// because a member may have signed a newer one before leaving.
  func lastSigned(_ paths: Set<ItemPath>, _ judge: Keyring) throws -> [ItemPath: VerifiedRecord] {
    try lastSigned(paths, [judge])
  }

  func lastSigned(
    _ paths: Set<ItemPath>, _ judges: [Keyring]
  ) throws -> [ItemPath: VerifiedRecord] {
    var claims: [RecordClaim] = []
    let names = try objects.pastNames(of: paths.map { prefix + ItemFiles.recordFile($0) }, in: bases)
    try objects.forEachContent(of: names, limit: RecordFile.maximumSize) { _, bytes in
      // Contents that are not records are ignored.
      guard let file = try? RecordFile(parsing: Array(bytes)), paths.contains(file.record.path) else {
        return
      }
      claims.append(RecordClaim(file.bytes, path: file.record.path))
    }
    var versions: [ItemPath: VerifiedRecord] = [:]
    for judge in judges {
      for case .success(let version) in try judge.verify(claims) {
        let known = versions[version.record.path]?.record
        if known.map({ version.record.isLater(than: $0, bySecret: false) }) ?? true {
          versions[version.record.path] = version
        }
      }
    }
    return versions
  }

  /// Returns the encrypted file that a record describes; nil if none of the commits has it.
  ///
  /// - Parameters:
  ///   - record: The record.
  ///   - path: The path of the item in the commits; nil for that of the record.
  ///   - commits: The commits, the most likely one first.
  func original(
    of record: ItemRecord, from path: ItemPath? = nil, at commits: [String], _ files: ItemFiles
  ) -> [UInt8]? {
    commits.lazy.compactMap { files.secret(path ?? record.path, at: $0) }
      .first { ContentDigest(of: $0) == record.sealed } ?? files.recovered[record.sealed]
  }

  /// Returns the encrypted files that records describe and that only older commits of the remote have, because another
  /// program has changed them since.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - commits: The commits that are merged.
  ///   - files: The files in these commits.
  func originals(
    of records: [ItemRecord], _ commits: [String], _ files: ItemFiles
  ) throws -> [ContentDigest: [UInt8]] {
    let lost = records.filter { original(of: $0, at: commits, files) == nil }
    if lost.isEmpty { return [:] }
    let wanted = Set(lost.map(\.sealed))
    let names = try objects.pastNames(
      of: lost.map { prefix + ItemFiles.secretFile($0.path) }, in: [theirs.commit])
    var found: [ContentDigest: [UInt8]] = [:]
    for bytes in try objects.contents(of: names, limit: StoreLayout.sealedItemLimit).values {
      let digest = ContentDigest(of: bytes)
      if wanted.contains(digest) { found[digest] = bytes }
    }
    return found
  }
}
