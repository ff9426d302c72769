internal import Encoding
internal import KeyringModel
internal import Secrets

/// A version of an item in a conflict copy. Copies with the same version differ only in their encrypted files, as after
/// several people have re-encrypted one copy.
struct CopyVersion: Hashable, Sendable {
  /// The digest of the record, but for the digest of its encrypted file.
  let record: ContentDigest
  /// A keyed digest of the secret. Equal records do not prove equal secrets, because a member can write any record.
  let secret: ContentDigest
}

/// The versions of the conflict copies that are re-encrypted together.
///
/// Secrets are compared by their digests, so that a decrypted secret need not stay in memory until all are decrypted.
final class CopyVersions: Sendable {
  private let function = KeyedDigest()
  /// The digests of the records of which there are several copies.
  private let repeated: Set<ContentDigest>

  /// Creates the value for outdated items.
  init(of items: [Reencryption.Outdated]) {
    var (seen, repeated): (Set<ContentDigest>, Set<ContentDigest>) = ([], [])
    for item in items where item.copy != nil && item.needsEncryption {
      guard let digest = Self.digest(of: item.record) else { continue }
      if !seen.insert(digest).inserted { repeated.insert(digest) }
    }
    self.repeated = repeated
  }

  /// Returns true if other copies have the same record, but for the encrypted file.
  func mayHaveDuplicates(_ item: Reencryption.Outdated) -> Bool {
    guard item.copy != nil, !repeated.isEmpty, let digest = Self.digest(of: item.record) else { return false }
    return repeated.contains(digest)
  }

  /// Returns the version of a copy; nil if libgcrypt cannot compute the digest. The copy is then joined with no other one.
  func version(of record: ItemRecord, _ secret: borrowing SecretBytes) -> CopyVersion? {
    guard let record = Self.digest(of: record), let digest = try? function.digest(of: secret) else {
      return nil
    }
    return CopyVersion(
      record: record, secret: unsafe digest.withBytes { unsafe ContentDigest(storedAs: $0) })
  }

  private static func digest(of record: ItemRecord) -> ContentDigest? {
    var record = record
    record.sealed = ContentDigest(of: [])
    // A verified record can be encoded.
    return (try? IndexLine.encode(record)).map { ContentDigest(of: $0) }
  }
}
