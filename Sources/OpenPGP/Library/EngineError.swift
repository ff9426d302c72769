public import Encoding
public import KeyringModel

/// Why OpenPGP could not do what was asked. Says what happened; what to do about it is said elsewhere.
///
/// The cases are told apart by libgpgme's results, not by its error code alone, which misleads: with
/// several recipients a damaged message is reported as a missing secret key.
public enum EngineError: Error, Equatable, Sendable {
  /// The person cancelled the passphrase dialog.
  case cancelled
  /// The key is locked and nobody can be asked: no terminal, no pinentry, or `Interaction.never`.
  case noPromptPossible
  /// The passphrase was wrong.
  case badPassphrase
  /// None of the message's recipients is a secret key of this user.
  case notARecipient(recipients: [KeyID])
  /// A secret key fitted, but the message is damaged.
  case corrupt
  /// The recipients in front of the message are not those that it was encrypted to, or the message does not contain the
  /// name of its recipients, because another program made it.
  case alteredRecipients
  /// GnuPG found nothing encrypted in the message.
  case notEncrypted
  /// The plaintext is larger than accepted.
  case tooLarge(limit: Int)
  /// The message was refused by its packet headers; no process was started.
  case message(MessageError)
  /// A key that is needed cannot be used, and why.
  case unusableKey(Fingerprint, KeyProblem)
  /// There is nobody to encrypt to.
  case noRecipients
  /// The encrypted message is not for exactly the wanted subkeys, and was thrown away. The hint names the
  /// setting of GnuPG that usually does this, when one is known.
  case wrongRecipients(expected: [KeyID], found: [KeyID], hint: String?)
  /// The user's agent cannot be reached, also not after trying to start it.
  case agentUnreachable(detail: String)
  /// There is no usable gpg.
  case engineMissing(detail: String)
  /// gpg is older than what is safe to use.
  case engineTooOld(version: String)
  /// A program or folder that the engine depends on could be changed by someone else.
  case unsafeEngine(path: String, reason: String)
  /// Anything else, as libgpgme reports it: the code, where it comes from, and its text.
  case other(code: Int, source: String, text: String)
}

/// What is wrong with a key.
public enum KeyProblem: Sendable, Equatable {
  /// The engine has no such key.
  case missing
  /// The key, or the last subkey that could do it, expired at that time.
  case expired(Timestamp)
  /// Its owner revoked it.
  case revoked
  /// The user disabled it.
  case disabled
  /// It has no subkey for encryption.
  case cannotEncrypt
  /// It has no subkey for signing.
  case cannotSign
  /// The secret half is not with the user's agent.
  case noSecretKey
  /// It has no passphrase, so that nobody is asked before it is used.
  case noPassphrase
  /// It is on a card, of which this library cannot say whether it asks again.
  case onCard
  /// Its encryption subkey is also in the key of another person, one of whom cannot use it.
  case sharedSubkey
  /// Its public half, as it is exported, has more bytes than a key file may have.
  case tooLarge(limit: Int)
  /// GnuPG does not accept it for another reason.
  case invalid
}
