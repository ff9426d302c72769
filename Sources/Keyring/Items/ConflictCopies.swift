package import KeyringModel
internal import OpenPGP
package import Secrets

/// A version of an item that lost a conflict in a merge: its two files as they were signed.
///
/// It is stored in `conflicts/<id>/<digest>.gpg` and `.json` and is not in the index, so no query finds it.
package struct ConflictCopy: Sendable, Equatable {
  /// The record of this version.
  package let record: ItemRecord
  /// The signer of this version; nil if the record could not be verified. The copy cannot be used then.
  package let signer: Fingerprint?
  /// The time of its signature; nil if that cannot be read.
  package let signed: Timestamp?
  /// The digest of the first line of its record, which is part of its file names.
  let digest: ContentDigest

  /// The paths of its encrypted file and its record in the store.
  package var files: [String] {
    [StoreLayout.secretExtension, StoreLayout.recordExtension].map {
      StoreLayout.conflictFile(record.id, digest, $0)
    }
  }
}

extension StoreLayout {
  /// Returns the path of a file of a conflict copy.
  ///
  /// - Parameters:
  ///   - id: The item.
  ///   - digest: The SHA-256 of the first line of the record.
  ///   - ending: The file name extension.
  package static func conflictFile(_ id: ItemID, _ digest: ContentDigest, _ ending: String) -> String {
    "\(conflicts)/\(id.hex)/\(Hexadecimal.text(digest.bytes))\(ending)"
  }

  /// Returns true if a path has the form of a conflict copy's file.
  package static func isConflictFile(_ path: String) -> Bool {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == conflicts, ItemID(hex: String(parts[1])) != nil else { return false }
    return [secretExtension, recordExtension].contains { ending in
      guard parts[2].hasSuffix(ending) else { return false }
      let digits = parts[2].dropLast(ending.utf8.count)
      return digits.utf8.count == 64
        && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
  }
}

extension Keyring {
  /// Returns the conflict copies in the store, least recently modified first.
  ///
  /// - Parameter item: The item with the same id or path; nil for the copies of all items.
  /// - Throws: `KeyringError.engine`, or a file error. Files that are not conflict copies are left out; `check`
  ///   reports them.
  package func conflictCopies(of item: ItemRecord? = nil) throws(KeyringError) -> [ConflictCopy] {
    var claims: [(bytes: [UInt8], file: RecordFile)] = []
    for folder in try names(in: StoreLayout.conflicts) {
      for name in try names(in: "\(StoreLayout.conflicts)/\(folder)")
      where name.hasSuffix(StoreLayout.recordExtension) {
        let path = "\(StoreLayout.conflicts)/\(folder)/\(name)"
        guard let bytes = try conflictFile(path, limit: StoreLayout.recordFileLimit),
          let file = try? RecordFile(parsing: bytes),
          path
            == StoreLayout.conflictFile(
              file.record.id, ContentDigest(of: file.line), StoreLayout.recordExtension)
        else { continue }
        claims.append((bytes, file))
      }
    }
    if let item {
      claims.removeAll { $0.file.record.id != item.id && $0.file.record.path != item.path }
    }
    let verified = try verify(claims.map { RecordClaim($0.bytes, path: nil) })
    return zip(claims, verified).map { claim, result in
      var signer: Fingerprint?
      if case .success(let record) = result { signer = record.signer }
      return ConflictCopy(
        record: claim.file.record, signer: signer, signed: claim.file.statement?.time,
        digest: ContentDigest(of: claim.file.line))
    }.sorted { left, right in
      left.record.modified == right.record.modified
        ? left.digest.base64url < right.digest.base64url : left.record.modified < right.record.modified
    }
  }

  /// Returns a conflict copy with its encrypted file, verified.
  ///
  /// - Throws: `KeyringError.itemNotFound` if it no longer exists; `.itemDamaged`, `.bindingMismatch`, `.engine`.
  func storedItem(of copy: ConflictCopy) throws(KeyringError) -> StoredItem {
    let limits = [StoreLayout.sealedItemLimit, StoreLayout.recordFileLimit]
    let message = try conflictFile(copy.files[0], limit: limits[0])
    let record = try conflictFile(copy.files[1], limit: limits[1])
    let reader = ItemReader(keyring: self)
    guard let item = try reader.stored(record, message, at: copy.record.path, isLocal: false) else {
      throw .itemNotFound
    }
    guard item.record == copy.record else { throw .bindingMismatch(copy.record.reference, .place) }
    return item
  }

  /// Decrypts the secret of a conflict copy.
  ///
  /// - Throws: The errors of `secret(for:matching:)`.
  package func secret(of copy: ConflictCopy) throws(KeyringError) -> SecretBytes {
    try ItemReader(keyring: self).secret(of: try storedItem(of: copy))
  }

  /// Returns the names in a folder; an empty array if it is not a folder, which `check` reports.
  private func names(in folder: String) throws(KeyringError) -> [String] {
    try files { () throws(FileError) in
      try tree.status(folder)?.kind == .directory ? try tree.list(folder) : []
    }
  }

  private func conflictFile(_ path: String, limit: Int) throws(KeyringError) -> [UInt8]? {
    do throws(FileError) {
      return try tree.read(path, limit: limit)
    } catch {
      // `check` reports anything that is not a regular file.
      guard case .system = error.reason else { return nil }
      throw .file(error)
    }
  }
}

extension Index {
  /// Returns the number of conflict copies, counted by their file names. No file is read or verified.
  ///
  /// - Parameter item: The item whose copies are counted; nil for those of all items.
  /// - Throws: A file error.
  package func conflictCopyCount(of item: ItemID? = nil) throws(KeyringError) -> Int {
    var count = 0
    let folders = if let item { [item.hex] } else { try files(tree.list(StoreLayout.conflicts)) }
    for folder in folders {
      count += try files(tree.list("\(StoreLayout.conflicts)/\(folder)")).count { name in
        name.hasSuffix(StoreLayout.recordExtension)
          && StoreLayout.isConflictFile("\(StoreLayout.conflicts)/\(folder)/\(name)")
      }
    }
    return count
  }
}

extension RecordFile {
  /// The statement in the proof's signed message; nil if it cannot be read. The signature is not verified.
  package var statement: SignedRoot? {
    // Verification of the record reports why it cannot be read.
    try? statement(in: SignedMessage(proof.signature)?.content)
  }
}
