package import KeyringModel
package import OpenPGP
package import Secrets
internal import Synchronization

/// A stand-in for GnuPG that is fast and starts nothing: for tests of what surrounds the cryptography.
///
/// A message is a magic line with its recipients and signer, then the plaintext with every byte flipped
/// and a checksum, so that damage shows.
package final class StandInEngine: SealingEngine {
  private static let magic = Array("stand-in message\n".utf8)
  private let counts = Mutex(EngineStatistics())
  private let readers: Set<Fingerprint>
  private let people = Mutex<Set<Fingerprint>>([])
  private let unusable = Mutex<[Fingerprint: KeyProblem]>([:])
  private let forgotten = Mutex(0)
  private let silence = Mutex(false)
  private let refusals = Mutex<EngineError?>(nil)

  /// What keeps every message from being decrypted, as a passphrase that is not given does.
  package var refusal: EngineError? {
    get { refusals.withLock { $0 } }
    set { refusals.withLock { $0 = newValue } }
  }

  /// Whether messages for which somebody has to be asked are refused, as where nobody may be.
  package var refusesToAskAgain: Bool {
    get { silence.withLock { $0 } }
    set { silence.withLock { $0 = newValue } }
  }

  /// - Parameter readers: whose secret keys this machine has.
  package init(readers: Set<Fingerprint>) { self.readers = readers }

  /// A fingerprint for tests, made from a number.
  package static func fingerprint(_ number: UInt8) -> Fingerprint {
    let digits = String(number, radix: 16, uppercase: true)
    let text =
      String(repeating: "A", count: 38) + String(repeating: "0", count: 2 - digits.utf8.count) + digits
    guard let fingerprint = Fingerprint(text) else { preconditionFailure("40 hexadecimal digits") }
    return fingerprint
  }

  package func warmUp() {}

  package func seal(
    _ plaintext: borrowing SecretBytes, to recipients: [Fingerprint], signer: Fingerprint?
  ) throws(EngineError) -> [UInt8] {
    guard !recipients.isEmpty else { throw .noRecipients }
    counts.withLock { $0.encryptions += 1 }
    var message = Self.magic
    message += Array(recipients.map(\.text).joined(separator: ",").utf8) + [UInt8(ascii: "\n")]
    message += Array((signer?.text ?? "").utf8) + [UInt8(ascii: "\n")]
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

  package func open(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> OpenedMessage {
    let (recipients, signer, body) = try parts(of: ciphertext)
    counts.withLock { $0.decryptions += 1 }
    if let refusal { throw refusal }
    guard !readers.isDisjoint(with: recipients) else {
      throw .notARecipient(recipients: recipients.map(Self.keyID))
    }
    guard let sum = body.last else { throw .corrupt }
    guard body.count - 1 <= limit else { throw .tooLarge(limit: limit) }
    let plain = body.dropLast().map { ~$0 }
    guard plain.reduce(UInt8(0), { $0 &* 31 &+ $1 }) == sum else { throw .corrupt }
    let signatures = signer.map {
      [SignatureFact(primary: $0, key: $0, status: .good, created: Timestamp(microseconds: 0))]
    }
    return OpenedMessage(plaintext: SecretBytes(copying: plain), signatures: signatures ?? [])
  }

  /// How often the passphrases were to be forgotten.
  package var forgetting: Int { forgotten.withLock { $0 } }

  package func openAskingAgain(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> OpenedMessage {
    if refusesToAskAgain { throw .noPromptPossible }
    forgotten.withLock { $0 += 1 }
    return try open(ciphertext, limit: limit)
  }

  package func checkPassphrase(of person: Fingerprint) throws(EngineError) {
    guard readers.contains(person) else { throw .unusableKey(person, .noSecretKey) }
  }

  package func recipients(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> [KeyID] {
    guard let parts = try? parts(of: unsafe Array(ciphertext)) else { throw .notBinary }
    return parts.recipients.map(Self.keyID)
  }

  package func expectedRecipients(_ people: [Fingerprint]) throws(EngineError) -> Set<KeyID> {
    let problems = unusable.withLock { $0 }
    for person in people {
      if let problem = problems[person] { throw .unusableKey(person, problem) }
    }
    return Set(people.map(Self.keyID))
  }

  /// Everybody whose name was ever mentioned.
  package func owners(of id: KeyID) throws(EngineError) -> [Fingerprint] {
    people.withLock { $0 }.filter { Self.keyID($0) == id }.sorted()
  }

  package func publicKeys() throws(EngineError) -> [PublicKey] { [] }

  /// The same one: it seals to whom it is told.
  package func with(keys: [Fingerprint: [UInt8]]) -> any SealingEngine {
    people.withLock { $0.formUnion(keys.keys) }
    return self
  }

  /// Lets nobody seal to a person from now on.
  package func makeUnusable(_ person: Fingerprint, _ problem: KeyProblem) {
    unusable.withLock { $0[person] = problem }
  }

  package func signDetached(_ bytes: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8] {
    Array("\(signer.text) \(ContentDigest(of: bytes).base64url)\n".utf8)
  }

  package func verifyDetached(
    signature: [UInt8], of bytes: [UInt8]
  ) throws(EngineError) -> [SignatureFact] {
    let words = String(decoding: signature, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 2, let signer = Fingerprint(String(words[0])) else { throw .corrupt }
    let isGood = words[1] == ContentDigest(of: bytes).base64url
    let status: SignatureFact.Status = isGood ? .good : .bad
    return [SignatureFact(primary: signer, key: signer, status: status, created: Timestamp(microseconds: 0))]
  }

  package var statistics: EngineStatistics { counts.withLock { $0 } }

  private static func keyID(_ fingerprint: Fingerprint) -> KeyID {
    guard let id = KeyID(String(fingerprint.text.suffix(16))) else { preconditionFailure("16 digits") }
    return id
  }

  private func parts(
    of message: [UInt8]
  ) throws(EngineError) -> (recipients: [Fingerprint], signer: Fingerprint?, body: ArraySlice<UInt8>) {
    guard message.starts(with: Self.magic) else { throw .message(.notBinary) }
    let lines = message.dropFirst(Self.magic.count)
      .split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
    guard lines.count == 3 else { throw .message(.notBinary) }
    let names = String(decoding: lines[0], as: UTF8.self).split(separator: ",")
    let recipients = names.compactMap { Fingerprint(String($0)) }
    guard recipients.count == names.count else { throw .message(.notBinary) }
    return (recipients, Fingerprint(String(decoding: lines[1], as: UTF8.self)), lines[2])
  }
}
