public import Encoding
public import KeyringModel

/// The reasons why an OpenPGP operation failed. The messages for users are elsewhere.
///
/// The cases are derived from libgpgme's results, not from its error code alone, which is misleading: with several
/// recipients a damaged message is reported as a missing secret key.
public enum EngineError: Error, Equatable, Sendable {
  /// The user cancelled the passphrase dialog.
  case cancelled
  /// The key is locked and no prompt is possible: no terminal, no pinentry, or `Interaction.never`.
  case noPromptPossible
  /// The passphrase was wrong.
  case badPassphrase
  /// This user has no secret key for any of the message's recipients.
  case notARecipient(recipients: [KeyID])
  /// A secret key matched, but the message is damaged.
  case corrupt
  /// The recipients before the message are not those that it was encrypted to. Or the message does not contain the
  /// digest of its recipients, because another program made it.
  case alteredRecipients
  /// The message is the encrypted file of an item of a store, and a message of another program was expected.
  case messageOfAStore
  /// GnuPG found no encrypted data in the message.
  case notEncrypted
  /// The plaintext is larger than the limit.
  case tooLarge(limit: Int)
  /// The message was refused by its packet headers; no process was started.
  case message(MessageError)
  /// A required key cannot be used, with the reason.
  case unusableKey(Fingerprint, KeyProblem)
  /// A key has the primary key of another one as a subkey. GnuPG was not started, because it would import only one of
  /// them.
  case foreignSubkey(ForeignSubkey)
  /// The list of recipients is empty.
  case noRecipients
  /// The encrypted message does not have exactly the requested subkeys as recipients, and was discarded. The hint
  /// names the GnuPG setting that usually causes this, if one is known.
  case wrongRecipients(expected: [KeyID], found: [KeyID], hint: String?)
  /// The user's agent cannot be reached, even after an attempt to start it.
  case agentUnreachable(detail: String)
  /// The user's agent is reached over its restricted socket (`extra-socket`, meant for forwarding by ssh). There it
  /// accepts neither the option that rules out prompts, nor passphrases from programs, nor the commands that list keys,
  /// clear passphrases and ask questions.
  case restrictedAgent
  /// No usable gpg was found.
  case engineMissing(detail: String)
  /// gpg is older than the minimum version.
  case engineTooOld(version: String)
  /// Other users could change a program or folder that the engine depends on.
  case unsafeEngine(path: String, reason: String)
  /// GnuPG ended before it had said everything about the operation, for example because it was killed. What it has not
  /// said is not known.
  case incomplete(detail: String)
  /// Any other error of libgpgme: its code, source and text.
  case other(code: Int, source: String, text: String)
}

/// The reasons why a key cannot be used.
public enum KeyProblem: Sendable, Equatable {
  /// The engine has no such key.
  case missing
  /// GnuPG on this machine cannot read the key, or one of its subkeys; the first version of GnuPG that can, or nil if it
  /// is not known.
  case unreadable(needs: String?)
  /// The key, or its last suitable subkey, expired at that time.
  case expired(Timestamp)
  /// It, or the subkey to use, was created at this time, more than five minutes in the future: the clock is behind.
  case fromFuture(Timestamp)
  /// Its owner revoked it.
  case revoked
  /// The user disabled it.
  case disabled
  /// It has no subkey for encryption.
  case cannotEncrypt
  /// It has no subkey for signing, or all of them are revoked.
  case cannotSign
  /// The user's agent does not have the secret key.
  case noSecretKey
  /// The secret of this subkey, the newest one for signing, is not on this machine, and no other subkey can sign.
  case noSigningSecret(KeyID)
  /// The user's own keyring revokes this subkey for signing, and no other subkey can sign.
  case revokedHere(KeyID)
  /// It has no passphrase, so no prompt appears before it is used.
  case noPassphrase
  /// It is on a card. This library cannot tell whether a card prompts again.
  case onCard
  /// Its encryption subkey is also in the key of another person, so one of them cannot use it.
  case sharedSubkey
  /// Its exported public key has more bytes than a key file may have.
  case tooLarge(limit: Int)
  /// It has more user ids, or more subkeys, than GnuPG can import in a short time.
  case tooManyParts(limit: Int)
  /// It has more signatures of its own than GnuPG can verify in a short time.
  case tooManySignatures(limit: Int)
  /// The key or a subkey has so many bits that GnuPG needs a long time for each signature.
  case tooManyBits
  /// GnuPG does not accept it for another reason.
  case invalid
}
