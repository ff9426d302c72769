public import KeyringModel
internal import OpenPGP
public import Secrets

/// Changes to a store that are made in one transaction by `Keyring.transaction(_:)`.
///
/// They are prepared in memory from verified items and signed with one signature. Then the store's lock is taken. If
/// the files that were read have changed by then, the changes are prepared again.
public struct WriteTransaction: ~Copyable {
  private let keyring: Keyring
  private var items: StagedItems
  /// Files that are not items, such as a policy, key files, and removed conflict copies.
  private var files: [(path: String, bytes: [UInt8]?)] = []
  /// Conflict copies that get a new encrypted file or a new signature.
  private var copies: [(old: ConflictCopy?, item: PreparedItem, file: RecordFile?)] = []
  /// Files of other programs that are removed, with the digests that they must still have.
  private var takenFiles: [(path: String, digest: ContentDigest)] = []
  private var subject = ChangeSubject()
  /// True if the changes depend on the result of a search.
  private(set) var dependsOnSearch = false

  init(keyring: Keyring) {
    self.keyring = keyring
    items = StagedItems(keyring: keyring)
  }

  /// The changes that were made up to a moment.
  struct Savepoint {
    fileprivate let items: StagedItems
    fileprivate let files: [(path: String, bytes: [UInt8]?)]
    fileprivate let copies: [(old: ConflictCopy?, item: PreparedItem, file: RecordFile?)]
    fileprivate let takenFiles: [(path: String, digest: ContentDigest)]
    fileprivate let subject: ChangeSubject
    fileprivate let dependsOnSearch: Bool
  }

  /// The changes so far. Setting an earlier savepoint undoes the changes that were made since.
  var savepoint: Savepoint {
    get {
      Savepoint(
        items: items, files: files, copies: copies, takenFiles: takenFiles, subject: subject,
        dependsOnSearch: dependsOnSearch)
    }
    set {
      (items, files, copies) = (newValue.items, newValue.files, newValue.copies)
      (takenFiles, subject) = (newValue.takenFiles, newValue.subject)
      dependsOnSearch = newValue.dependsOnSearch
    }
  }

  // MARK: Operations

  /// Adds an item; see `Keyring.add`.
  @discardableResult
  public mutating func add(_ item: NewItem, secret: borrowing SecretBytes) throws(KeyringError) -> ItemRecord
  {
    try add(try ItemEncryptor(keyring: keyring).prepare(item, secret: secret))
  }

  /// Adds a second item with the secret of another one; see `Keyring.duplicate(_:as:)`.
  @discardableResult
  public mutating func duplicate(_ record: ItemRecord, as item: NewItem) throws(KeyringError) -> ItemRecord {
    let (place, original) = try items.current(record)
    let secret = try items.secret(at: place)
    return try add(try ItemEncryptor(keyring: keyring).prepare(item, secret: secret, original: original))
  }

  /// Adds an item that is already encrypted.
  @discardableResult
  mutating func add(_ item: PreparedItem) throws(KeyringError) -> ItemRecord {
    try items.checkFree(item.record)
    try items.put(item)
    subject.note(nil, item.record)
    return item.record
  }

  /// Restores a deleted item under its original id.
  ///
  /// - Parameter file: The signed record; nil if the record must be signed again.
  mutating func bringBack(_ item: PreparedItem, _ file: RecordFile?) throws(KeyringError) {
    try keyring.requireMembership(of: item.record)
    let byID = Query(predicates: [.id(item.record.id)])
    if let other = try IndexSearch.run(byID, in: keyring.tree).items.first {
      throw .itemExists(other.reference)
    }
    try items.checkFree(item.record)
    try items.put(item, file)
    subject.note(nil, item.record)
  }

  /// Changes attributes; see `Keyring.update(_:_:)`.
  @discardableResult
  public mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges
  ) throws(KeyringError) -> ItemRecord {
    let (place, old) = try replaceable(record)
    var new = try changes.applied(to: old)
    if new == old { return old }
    new.modified = keyring.host.time(after: old)
    // The same group needs no decryption. For another group, the secret is re-encrypted.
    var item =
      new.group.hasSameBytes(as: old.group)
      ? PreparedItem(record: new, message: try items.readableMessage(at: place))
      : try ItemEncryptor(keyring: keyring).prepare(new, secret: try items.secret(at: place))
    // At a new path, the secret stays that of this user.
    item.isOwnSecret = new.path != old.path && keyring.memory.knows(old)
    return try replace(old, at: place, with: item)
  }

  /// Replaces the secret and changes attributes; see `Keyring.update(_:_:secret:)`.
  @discardableResult
  public mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges, secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    try update(record, changes, secret: secret, isOwnSecret: true)
  }

  private mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges, secret: borrowing SecretBytes, isOwnSecret: Bool
  ) throws(KeyringError) -> ItemRecord {
    let (place, old) = try replaceable(record)
    // The caller chose the secret for the readers of this group.
    guard old.group.hasSameBytes(as: record.group) else {
      throw .bindingMismatch(old.reference, .condition(.group))
    }
    var item = try ItemEncryptor(keyring: keyring).prepare(
      PlannedUpdate(old, changes), secret: secret)
    item.isOwnSecret = isOwnSecret
    return try replace(old, at: place, with: item)
  }

  /// Replaces the encrypted file of an item without changing its secret, or has its record signed again.
  ///
  /// - Parameters:
  ///   - item: The item with its new file.
  ///   - base: The record from which it was made.
  /// - Returns: False if nothing was changed because the item has changed since.
  mutating func reseal(_ item: PreparedItem, of base: VerifiedRecord) throws(KeyringError) -> Bool {
    let place = base.record.place
    guard case .stored(let stored) = try items.content(at: place), stored.verified.file == base.file else {
      return false
    }
    try items.put(item)
    subject.note(base.record, item.record)
    return true
  }

  /// Replaces an item with a version that was prepared elsewhere, at the path of that version.
  ///
  /// - Parameters:
  ///   - holder: The item to replace, as this transaction sees it; nil for none.
  ///   - item: The new version.
  @discardableResult
  mutating func replace(_ holder: ItemRecord?, with item: PreparedItem) throws(KeyringError) -> ItemRecord {
    guard let holder else { return try add(item) }
    let (place, old) = try replaceable(holder)
    return try replace(old, at: place, with: item)
  }

  /// Stages the result of a merge at its place, replacing the files that plain git has left there.
  mutating func settle(_ item: PreparedItem, _ file: RecordFile?) throws(KeyringError) {
    try items.put(item, file)
    subject.note(item.record, item.record)
  }

  /// Removes the files that plain git has left at a place, once a merge has processed them.
  mutating func vacate(_ path: ItemPath) throws(KeyringError) {
    let place = ItemPlace(path, isLocal: false)
    try items.remove(at: place)
    items.acceptFiles(at: place)
  }

  /// Stages a conflict copy: a version with its signed record.
  mutating func addConflictCopy(_ file: RecordFile, message: [UInt8]) {
    let digest = ContentDigest(of: file.line)
    for (ending, bytes) in [
      (StoreLayout.secretExtension, message), (StoreLayout.recordExtension, file.bytes),
    ] {
      files.append((StoreLayout.conflictFile(file.record.id, digest, ending), bytes))
    }
  }

  /// Removes an item. Files that cannot be verified are moved to the quarantine instead of being deleted, because they
  /// may be all that is left of an item.
  public mutating func delete(_ record: ItemRecord) throws(KeyringError) {
    try delete(record, asAdmin: false)
  }

  /// Removes an item like `delete(_:)`; with `asAdmin`, an admin need not be in its group.
  mutating func delete(_ record: ItemRecord, asAdmin: Bool) throws(KeyringError) {
    if case .distrusted(let error) = try items.content(at: record.place), error.isAboutFilesOfAnItem {
      try keyring.requireMembership(of: record, orAdmin: asAdmin)
      try items.remove(at: record.place)
      return subject.note(record, nil)
    }
    let (place, old) = try replaceable(record, asAdmin: asAdmin)
    try items.remove(at: place)
    subject.note(old, nil)
  }

  /// Returns the item with the primary key of a new one, as this transaction sees it, or nil if there is none.
  ///
  /// - Throws: `KeyringError.invalidAttribute`, the error of an item that cannot be verified, or a file error.
  package mutating func item(like new: NewItem) throws(KeyringError) -> ItemRecord? {
    let path = try new.path()
    for isLocal in [false, true] {
      switch try items.content(at: ItemPlace(path, isLocal: isLocal)) {
      case .nothing: continue
      case .stored(let item): return item.record
      case .new(let item, _): return item.record
      case .distrusted(let error): throw error
      }
    }
    return nil
  }

  /// Returns an item as this transaction sees it, even if it has moved.
  ///
  /// - Throws: `KeyringError.itemNotFound` if it no longer exists.
  package mutating func latest(_ record: ItemRecord) throws(KeyringError) -> ItemRecord {
    try items.current(record).record
  }

  /// Returns the fields of a login as this transaction sees them, in any group.
  ///
  /// - Throws: The errors of `Index.find(_:)`.
  public mutating func fields(of login: ItemRecord) throws(KeyringError) -> [ItemRecord] {
    var fields: [ItemRecord] = []
    for found in try IndexSearch.run(.fields(of: login), in: keyring.tree).items where found.id != login.id {
      do throws(KeyringError) {
        fields.append(try items.current(found).record)
      } catch {
        // This transaction has removed the field.
        guard error == .itemNotFound else { throw error }
      }
    }
    return fields
  }

  // MARK: Other files

  /// Stages a new policy with its signature, the new key files, and the recipients file for other programs.
  mutating func place(_ step: PolicyStep, _ policy: Policy, newKeys: [Fingerprint]) {
    // The policy comes last, so that the files it depends on exist first.
    for fingerprint in newKeys.sorted() {
      if let bytes = step.keys[fingerprint] { files.append((StoreLayout.keyFile(fingerprint), bytes)) }
    }
    files.append((StoreLayout.passRecipients, policy.passRecipients))
    if let signature = step.signature { files.append((StoreLayout.policySignature, signature)) }
    files.append((StoreLayout.policy, step.bytes))
  }

  /// Stages a version of a conflict copy.
  ///
  /// - Parameter copy: The conflict copy to replace; nil for a new one.
  mutating func put(_ item: PreparedItem, replacing copy: ConflictCopy?) { copies.append((copy, item, nil)) }

  /// Stages a file that is not an item.
  mutating func put(_ bytes: [UInt8], asFile path: String) { files.append((path, bytes)) }

  /// Stages the removal of a file that is not an item.
  mutating func removeFile(_ path: String) { files.append((path, nil)) }

  /// Stages the removal of a file of another program, whose content the transaction stores. An item may be added at its
  /// path.
  ///
  /// - Parameters:
  ///   - file: The path of the file in the store.
  ///   - digest: The digest of the file. If the file changes before the transaction is committed, the transaction is
  ///     prepared again.
  mutating func takeIn(_ file: String, _ digest: ContentDigest) throws(KeyringError) {
    takenFiles.append((file, digest))
    if let path = StoreLayout.itemPath(ofFile: file) { return try vacate(path) }
    removeFile(file)
  }

  /// Replaces the secret of an item whose encrypted file another program has changed.
  ///
  /// - Parameters:
  ///   - record: The record of the item, as it was verified.
  ///   - digest: The digest of the changed file.
  ///   - secret: The new secret.
  /// - Returns: The new record; nil if the record or the file has changed since.
  mutating func accept(
    _ digest: ContentDigest, as record: ItemRecord, secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord? {
    let place = record.place
    guard case .distrusted = try items.content(at: place), let base = items.base(at: place),
      base.message == digest, let bytes = base.record,
      case .success(let verified) = try keyring.verifier.verify(RecordClaim(bytes, path: record.path)),
      verified.record == record
    else { return nil }
    var new = record
    var generator = SystemRandomNumberGenerator()
    new.revision = Revision(using: &generator)
    new.modified = keyring.host.time(after: record)
    new.secretModified = new.modified
    let item = try ItemEncryptor(keyring: keyring).prepare(new, secret: secret)
    items.acceptFiles(at: place)
    try items.put(item)
    subject.note(record, item.record)
    return item.record
  }

  /// Replaces the secret of an item by the content of a file that a merge has kept beside the item's own file.
  ///
  /// - Parameters:
  ///   - digest: The digest of the kept file.
  ///   - file: The path of the kept file, which is removed.
  ///   - record: The record of the item, as it was verified.
  ///   - secret: The new secret.
  /// - Returns: The new record; nil if the item or its file has changed since.
  mutating func accept(
    _ digest: ContentDigest, from file: String, as record: ItemRecord, secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord? {
    guard case .stored(let item) = try items.content(at: record.place), item.record == record else {
      return nil
    }
    try takeIn(file, digest)
    return try update(record, AttributeChanges(), secret: secret, isOwnSecret: false)
  }

  // MARK: Committing

  /// Signs all new records with one signature.
  ///
  /// - Parameter keyring: The keyring under whose policy the records are signed.
  /// - Throws: The errors of `Keyring.sign(_:)`, and those of an item that this user cannot read.
  mutating func sign(as keyring: Keyring) throws(KeyringError) {
    let unsigned = items.unsigned
    if unsigned.isEmpty, copies.isEmpty { return }
    let reader = ItemReader(keyring: keyring)
    for item in unsigned + copies.map(\.item) { try reader.requireOwnAmongReaders(of: item) }
    let files = try keyring.sign(unsigned.map(\.record) + copies.map(\.item.record))
    items.sign(with: files.prefix(unsigned.count))
    for (number, file) in files.dropFirst(unsigned.count).enumerated() { copies[number].file = file }
  }

  /// Makes the changes depend on every item of the store: if anything changes before they are committed, they are
  /// prepared again. Used for changes that depend on the result of a search.
  package mutating func dependOnSearch() { dependsOnSearch = true }

  /// Returns true if no file that will be replaced has changed since it was read.
  borrowing func stillApplies() throws(KeyringError) -> Bool {
    guard try items.areUnchangedOnDisk() else { return false }
    for (path, digest) in takenFiles where try Keyring.digest(path, keyring.tree) != digest { return false }
    return true
  }

  /// The existing files with versions that the transaction replaces or removes. Shards are derived from the records, so
  /// they are not among them.
  var replacedFiles: [String] {
    borrowing get throws(KeyringError) {
      var paths = items.replacedFiles
      for (old, _, _) in copies { paths += old?.files ?? [] }
      for (path, _) in files where try Keyring.isThere(path, in: keyring.tree) { paths.append(path) }
      return paths
    }
  }

  /// Writes and commits the transaction. The caller must hold the lock and must have called ``sign(as:)``, and
  /// ``stillApplies()`` must be true.
  ///
  /// - Parameter words: The subject for the history; nil for a subject that is derived from the changes.
  consuming func commit(under lock: borrowing StoreLock, subject words: String?) throws(KeyringError) {
    var transaction = Transaction(in: keyring.tree)
    do {
      try stage(in: &transaction)
    } catch {
      transaction.abandon()
      throw error
    }
    do {
      // This comes first: an item that was removed and comes back is not that of this user any more.
      try keyring.remember(ended: items.endedPaths)
    } catch {
      transaction.abandon()
      throw error
    }
    do {
      try transaction.commit(under: lock, subject: words ?? subject.text)
    } catch {
      if case .unfinished = error { keyring.remember(stored: items.ownSecrets) }
      throw error
    }
    keyring.remember(stored: items.ownSecrets)
  }

  private borrowing func stage(in transaction: inout Transaction) throws(KeyringError) {
    // Computed first, because an error in them is cheaper to find before all files are written.
    let shards = try items.changedShards()
    try items.stageFiles(in: &transaction)
    for (old, item, file) in copies {
      guard let file else { throw .itemDamaged(item.record.reference, .noRecord) }
      let digest = ContentDigest(of: file.line)
      let paths = [StoreLayout.secretExtension, StoreLayout.recordExtension].map {
        StoreLayout.conflictFile(file.record.id, digest, $0)
      }
      for path in old?.files ?? [] where !paths.contains(path) { transaction.remove(path) }
      try transaction.place(item.message, at: paths[0])
      try transaction.place(file.bytes, at: paths[1])
    }
    for (path, bytes) in files {
      if let bytes { try transaction.place(bytes, at: path) } else { transaction.remove(path) }
    }
    for shard in shards { try transaction.place(shard.bytes, at: shard.file) }
  }

  /// Returns the current version of an item that this user wants to change.
  private mutating func replaceable(
    _ record: ItemRecord, asAdmin: Bool = false
  ) throws(KeyringError) -> (place: ItemPlace, record: ItemRecord) {
    let current = try items.current(record)
    try keyring.requireMembership(of: current.record, orAdmin: asAdmin)
    return current
  }

  /// Replaces an old version with a changed item, at a new place if the primary key has changed.
  private mutating func replace(
    _ old: ItemRecord, at place: ItemPlace, with item: PreparedItem
  ) throws(KeyringError) -> ItemRecord {
    if item.record.place != place {
      try items.checkFree(item.record, replacing: place)
      try items.remove(at: place)
    }
    try items.put(item)
    subject.note(old, item.record)
    return item.record
  }
}
