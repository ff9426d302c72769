internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// An item with a verified record and the encrypted file that the record describes.
struct StoredItem: Sendable {
  /// The record and its proof.
  let verified: VerifiedRecord
  /// The bytes of the encrypted file; its digest is the one in the record.
  let message: [UInt8]

  /// The verified record.
  var record: ItemRecord { verified.record }
}

/// Reads items, and decrypts only those that match what was requested.
struct ItemReader {
  let keyring: Keyring
  /// Returns true if the user must enter the passphrase for an item even if the agent has cached it.
  var asksAgain: (ItemRecord) -> Bool = { _ in false }
  /// The secrets that are released without decryption; nil to decrypt all of them.
  var keptSecrets: KeptSecrets?

  // MARK: Reading

  /// Returns the item that an index line refers to.
  ///
  /// The index is only a hint: the item's own record must be equal to the line and fulfil the caller's conditions. A
  /// concurrent writer may have replaced only one of the item's files so far, so a mismatch is checked again while no
  /// writer is active.
  ///
  /// - Parameters:
  ///   - record: The item, as in the index.
  ///   - query: The query that found it, or nil.
  /// - Throws: `KeyringError.itemNotFound` if the item no longer exists; `.itemDamaged`, `.bindingMismatch`,
  ///   `.engine`, or a file error.
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

  /// Returns the current item for an index line, at the line's path or at the path that the item has moved to.
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

  /// Returns the verified item at a path, or nil if there is neither a record nor an encrypted file.
  ///
  /// - Throws: `KeyringError.itemDamaged` or `.bindingMismatch` if the files are not an item that a member of its
  ///   group has signed; `.engine`, or a file error.
  func stored(at path: ItemPath, isLocal: Bool) throws(KeyringError) -> StoredItem? {
    try stored(
      try recordBytes(at: path, isLocal: isLocal), try message(at: path, isLocal: isLocal), at: path,
      isLocal: isLocal)
  }

  /// Returns the item that consists of the given record and message; see ``stored(at:isLocal:)``.
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

  /// Returns the bytes of the record at a path, or nil if there is none.
  func recordBytes(at path: ItemPath, isLocal: Bool) throws(KeyringError) -> [UInt8]? {
    try read(
      StoreLayout.recordFile(path, isLocal: isLocal), limit: StoreLayout.recordFileLimit, of: .path(path))
  }

  /// Returns the bytes of the record at a path, nil if there is none, or an empty array if it is too large or not a
  /// regular file.
  ///
  /// Used for many records at once, where one invalid record must not stop the others.
  func readableRecord(at path: ItemPath, isLocal: Bool) throws(KeyringError) -> [UInt8]? {
    do throws(KeyringError) {
      return try recordBytes(at: path, isLocal: isLocal)
    } catch {
      guard case .itemDamaged = error else { throw error }
      return []
    }
  }

  /// Returns the bytes of the encrypted file of a record, or nil if it is missing.
  func message(of record: ItemRecord) throws(KeyringError) -> [UInt8]? {
    try message(at: record.path, isLocal: record.isLocal)
  }

  /// Returns the bytes of the encrypted file at a path, or nil if there is none.
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

  /// Returns the secret of an item, decrypted or from memory. If the user must be asked, it is always decrypted, and no
  /// copy of it is kept.
  ///
  /// - Throws: `KeyringError.bindingMismatch` with `readers`, `.itemDamaged`, or `.engine`.
  func secret(of item: StoredItem) throws(KeyringError) -> SecretBytes {
    try requireSignerAmongReaders(of: item)
    let sealed = item.record.sealed
    if asksAgain(item.record) {
      // The condition may have been set after the secret was kept.
      keyring.keptSecrets?.forget(sealed)
      return try open(item, asksAgain: true)
    }
    if let kept = keptSecrets?.secret(of: sealed) { return kept }
    let secret = try open(item, asksAgain: false)
    keptSecrets?.keep(secret, of: sealed)
    return secret
  }

  private func open(_ item: StoredItem, asksAgain: Bool) throws(KeyringError) -> SecretBytes {
    try open(item.message, of: item.record.reference, asksAgain: asksAgain)
  }

  /// Decrypts an encrypted file that the caller has compared with a verified record.
  func secret(in message: [UInt8], of item: ItemReference) throws(KeyringError) -> SecretBytes {
    try open(message, of: item, asksAgain: false)
  }

  /// Decrypts an encrypted file. If it is encrypted only to a key that has been replaced, that key is used.
  private func open(
    _ message: [UInt8], of item: ItemReference, asksAgain: Bool
  ) throws(KeyringError) -> SecretBytes {
    do throws(EngineError) {
      return try Self.open(message, keyring.engine, asksAgain: asksAgain)
    } catch {
      guard case .notARecipient(let ids) = error, let engine = try keyring.engineOfReplacedKeys(with: ids)
      else { throw Self.failure(error, item) }
      do throws(EngineError) {
        return try Self.open(message, engine, asksAgain: asksAgain)
      } catch {
        throw Self.failure(error, item)
      }
    }
  }

  private static func open(
    _ message: [UInt8], _ engine: any OpenPGPEngine, asksAgain: Bool
  ) throws(EngineError) -> SecretBytes {
    if asksAgain { return try engine.openWithPrompt(message, limit: StoreLayout.secretLimit) }
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

  /// Checks that the signer of a record can read the encrypted file.
  ///
  /// Without this check, a member of one group could present a file of another group as an item of their own group,
  /// under a name of their choice. The file need not be encrypted to exactly the current members: after a change of
  /// the group, `check` reports the difference until the file is re-encrypted.
  ///
  /// - Throws: `KeyringError.bindingMismatch` with `readers`; `.itemDamaged` for a file that is not a message;
  ///   `.engine`.
  func requireSignerAmongReaders(of item: StoredItem) throws(KeyringError) {
    let ids = try recipients(of: item.message, item.record)
    guard try isReader(item.verified.signer, ids, item.record) else {
      throw .bindingMismatch(item.record.reference, .readers)
    }
  }

  /// Checks that this user can read the encrypted file of an item before signing its record. Otherwise the record
  /// would be rejected by every reader.
  ///
  /// - Throws: `KeyringError.engine` with `notARecipient`; `.itemDamaged` for a file that is not a message; the errors
  ///   of `Keyring.signer(for:)`.
  func requireOwnAmongReaders(of item: PreparedItem) throws(KeyringError) {
    let ids = try recipients(of: item.message, item.record)
    guard try isReader(try keyring.signer(for: [item.record.group]), ids, item.record) else {
      throw .engine(.notARecipient(recipients: ids), item.record.reference)
    }
  }

  // The reference of an item is computed only for an error, because that takes longer than the check.
  private func recipients(
    of message: [UInt8], _ record: ItemRecord
  ) throws(KeyringError) -> [KeyID] {
    do throws(MessageError) {
      return try keyring.engine.recipients(of: message)
    } catch {
      throw .itemDamaged(record.reference, .notAMessage(error))
    }
  }

  /// Returns true if a person can read an encrypted file, according to its recipients.
  ///
  /// A subkey that several people's keys contain is ignored: anyone can bind the public half of another person's
  /// encryption subkey to their own key without a secret (RFC 9580, 5.2.1.8).
  ///
  /// - Throws: `MessageError`, `EngineError`.
  func isReader(_ person: Fingerprint, of message: [UInt8]) throws -> Bool {
    try keyring.engine.recipients(of: message).contains { try isOwned($0, by: person) }
  }

  /// Returns true if a subkey is that of a person and of no other one. Keys that replace each other are of one person.
  private func isOwned(_ id: KeyID, by person: Fingerprint) throws(EngineError) -> Bool {
    let policy = keyring.policy
    let owners = policy.owners(of: id, among: try keyring.engine.owners(of: id))
    return Set(owners.map(policy.newestKey)) == [policy.newestKey(of: person)]
  }

  private func isReader(
    _ person: Fingerprint, _ ids: [KeyID], _ record: ItemRecord
  ) throws(KeyringError) -> Bool {
    do throws(EngineError) {
      for id in ids where try isOwned(id, by: person) { return true }
    } catch {
      throw .engine(error, record.reference)
    }
    return false
  }

  /// Checks the conditions of a query on the signed record, because the index may contain wrong attributes.
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
  /// Runs a closure while no writer is active, after finishing an interrupted transaction. In a store that this user
  /// cannot write to, the closure runs without the lock.
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
  /// True if the error concerns the files of an item, which a writer may be replacing.
  var isAboutFilesOfAnItem: Bool {
    switch self {
    case .itemDamaged, .bindingMismatch, .itemNotFound: true
    default: false
    }
  }
}

extension ItemRecord {
  /// Returns the name of the first member in which two records differ, or nil if they are equal.
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
