internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// An item ready to be put into the store: its index line and its sealed message.
struct PreparedItem: Sendable {
  let record: ItemRecord
  let message: [UInt8]
}

/// Which secret an item has, and since when: an item that is made with the secret of another one takes both over.
struct SecretAge: Sendable {
  let revision: Revision
  let modified: Timestamp

  /// The secret of an item, as it says itself.
  init(of header: ItemHeader) { (revision, modified) = (header.revision, header.secretModified) }
}

/// Seals items to the members of their group.
struct ItemSealer {
  let keyring: Keyring

  /// Seals a new item, under a new id.
  ///
  /// - Parameters:
  ///   - created: when it was made; nil for now.
  ///   - age: whose secret it is, when another item has it already; nil for a new one.
  /// - Throws: as `Keyring.add`.
  func seal(
    new item: NewItem, secret: borrowing SecretBytes, created: Timestamp? = nil, age: SecretAge? = nil
  ) throws(KeyringError) -> PreparedItem {
    var generator = SystemRandomNumberGenerator()
    let now = created ?? keyring.host.clock()
    let record = ItemRecord(
      itemClass: item.itemClass, id: ItemID(using: &generator),
      revision: age?.revision ?? Revision(using: &generator), created: now, modified: now,
      secretModified: age?.modified ?? now, group: item.group, sealed: ContentDigest(of: []),
      attributes: try item.attributes.checked(for: item.itemClass), isLocal: item.isLocal)
    return try seal(record, secret: secret)
  }

  /// Seals a record with a secret as it is: the caller decides about revision and times.
  func seal(_ record: ItemRecord, secret: borrowing SecretBytes) throws(KeyringError) -> PreparedItem {
    guard secret.count <= StoreLayout.secretLimit else {
      throw .secretTooLarge(limit: StoreLayout.secretLimit)
    }
    guard let members = keyring.policy.groups[record.group] else { throw .unknownGroup(record.group) }
    // The signature of somebody else is a damaged item to everybody in the group.
    guard members.contains(keyring.trusted.signer) else { throw .team(.notInGroup(record.group)) }
    let plaintext: SecretBytes
    do {
      let header = ItemHeader(record: record, keyring: keyring.policy.keyring)
      plaintext = try SealedItem.plaintext(header: header, secret: secret)
    } catch {
      throw .attributesTooLarge(error)
    }
    let message: [UInt8]
    do {
      let signer = keyring.policy.signatures == .required ? keyring.trusted.signer : nil
      message = try keyring.engine.seal(plaintext, to: members, signer: signer)
    } catch {
      throw failure(error, group: record.group, item: record.reference)
    }
    guard message.count <= StoreLayout.sealedItemLimit else {
      throw .secretTooLarge(limit: StoreLayout.secretLimit)
    }
    var sealed = record
    sealed.sealed = ContentDigest(of: message)
    return PreparedItem(record: sealed, message: message)
  }

  /// What keeps a message from being sealed; a key that is to blame gets a name.
  func failure(_ error: EngineError, group: String, item: ItemReference?) -> KeyringError {
    guard case .unusableKey(let fingerprint, let problem) = error,
      let person = keyring.policy.people[fingerprint]
    else { return .engine(error, item) }
    switch problem {
    case .missing, .expired, .revoked, .disabled, .cannotEncrypt, .invalid:
      return .team(.unusableKey(fingerprint, name: person.name, group: group, problem))
    case .cannotSign, .noSecretKey, .noPassphrase, .onCard: return .engine(error, item)
    }
  }
}
