internal import Encoding
internal import KeyringModel

/// The statements of gpg about the signatures of one message, from its status lines (GnuPG's doc/DETAILS).
///
/// Only what gpg has said counts. A gpg that was killed, or that could not read or write, says less, and that is an
/// error instead of a verdict.
struct SignatureStatements {
  private struct Signature {
    var status: SignatureFact.Status
    /// The reason why the signature could not be verified; nil if it was.
    var error: Int?
    var key: Fingerprint?
    var time: Int?
  }

  private var signatures: [Signature] = []
  /// The number of signatures whose verification gpg has begun.
  private var begun = 0
  /// A line in which gpg reports that it failed.
  private var failure: String?

  /// Takes in one status line.
  ///
  /// - Parameter words: The keyword and its arguments.
  mutating func read(_ words: [Substring]) {
    switch words[0] {
    case "NEWSIG": begun += 1
    // The signature is correct. It is judged by the certificate of its key below.
    case "GOODSIG", "EXPKEYSIG", "REVKEYSIG": signatures.append(Signature(status: .good))
    case "BADSIG", "EXPSIG": signatures.append(Signature(status: .bad))
    case "ERRSIG": signatures.append(Self.unverified(words))
    case "VALIDSIG":
      guard let last = signatures.indices.last, words.count > 3 else { break }
      signatures[last].key = Fingerprint(String(words[1]))
      signatures[last].time = Int(words[3])
    case "ERROR", "FILE_ERROR": failure = words.joined(separator: " ")
    default: break
    }
  }

  /// Field 6 is the error code, 7 the fingerprint if the signature has it.
  private static func unverified(_ words: [Substring]) -> Signature {
    let code = words.count > 6 ? Int(words[6]) ?? 0 : 0
    return Signature(
      status: code == missingKey ? .unknownKey : .bad, error: code,
      key: words.count > 7 ? Fingerprint(String(words[7])) : nil)
  }

  /// The code of a missing key, `GPG_ERR_NO_PUBKEY`.
  private static let missingKey = 9
  /// The flag of codes that stand for a number of `errno(3)`, `GPG_ERR_SYSTEM_ERROR`.
  static let systemError = 1 << 15

  /// Returns the facts about the signatures.
  ///
  /// - Parameters:
  ///   - count: The number of signatures in the message.
  ///   - table: The keys of the people, used to find the owner of a subkey.
  /// - Throws: `incomplete` if gpg did not state a verdict about each signature, or if its statement comes from a failure;
  ///   `unusableKey` with the problem of a key that GnuPG cannot read, if a signature may be made by it.
  func facts(_ count: Int, _ table: KeyTable) throws(EngineError) -> [SignatureFact] {
    if let failure { throw .incomplete(detail: failure) }
    guard begun == count, signatures.count == count else {
      throw .incomplete(detail: "it did not state one verdict for each signature")
    }
    return try signatures.map { signature throws(EngineError) in try Self.fact(signature, table) }
  }

  private static func fact(_ signature: Signature, _ table: KeyTable) throws(EngineError) -> SignatureFact {
    let owner = signature.key.flatMap { table.owner(of: $0) }
    if let code = signature.error {
      // A signature that cannot be verified may be made by a key that GnuPG cannot read.
      if let (person, problem) = table.unreadable(preferring: owner) { throw .unusableKey(person, problem) }
      if code & systemError != 0 { throw .incomplete(detail: "ERRSIG \(code)") }
      // gpg may not find a subkey that several keys claim. It is found with each of these keys alone.
      if code == missingKey, let key = signature.key, let owner, !table.contestants.contains(owner),
        table.keys[owner]?.subkeys.contains(where: { $0.fingerprint == key && $0.canSign }) == true
      {
        throw .incomplete(detail: "it did not find the key \(key.text)")
      }
      return SignatureFact(
        primary: nil, key: signature.key, status: signature.status,
        created: Timestamp(seconds: signature.time ?? 0))
    }
    let created = Timestamp(seconds: signature.time ?? 0)
    var status = signature.status
    if status == .good {
      guard signature.key != nil, signature.time != nil else {
        throw .incomplete(detail: "it did not report the key and the time of a valid signature")
      }
      status = table.judge(signatureBy: signature.key, made: created)
    }
    return SignatureFact(primary: owner, key: signature.key, status: status, created: created)
  }
}
