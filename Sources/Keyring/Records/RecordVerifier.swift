package import KeyringModel
internal import OpenPGP

/// A record whose proof leads to a root that a member of its group has signed.
package struct VerifiedRecord: Sendable, Equatable {
  /// The file with the record and its proof.
  package let file: RecordFile
  /// Who signed it.
  package let signer: Fingerprint
  /// The attributes of the item.
  package let record: ItemRecord

  fileprivate init(_ file: RecordFile, signer: Fingerprint, isLocal: Bool) {
    (self.file, self.signer) = (file, signer)
    var record = file.record
    record.isLocal = isLocal
    self.record = record
  }
}

/// A record to be verified, and where it lies.
package struct RecordClaim: Sendable {
  /// The bytes of its file.
  package let bytes: [UInt8]
  /// The place of the file; a record of another item is refused. nil for any place.
  package let path: ItemPath?
  /// Whether the place is on this machine alone.
  package let isLocal: Bool

  /// Describes a record.
  package init(_ bytes: [UInt8], path: ItemPath?, isLocal: Bool = false) {
    (self.bytes, self.path, self.isLocal) = (bytes, path, isLocal)
  }
}

/// Why a record is not believed.
package enum RecordFault: Error, Equatable, Sendable {
  /// The file is damaged, or not signed as it must be.
  case damage(ItemDamage)
  /// It is the record of another item or keyring.
  case mismatch(BindingMismatch)

  /// The error of the keyring, about an item.
  func error(about item: ItemReference) -> KeyringError {
    switch self {
    case .damage(let damage): .itemDamaged(item, damage)
    case .mismatch(let mismatch): .bindingMismatch(item, mismatch)
    }
  }
}

/// Decides whether records are believed (DESIGN section 5). The only place that does.
struct RecordVerifier: Sendable {
  /// Who belongs to which group.
  let policy: Policy
  let engine: any SealingEngine
  let roots: VerifiedRoots
  /// How many threads verify at once; 0 for one for each processor.
  let workers: Int

  /// Verifies one record.
  ///
  /// - Parameter claim: The record and its place.
  /// - Returns: The record, or why it is not believed.
  /// - Throws: `KeyringError.engine` when GnuPG cannot be used.
  func verify(_ claim: RecordClaim) throws(KeyringError) -> Result<VerifiedRecord, RecordFault> {
    try verify([claim])[0]
  }

  /// Verifies records; the signatures that are new to this machine with one process.
  ///
  /// - Parameter claims: The records and their places.
  /// - Returns: For each record, in the same order, the record, or why it is not believed.
  /// - Throws: `KeyringError.engine` when GnuPG cannot be used.
  func verify(_ claims: [RecordClaim]) throws(KeyringError) -> [Result<VerifiedRecord, RecordFault>] {
    // Reading a record and leading its proof to the root is most of the work.
    let pool = WorkerPool(workers: claims.count < Self.fewRecords ? 1 : workers)
    let files = pool.map(claims.count) { number in
      Result { () throws(RecordFault) in try SignedFile(read(claims[number])) }
    }
    var statements: [ContentDigest: [UInt8]?] = [:]
    for case .success(let signed) in files where statements[signed.signature] == nil {
      statements[signed.signature] = .some(SignedMessage(signed.file.proof.signature)?.content)
    }
    let contents = statements
    let checked = pool.map(claims.count) { number in
      files[number].flatMap { signed in
        Result { () throws(RecordFault) in
          try check(signed.file, contents[signed.signature] ?? nil)
          return signed
        }
      }
    }
    // Only the signatures of records that passed all other checks are given to GnuPG.
    var unknown: [ContentDigest: [UInt8]] = [:]
    for case .success(let signed) in checked
    where unknown[signed.signature] == nil && roots.signer(of: signed.signature) == nil {
      unknown[signed.signature] = signed.file.proof.signature
    }
    let fresh = try signers(of: unknown)
    return zip(claims, checked).map { claim, result in
      result.flatMap { signed in
        guard let signer = roots.signer(of: signed.signature) ?? fresh[signed.signature],
          policy.isMember(signer, ofAny: [signed.file.record.group])
        else { return .failure(.damage(.badSignature)) }
        return .success(VerifiedRecord(signed.file, signer: signer, isLocal: claim.isLocal))
      }
    }
  }

  /// The number of records from which threads pay off.
  private static let fewRecords = 64

  /// A record and the digest of the message that signs its root.
  private struct SignedFile: Sendable {
    let file: RecordFile
    let signature: ContentDigest

    init(_ file: RecordFile) {
      self.file = file
      signature = ContentDigest(of: file.proof.signature)
    }
  }

  private func read(_ claim: RecordClaim) throws(RecordFault) -> RecordFile {
    let file: RecordFile
    do throws(RecordError) {
      file = try RecordFile(parsing: claim.bytes)
    } catch {
      throw .damage(.badRecord(error))
    }
    if let path = claim.path, file.record.path != path { throw .mismatch(.place) }
    return file
  }

  private func check(_ file: RecordFile, _ content: [UInt8]?) throws(RecordFault) {
    let statement: SignedRoot
    do throws(RecordError) {
      statement = try file.statement(in: content)
    } catch {
      throw .damage(.badRecord(error))
    }
    guard statement.keyring == policy.keyring else { throw .mismatch(.keyring) }
  }

  /// Asks GnuPG who signed messages, and remembers the answers that are good.
  private func signers(
    of messages: [ContentDigest: [UInt8]]
  ) throws(KeyringError) -> [ContentDigest: Fingerprint] {
    if messages.isEmpty { return [:] }
    let ordered = messages.sorted { $0.key.base64url < $1.key.base64url }
    let facts: [SignatureFact?]
    do throws(EngineError) {
      facts = try engine.verifyMessages(ordered.map(\.value))
    } catch {
      throw .engine(error, nil)
    }
    var signers: [ContentDigest: Fingerprint] = [:]
    for (message, fact) in zip(ordered, facts) {
      // A key that has expired since was good when it signed; a revoked one never is.
      guard let fact, fact.status == .good || fact.status == .expiredKey else { continue }
      signers[message.key] = fact.primary
    }
    roots.remember(signers)
    return signers
  }
}
