internal import KeyringModel
internal import Synchronization

/// The records that this process has verified, so that the same bytes are not parsed and verified again.
///
/// A record is found by its path and compared byte by byte with the file, so a changed file is verified again. The
/// membership of the signer is judged anew by the caller. The collection belongs to a keyring, whose policy and key files
/// do not change. It contains public facts only.
final class RememberedRecords: Sendable {
  /// The largest number of records.
  static let countLimit = 1024
  /// The largest record that is remembered, in bytes.
  static let sizeLimit = 8192

  private let records = Mutex<[ItemPath: (file: RecordFile, signer: Fingerprint)]>([:])

  /// The number of records in memory.
  var count: Int { records.withLock { $0.count } }

  /// Returns the record of a claim and its signer, if the same bytes were verified for the same path.
  func record(of claim: RecordClaim) -> (file: RecordFile, signer: Fingerprint)? {
    guard let path = claim.path, let known = records.withLock({ $0[path] }), known.file.bytes == claim.bytes
    else { return nil }
    return known
  }

  /// Remembers a record that was verified.
  func remember(_ record: VerifiedRecord, of claim: RecordClaim) {
    guard let path = claim.path, claim.bytes.count <= Self.sizeLimit else { return }
    records.withLock { records in
      // Any record can make room, because the next read verifies it again.
      if records.count >= Self.countLimit, records[path] == nil { records.remove(at: records.startIndex) }
      records[path] = (record.file, record.signer)
    }
  }
}
