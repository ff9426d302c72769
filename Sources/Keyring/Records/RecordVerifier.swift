package import KeyringModel
internal import OpenPGP

/// A record whose proof leads to a root signed by a member of its group.
package struct VerifiedRecord: Sendable, Equatable {
  /// The file with the record and its proof.
  package let file: RecordFile
  /// The primary fingerprint of its signer.
  package let signer: Fingerprint
  /// The verified record.
  package let record: ItemRecord

  fileprivate init(_ file: RecordFile, signer: Fingerprint, isLocal: Bool) {
    (self.file, self.signer) = (file, signer)
    var record = file.record
    record.isLocal = isLocal
    self.record = record
  }
}

/// A record to be verified, and its path.
package struct RecordClaim: Sendable {
  /// The bytes of its file.
  package let bytes: [UInt8]
  /// The path of the file; nil to accept any path. A record of an item with another path is refused.
  package let path: ItemPath?
  /// True if the path belongs to an item that never leaves this machine.
  package let isLocal: Bool

  /// Creates a claim.
  package init(_ bytes: [UInt8], path: ItemPath?, isLocal: Bool = false) {
    (self.bytes, self.path, self.isLocal) = (bytes, path, isLocal)
  }
}

/// The reasons to reject a record.
package enum RecordProblem: Error, Equatable, Sendable {
  /// The file is damaged, or not properly signed.
  case damage(ItemDamage)
  /// The record belongs to another item or keyring.
  case mismatch(BindingMismatch)

  /// Returns the keyring's error for an item.
  func error(about item: ItemReference) -> KeyringError {
    switch self {
    case .damage(let damage): .itemDamaged(item, damage)
    case .mismatch(let mismatch): .bindingMismatch(item, mismatch)
    }
  }
}

/// Verifies records (DESIGN section 5). No other code decides whether a record is trusted.
struct RecordVerifier: Sendable {
  /// The policy that lists the members of groups.
  let policy: Policy
  /// The accepted policy that `policy` replaces, under which records of this machine were signed; nil for none.
  var replaced: Policy?
  let engine: any OpenPGPEngine
  let roots: VerifiedRoots
  /// The records that this process has verified with the same policy and keys; nil to remember none.
  var remembered: RememberedRecords?
  /// The number of threads for verification; 0 for one per processor.
  let workers: Int

  /// Verifies one record.
  ///
  /// - Parameter claim: The record and its path.
  /// - Returns: The verified record, or the reason to reject it.
  /// - Throws: `KeyringError.engine` if GnuPG cannot be used, or has not stated a verdict; `.team` with `unreadableKey` if
  ///   a person whose key GnuPG cannot read may have signed the record.
  func verify(_ claim: RecordClaim) throws(KeyringError) -> Result<VerifiedRecord, RecordProblem> {
    if let (file, signer) = remembered?.record(of: claim), isMember(signer, of: file.record.group) {
      return .success(VerifiedRecord(file, signer: signer, isLocal: claim.isLocal))
    }
    let result = try verify([claim])[0]
    if case .success(let record) = result { remembered?.remember(record, of: claim) }
    return result
  }

  /// Verifies records. One process verifies all signatures that this machine has not verified before.
  ///
  /// - Parameter claims: The records and their paths.
  /// - Returns: For each record, in the same order, the verified record or the reason to reject it.
  /// - Throws: The errors of ``verify(_:)-(RecordClaim)``.
  func verify(_ claims: [RecordClaim]) throws(KeyringError) -> [Result<VerifiedRecord, RecordProblem>] {
    // Most of the work is parsing a record and hashing its proof up to the root.
    let pool = WorkerPool(workers: claims.count < Self.fewRecords ? 1 : workers)
    let files = pool.map(claims.count) { number in
      Result { () throws(RecordProblem) in try SignedFile(read(claims[number])) }
    }
    // All records of a transaction have the same statement.
    var known: [ContentDigest: SignedRoot?] = [:]
    for case .success(let signed) in files where known[signed.signature] == nil {
      let content = SignedMessage(signed.file.proof.signature)?.content
      known[signed.signature] = .some(content.flatMap { SignedRoot(parsing: $0) })
    }
    let statements = known
    let checked = pool.map(claims.count) { number in
      files[number].flatMap { signed in
        Result { () throws(RecordProblem) in
          try check(signed.file, statements[signed.signature] ?? nil)
          return signed
        }
      }
    }
    // GnuPG receives only the signatures of records that have passed all other checks.
    var unknown: [ContentDigest: [UInt8]] = [:]
    for case .success(let signed) in checked
    where unknown[signed.signature] == nil && roots.signer(of: signed.signature) == nil {
      unknown[signed.signature] = signed.file.proof.signature
    }
    let fresh = try signers(of: unknown)
    return zip(claims, checked).map { claim, result in
      result.flatMap { signed in
        let group = signed.file.record.group
        if let signer = roots.signer(of: signed.signature) ?? fresh.signers[signed.signature] {
          guard isMember(signer, of: group) else { return .failure(.damage(.badSignature)) }
          return .success(VerifiedRecord(signed.file, signer: signer, isLocal: claim.isLocal))
        }
        if let invalid = fresh.invalid[signed.signature], isMember(invalid.person, of: group) {
          return .failure(.damage(.invalidSigner(invalid.key, invalid.problem)))
        }
        return .failure(.damage(.badSignature))
      }
    }
  }

  /// Returns true if a person is a member of a group under one of the policies.
  private func isMember(_ person: Fingerprint, of group: String) -> Bool {
    [policy, replaced].contains { $0?.isMember(person, ofAny: [group]) ?? false }
  }

  /// The number of records above which threads pay off.
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

  private func read(_ claim: RecordClaim) throws(RecordProblem) -> RecordFile {
    let file: RecordFile
    do throws(RecordError) {
      file = try RecordFile(parsing: claim.bytes)
    } catch {
      throw .damage(.badRecord(error))
    }
    if let path = claim.path, file.record.path != path { throw .mismatch(.place) }
    return file
  }

  private func check(_ file: RecordFile, _ known: SignedRoot?) throws(RecordProblem) {
    let statement: SignedRoot
    do throws(RecordError) {
      statement = try file.check(known)
    } catch {
      throw .damage(.badRecord(error))
    }
    guard statement.keyring == policy.keyring else { throw .mismatch(.keyring) }
  }

  /// The people who have signed messages, by the digests of the messages.
  private struct Signers {
    /// Those with a valid signature.
    var signers: [ContentDigest: Fingerprint] = [:]
    /// Those whose key was not valid when it signed.
    var invalid: [ContentDigest: (person: Fingerprint, key: Fingerprint, problem: SignerProblem)] = [:]
  }

  /// Returns the signers of messages according to GnuPG, and remembers those with a valid signature.
  private func signers(of messages: [ContentDigest: [UInt8]]) throws(KeyringError) -> Signers {
    var result = Signers()
    if messages.isEmpty { return result }
    let ordered = messages.sorted { $0.key.base64url < $1.key.base64url }
    let facts: [SignatureFact?]
    do throws(EngineError) {
      facts = try engine.verifyMessages(ordered.map(\.value))
    } catch {
      throw policy.error(error)
    }
    for (message, fact) in zip(ordered, facts) {
      guard let fact, let person = fact.primary else { continue }
      switch fact.status {
      case .good: result.signers[message.key] = person
      case .invalidKey(let problem): result.invalid[message.key] = (person, fact.key ?? person, problem)
      case .bad, .unknownKey: break
      }
    }
    roots.remember(result.signers)
    return result
  }
}
