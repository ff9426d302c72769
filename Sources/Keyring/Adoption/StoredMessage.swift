package import Encoding
package import KeyringModel
package import Secrets

/// An encrypted file in the store or in its history.
package struct StoredMessage: Sendable, Hashable {
  /// The path in the store.
  package let path: String
  /// The digest of the file.
  package let digest: ContentDigest
  /// The digest of its encrypted data. Files that differ only in their recipients have the same.
  package let container: ContentDigest

  /// Creates a file from its parts.
  package init(path: String, digest: ContentDigest, container: ContentDigest) {
    (self.path, self.digest, self.container) = (path, digest, container)
  }
}

extension Keyring {
  /// Returns the facts about an encrypted file; nil for bytes that are not an OpenPGP message.
  ///
  /// - Parameters:
  ///   - bytes: The bytes of the file.
  ///   - path: The path in the store.
  package func storedMessage(_ bytes: [UInt8], at path: String) -> StoredMessage? {
    let container = unsafe bytes.withUnsafeBytes { unsafe containerDigest(of: $0) }
    return container.map { StoredMessage(path: path, digest: ContentDigest(of: bytes), container: $0) }
  }

  /// Decrypts the encrypted file of an item as its verified record describes it, for example from the history.
  ///
  /// - Parameters:
  ///   - message: The bytes of the file.
  ///   - record: The record of the item.
  /// - Throws: `KeyringError.itemDamaged`, `.bindingMismatch`, `.engine`.
  package func secret(
    inOriginal message: [UInt8], of record: ItemRecord
  ) throws(KeyringError) -> SecretBytes {
    guard ContentDigest(of: message) == record.sealed else {
      throw .itemDamaged(record.reference, .notAsRecorded)
    }
    return try ItemReader(keyring: self).secret(in: message, of: record.reference)
  }

  /// Returns all encrypted files in the folder of the store: those of items, also on this machine only, of conflict
  /// copies, and of other programs. Reads all of them, but decrypts nothing.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` when the policy in the store cannot be read; a file error.
  package func storedMessages() throws(KeyringError) -> [StoredMessage] {
    let survey = try StoreSurvey(of: self)
    let paths =
      survey.items.filter(\.hasSecret).map(\.file) + survey.foreignFiles
      + survey.conflictFiles.filter { $0.hasSuffix(StoreLayout.secretExtension) }
    let found = try WorkerPool(workers: host.workers).map(paths.count) { (number) throws(KeyringError) in
      try self.foreignMessage(at: paths[number]).flatMap { self.storedMessage($0, at: paths[number]) }
    }
    return found.compactMap { $0 }
  }
}
