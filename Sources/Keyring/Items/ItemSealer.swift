internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// An item ready to be put into the store: its record, not signed yet, and its encrypted file.
struct PreparedItem: Sendable {
  let record: ItemRecord
  let message: [UInt8]

  /// Puts a record and a file together; the record gets the digest of the file.
  init(record: ItemRecord, message: [UInt8]) {
    self.record = record.sealed(as: ContentDigest(of: message))
    self.message = message
  }
}

extension ItemRecord {
  /// Returns the record of the same version in another encrypted file.
  package func sealed(as digest: ContentDigest) -> ItemRecord {
    var record = self
    record.sealed = digest
    return record
  }
}

/// Encrypts secrets to the members of their groups.
struct ItemSealer: Sendable {
  let keyring: Keyring

  /// Prepares a new item, under a new id.
  ///
  /// - Parameters:
  ///   - item: What is public about it.
  ///   - secret: Its secret.
  ///   - created: When it was made; nil for now.
  ///   - original: The item that has the same secret already; nil for a new secret.
  /// - Throws: as `Keyring.add`.
  func prepare(
    _ item: NewItem, secret: borrowing SecretBytes, created: Timestamp? = nil, original: ItemRecord? = nil
  ) throws(KeyringError) -> PreparedItem {
    var generator = SystemRandomNumberGenerator()
    let now = created ?? keyring.host.clock()
    let record = ItemRecord(
      itemClass: item.itemClass, id: ItemID(using: &generator),
      revision: original?.revision ?? Revision(using: &generator), created: now, modified: now,
      secretModified: original?.secretModified ?? now, group: item.group, sealed: ContentDigest(of: []),
      attributes: try item.attributes.checked(for: item.itemClass), isLocal: item.isLocal)
    return try prepare(record, secret: secret)
  }

  /// Encrypts a secret for a record: the caller decides about revision and times.
  func prepare(_ record: ItemRecord, secret: borrowing SecretBytes) throws(KeyringError) -> PreparedItem {
    // Nothing is encrypted for a record that cannot be written.
    do throws(IndexLineError) {
      _ = try IndexLine.encode(record)
    } catch {
      throw .attributesTooLarge(error)
    }
    guard secret.count <= StoreLayout.secretLimit else {
      throw .secretTooLarge(limit: StoreLayout.secretLimit)
    }
    guard let members = keyring.policy.groups[record.group] else { throw .unknownGroup(record.group) }
    // Nobody else in the group would believe the record.
    guard members.contains(keyring.trusted.signer) else { throw .team(.notInGroup(record.group)) }
    let message: [UInt8]
    do {
      message = try keyring.engine.seal(secret, to: members)
    } catch {
      throw failure(error, group: record.group, item: record.reference)
    }
    guard message.count <= StoreLayout.sealedItemLimit else {
      throw .secretTooLarge(limit: StoreLayout.secretLimit)
    }
    return PreparedItem(record: record, message: message)
  }

  /// Returns the error for what keeps a secret from being encrypted; a key that is to blame gets a name.
  func failure(_ error: EngineError, group: String, item: ItemReference?) -> KeyringError {
    guard case .unusableKey(let fingerprint, let problem) = error,
      let person = keyring.policy.people[fingerprint]
    else { return .engine(error, item) }
    switch problem {
    case .missing, .expired, .revoked, .disabled, .cannotEncrypt, .sharedSubkey, .tooLarge, .invalid:
      return .team(.unusableKey(fingerprint, name: person.name, group: group, problem))
    case .cannotSign, .noSecretKey, .noPassphrase, .onCard: return .engine(error, item)
    }
  }
}

extension HostContext {
  /// Returns the current time; later than an item's last change, also when the clock was put back.
  func time(after record: ItemRecord) -> Timestamp {
    max(clock(), Timestamp(microseconds: record.modified.microseconds + 1))
  }
}
