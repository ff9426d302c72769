internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// An item whose record was verified, with the encrypted file that the record describes.
struct StoredItem: Sendable {
  /// The record and its proof.
  let verified: VerifiedRecord
  /// The bytes of the encrypted file; its digest is the one in the record.
  let message: [UInt8]

  /// The attributes of the item.
  var record: ItemRecord { verified.record }
}

/// Reads items, and decrypts only what proves to be what was asked for.
struct ItemReader {
  let keyring: Keyring
  /// Returns whether the user has to be asked for a passphrase, also when the agent keeps it, for an item as it is now.
  var asksAgain: (ItemRecord) -> Bool = { _ in false }

  // MARK: Reading

  /// Returns the item that a line of the index names.
  ///
  /// The index is a hint: the item's own record has to say the same, and to fulfil the conditions of the caller. A
  /// writer may be at work between two files, so that a difference is looked at again while none is.
  ///
  /// - Parameters:
  ///   - record: The item, as the index has it.
  ///   - query: The query that found it; nil for none.
  /// - Throws: `KeyringError.itemNotFound` when it is gone; `.itemDamaged`, `.bindingMismatch`, `.engine`, or a file
  ///   error.
  func item(for record: ItemRecord, matching query: Query? = nil) throws(KeyringError) -> StoredItem {
    do throws(KeyringError) {
      if let item = try stored(at: record.path, isLocal: record.isLocal), item.record == record {
        return try requireConditions(of: query, on: item)
      }
    } catch {
      guard error.isAboutFilesOfAnItem else { throw error }
    }
    return try keyring.withoutWriters { () throws(KeyringError) in
      try requireConditions(of: query, on: try indexedItem(for: record))
    }
  }

  /// Returns the item of a line as it is now, where the line still leads to it, or at the place that it has by now.
  private func indexedItem(for record: ItemRecord) throws(KeyringError) -> StoredItem {
    let tree = keyring.tree
    let lines = try IndexSearch.run(Query(predicates: [.path(record.path)]), in: tree).items
    var line = lines.first { $0.isLocal == record.isLocal && $0.id == record.id }
    if line == nil { line = try IndexSearch.run(Query(predicates: [.id(record.id)]), in: tree).items.first }
    guard let line else { throw .itemNotFound }
    guard let item = try stored(at: line.path, isLocal: line.isLocal) else {
      throw .itemDamaged(line.reference, .missing)
    }
    if let name = item.record.difference(from: line) { throw .bindingMismatch(line.reference, .index(name)) }
    return item
  }

  /// Returns what lies at a place, verified; nil when there is neither a record nor an encrypted file.
  ///
  /// - Throws: `KeyringError.itemDamaged` or `.bindingMismatch` when what lies there is not an item that a member of
  ///   its group has signed; `.engine`, or a file error.
  func stored(at path: ItemPath, isLocal: Bool) throws(KeyringError) -> StoredItem? {
    try stored(
      try recordBytes(at: path, isLocal: isLocal), try message(at: path, isLocal: isLocal), at: path,
      isLocal: isLocal)
  }

  /// Returns the item that two files are; see ``stored(at:isLocal:)``.
  func stored(
    _ record: [UInt8]?, _ message: [UInt8]?, at path: ItemPath, isLocal: Bool
  ) throws(KeyringError) -> StoredItem? {
    let reference = ItemReference.path(path)
    guard let record else {
      if message != nil { throw .itemDamaged(reference, .noRecord) }
      return nil
    }
    let verified: VerifiedRecord
    switch try keyring.verifier.verify(RecordClaim(record, path: path, isLocal: isLocal)) {
    case .success(let record): verified = record
    case .failure(let fault): throw fault.error(about: reference)
    }
    guard let message else { throw .itemDamaged(reference, .missing) }
    guard ContentDigest(of: message) == verified.record.sealed else {
      throw .itemDamaged(reference, .notAsRecorded)
    }
    return StoredItem(verified: verified, message: message)
  }

  /// The bytes of the record at a place; nil when there is none.
  func recordBytes(at path: ItemPath, isLocal: Bool) throws(KeyringError) -> [UInt8]? {
    try read(
      StoreLayout.recordFile(path, isLocal: isLocal), limit: StoreLayout.recordFileLimit, of: .path(path))
  }

  /// The same for many records at once, where one that is too large or not a file counts as one that says nothing.
  func readableRecord(at path: ItemPath, isLocal: Bool) throws(KeyringError) -> [UInt8]? {
    do throws(KeyringError) {
      return try recordBytes(at: path, isLocal: isLocal)
    } catch {
      guard case .itemDamaged = error else { throw error }
      return []
    }
  }

  /// The bytes of the encrypted file of a record; nil when it is missing.
  func message(of record: ItemRecord) throws(KeyringError) -> [UInt8]? {
    try message(at: record.path, isLocal: record.isLocal)
  }

  /// The bytes of the encrypted file at a place; nil when there is none.
  func message(at path: ItemPath, isLocal: Bool) throws(KeyringError) -> [UInt8]? {
    try read(
      StoreLayout.itemFile(path, isLocal: isLocal), limit: StoreLayout.sealedItemLimit, of: .path(path))
  }

  private func read(_ file: String, limit: Int, of item: ItemReference) throws(KeyringError) -> [UInt8]? {
    do {
      return try keyring.tree.read(file, limit: limit)
    } catch {
      switch error.reason {
      case .notARegularFile, .hasOtherNames: throw .itemDamaged(item, .notAFile)
      case .tooLarge(let limit): throw .itemDamaged(item, .tooLarge(limit: limit))
      case .system: throw .file(error)
      }
    }
  }

  // MARK: Releasing

  /// Decrypts the secret of an item.
  ///
  /// - Throws: `KeyringError.bindingMismatch` with `readers`, `.itemDamaged`, or `.engine`.
  func secret(of item: StoredItem) throws(KeyringError) -> SecretBytes {
    try requireSignerAmongReaders(of: item)
    let reference = item.record.reference
    let asks = asksAgain(item.record)
    do {
      return try Self.open(item.message, keyring.engine, asksAgain: asks)
    } catch {
      throw Self.failure(error, reference)
    }
  }

  private static func open(
    _ message: [UInt8], _ engine: any SealingEngine, asksAgain: Bool
  ) throws(EngineError) -> SecretBytes {
    if asksAgain { return try engine.openAskingAgain(message, limit: StoreLayout.secretLimit) }
    return try engine.open(message, limit: StoreLayout.secretLimit)
  }

  private static func failure(_ error: EngineError, _ reference: ItemReference) -> KeyringError {
    switch error {
    case .message(let reason): .itemDamaged(reference, .notAMessage(reason))
    case .corrupt, .notEncrypted: .itemDamaged(reference, .corrupt)
    case .alteredRecipients: .bindingMismatch(reference, .recipients)
    case .tooLarge(let limit): .itemDamaged(reference, .contentsTooLarge(limit: limit))
    default: .engine(error, reference)
    }
  }

  /// Refuses a record whose signer cannot read the file: a member of one group could describe the file of another group
  /// as an item of their own group, under a name of their choice.
  ///
  /// The file need not be encrypted to exactly the members of today: after a change of the group it is not until it is
  /// encrypted again, and `check` reports that.
  func requireSignerAmongReaders(of item: StoredItem) throws(KeyringError) {
    let reference = item.record.reference
    let ids = try recipients(of: item.message, reference)
    guard try isReader(item.verified.signer, ids, reference) else {
      throw .bindingMismatch(reference, .readers)
    }
  }

  /// Refuses to sign for a file that this user cannot read: nobody would believe the record.
  ///
  /// - Throws: `KeyringError.engine` with `notARecipient`; `.itemDamaged` for a file that is not a message.
  func requireOwnAmongReaders(of item: PreparedItem) throws(KeyringError) {
    let reference = item.record.reference
    let ids = try recipients(of: item.message, reference)
    guard try isReader(keyring.trusted.signer, ids, reference) else {
      throw .engine(.notARecipient(recipients: ids), reference)
    }
  }

  private func recipients(
    of message: [UInt8], _ reference: ItemReference
  ) throws(KeyringError) -> [KeyID] {
    do throws(MessageError) {
      return try keyring.engine.recipients(of: message)
    } catch {
      throw .itemDamaged(reference, .notAMessage(error))
    }
  }

  /// Whether a person can read an encrypted file, by its recipients.
  ///
  /// A subkey that several people have in their keys counts for none of them: anyone can bind the public half of another
  /// person's encryption subkey to a key of their own, which needs no secret (RFC 9580, 5.2.1.8).
  ///
  /// - Throws: `MessageError`, `EngineError`.
  func isReader(_ person: Fingerprint, of message: [UInt8]) throws -> Bool {
    let ids = try keyring.engine.recipients(of: message)
    return try ids.contains { try keyring.engine.owners(of: $0) == [person] }
  }

  private func isReader(
    _ person: Fingerprint, _ ids: [KeyID], _ reference: ItemReference
  ) throws(KeyringError) -> Bool {
    do throws(EngineError) {
      for id in ids where try keyring.engine.owners(of: id) == [person] { return true }
    } catch {
      throw .engine(error, reference)
    }
    return false
  }

  /// Checks the caller's conditions on what is signed: the index could have lied about the attributes that they name.
  func requireConditions(of query: Query?, on item: StoredItem) throws(KeyringError) -> StoredItem {
    guard let query else { return item }
    if let itemClass = query.itemClass, itemClass != item.record.itemClass {
      throw .bindingMismatch(item.record.reference, .condition(.itemClass))
    }
    for predicate in query.predicates where !predicate.matches(item.record) {
      var name = AttributeName.label
      if case .attribute(let asked) = predicate.subject { name = asked }
      throw .bindingMismatch(item.record.reference, .condition(name))
    }
    return item
  }
}

extension Keyring {
  /// Runs something while no writer is at work, after a change that was cut off has been finished. In a store that this
  /// user cannot write to it runs without the lock.
  func withoutWriters<R>(_ body: () throws(KeyringError) -> R) throws(KeyringError) -> R {
    try run(body, under: try lockIfWritable())
  }

  private func run<R>(
    _ body: () throws(KeyringError) -> R, under lock: consuming StoreLock?
  ) throws(KeyringError) -> R {
    guard let lock else { return try body() }
    defer { withExtendedLifetime(lock) {} }
    try Transaction.recover(in: tree, under: lock)
    return try body()
  }
}

extension KeyringError {
  /// Whether it is about the files of an item, which a writer may be replacing.
  var isAboutFilesOfAnItem: Bool {
    switch self {
    case .itemDamaged, .bindingMismatch, .itemNotFound: true
    default: false
    }
  }
}

extension ItemRecord {
  /// Returns the name of the first member in which two records differ; nil when they say the same.
  func difference(from other: ItemRecord) -> AttributeName? {
    if self == other { return nil }
    let names: [AttributeName] = [.itemClass, .id, .group, .revision, .created, .modified, .secretModified]
    for name in names where value(of: name) != other.value(of: name) { return name }
    for name in Set(attributes.names + other.attributes.names).sorted()
    where attributes[name] != other.attributes[name] { return name }
    if sealed != other.sealed { return "sealed" }
    let unknown = UnknownMembers(of: self).differences(from: UnknownMembers(of: other))
    return unknown.first.map { AttributeName($0) } ?? "local"
  }
}
