package import Encoding
package import KeyringModel
package import Secrets

/// What the store needs from OpenPGP; the seam at which tests put a fast stand-in.
package protocol SealingEngine: Sendable {
  /// Starts what can be started early, in the background. Never fails: what goes wrong shows up in the
  /// first call that needs it, which waits for the background work.
  func warmUp()

  /// Encrypts, and makes sure that exactly the wanted people can read the result. `open` detects a recipient that was
  /// added later. Needs no secret key.
  ///
  /// - Parameters:
  ///   - plaintext: The bytes to encrypt.
  ///   - recipients: Primary fingerprints of the people who may read; never empty.
  /// - Returns: A binary OpenPGP message.
  /// - Throws: `noRecipients`; `unusableKey` for the first key that cannot be encrypted to, before anything
  ///   is encrypted; `wrongRecipients` when the result is not what was asked for; what concerns the engine.
  func seal(_ plaintext: borrowing SecretBytes, to recipients: [Fingerprint]) throws(EngineError) -> [UInt8]

  /// Decrypts, and releases the plaintext only when the whole message proved sound, with the recipients that `seal` has
  /// given it.
  ///
  /// - Parameters:
  ///   - ciphertext: A binary OpenPGP message.
  ///   - limit: How many bytes of plaintext are accepted at most; a bomb is stopped there.
  /// - Returns: The plaintext. A signature inside the message is ignored: what counts is the record beside the file.
  /// - Throws: `message` when the file is refused before any process is started; `notARecipient`, `corrupt`,
  ///   `alteredRecipients`, `notEncrypted`, `tooLarge`; what concerns prompts and the engine.
  func open(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes

  /// Decrypts as `open(_:limit:)` does, after making the user's agent forget the passphrases that it keeps, so that
  /// somebody is asked. Of several that do this at once, in any process, each waits for the one before.
  ///
  /// - Parameters:
  ///   - ciphertext: A binary OpenPGP message.
  ///   - limit: How many bytes of plaintext are accepted at most.
  /// - Returns: As `open(_:limit:)`.
  /// - Throws: As `open(_:limit:)`; `noPromptPossible` when nobody may be asked, and nothing is forgotten then;
  ///   `unusableKey` with `noPassphrase` or `onCard` for a key of which it is not sure that somebody is asked;
  ///   `agentUnreachable` when the agent does not answer or does not let it be done.
  func openAskingAgain(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes

  /// Makes sure that a person's key has a passphrase to be asked for.
  ///
  /// - Parameter person: The primary fingerprint, of a key of this user.
  /// - Throws: `unusableKey` with `noPassphrase`, `onCard` or `noSecretKey`; what concerns the engine.
  func checkPassphrase(of person: Fingerprint) throws(EngineError)

  /// Reads who can decrypt a message, from its packets alone: no key, no process.
  ///
  /// - Parameter ciphertext: A binary OpenPGP message.
  /// - Returns: The ids of the recipients' subkeys, in the order of the message.
  /// - Throws: What is wrong with the packets.
  func recipients(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> [KeyID]

  /// Returns the digest of the encrypted data of a message, without its recipients: the same for two messages that
  /// differ only in who can read them or in how their packets are written.
  ///
  /// - Parameter ciphertext: A binary OpenPGP message.
  /// - Throws: What is wrong with the packets.
  func containerDigest(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> ContentDigest

  /// Tells which ids `seal` would write for these people now.
  ///
  /// - Parameter people: Primary fingerprints.
  /// - Returns: The id of the newest valid encryption subkey of each.
  /// - Throws: `unusableKey` for the first person nobody can encrypt to; what concerns the engine.
  func expectedRecipients(_ people: [Fingerprint]) throws(EngineError) -> Set<KeyID>

  /// Tells whose subkey an id is.
  ///
  /// - Parameter id: An id from the packets of a message.
  /// - Returns: The primary fingerprints of those whose key has it, also when it is retired; several where somebody has
  ///   bound another person's subkey to a key of his own.
  /// - Throws: What concerns the engine.
  func owners(of id: KeyID) throws(EngineError) -> [Fingerprint]

  /// The keys that are known, as GnuPG lists them.
  ///
  /// - Throws: What concerns the engine.
  func publicKeys() throws(EngineError) -> [PublicKey]

  /// An engine for the same user that knows other people.
  ///
  /// - Parameter keys: The people's key files by primary fingerprint.
  func with(keys: [Fingerprint: [UInt8]]) -> any SealingEngine

  /// Signs bytes that stay as they are.
  ///
  /// - Parameters:
  ///   - bytes: What to sign.
  ///   - signer: The primary fingerprint of the key that signs.
  /// - Returns: An armored detached signature.
  /// - Throws: `unusableKey` when that key cannot sign; what concerns prompts and the engine.
  func signDetached(_ bytes: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8]

  /// Checks a detached signature over exact bytes.
  ///
  /// - Parameters:
  ///   - signature: The signature, armored or binary.
  ///   - bytes: What it should be a signature of.
  /// - Returns: One fact per signature; empty when there is none. Bad ones are facts, not errors.
  /// - Throws: What concerns the engine.
  func verifyDetached(
    signature: [UInt8], of bytes: [UInt8]
  ) throws(EngineError) -> [SignatureFact]

  /// Signs a line of text. Needs the signer's secret key once.
  ///
  /// - Parameters:
  ///   - content: The bytes to sign.
  ///   - signer: The primary fingerprint of the key that signs.
  /// - Returns: A binary signed message as ``SignedMessage`` reads it: one-pass signature, literal data, signature.
  /// - Throws: `unusableKey` when that key cannot sign; what concerns prompts and the engine.
  func signMessage(_ content: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8]

  /// Verifies signed messages, many with one process.
  ///
  /// - Parameter messages: Binary signed messages, each of the form that ``SignedMessage`` accepts.
  /// - Returns: One fact for each message, in the same order; nil for one that has no signature that can be judged.
  ///   Bad signatures are facts, not errors.
  /// - Throws: What concerns the engine.
  func verifyMessages(_ messages: [[UInt8]]) throws(EngineError) -> [SignatureFact?]

  /// What has been done so far.
  var statistics: EngineStatistics { get }
}

/// What is known about one signature.
package struct SignatureFact: Sendable, Equatable {
  /// How the signature relates to the keys known to the engine.
  package enum Status: Sendable, Equatable {
    /// Made by the key, over exactly these bytes, while the key was and is valid.
    case good
    /// Correct, but the key has expired.
    case expiredKey
    /// Correct, but the key has been revoked.
    case revokedKey
    /// Not correct, expired by itself, or made by a key that may not sign.
    case bad
    /// Made by a key that is not among the keyring's people, so nothing can be said.
    case unknownKey
  }

  /// The person: the primary fingerprint of the known key that signed, or nil.
  package var primary: Fingerprint?
  /// The key or subkey that signed, or nil when the signature names it by a short id only.
  package var key: Fingerprint?
  /// What the check found.
  package var status: Status
  /// When it was made, as the signer says.
  package var created: Timestamp

  /// Puts the facts together.
  ///
  /// - Parameters:
  ///   - primary: The person, when known.
  ///   - key: The key or subkey that signed, when known.
  ///   - status: What the check found.
  ///   - created: When it was made, as the signer says.
  package init(primary: Fingerprint?, key: Fingerprint?, status: Status, created: Timestamp) {
    self.primary = primary
    self.key = key
    self.status = status
    self.created = created
  }
}

/// Counts of what an engine has done, for tests and `--explain`.
public struct EngineStatistics: Sendable, Equatable {
  /// How many messages were given to GnuPG to decrypt.
  public var decryptions: Int
  /// How many messages were encrypted.
  public var encryptions: Int
  /// How many signatures were made; each needs a secret key once, as each decryption does.
  public var signatures: Int
  /// How many processes were started, of whatever kind.
  public var processes: Int

  /// Puts the counts together.
  ///
  /// - Parameters:
  ///   - decryptions: Messages given to GnuPG to decrypt.
  ///   - encryptions: Messages encrypted.
  ///   - signatures: Signatures made.
  ///   - processes: Processes started.
  public init(decryptions: Int = 0, encryptions: Int = 0, signatures: Int = 0, processes: Int = 0) {
    self.decryptions = decryptions
    self.encryptions = encryptions
    self.signatures = signatures
    self.processes = processes
  }
}
