package import Encoding
package import KeyringModel
package import OpenPGP
package import Secrets
internal import Synchronization

/// A fast stand-in for GnuPG that starts no process, for tests of the code around the cryptography.
///
/// An encrypted message is a magic line, its recipients and a random number, followed by the plaintext with every bit
/// inverted and a checksum that reveals damage. A signed message has the packets of a real one; its signature is the
/// signer's fingerprint and a checksum of the content. Anyone can sign as anyone, so that tests can forge signatures.
package final class EngineDouble: OpenPGPEngine {
  private static let magic = Array("stand-in message\n".utf8)
  private let counts = Mutex(EngineStatistics())
  private let readers: Set<Fingerprint>
  private let people = Mutex<Set<Fingerprint>>([])
  private let unusable = Mutex<[Fingerprint: KeyProblem]>([:])
  private let forgotten = Mutex(0)
  private let silence = Mutex(false)
  private let lock = Mutex(false)
  private let refusals = Mutex<EngineError?>(nil)
  private let signingRefusals = Mutex<EngineError?>(nil)
  private let listings = Mutex<EngineError?>(nil)
  private let verificationFailures = Mutex<EngineError?>(nil)
  private let revocations = Mutex(false)
  private let verified = Mutex(0)
  private let verifiedDetached = Mutex(0)

  /// The number of signed messages that were verified.
  package var verifications: Int { verified.withLock { $0 } }

  /// The number of detached signatures that were verified.
  package var detachedVerifications: Int { verifiedDetached.withLock { $0 } }

  /// The error that every decryption fails with, as without a passphrase; nil to decrypt.
  package var refusal: EngineError? {
    get { refusals.withLock { $0 } }
    set { refusals.withLock { $0 = newValue } }
  }

  /// The error that signing a record fails with; nil to sign.
  package var signingRefusal: EngineError? {
    get { signingRefusals.withLock { $0 } }
    set { signingRefusals.withLock { $0 = newValue } }
  }

  /// The error that listing keys fails with; nil to list them.
  package var listingFailure: EngineError? {
    get { listings.withLock { $0 } }
    set { listings.withLock { $0 = newValue } }
  }

  /// The error that verifying a detached signature fails with; nil to verify it.
  package var verificationFailure: EngineError? {
    get { verificationFailures.withLock { $0 } }
    set { verificationFailures.withLock { $0 = newValue } }
  }

  /// True if the keys of all detached signatures are revoked.
  package var hasRevokedKeys: Bool {
    get { revocations.withLock { $0 } }
    set { revocations.withLock { $0 = newValue } }
  }

  /// True if a message that needs a prompt is refused, as on a machine where no prompt is possible.
  package var refusesPrompt: Bool {
    get { silence.withLock { $0 } }
    set { silence.withLock { $0 = newValue } }
  }

  /// - Parameter readers: The people whose secret keys this machine has.
  package init(readers: Set<Fingerprint>) { self.readers = readers }

  /// Returns a fingerprint for tests, made from a number.
  package static func fingerprint(_ number: UInt8) -> Fingerprint {
    let digits = String(number, radix: 16, uppercase: true)
    let text =
      String(repeating: "A", count: 38) + String(repeating: "0", count: 2 - digits.utf8.count) + digits
    guard let fingerprint = Fingerprint(text) else { preconditionFailure("40 hexadecimal digits") }
    return fingerprint
  }

  package func warmUp() {}

  package func seal(
    _ plaintext: borrowing SecretBytes, to recipients: [Recipient]
  ) throws(EngineError) -> [UInt8] {
    let recipients = recipients.map(\.person)
    guard !recipients.isEmpty else { throw .noRecipients }
    people.withLock { $0.formUnion(recipients) }
    counts.withLock { $0.encryptions += 1 }
    var message = Self.magic
    message += Array(recipients.map(\.text).joined(separator: ",").utf8) + [UInt8(ascii: "\n")]
    message += Array(String(UInt64.random(in: 1 << 60 ... .max), radix: 16).utf8) + [UInt8(ascii: "\n")]
    var sum: UInt8 = 0
    unsafe plaintext.withBytes { bytes in
      for index in bytes.indices {
        let byte = unsafe bytes[index]
        message.append(~byte)
        sum = sum &* 31 &+ byte
      }
    }
    message.append(sum)
    return message
  }

  package func open(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes {
    let (recipients, body) = try parts(of: ciphertext)
    counts.withLock { $0.decryptions += 1 }
    if let refusal { throw refusal }
    guard !readers.isDisjoint(with: recipients) else {
      throw .notARecipient(recipients: recipients.map(Self.keyID))
    }
    let content = body.drop { $0 != UInt8(ascii: "\n") }.dropFirst()
    guard let sum = content.last else { throw .corrupt }
    guard content.count - 1 <= limit else { throw .tooLarge(limit: limit) }
    let plain = content.dropLast().map { ~$0 }
    guard plain.reduce(UInt8(0), { $0 &* 31 &+ $1 }) == sum else { throw .corrupt }
    return SecretBytes(copying: plain)
  }

  /// The number of calls that were to forget the passphrases.
  package var forgetting: Int { forgotten.withLock { $0 } }

  package func openWithPrompt(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes {
    if refusesPrompt { throw .noPromptPossible }
    forgotten.withLock { $0 += 1 }
    return try open(ciphertext, limit: limit)
  }

  package func checkPassphrase(of person: Fingerprint) throws(EngineError) {
    guard readers.contains(person) else { throw .unusableKey(person, .noSecretKey) }
  }

  /// True if the agent has not cached the passphrase of the user's keys.
  package var isLocked: Bool {
    get { lock.withLock { $0 } }
    set { lock.withLock { $0 = newValue } }
  }

  package func cachedPassphrases(of user: Recipient) throws(EngineError) -> CachedPassphrases {
    isLocked ? .none : .all
  }

  package func forgetPassphrases() throws(EngineError) {
    forgotten.withLock { $0 += 1 }
    isLocked = true
  }

  package func confirm(_ question: String) throws(EngineError) -> Bool { throw .noPromptPossible }

  package func with(_ cancellation: Cancellation) -> any OpenPGPEngine { self }

  package func recipients(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> [KeyID] {
    guard let parts = try? parts(of: unsafe Array(ciphertext)) else { throw .notBinary }
    return parts.recipients.map(Self.keyID)
  }

  package func containerDigest(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> ContentDigest {
    guard let parts = try? parts(of: unsafe Array(ciphertext)) else { throw .notBinary }
    return ContentDigest(of: Array(parts.body))
  }

  package func checkRecipients(_ recipients: [Recipient]) throws(EngineError) {
    let problems = unusable.withLock { $0 }
    for recipient in recipients {
      if let problem = problems[recipient.person] { throw .unusableKey(recipient.person, problem) }
    }
  }

  /// Returns the owners of a key, among the user and all people that were mentioned so far.
  package func owners(of id: KeyID) throws(EngineError) -> [Fingerprint] {
    known.filter { Self.keyID($0) == id }.sorted()
  }

  private var known: Set<Fingerprint> { people.withLock { $0 }.union(readers) }

  package func ownPeople() throws(EngineError) -> [Fingerprint] {
    if let listingFailure { throw listingFailure }
    return readers.sorted()
  }

  package func publicKeys() throws(EngineError) -> [PublicKey] {
    if let listingFailure { throw listingFailure }
    return []
  }

  /// Returns the same engine, which can encrypt to any recipient.
  package func with(keys: [Fingerprint: [UInt8]]) -> any OpenPGPEngine {
    people.withLock { $0.formUnion(keys.keys) }
    return self
  }

  /// Makes every later encryption to a person fail.
  package func makeUnusable(_ person: Fingerprint, _ problem: KeyProblem) {
    unusable.withLock { $0[person] = problem }
  }

  package func signDetached(
    _ bytes: [UInt8], signer: Fingerprint, evenIfRevokedHere isRevokedHere: Bool
  ) throws(EngineError) -> [UInt8] {
    counts.withLock { $0.signatures += 1 }
    return Array("\(signer.text) \(ContentDigest(of: bytes).base64url)\n".utf8)
  }

  package func verifyDetached(
    signature: [UInt8], of bytes: [UInt8]
  ) throws(EngineError) -> [SignatureFact] {
    verifiedDetached.withLock { $0 += 1 }
    if let verificationFailure { throw verificationFailure }
    let words = String(decoding: signature, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let signer = Fingerprint(String(words[0])) else { return [] }
    let isGood = words[1] == ContentDigest(of: bytes).base64url
    let start = Timestamp(microseconds: 0)
    let revoked = SignatureFact.Status.invalidKey(
      .revoked(KeyRevocation(created: start, reason: .compromised)))
    let status: SignatureFact.Status = isGood ? hasRevokedKeys ? revoked : .good : .bad
    return [SignatureFact(primary: signer, key: signer, status: status, created: Timestamp(microseconds: 0))]
  }

  package func signMessage(_ content: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8] {
    if let signingRefusal { throw signingRefusal }
    counts.withLock { $0.signatures += 1 }
    return Self.signed(content, Self.signature(of: content, by: signer))
  }

  package func verifyMessages(_ messages: [[UInt8]]) throws(EngineError) -> [SignatureFact?] {
    counts.withLock { $0.processes += 1 }
    verified.withLock { $0 += messages.count }
    return messages.map { message in
      guard let content = SignedMessage(message)?.content else { return nil }
      let signature = Array(message.suffix(Self.signatureSize))
      let words = String(decoding: signature, as: UTF8.self).split(separator: " ")
      guard words.count == 2, let signer = Fingerprint(String(words[0])),
        Self.signed(content, signature) == message
      else { return nil }
      let moment = Timestamp(microseconds: 0)
      guard known.contains(signer) else {
        return SignatureFact(primary: nil, key: nil, status: .unknownKey, created: moment)
      }
      let isGood = signature == Self.signature(of: content, by: signer)
      return SignatureFact(primary: signer, key: signer, status: isGood ? .good : .bad, created: moment)
    }
  }

  /// Returns the packets of a signed message: one-pass signature, literal data, signature (RFC 9580, 10.3).
  private static func signed(_ content: [UInt8], _ signature: [UInt8]) -> [UInt8] {
    let onePass = [3, 0, 8, 22] + [UInt8](repeating: 0, count: 8) + [1]
    let literal = [UInt8(ascii: "b"), 0, 0, 0, 0, 0] + content
    return packet(4, onePass) + packet(11, literal) + packet(2, signature)
  }

  private static func packet(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] {
    let count = body.count
    precondition(count < 8384, "a statement is a short line")
    let length =
      count < 192
      ? [UInt8(count)] : [UInt8((count - 192) >> 8 + 192), UInt8(truncatingIfNeeded: count - 192)]
    return [0xC0 | tag] + length + body
  }

  private static func signature(of content: [UInt8], by signer: Fingerprint) -> [UInt8] {
    Array("\(signer.text) \(ContentDigest(of: content).base64url)".utf8)
  }

  /// The number of bytes of a signature: 40 digits, a space and 43 digits.
  private static let signatureSize = 84

  package var statistics: EngineStatistics { counts.withLock { $0 } }

  private static func keyID(_ fingerprint: Fingerprint) -> KeyID {
    guard let id = KeyID(String(fingerprint.text.suffix(16))) else { preconditionFailure("16 digits") }
    return id
  }

  /// Returns the recipients of a message, and its remaining bytes: the random number and the content.
  private func parts(
    of message: [UInt8]
  ) throws(EngineError) -> (recipients: [Fingerprint], body: ArraySlice<UInt8>) {
    guard message.starts(with: Self.magic) else { throw .message(.notBinary) }
    let lines = message.dropFirst(Self.magic.count)
      .split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    guard lines.count == 2 else { throw .message(.notBinary) }
    let names = String(decoding: lines[0], as: UTF8.self).split(separator: ",")
    let recipients = names.compactMap { Fingerprint(String($0)) }
    guard recipients.count == names.count else { throw .message(.notBinary) }
    return (recipients, lines[1])
  }
}
