internal import Keyring
internal import KeyringModel
internal import OpenPGP

// Descriptions of problems that can end a sentence; shared by errors, `check`, `status` and `doctor`.

extension ItemDamage {
  /// The description of the damage to an item's files.
  package var message: String {
    switch self {
    case .missing: "its encrypted file is missing"
    case .noRecord: "its record is missing, so it is not signed"
    case .badRecord(let error): error.message
    case .badSignature: "its record is not signed by a member of its group"
    case .invalidSigner(let key, let problem):
      "this version was signed with \(key.text), which \(problem.message)"
    case .notInIndex: "it is not in the index"
    case .notAsRecorded: "its encrypted file is not the one that its record describes"
    case .notAFile: "its file is a link, a folder or a device"
    case .tooLarge(let limit): "its file is larger than \(limit) bytes"
    case .contentsTooLarge(let limit): "its contents are larger than \(limit) bytes, although its file is not"
    case .notAMessage(let error): error.message
    case .corrupt: "its file is damaged"
    }
  }

  /// True if `check --repair` can repair it.
  package var isForRepair: Bool {
    switch self {
    case .missing, .noRecord, .badRecord, .notInIndex, .notAsRecorded, .notAFile: true
    case .tooLarge, .contentsTooLarge, .notAMessage, .corrupt, .badSignature, .invalidSigner: false
    }
  }
}

extension ItemDamage {
  /// The next step for the user.
  var hint: String {
    switch self {
    case .notAsRecorded:
      "`keytree adopt` shows whether another program changed it, and accepts or undoes the change"
    case .noRecord:
      "`keytree adopt` takes in the file of another program; `keytree check --repair` repairs damage"
    case .invalidSigner(_, .revoked(let revocation)) where revocation.isHard:
      "`keytree history ITEM` shows the other versions; `keytree undelete ITEM --sign` restores a deleted item with your "
        + "signature"
    case .invalidSigner: "`keytree history ITEM` shows the other versions"
    default: isForRepair ? "`keytree check --repair` repairs it" : ErrorReport.damageHint
    }
  }
}

extension SignerProblem {
  /// The state of a key that makes its signature invalid; the end of a sentence about the key.
  package var message: String {
    switch self {
    case .revoked(let revocation):
      "is revoked \(revocation.message)" + (revocation.isHard ? "" : " since \(revocation.created.day)")
    case .expired(let end): "had expired (\(end.day))"
    }
  }
}

extension KeyRevocation {
  /// The reason of a revocation in one word, or a few.
  package var word: String {
    switch reason {
    case .compromised: "compromised"
    case .superseded: "superseded"
    case .retired: "retired"
    case .userIDInvalid: "user id no longer valid"
    case .unspecified, nil: "no reason given, which counts as compromised"
    }
  }

  /// The reason of a revocation, after "revoked".
  package var message: String {
    switch reason {
    case .compromised: "as compromised"
    case .superseded: "as superseded"
    case .retired: "as retired"
    case .userIDInvalid: "because its user id is no longer valid"
    case .unspecified, nil: "without a reason, which counts as compromised"
    }
  }
}

extension RecordError {
  /// The reason why a file is not the record of an item.
  package var message: String {
    switch self {
    case .notARecord: "its record cannot be read: it does not have two lines"
    case .line(let error): "its record cannot be read: \(error.message)"
    case .noProof: "its record has no readable proof"
    case .notProven: "its record was changed after it was signed"
    case .noStatement: "the signature of its record is missing or has an unknown format"
    }
  }
}

extension RecordProblem {
  /// The reason why a record is not accepted.
  package var message: String {
    switch self {
    case .damage(let damage): damage.message
    case .mismatch(let mismatch): mismatch.message
    }
  }
}

extension BindingMismatch {
  /// The difference between the item and the requested one.
  package var message: String {
    switch self {
    case .keyring: "its record was signed for another keyring"
    case .place: "its record belongs to another item"
    case .index(let name): "`\(name.text)` in the index differs from the signed record"
    case .condition(let name):
      "`\(name.text)` in the signed record differs from the requested value"
    case .readers: "the person who signed its record cannot read its encrypted file"
    case .unauthorizedMove:
      "its record is in another group, and no member of its previous group signed the move"
    case .recipients: "its encrypted file was created for other recipients, or by another program"
    }
  }
}

extension PolicyDistrust {
  /// True if another policy of the history may be the one of the admins, so that the hint is not to accept this one.
  var hasRival: Bool {
    switch self {
    case .restored, .contradictory: true
    default: false
    }
  }

  /// The reason why the policy is not trusted.
  package var message: String {
    switch self {
    case .notPinned: "this machine has not accepted it yet"
    case .changed(let generation, let pinned):
      if generation == pinned {
        "it is not the policy of generation \(generation) that this machine has accepted"
      } else if generation < pinned {
        "it is an older policy (generation \(generation)) that was restored; this machine has accepted "
          + "generation \(pinned)"
      } else {
        "it has generation \(generation), but this machine has accepted generation \(pinned)"
      }
    case .notSuccessor(let generation):
      "generation \(generation) does not follow the policy that this machine has accepted"
    case .stepsMissing(let generation, let pinned):
      "it has generation \(generation), this machine has accepted generation \(pinned), and the generations between "
        + "them are not available"
    case .restored(let generation, let newer) where newer <= generation:
      "a person from whom its history has taken the right to sign has signed it; generation \(newer) of the history is valid"
    case .restored(let generation, let newer):
      "it is an older policy (generation \(generation)) that was restored; its history has generation \(newer)"
    case .contradictory(let generation, let other):
      "two sides of its history, up to generation \(generation) and \(other), contradict each other"
    case .historyUnreadable(let generation):
      "it has generation \(generation), and the policies in the history cannot be read"
    case .unsigned: "it has no signature"
    case .badSignature: "it is not signed by an admin"
    case .unreadable(let error): error.message
    case .pinUnreadable: "this machine's record of the accepted policy cannot be read"
    case .keyMissing(let fingerprint): "the key file of \(fingerprint.text) is missing"
    case .keyChanged(let fingerprint, let name):
      "the key file of \(Person.shownName(name)) (\(fingerprint.text)) is not the one that this machine has accepted"
    case .foreignSubkey(let foreign): foreign.message
    case .unusableKeyFile(let person, let problem): problem.message(ofKeyFileOf: person)
    case .keyExchanged(let fingerprint, let name):
      "the key file of \(Person.shownName(name)) (\(fingerprint.text)) is not the one that the policy names"
    }
  }

  /// The hint for the user.
  package var hint: String {
    switch self {
    case .foreignSubkey(let foreign):
      "ask the admin who signed it to replace the key file of \(foreign.person.text)"
    case .unusableKeyFile(let person, let problem):
      problem.upgradeHint
        ?? "ask the admin who signed it to replace the key file of \(person.text); if no admin has signed it, an admin "
        + "drops it with `keytree sync --keep-policy`"
    case .keyMissing, .keyExchanged, .keyChanged:
      "`keytree check --repair` restores the file if this machine or the history has it; otherwise restore it from a "
        + "backup"
    case .restored:
      "`keytree git log -- policy.json` shows who restored it, and `keytree git revert COMMIT` takes that back"
    case .contradictory:
      "ask the admins which policy is theirs; an admin drops the other one with `keytree sync --keep-policy`, and "
        + "`keytree trust` accepts this one"
    case .historyUnreadable: "`keytree doctor` tests git; `keytree verify` tests the history"
    case .unreadable, .unsigned: "restore `policy.json` and `policy.json.asc` from git or a backup"
    default: "`keytree trust` shows who can read the store and asks you to compare the fingerprints"
    }
  }
}

extension PolicyError {
  /// The reason why a policy cannot be read.
  package var message: String {
    switch self {
    case .unknownFormat(let format): "it has format \(format), which needs a newer version of keytree"
    case .malformed(let error): "it cannot be read: \(error.message)"
    case .missing(let field): "`\(field)` is missing"
    case .invalid(let field): "`\(field)` has an invalid value"
    case .unexpected(let field): "`\(field)` is not allowed"
    case .notCanonical: "it is not in canonical form, so another program edited it"
    case .unnamedPerson(let person): "\(person.text) has no name"
    case .noEncryptionSubkey(let person): "it names no subkey to encrypt to for \(person.text)"
    case .sharedSubkey(let subkey): "it names the subkey \(subkey.text) for two members"
    case .noAdmin: "it names no admin"
    case .noDefaultGroup: "it has no group `default`"
    case .emptyDefaultGroup: "its group `default` is empty"
    case .badGroupName(let name): "\(ErrorReport.quote(name)) is not a valid group name"
    case .badFileName(let name): "\(ErrorReport.quote(name)) is not a valid name for an additional file"
    case .unknownPerson(let person, let group):
      "\(person.text) is in group \(group), but not among the people"
    case .removedPerson(let person, let group): "\(person.text) was removed, but is in group \(group)"
    case .tooMany(.people, let limit): "it has more than \(limit) people"
    case .tooMany(.groups, let limit): "it has more than \(limit) groups"
    case .tooMany(.members(let group), let limit):
      "its group \(ErrorReport.quote(group)) has more than \(limit) members, or subkeys of them"
    case .tooMany(.subkeys(let person), let limit):
      "it names more than \(limit) subkeys to encrypt to for \(person.text)"
    case .nameTooLong(let person, let limit): "the name of \(person.text) is longer than \(limit) bytes"
    }
  }
}

extension QueryError {
  /// The description of the problem with a query.
  package var message: String {
    switch self {
    case .secretOfAllMatches: "the secrets of all matches are never returned"
    case .limitNotPositive(let number): "the limit \(number) is not positive"
    case .wrongClass(let name, let itemClass):
      "items of class \(itemClass.rawValue) do not have `\(name.text)`"
    case .noSuchAttribute(let name): "items cannot be searched by `\(name.text)`"
    case .notADate(let name): "`\(name.text)` is not a date"
    case .badIDPrefix(let text): "\(ErrorReport.quote(text)) is not a valid id prefix"
    }
  }
}

extension JSONError {
  /// The reason why a text is not valid JSON of a store.
  package var message: String {
    switch self {
    case .tooLarge(let limit): "longer than \(limit) bytes"
    case .tooDeep(let limit): "nested deeper than \(limit)"
    case .byteOrderMark: "it begins with a byte order mark"
    case .invalidUTF8(let offset): "invalid UTF-8 at byte \(offset)"
    case .unexpectedEnd: "it ends too early"
    case .unexpectedByte(_, let offset): "an unexpected character at byte \(offset)"
    case .controlCharacter(let offset): "a raw control character at byte \(offset)"
    case .invalidEscape(let offset): "an unknown escape at byte \(offset)"
    case .loneSurrogate(let offset): "half of a surrogate pair at byte \(offset)"
    case .notAnInteger(let offset): "a number that is not an integer at byte \(offset)"
    case .integerOutOfRange(let offset): "a number out of range at byte \(offset)"
    case .duplicateKey(let name): "duplicate name \(ErrorReport.quote(name))"
    case .trailingData(let offset): "extra data after its end at byte \(offset)"
    case .unexpectedType(let offset): "a value of the wrong type at byte \(offset)"
    }
  }
}

extension MessageError {
  /// The reason why a file is not an encrypted message.
  package var message: String {
    switch self {
    case .empty: "the file is empty"
    case .tooLarge(let limit): "the file is larger than \(limit) bytes"
    case .notBinary: "the file is not a binary OpenPGP message"
    case .notEncrypted(let tag): "the file is not encrypted (OpenPGP packet \(tag))"
    case .passphrase: "the file can be decrypted with a passphrase, which an item must not allow"
    case .noIntegrityProtection: "the message has no protection against changes"
    case .noRecipients: "the message names no recipient"
    case .tooManyRecipients(let limit): "the message has more than \(limit) recipients"
    case .tooManyParts(let limit): "the message has more than \(limit) parts"
    case .truncated: "the file ends too early"
    case .trailingData: "extra data follows the message in its file"
    case .malformed: "the message is malformed"
    }
  }
}

extension Fingerprint {
  /// The digits in groups of four, as gpg prints them, which people can compare.
  package var inGroups: String {
    let digits = Array(text)
    return stride(from: 0, to: digits.count, by: 4)
      .map { String(digits[$0..<min($0 + 4, digits.count)]) }.joined(separator: " ")
  }
}

extension KeyProblem {
  /// True if the key has expired, so that its owner can extend it.
  package var isExpired: Bool { if case .expired = self { true } else { false } }

  /// The instruction for a key that GnuPG on this machine cannot read; nil for another problem.
  package var upgradeHint: String? {
    guard case .unreadable(let needed) = self else { return nil }
    return "install \(Self.version(needed)), and put it first in `PATH`"
  }

  /// The instruction for a member's key that is over a limit; nil for another problem.
  func replacementHint(for person: Fingerprint) -> String? {
    switch self {
    case .tooManyParts, .tooManySignatures, .tooManyBits:
      "an admin gives the person another key with `keytree group replace \(person.text) KEYFILE`, or removes them with "
        + "`keytree group remove GROUP \(person.text) --all`"
    default: nil
    }
  }

  private static func version(_ needed: String?) -> String {
    needed.map { "GnuPG \($0) or later" } ?? "a newer version of GnuPG"
  }

  /// The description of the problem with a key.
  package var message: String {
    switch self {
    case .missing: "it does not exist"
    case .unreadable(let needed): "GnuPG on this machine cannot read it: it needs \(Self.version(needed))"
    case .expired(let time): "it has expired (\(time.day))"
    case .fromFuture(let time):
      "it was created in the future (\(time.day)): the clock of this machine is behind"
    case .revoked: "its owner has revoked it"
    case .disabled: "it is disabled in your keyring"
    case .cannotEncrypt: "it has no subkey for encryption"
    case .cannotSign: "it has no valid subkey for signing"
    case .noSecretKey: "your agent does not have its secret key"
    case .noSigningSecret(let id): "the secret of the signing subkey \(id.text) is not on this machine"
    case .revokedHere(let id): "your GnuPG keyring revokes its signing subkey \(id.text)"
    case .noPassphrase: "it has no passphrase to prompt for"
    case .onCard: "it is on a smart card, which might not prompt each time"
    case .sharedSubkey: "its encryption subkey also belongs to the key of another person in the store"
    case .tooLarge(let limit): "its public key is larger than \(limit) bytes"
    case .tooManyParts(let limit): "it has more than \(limit) user ids or more than \(limit) subkeys"
    case .tooManySignatures(let limit): "it has more than \(limit) signatures of its own"
    case .tooManyBits:
      "it has an RSA or ElGamal key of more than 8192 bits, a DSA key of more than 4096 bits, or an exponent of unusual "
        + "length"
    case .invalid: "GnuPG reports it as invalid"
    }
  }

  /// The description of a key file that a policy must not add.
  func message(ofKeyFileOf person: Fingerprint) -> String {
    "the key file of \(person.text) cannot be used: \(message)"
  }
}

extension ShardFinding {
  /// The description of the problem with a shard.
  package var message: String {
    func list(_ lines: [Int]) -> String { lines.map(String.init).joined(separator: ", ") }
    return switch self {
    case .badLine(let number, let error): "line \(number) cannot be read: \(error.message)"
    case .duplicatePath(let path, let lines): "lines \(list(lines)) have the same path \(path.text)"
    case .duplicateID(let id, let lines): "lines \(list(lines)) have the same id \(id.hex)"
    case .notCanonical(let line): "line \(line) is not in canonical form"
    case .notSorted(let line): "line \(line) is out of order"
    case .wrongShard(let line, let path): "line \(line) belongs to another shard (\(path.text))"
    case .missingFinalLineFeed: "the last line has no line feed"
    case .tooLarge(let size, let limit): "the file has \(size) bytes, more than \(limit)"
    }
  }
}

extension IndexLineError {
  /// The reason why a line cannot be read or written.
  package var message: String {
    switch self {
    case .empty: "it is empty"
    case .tooLong(let limit): "it is longer than \(limit) bytes"
    case .json(let error): "it is not the JSON of an index: \(error.message)"
    case .missing(let name): "`\(name.text)` is missing"
    case .invalid(let name): "`\(name.text)` has an invalid value"
    case .misplaced(let name): "`\(name.text)` is not allowed there"
    case .attribute(let error): ErrorReport(error).message ?? "an attribute is wrong"
    }
  }
}
