internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// Decrypts items and releases only what proves to be what was asked for.
struct ItemReader {
  let keyring: Keyring
  /// Whether somebody has to be asked for a passphrase, also when the agent keeps it, for an item as it is now.
  var asksAgain: (ItemRecord) -> Bool = { _ in false }

  /// How often an item is looked up again while writers keep moving it.
  private static let attempts = 16

  /// Reads and decrypts the item that a record names.
  ///
  /// When the file is not the one the record describes, a writer may have been faster: then the record is
  /// looked up again under the lock.
  func read(_ record: ItemRecord, matching query: Query? = nil) throws(KeyringError) -> SealedItem {
    var current = record
    for _ in 0..<Self.attempts {
      let message = try self.message(of: current)
      if let message, ContentDigest(of: message) == current.sealed {
        return try open(message, current, asked: record, query)
      }
      var byID = Query()
      byID.predicates = [.id(record.id)]
      guard let fresh = try keyring.index.findUnderLock(byID).items.first else { throw .itemNotFound }
      if fresh == current {
        // What the index says has not changed: the file is not what it says.
        guard let message else { throw .itemDamaged(fresh.reference, .missing) }
        return try open(message, fresh, asked: record, query)
      }
      current = fresh
    }
    throw .itemDamaged(current.reference, .missing)
  }

  /// Opens the message of a record that the one that was asked for led to.
  private func open(
    _ message: [UInt8], _ current: ItemRecord, asked record: ItemRecord, _ query: Query?
  ) throws(KeyringError) -> SealedItem {
    if let name = current.primaryKey.difference(from: record.primaryKey) {
      // Renamed since it was found; or the line that was found is another one with the same id, which would give the
      // item's secret out under its own name (threat T10).
      let line = Query(predicates: [.path(record.path), .id(record.id)])
      guard try keyring.index.findUnderLock(line).items.isEmpty else {
        throw .bindingMismatch(record.reference, .primaryKey(name))
      }
    }
    return try open(message, current, query)
  }

  /// The sealed message of a record; `nil` when its file is missing.
  func message(of record: ItemRecord) throws(KeyringError) -> [UInt8]? {
    let file = StoreLayout.itemFile(record.path, isLocal: record.isLocal)
    do {
      return try keyring.tree.read(file, limit: StoreLayout.sealedItemLimit)
    } catch {
      switch error.reason {
      case .notARegularFile, .hasOtherNames: throw .itemDamaged(record.reference, .notAFile)
      case .tooLarge(let limit): throw .itemDamaged(record.reference, .tooLarge(limit: limit))
      case .system: throw .file(error)
      }
    }
  }

  /// Decrypts a message and holds it against the record.
  func open(_ message: [UInt8], _ record: ItemRecord, _ query: Query?) throws(KeyringError) -> SealedItem {
    let item = try unseal(message, reference: record.reference, asksAgain: asksAgain(record))
    do {
      try item.verify(against: record, keyring: keyring.policy.keyring, query: query)
    } catch {
      throw .bindingMismatch(record.reference, error)
    }
    return item
  }

  /// Decrypts a message whose place is not known yet; the signature is checked, the binding is not.
  func unseal(
    _ message: [UInt8], reference: ItemReference, asksAgain: Bool = false
  ) throws(KeyringError) -> SealedItem {
    do {
      let limit = StoreLayout.plaintextLimit
      let opened =
        try asksAgain
        ? keyring.engine.openAskingAgain(message, limit: limit) : keyring.engine.open(message, limit: limit)
      let item = try SealedItem(plaintext: opened.plaintext)
      try checkSignature(opened.signatures, group: item.header.group)
      return item
    } catch let error as EngineError {
      throw Self.translate(error, reference)
    } catch let damage as ItemDamage {
      throw .itemDamaged(reference, damage)
    } catch {
      preconditionFailure("the engine and the item throw nothing else")
    }
  }

  /// Whether exactly one member of the item's group signed it, as the policy may require (threat T11).
  private func checkSignature(_ signatures: [SignatureFact], group: String) throws(ItemDamage) {
    guard keyring.policy.signatures == .required else { return }
    guard let signature = signatures.first else { throw .unsigned }
    let members = keyring.policy.groups[group] ?? []
    // A key that has expired since was good when it signed; a revoked one never is.
    let isGood = signature.status == .good || signature.status == .expiredKey
    guard signatures.count == 1, isGood, let signer = signature.primary, members.contains(signer) else {
      throw .badSignature
    }
  }

  private static func translate(_ error: EngineError, _ reference: ItemReference) -> KeyringError {
    switch error {
    case .message(let reason): .itemDamaged(reference, .notAMessage(reason))
    case .corrupt, .notEncrypted: .itemDamaged(reference, .corrupt)
    case .tooLarge(let limit): .itemDamaged(reference, .contentsTooLarge(limit: limit))
    default: .engine(error, reference)
    }
  }
}
