public import KeyringModel
internal import OpenPGP
public import Secrets

/// Changes to a store that are made in one transaction by `Keyring.transaction(_:)`.
///
/// They are prepared in memory from verified items and signed with one signature. Then the store's lock is taken. If
/// the files that were read have changed by then, the changes are prepared again.
public struct WriteTransaction: ~Copyable {
  private let keyring: Keyring
  private let reader: ItemReader
  /// The places that were read or changed.
  private var entries: [ItemPlace: Entry] = [:]
  /// The shards that were read. The shards to write are prepared again under the lock.
  private var shards: [ShardKey: Shard] = [:]
  /// Files that are not items, such as a policy, key files, and removed conflict copies.
  private var files: [(path: String, bytes: [UInt8]?)] = []
  /// Conflict copies that get a new encrypted file or a new signature.
  private var copies: [(old: ConflictCopy?, item: PreparedItem, file: RecordFile?)] = []
  /// Files of other programs that are removed, with the digests that they must still have.
  private var takenFiles: [(path: String, digest: ContentDigest)] = []
  private var subject = ChangeSubject()
  /// True if the changes depend on the result of a search.
  private(set) var dependsOnSearch = false

  private struct ShardKey: Hashable, Comparable {
    let isLocal: Bool
    let number: UInt8

    init(_ place: ItemPlace) { (isLocal, number) = (place.isLocal, place.path.shard) }

    var file: String { StoreLayout.shardFile(number, isLocal: isLocal) }

    static func < (left: ShardKey, right: ShardKey) -> Bool {
      left.isLocal == right.isLocal ? left.number < right.number : right.isLocal
    }
  }

  /// The files at a place as they were read.
  fileprivate struct Base: Equatable {
    let record: [UInt8]?
    let message: ContentDigest?
    /// True if something other than item files is at the place.
    var isOther = false
  }

  fileprivate struct Entry {
    let base: Base
    var content: Content
    var isChanged = false
    /// True if the files at the place were not verified. They are then moved to the quarantine instead of being
    /// deleted.
    var wasDistrusted: Bool
  }

  /// The content of a place after this transaction.
  fileprivate enum Content {
    case nothing
    /// A verified item of the store.
    case stored(StoredItem)
    /// Files that could not be verified, and the reason. They can only be moved to the quarantine.
    case distrusted(KeyringError)
    /// A new version. The record file is nil until it is signed.
    case new(PreparedItem, RecordFile?)
  }

  init(keyring: Keyring) {
    self.keyring = keyring
    reader = ItemReader(keyring: keyring)
  }

  // MARK: Savepoints

  /// The changes that were made up to a moment.
  struct Savepoint {
    fileprivate let entries: [ItemPlace: Entry]
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
        entries: entries, files: files, copies: copies, takenFiles: takenFiles, subject: subject,
        dependsOnSearch: dependsOnSearch)
    }
    set {
      (entries, files, copies) = (newValue.entries, newValue.files, newValue.copies)
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
    let (place, original) = try current(record)
    let secret = try secret(at: place)
    return try add(try ItemEncryptor(keyring: keyring).prepare(item, secret: secret, original: original))
  }

  /// Adds an item that is already encrypted.
  @discardableResult
  mutating func add(_ item: PreparedItem) throws(KeyringError) -> ItemRecord {
    try checkFree(item.record)
    try put(item)
    subject.note(nil, item.record)
    return item.record
  }

  /// Restores a deleted item under its original id.
  ///
  /// - Parameter file: The signed record; nil if the record must be signed again.
  mutating func bringBack(_ item: PreparedItem, _ file: RecordFile?) throws(KeyringError) {
    let byID = Query(predicates: [.id(item.record.id)])
    if let other = try IndexSearch.run(byID, in: keyring.tree).items.first {
      throw .itemExists(other.reference)
    }
    try checkFree(item.record)
    try put(item, file)
    subject.note(nil, item.record)
  }

  /// Changes attributes; see `Keyring.update(_:_:)`.
  @discardableResult
  public mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges
  ) throws(KeyringError) -> ItemRecord {
    let (place, old) = try current(record)
    var new = try changes.applied(to: old)
    if new == old { return old }
    new.modified = keyring.host.time(after: old)
    // The same group needs no decryption. For another group, the secret is re-encrypted.
    let item =
      new.group.hasSameBytes(as: old.group)
      ? PreparedItem(record: new, message: try readableMessage(at: place))
      : try ItemEncryptor(keyring: keyring).prepare(new, secret: try secret(at: place))
    return try replace(old, at: place, with: item)
  }

  /// Replaces the secret and changes attributes; see `Keyring.update(_:_:secret:)`.
  @discardableResult
  public mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges, secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    let (place, old) = try current(record)
    // The caller chose the secret for the readers of this group.
    guard old.group.hasSameBytes(as: record.group) else {
      throw .bindingMismatch(old.reference, .condition(.group))
    }
    var new = try changes.applied(to: old)
    var generator = SystemRandomNumberGenerator()
    new.revision = Revision(using: &generator)
    new.modified = keyring.host.time(after: old)
    new.secretModified = new.modified
    return try replace(old, at: place, with: try ItemEncryptor(keyring: keyring).prepare(new, secret: secret))
  }

  /// Replaces the encrypted file of an item without changing its secret, or has its record signed again.
  ///
  /// - Parameters:
  ///   - item: The item with its new file.
  ///   - base: The record from which it was made.
  /// - Returns: False if nothing was changed because the item has changed since.
  mutating func reseal(_ item: PreparedItem, of base: VerifiedRecord) throws(KeyringError) -> Bool {
    let place = base.record.place
    guard case .stored(let stored) = try content(at: place), stored.verified.file == base.file else {
      return false
    }
    try put(item)
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
    let (place, old) = try current(holder)
    return try replace(old, at: place, with: item)
  }

  /// Stages the result of a merge at its place, replacing the files that plain git has left there.
  mutating func settle(_ item: PreparedItem, _ file: RecordFile?) throws(KeyringError) {
    try put(item, file)
    subject.note(item.record, item.record)
  }

  /// Removes the files that plain git has left at a place, once a merge has processed them.
  mutating func vacate(_ path: ItemPath) throws(KeyringError) {
    let place = ItemPlace(path, isLocal: false)
    try set(.nothing, at: place)
    entries[place]?.wasDistrusted = false
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
    if case .distrusted(let error) = try content(at: record.place), error.isAboutFilesOfAnItem {
      try set(.nothing, at: record.place)
      return subject.note(record, nil)
    }
    let (place, old) = try current(record)
    try set(.nothing, at: place)
    subject.note(old, nil)
  }

  /// Returns the item with the primary key of a new one, as this transaction sees it, or nil if there is none.
  ///
  /// - Throws: `KeyringError.invalidAttribute`, the error of an item that cannot be verified, or a file error.
  package mutating func item(like new: NewItem) throws(KeyringError) -> ItemRecord? {
    let path = try new.path()
    for isLocal in [false, true] {
      switch try content(at: ItemPlace(path, isLocal: isLocal)) {
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
    try current(record).record
  }

  /// Returns the fields of a login as this transaction sees them, in any group.
  ///
  /// - Throws: The errors of `Index.find(_:)`.
  public mutating func fields(of login: ItemRecord) throws(KeyringError) -> [ItemRecord] {
    var fields: [ItemRecord] = []
    for found in try IndexSearch.run(.fields(of: login), in: keyring.tree).items where found.id != login.id {
      do throws(KeyringError) {
        fields.append(try current(found).record)
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
    guard case .distrusted = try content(at: place), let base = entries[place]?.base,
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
    entries[place]?.wasDistrusted = false
    try put(item)
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
    guard case .stored(let item) = try content(at: record.place), item.record == record else { return nil }
    try takeIn(file, digest)
    return try update(record, AttributeChanges(), secret: secret)
  }

  // MARK: Committing

  /// Signs all new records with one signature.
  ///
  /// - Parameter keyring: The keyring under whose policy the records are signed.
  /// - Throws: The errors of `Keyring.sign(_:)`, and those of an item that this user cannot read.
  mutating func sign(as keyring: Keyring) throws(KeyringError) {
    var places: [ItemPlace] = []
    var items: [PreparedItem] = []
    for (place, entry) in entries.sorted(by: { $0.key < $1.key }) {
      guard case .new(let item, nil) = entry.content else { continue }
      places.append(place)
      items.append(item)
    }
    if items.isEmpty, copies.isEmpty { return }
    let reader = ItemReader(keyring: keyring)
    for item in items + copies.map(\.item) { try reader.requireOwnAmongReaders(of: item) }
    let files = try keyring.sign(items.map(\.record) + copies.map(\.item.record))
    for (place, file) in zip(places, files) {
      guard case .new(let item, _) = entries[place]?.content else { continue }
      entries[place]?.content = .new(item, file)
    }
    for (number, file) in files.dropFirst(places.count).enumerated() { copies[number].file = file }
  }

  /// Makes the changes depend on every item of the store: if anything changes before they are committed, they are
  /// prepared again. Used for changes that depend on the result of a search.
  package mutating func dependOnSearch() { dependsOnSearch = true }

  /// Returns true if no file that will be replaced has changed since it was read.
  borrowing func stillApplies() throws(KeyringError) -> Bool {
    for (place, entry) in entries where entry.isChanged {
      if try base(at: place).base != entry.base { return false }
    }
    for (path, digest) in takenFiles where try Keyring.digest(path, keyring.tree) != digest { return false }
    return true
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
    try transaction.commit(under: lock, subject: words ?? subject.text)
  }

  private borrowing func stage(in transaction: inout Transaction) throws(KeyringError) {
    var shards: [ShardKey: Shard] = [:]
    let quarantine = Quarantine.newFolder(at: keyring.host.clock())
    for (place, entry) in entries.sorted(by: { $0.key < $1.key }) where entry.isChanged {
      let secretFile = StoreLayout.itemFile(place.path, isLocal: place.isLocal)
      let recordFile = StoreLayout.recordFile(place.path, isLocal: place.isLocal)
      switch entry.content {
      case .new(let item, let file):
        guard let file else { throw .itemDamaged(item.record.reference, .noRecord) }
        if item.record.sealed != entry.base.message { try transaction.place(item.message, at: secretFile) }
        if file.bytes != entry.base.record { try transaction.place(file.bytes, at: recordFile) }
        try edit(place, in: &shards) { shard throws(ShardError) in try shard.put(file.record) }
      case .nothing:
        for path in [secretFile, recordFile] where try isThere(path) {
          if entry.wasDistrusted {
            transaction.move(path, to: "\(quarantine)/\(path)")
          } else {
            transaction.remove(path)
          }
        }
        try edit(place, in: &shards) { shard throws(ShardError) in try shard.remove(at: place.path) }
      case .stored, .distrusted: break
      }
    }
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
    for (key, shard) in shards.sorted(by: { $0.key < $1.key }) {
      // A shard without items is kept as an empty file, because git would report a conflict for a file that only one
      // side has removed.
      try transaction.place(shard.encode(), at: key.file)
    }
  }

  private borrowing func isThere(_ path: String) throws(KeyringError) -> Bool {
    try Keyring.isThere(path, in: keyring.tree)
  }

  private borrowing func edit(
    _ place: ItemPlace, in shards: inout [ShardKey: Shard], _ body: (inout Shard) throws(ShardError) -> Void
  ) throws(KeyringError) {
    let key = ShardKey(place)
    var shard = if let known = shards[key] { known } else { try readShard(key) }
    do {
      try body(&shard)
    } catch {
      switch error {
      case .damaged: throw .shardDamaged(file: key.file, shard.problems)
      // A line that is too long is an error of the item, not of the shard.
      case .line(let error): throw .attributesTooLarge(error)
      case .wrongShard, .full: throw .shardRefused(file: key.file, error)
      }
    }
    shards[key] = shard
  }

  private borrowing func readShard(_ key: ShardKey) throws(KeyringError) -> Shard {
    let bytes = try Keyring.fileBytes(key.file, keyring.tree)
    return Shard(parsing: bytes, number: key.number)
  }

  // MARK: Helpers

  /// Returns the current version of an item, at the caller's place or at the place that it has moved to.
  ///
  /// Its record is verified and matches the index, so the caller's decision is based on signed attributes.
  private mutating func current(
    _ record: ItemRecord
  ) throws(KeyringError) -> (place: ItemPlace, record: ItemRecord) {
    let place = record.place
    if let found = try item(record, at: place) { return (place, found) }
    // This transaction may have moved it.
    for (place, entry) in entries {
      if case .new(let item, _) = entry.content, item.record.id == record.id { return (place, item.record) }
    }
    // Another process may have renamed it. The search reads the store on disk, so this transaction may have removed the
    // item that it finds.
    let lines = try IndexSearch.run(Query(predicates: [.id(record.id)]), in: keyring.tree).items
    // An item whose line still exists was not renamed: its files are missing. Another line with the same id is another
    // item, possibly with other readers.
    if lines.contains(where: { $0.place == place }), entries[place]?.isChanged != true {
      throw .itemDamaged(record.reference, .missing)
    }
    guard let line = lines.first else { throw .itemNotFound }
    guard lines.count == 1 else { throw .bindingMismatch(line.reference, .index(.id)) }
    if let entry = entries[line.place], entry.isChanged { throw .itemNotFound }
    guard line.place != place, let found = try item(line, at: line.place) else {
      throw .itemDamaged(line.reference, .missing)
    }
    return (line.place, found)
  }

  /// Returns the item at a place if it has the id of the given record, otherwise nil.
  private mutating func item(
    _ record: ItemRecord, at place: ItemPlace
  ) throws(KeyringError) -> ItemRecord? {
    switch try content(at: place) {
    case .nothing: return nil
    case .distrusted(let error): throw error
    case .new(let item, _): return item.record.id == record.id ? item.record : nil
    case .stored(let item):
      if item.record == record { return record }
      let line = try shard(ShardKey(place)).record(path: place.path)
      guard let line = line.map({ $0.located(place.isLocal) }) else {
        throw .itemDamaged(.path(place.path), .notInIndex)
      }
      if let name = item.record.difference(from: line) {
        throw .bindingMismatch(.path(place.path), .index(name))
      }
      return item.record.id == record.id ? item.record : nil
    }
  }

  private mutating func shard(_ key: ShardKey) throws(KeyringError) -> Shard {
    if let shard = shards[key] { return shard }
    let shard = try readShard(key)
    shards[key] = shard
    return shard
  }

  /// Replaces an old version with a changed item, at a new place if the primary key has changed.
  private mutating func replace(
    _ old: ItemRecord, at place: ItemPlace, with item: PreparedItem
  ) throws(KeyringError) -> ItemRecord {
    if item.record.place != place {
      try checkFree(item.record, replacing: place)
      try set(.nothing, at: place)
    }
    try put(item)
    subject.note(old, item.record)
    return item.record
  }

  private mutating func put(_ item: PreparedItem, _ file: RecordFile? = nil) throws(KeyringError) {
    try set(.new(item, file), at: item.record.place)
  }

  private mutating func set(_ content: Content, at place: ItemPlace) throws(KeyringError) {
    _ = try self.content(at: place)
    entries[place]?.content = content
    entries[place]?.isChanged = true
  }

  /// Checks that a primary key is free in the store and among the local items, and that no unverified files are at its
  /// place.
  ///
  /// - Parameter old: A place that counts as free because its item moves away.
  private mutating func checkFree(
    _ record: ItemRecord, replacing old: ItemPlace? = nil
  ) throws(KeyringError) {
    for isLocal in [false, true] {
      let place = ItemPlace(record.path, isLocal: isLocal)
      if place == old { continue }
      switch try content(at: place) {
      case .stored, .new: throw .itemExists(record.reference)
      case .distrusted(let error): throw error
      case .nothing:
        if entries[place]?.isChanged ?? false { continue }
        // The item's missing files may be restored from the history, so a new item must not occupy their paths.
        if try shard(ShardKey(place)).record(path: record.path) != nil {
          throw .itemDamaged(record.reference, .missing)
        }
      }
    }
  }

  /// Returns the content of a place as this transaction sees it.
  private mutating func content(at place: ItemPlace) throws(KeyringError) -> Content {
    if let known = entries[place] { return known.content }
    let (base, content) = try base(at: place)
    var wasDistrusted = false
    if case .distrusted = content { wasDistrusted = true }
    entries[place] = Entry(base: base, content: content, wasDistrusted: wasDistrusted)
    return content
  }

  /// Reads the files at a place from the disk and verifies them.
  private borrowing func base(at place: ItemPlace) throws(KeyringError) -> (base: Base, content: Content) {
    var base = Base(record: nil, message: nil)
    do throws(KeyringError) {
      let record = try reader.recordBytes(at: place.path, isLocal: place.isLocal)
      let message = try reader.message(at: place.path, isLocal: place.isLocal)
      base = Base(record: record, message: message.map { ContentDigest(of: $0) })
      guard let item = try reader.stored(record, message, at: place.path, isLocal: place.isLocal) else {
        return (base, .nothing)
      }
      // A record that this user signs will be trusted, so the existing item must be trustworthy.
      try reader.requireSignerAmongReaders(of: item)
      return (base, .stored(item))
    } catch {
      guard error.isAboutFilesOfAnItem else { throw error }
      base.isOther = base.record == nil && base.message == nil
      return (base, .distrusted(error))
    }
  }

  /// Returns the encrypted file of an existing item, for a version that this user signs.
  ///
  /// The signer of the existing record must be among the readers of the file. Otherwise this user's signature would let
  /// a member turn a file of another group, which they cannot read, into an item of this group.
  private mutating func readableMessage(at place: ItemPlace) throws(KeyringError) -> [UInt8] {
    switch try content(at: place) {
    case .stored(let item):
      try reader.requireSignerAmongReaders(of: item)
      return item.message
    case .new(let item, _): return item.message
    case .distrusted(let error): throw error
    case .nothing: throw .itemNotFound
    }
  }

  /// Decrypts the secret of an existing item, for a version with different readers or for a second item.
  private mutating func secret(at place: ItemPlace) throws(KeyringError) -> SecretBytes {
    switch try content(at: place) {
    case .stored(let item): return try reader.secret(of: item)
    case .new(let item, _):
      do throws(EngineError) {
        return try keyring.engine.open(item.message, limit: StoreLayout.secretLimit)
      } catch {
        throw .engine(error, item.record.reference)
      }
    case .distrusted(let error): throw error
    case .nothing: throw .itemNotFound
    }
  }
}

extension ItemRecord {
  /// Returns the record of the same item, either on this machine only or in the store.
  func located(_ isLocal: Bool) -> ItemRecord {
    var record = self
    record.isLocal = isLocal
    return record
  }
}

extension Keyring {
  /// Returns the bytes of a shard; empty if it does not exist.
  static func fileBytes(_ file: String, _ tree: FileTree) throws(KeyringError) -> [UInt8] {
    try files(tree.read(file, limit: StoreLayout.shardLimit)) ?? []
  }

  /// Returns the digest of an encrypted file; nil if it does not exist.
  fileprivate static func digest(_ file: String, _ tree: FileTree) throws(KeyringError) -> ContentDigest? {
    try files(tree.read(file, limit: StoreLayout.sealedItemLimit)).map { ContentDigest(of: $0) }
  }

  /// Returns true if a file exists at a path.
  static func isThere(_ path: String, in tree: FileTree) throws(KeyringError) -> Bool {
    try files(tree.status(path)) != nil
  }
}
