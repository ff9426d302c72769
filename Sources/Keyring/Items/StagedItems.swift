internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// The items that a transaction reads and changes. Each is read from the disk and verified once.
struct StagedItems {
  private let keyring: Keyring
  private let reader: ItemReader
  /// The records of the secrets that this user has chosen.
  private(set) var ownSecrets: [ItemRecord] = []
  /// The places that were read or changed.
  private var entries: [ItemPlace: Entry] = [:]
  /// The shards that were read. The shards to write are prepared again under the lock.
  private var shards: [ShardKey: Shard] = [:]

  /// The content of a place after the transaction.
  enum Content {
    case nothing
    /// A verified item of the store.
    case stored(StoredItem)
    /// Files that could not be verified, and the reason. They can only be moved to the quarantine.
    case distrusted(KeyringError)
    /// A new version. The record file is nil until it is signed.
    case new(PreparedItem, RecordFile?)
  }

  /// The files at a place as they were read.
  struct Base: Equatable {
    /// The bytes of the record; nil if there is none.
    let record: [UInt8]?
    /// The digest of the encrypted file; nil if there is none.
    let message: ContentDigest?
    /// True if something other than item files is at the place.
    fileprivate var isOther = false
  }

  private struct Entry {
    let base: Base
    var content: Content
    var isChanged = false
    /// True if the files at the place were not verified. They are then moved to the quarantine instead of being
    /// deleted.
    var wasDistrusted: Bool
  }

  private struct ShardKey: Hashable, Comparable {
    let isLocal: Bool
    let number: UInt8

    init(_ place: ItemPlace) { (isLocal, number) = (place.isLocal, place.path.shard) }

    var file: String { StoreLayout.shardFile(number, isLocal: isLocal) }

    static func < (left: ShardKey, right: ShardKey) -> Bool {
      left.isLocal == right.isLocal ? left.number < right.number : right.isLocal
    }
  }

  init(keyring: Keyring) {
    self.keyring = keyring
    reader = ItemReader(keyring: keyring)
  }

  // MARK: Reading

  /// Returns the content of a place.
  ///
  /// - Throws: `KeyringError.engine`, or a file error.
  mutating func content(at place: ItemPlace) throws(KeyringError) -> Content {
    if let known = entries[place] { return known.content }
    let (base, content) = try stored(at: place)
    var wasDistrusted = false
    if case .distrusted = content { wasDistrusted = true }
    entries[place] = Entry(base: base, content: content, wasDistrusted: wasDistrusted)
    return content
  }

  /// Returns the files at a place as they were read; nil if they were not read.
  func base(at place: ItemPlace) -> Base? { entries[place]?.base }

  /// Returns the current version of an item, at the caller's place or at the place that it has moved to.
  ///
  /// Its record is verified and matches the index, so the caller's decision is based on signed attributes.
  ///
  /// - Throws: `KeyringError.itemNotFound` if it no longer exists; `.itemDamaged` or `.bindingMismatch` if it cannot be
  ///   verified; `.engine`, or a file error.
  mutating func current(
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

  /// Returns the encrypted file of an existing item, for a version that this user signs.
  ///
  /// The signer of the existing record must be among the readers of the file. Otherwise this user's signature would let
  /// a member turn a file of another group, which they cannot read, into an item of this group.
  mutating func readableMessage(at place: ItemPlace) throws(KeyringError) -> [UInt8] {
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
  mutating func secret(at place: ItemPlace) throws(KeyringError) -> SecretBytes {
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

  /// Checks that a primary key is free in the store and among the local items, and that no unverified files are at its
  /// place.
  ///
  /// - Parameter old: A place that counts as free because its item moves away.
  /// - Throws: `KeyringError.itemExists`; `.itemDamaged` for an item in the index whose files are missing; the error of
  ///   files that cannot be verified; `.engine`, or a file error.
  mutating func checkFree(_ record: ItemRecord, replacing old: ItemPlace? = nil) throws(KeyringError) {
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

  /// Returns true if no file of a changed item has changed on the disk since it was read.
  func areUnchangedOnDisk() throws(KeyringError) -> Bool {
    for (place, entry) in entries where entry.isChanged {
      if try stored(at: place).base != entry.base { return false }
    }
    return true
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

  /// Reads the files at a place from the disk and verifies them.
  private func stored(at place: ItemPlace) throws(KeyringError) -> (base: Base, content: Content) {
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

  // MARK: Changing

  /// Puts a new version at its place.
  ///
  /// - Parameter file: The signed record; nil if the record must be signed.
  mutating func put(_ item: PreparedItem, _ file: RecordFile? = nil) throws(KeyringError) {
    try set(.new(item, file), at: item.record.place)
    if item.isOwnSecret { ownSecrets.append(item.record) }
  }

  /// Removes the item at a place.
  mutating func remove(at place: ItemPlace) throws(KeyringError) { try set(.nothing, at: place) }

  /// Lets the transaction delete or replace the files at a place although they were not verified, because their content
  /// is kept elsewhere.
  mutating func acceptFiles(at place: ItemPlace) { entries[place]?.wasDistrusted = false }

  /// The new versions without a signed record, sorted by place.
  var unsigned: [PreparedItem] {
    entries.sorted { $0.key < $1.key }.compactMap { _, entry in
      if case .new(let item, nil) = entry.content { item } else { nil }
    }
  }

  /// Adds the signed records to the new versions in `unsigned`, in the same order.
  mutating func sign(with files: some Collection<RecordFile>) {
    for (item, file) in zip(unsigned, files) { entries[item.record.place]?.content = .new(item, file) }
  }

  private mutating func set(_ content: Content, at place: ItemPlace) throws(KeyringError) {
    _ = try self.content(at: place)
    entries[place]?.content = content
    entries[place]?.isChanged = true
  }

  // MARK: Writing

  /// Stages the records and encrypted files of changed items.
  ///
  /// - Throws: A file error.
  func stageFiles(in transaction: inout Transaction) throws(KeyringError) {
    let quarantine = Quarantine.newFolder(at: keyring.host.clock())
    for (place, entry) in entries.sorted(by: { $0.key < $1.key }) where entry.isChanged {
      let secretFile = StoreLayout.itemFile(place.path, isLocal: place.isLocal)
      let recordFile = StoreLayout.recordFile(place.path, isLocal: place.isLocal)
      switch entry.content {
      case .new(let item, let file?):
        if item.record.sealed != entry.base.message { try transaction.place(item.message, at: secretFile) }
        if file.bytes != entry.base.record { try transaction.place(file.bytes, at: recordFile) }
      case .nothing:
        for path in [secretFile, recordFile] where try Keyring.isThere(path, in: keyring.tree) {
          if entry.wasDistrusted {
            transaction.move(path, to: "\(quarantine)/\(path)")
          } else {
            transaction.remove(path)
          }
        }
      // `changedShards` refuses an unsigned version.
      case .new(_, nil), .stored, .distrusted: break
      }
    }
  }

  /// The existing files of changed items.
  var replacedFiles: [String] {
    entries.filter(\.value.isChanged).flatMap { place, entry in
      let record = StoreLayout.recordFile(place.path, isLocal: place.isLocal)
      let secret = StoreLayout.itemFile(place.path, isLocal: place.isLocal)
      return (entry.base.record == nil ? [] : [record]) + (entry.base.message == nil ? [] : [secret])
    }
  }

  /// The paths from which the transaction removes items, or at which it puts other items.
  var endedPaths: [ItemPath] {
    entries.sorted { $0.key < $1.key }.compactMap { place, entry in
      guard entry.isChanged, !place.isLocal, let old = entry.base.record else { return nil }
      // A record that cannot be read is not that of the new item.
      let id = try? RecordFile(parsing: old).record.id
      if case .new(let item, _) = entry.content, item.record.id == id { return nil }
      return place.path
    }
  }

  /// Returns the shards of changed items, with their files.
  ///
  /// - Throws: `KeyringError.shardDamaged`, `.shardRefused` or `.attributesTooLarge`; `.itemDamaged` if a new version is
  ///   not signed; a file error.
  func changedShards() throws(KeyringError) -> [(file: String, bytes: [UInt8])] {
    var shards: [ShardKey: Shard] = [:]
    for (place, entry) in entries.sorted(by: { $0.key < $1.key }) where entry.isChanged {
      switch entry.content {
      case .new(let item, let file):
        guard let file else { throw .itemDamaged(item.record.reference, .noRecord) }
        try edit(place, in: &shards) { shard throws(ShardError) in try shard.put(file.record) }
      case .nothing:
        try edit(place, in: &shards) { shard throws(ShardError) in try shard.remove(at: place.path) }
      case .stored, .distrusted: break
      }
    }
    // A shard without items is kept as an empty file, because git would report a conflict for a file that only one side
    // has removed.
    return shards.sorted { $0.key < $1.key }.map { ($0.key.file, $0.value.encode()) }
  }

  private func edit(
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

  private mutating func shard(_ key: ShardKey) throws(KeyringError) -> Shard {
    if let shard = shards[key] { return shard }
    let shard = try readShard(key)
    shards[key] = shard
    return shard
  }

  private func readShard(_ key: ShardKey) throws(KeyringError) -> Shard {
    let bytes = try Keyring.fileBytes(key.file, keyring.tree)
    return Shard(parsing: bytes, number: key.number)
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
