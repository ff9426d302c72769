package import Encoding
package import KeyringModel
package import Secrets

/// The OpenPGP operations that the store needs. Tests use a fast fake instead.
package protocol OpenPGPEngine: Sendable {
  /// Starts work in the background that can be done early. Never fails: the first call that needs the work waits for
  /// it and reports its errors.
  func warmUp()

  /// Encrypts, and checks that exactly the requested subkeys can decrypt the result. `open` detects a recipient that
  /// was added later. Needs no secret key.
  ///
  /// - Parameters:
  ///   - plaintext: The bytes to encrypt.
  ///   - recipients: The people who may decrypt; never empty.
  /// - Returns: A binary OpenPGP message.
  /// - Throws: `noRecipients`; `unusableKey` for the first key that cannot be encrypted to, before anything is
  ///   encrypted; `wrongRecipients` when the result has other recipients; an engine error.
  func seal(_ plaintext: borrowing SecretBytes, to recipients: [Recipient]) throws(EngineError) -> [UInt8]

  /// Decrypts. Returns the plaintext only if the whole message is intact and has the recipients that `seal` gave it.
  ///
  /// - Parameters:
  ///   - ciphertext: A binary OpenPGP message.
  ///   - limit: The maximum size of the plaintext, in bytes; a decompression bomb is stopped there.
  /// - Returns: The plaintext. A signature inside the message is ignored, because the record beside the file is
  ///   signed.
  /// - Throws: `message` when the file is refused before any process is started; `notARecipient`, `corrupt`,
  ///   `alteredRecipients`, `messageOfAStore`, `notEncrypted`, `tooLarge`; `restrictedAgent` when prompts are not allowed and
  ///   the agent cannot be told so; a prompt or engine error.
  func open(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes

  /// Decrypts as `open(_:limit:)` does, but first clears the passphrases that the user's agent has cached, so that the
  /// user is prompted. Concurrent calls, in any process, wait for each other.
  ///
  /// - Parameters:
  ///   - ciphertext: A binary OpenPGP message.
  ///   - limit: The maximum size of the plaintext, in bytes.
  /// - Returns: The plaintext, as `open(_:limit:)` does.
  /// - Throws: The errors of `open(_:limit:)`; `noPromptPossible` when prompts are not allowed, before anything is
  ///   cleared; `unusableKey` with `noPassphrase` or `onCard` for a key that may not cause a prompt;
  ///   `restrictedAgent` when passphrases cannot be cleared; `agentUnreachable` when the agent does not answer.
  func openWithPrompt(_ ciphertext: [UInt8], limit: Int) throws(EngineError) -> SecretBytes

  /// Checks that a person's key is protected by a passphrase.
  ///
  /// - Parameter person: The primary fingerprint of a key of this user.
  /// - Throws: `unusableKey` with `noPassphrase`, `onCard` or `noSecretKey`; `restrictedAgent`; an engine error.
  func checkPassphrase(of person: Fingerprint) throws(EngineError)

  /// Returns the passphrases that the agent has cached, of the keys with which a user decrypts and signs. Starts no
  /// dialog.
  ///
  /// - Parameter user: A key of this user, and the subkeys that items are encrypted to.
  /// - Throws: `unusableKey` with `missing`; `restrictedAgent`; `agentUnreachable`; an engine error.
  func cachedPassphrases(of user: Recipient) throws(EngineError) -> CachedPassphrases

  /// Makes the agent forget all cached passphrases: it tries the last passphrase for every key.
  ///
  /// - Throws: `restrictedAgent`; `agentUnreachable`; an engine error.
  func forgetPassphrases() throws(EngineError)

  /// Asks the user a question, through the agent.
  ///
  /// - Parameter question: The text.
  /// - Returns: True if the user agreed.
  /// - Throws: `noPromptPossible` when prompts are not allowed; `cancelled`; `restrictedAgent`; an engine error.
  func confirm(_ question: String) throws(EngineError) -> Bool

  /// Returns an engine for the same user and people whose dialogs can be ended.
  ///
  /// - Parameter cancellation: Ends a call that waits for the user.
  func with(_ cancellation: Cancellation) -> any OpenPGPEngine

  /// Reads the recipients of a message, from its packets alone. Uses no key and no process.
  ///
  /// - Parameter ciphertext: A binary OpenPGP message.
  /// - Returns: The ids of the recipients' subkeys, in the order of the message.
  /// - Throws: The fault of the packets.
  func recipients(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> [KeyID]

  /// Returns the digest of the encrypted data of a message, without its recipients. Two messages have the same digest
  /// if they differ only in their recipients or in their packet format.
  ///
  /// - Parameter ciphertext: A binary OpenPGP message.
  /// - Throws: The fault of the packets.
  func containerDigest(of ciphertext: UnsafeRawBufferPointer) throws(MessageError) -> ContentDigest

  /// Checks that `seal` can encrypt to some people now.
  ///
  /// - Parameter recipients: The people.
  /// - Throws: `unusableKey` for the first person that cannot be encrypted to; an engine error.
  func checkRecipients(_ recipients: [Recipient]) throws(EngineError)

  /// Returns the owners of a subkey.
  ///
  /// - Parameter id: An id from the packets of a message.
  /// - Returns: The primary fingerprints of the keys that have the subkey, even if it is expired or revoked. Several
  ///   if a person has bound another person's subkey to their own key.
  /// - Throws: An engine error.
  func owners(of id: KeyID) throws(EngineError) -> [Fingerprint]

  /// Lists the people whose secret keys this user has, usable or not.
  ///
  /// - Returns: The primary fingerprints; also of keys that are not known to the engine.
  /// - Throws: An engine error.
  func ownPeople() throws(EngineError) -> [Fingerprint]

  /// Lists the known keys, as GnuPG lists them.
  ///
  /// - Throws: An engine error.
  func publicKeys() throws(EngineError) -> [PublicKey]

  /// Returns an engine for the same user with the keys of other people.
  ///
  /// - Parameter keys: The people's key files by primary fingerprint.
  func with(keys: [Fingerprint: [UInt8]]) -> any OpenPGPEngine

  /// Creates a detached signature.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to sign.
  ///   - signer: The primary fingerprint of the key that signs.
  ///   - isRevokedHere: True to sign even if the user's own keyring revokes the key.
  /// - Returns: An armored detached signature.
  /// - Throws: `unusableKey` when that key cannot sign; a prompt or engine error.
  func signDetached(
    _ bytes: [UInt8], signer: Fingerprint, evenIfRevokedHere isRevokedHere: Bool
  ) throws(EngineError) -> [UInt8]

  /// Verifies a detached signature over exact bytes.
  ///
  /// - Parameters:
  ///   - signature: The signature, armored or binary.
  ///   - bytes: The signed bytes.
  /// - Returns: One fact per signature; empty if there is none. Bad signatures are facts, not errors.
  /// - Throws: The errors of ``verifyMessages(_:)``.
  func verifyDetached(
    signature: [UInt8], of bytes: [UInt8]
  ) throws(EngineError) -> [SignatureFact]

  /// Signs a line of text. Needs the signer's secret key once.
  ///
  /// - Parameters:
  ///   - content: The bytes to sign.
  ///   - signer: The primary fingerprint of the key that signs.
  /// - Returns: A binary signed message as ``SignedMessage`` reads it: one-pass signature, literal data, signature.
  /// - Throws: `unusableKey` when that key cannot sign; a prompt or engine error.
  func signMessage(_ content: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8]

  /// Verifies signed messages, many of them in one process.
  ///
  /// - Parameter messages: Binary signed messages, each of the form that ``SignedMessage`` accepts.
  /// - Returns: One fact for each message, in the same order; nil for a message without a signature that can be
  ///   verified. Bad signatures are facts, not errors.
  /// - Throws: `incomplete` if GnuPG has not stated a verdict about each signature; `unusableKey` for a person whose key
  ///   GnuPG cannot read, if one of the signatures may be theirs; an engine error.
  func verifyMessages(_ messages: [[UInt8]]) throws(EngineError) -> [SignatureFact?]

  /// The counts of operations so far.
  var statistics: EngineStatistics { get }
}

extension OpenPGPEngine {
  /// Creates a detached signature, unless the user's own keyring revokes the key.
  ///
  /// - Parameters:
  ///   - bytes: The bytes to sign.
  ///   - signer: The primary fingerprint of the key that signs.
  /// - Returns: An armored detached signature.
  /// - Throws: The errors of ``signDetached(_:signer:evenIfRevokedHere:)``; `unusableKey` with `revokedHere` or `revoked`.
  package func signDetached(_ bytes: [UInt8], signer: Fingerprint) throws(EngineError) -> [UInt8] {
    try signDetached(bytes, signer: signer, evenIfRevokedHere: false)
  }

  /// Encrypts to the newest valid subkey of each person.
  ///
  /// - Parameters:
  ///   - plaintext: The bytes to encrypt.
  ///   - people: Primary fingerprints; never empty.
  /// - Returns: A binary OpenPGP message.
  /// - Throws: The errors of `seal` for recipients.
  package func seal(
    _ plaintext: borrowing SecretBytes, to people: [Fingerprint]
  ) throws(EngineError) -> [UInt8] {
    try seal(plaintext, to: people.map { Recipient($0) })
  }
}

/// The passphrases of the two keys of a person that the agent has cached.
package enum CachedPassphrases: Sendable, Equatable {
  /// All that are needed. Keys without a passphrase and keys on a card need none.
  case all
  /// Those of these keys only. If both have the same passphrase, the agent can use the other key, too: it tries the
  /// last passphrase for every key, but caches it only for the key for which it was entered.
  case some(keys: Set<Fingerprint>)
  /// None.
  case none
}

/// Counts of the operations of an engine, for tests and `--explain`.
package struct EngineStatistics: Sendable, Equatable {
  /// The number of messages that were given to GnuPG to decrypt.
  package var decryptions: Int
  /// The number of messages that were encrypted.
  package var encryptions: Int
  /// The number of signatures that were made. Each needs a secret key once, like a decryption.
  package var signatures: Int
  /// The number of processes of any kind that were started.
  package var processes: Int

  /// Creates statistics.
  ///
  /// - Parameters:
  ///   - decryptions: Messages given to GnuPG to decrypt.
  ///   - encryptions: Messages encrypted.
  ///   - signatures: Signatures made.
  ///   - processes: Processes started.
  package init(decryptions: Int = 0, encryptions: Int = 0, signatures: Int = 0, processes: Int = 0) {
    self.decryptions = decryptions
    self.encryptions = encryptions
    self.signatures = signatures
    self.processes = processes
  }
}
