internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// An item that is ready to be stored: its unsigned record and its encrypted file.
struct PreparedItem: Sendable {
  let record: ItemRecord
  let message: [UInt8]
  /// True if this user has chosen the secret for the readers of the item.
  var isOwnSecret = false

  /// Combines a record and a file, and sets the digest of the file in the record.
  init(record: ItemRecord, message: [UInt8]) {
    self.record = record.sealed(as: ContentDigest(of: message))
    self.message = message
  }
}

extension ItemRecord {
  /// Returns the record with the digest of another encrypted file of the same version.
  package func sealed(as digest: ContentDigest) -> ItemRecord {
    var record = self
    record.sealed = digest
    return record
  }
}

/// Encrypts secrets to the members of their items' groups.
struct ItemEncryptor: Sendable {
  let keyring: Keyring

  /// Prepares a new item with a new id.
  ///
  /// - Parameters:
  ///   - item: The public part of the item.
  ///   - secret: Its secret.
  ///   - created: The time of its creation; nil for the current time.
  ///   - original: The item that already has the same secret; nil for a new secret.
  /// - Throws: The errors of `Keyring.add`.
  func prepare(
    _ item: NewItem, secret: borrowing SecretBytes, created: Timestamp? = nil, original: ItemRecord? = nil
  ) throws(KeyringError) -> PreparedItem {
    var generator = SystemRandomNumberGenerator()
    let now = created ?? keyring.host.clock()
    let record = ItemRecord(
      itemClass: item.itemClass, id: ItemID(using: &generator),
      revision: original?.revision ?? Revision(using: &generator), created: now, modified: now,
      secretModified: original?.secretModified ?? now, group: item.group, sealed: ContentDigest(of: []),
      attributes: try item.checkedAttributes().attributes, isLocal: item.isLocal)
    var prepared = try prepare(record, secret: secret)
    prepared.isOwnSecret = original == nil
    return prepared
  }

  /// Encrypts a secret for a record. The caller chooses its revision and times.
  func prepare(_ record: ItemRecord, secret: borrowing SecretBytes) throws(KeyringError) -> PreparedItem {
    // Throws before encryption if the record cannot be written.
    do throws(IndexLineError) {
      _ = try IndexLine.encode(record)
    } catch {
      throw .attributesTooLarge(error)
    }
    guard secret.count <= StoreLayout.secretLimit else {
      throw .secretTooLarge(limit: StoreLayout.secretLimit)
    }
    guard let members = keyring.policy.members(of: record.group) else { throw .unknownGroup(record.group) }
    // The other members of the group would reject the record.
    _ = try keyring.signer(for: [record.group])
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

  /// Returns the error for a failed encryption, with the name of the member if their key is the cause.
  func failure(_ error: EngineError, group: String, item: ItemReference?) -> KeyringError {
    guard case .unusableKey(let fingerprint, let problem) = error,
      let person = keyring.policy.people[fingerprint]
    else { return .engine(error, item) }
    switch problem {
    case .expired, .revoked:
      do throws(KeyringError) {
        if let obstacle = try keyring.obstacle(of: fingerprint, group: group) {
          return .team(.keyEnded(obstacle))
        }
      } catch {
        return error
      }
      return .team(.unusableKey(fingerprint, name: person.name, group: group, problem))
    case .missing, .unreadable, .disabled, .cannotEncrypt, .sharedSubkey, .tooLarge, .tooManyParts,
      .tooManySignatures, .tooManyBits, .invalid:
      return .team(.unusableKey(fingerprint, name: person.name, group: group, problem))
    case .fromFuture, .cannotSign, .noSecretKey, .noSigningSecret, .revokedHere, .noPassphrase, .onCard:
      return .engine(error, item)
    }
  }
}

extension HostContext {
  /// Returns the current time, or a later one if an item was last changed at that time or later, for example because
  /// the clock was set back.
  func time(after record: ItemRecord) -> Timestamp {
    max(clock(), Timestamp(microseconds: record.modified.microseconds + 1))
  }
}
