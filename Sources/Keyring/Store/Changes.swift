public import KeyringModel
internal import OpenPGP
public import Secrets

/// Changes to a store that happen together; made by `Keyring.transaction(_:)`.
public struct Changes: ~Copyable {
  private let keyring: Keyring
  private let lock: StoreLock
  private var transaction: Transaction
  private var shards: [ShardKey: Shard] = [:]
  private var changed: Set<ShardKey> = []
  /// Items that this transaction has put somewhere or taken away, by file: what is on disk is older.
  private var touched: Set<String> = []
  private var quarantine: String?
  private var subject = ChangeSubject()
  /// An error that struck between the first and the last step of one change: then nothing can be decided any
  /// more, also when the error was caught.
  private var failure: KeyringError?

  private struct ShardKey: Hashable, Comparable {
    let isLocal: Bool
    let number: UInt8
    static func < (left: ShardKey, right: ShardKey) -> Bool {
      left.isLocal == right.isLocal ? left.number < right.number : right.isLocal
    }
  }

  /// Takes the lock and finishes what was cut off before.
  ///
  /// - Throws: `KeyringError.policyNotTrusted` when the store's policy is not the accepted one, `.busy`, or
  ///   a file error.
  init(keyring: Keyring) throws(KeyringError) {
    try keyring.trusted.requireMembership()
    let lock = try StoreLock(keyring.tree, timeout: keyring.host.lockTimeout)
    try Transaction.recover(in: keyring.tree, under: lock)
    try Self.checkPolicy(of: keyring)
    self.keyring = keyring
    self.lock = lock
    transaction = Transaction(in: keyring.tree)
  }

  /// The policy may have changed since the store was opened: then its recipients are not to be used.
  private static func checkPolicy(of keyring: Keyring) throws(KeyringError) {
    if let replaced = keyring.trusted.replaced {
      let stored = try TrustedPolicy.read(in: keyring.tree).policy
      let pin = try PinStore(base: keyring.host.stateBase, keyring: stored.keyring).readPin()
      guard stored == keyring.policy, pin?.digest == replaced else { throw .team(.overtaken) }
      return
    }
    let current = try TrustedPolicy(in: keyring.tree, stateBase: keyring.host.stateBase)
    if let distrust = current.distrust { throw .policyNotTrusted(distrust) }
    guard current.policy == keyring.policy else {
      throw .policyNotTrusted(
        .changed(generation: current.policy.generation, pinned: keyring.policy.generation))
    }
    // What was accepted may have changed as well, and the engine has the keys from before.
    for (fingerprint, bytes) in current.keys where keyring.trusted.keys[fingerprint] != bytes {
      throw .policyNotTrusted(
        .keyChanged(fingerprint, name: keyring.policy.people[fingerprint]?.name ?? ""))
    }
    // An account whose state cannot be written keeps its old pin, which is good for all it was good for before.
    try? current.adoptKeys(stateBase: keyring.host.stateBase)
  }

  // MARK: What a transaction does

  /// Adds an item; see `Keyring.add`.
  @discardableResult
  public mutating func add(_ item: NewItem, secret: borrowing SecretBytes) throws(KeyringError) -> ItemRecord
  {
    try add(item, secret: secret, age: nil)
  }

  /// Adds an item with a secret that another one has already.
  mutating func add(
    _ item: NewItem, secret: borrowing SecretBytes, age: SecretAge?
  ) throws(KeyringError) -> ItemRecord {
    try add(try ItemSealer(keyring: keyring).seal(new: item, secret: secret, age: age))
  }

  /// Adds an item that was sealed before the lock was taken.
  @discardableResult
  mutating func add(_ item: PreparedItem) throws(KeyringError) -> ItemRecord {
    try checkFree(item.record)
    try put(item)
    subject.note(nil, item.record)
    return item.record
  }

  /// Puts back an item that was deleted, under the id that it had.
  mutating func bringBack(_ item: PreparedItem) throws(KeyringError) {
    let byID = Query(predicates: [.id(item.record.id)])
    if let other = try IndexSearch.run(byID, in: keyring.tree).items.first {
      throw .itemExists(other.reference)
    }
    try add(item)
  }

  /// Changes attributes; see `Keyring.update(_:_:)`.
  @discardableResult
  public mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges
  ) throws(KeyringError) -> ItemRecord {
    let old = try current(record)
    let change = try ItemSealer(keyring: keyring).change(changes, to: old) { () throws(KeyringError) in
      // Not `read`: that looks again under the lock, which this transaction holds.
      guard let message = try message(of: old) else { throw .itemDamaged(old.reference, .missing) }
      return try ItemReader(keyring: keyring).open(message, old, nil)
    }
    return try apply(change, replacing: old)
  }

  /// Replaces the secret and changes attributes; see `Keyring.update(_:_:secret:)`.
  @discardableResult
  public mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges, secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    try update(record, changes, secret: secret, revision: nil)
  }

  /// Does the same with a secret that another item has already, under its revision.
  @discardableResult
  mutating func update(
    _ record: ItemRecord, _ changes: AttributeChanges, secret: borrowing SecretBytes, revision: Revision?
  ) throws(KeyringError) -> ItemRecord {
    let old = try current(record)
    let change = try ItemSealer(keyring: keyring)
      .change(changes, to: old, secret: secret, revision: revision)
    return try apply(change, replacing: old)
  }

  /// Makes a change that was worked out before the lock was taken.
  ///
  /// - Returns: the record as it is now; nil, and nothing is done, when the item is not any more as it was.
  mutating func apply(_ change: ItemChange, to base: ItemRecord) throws(KeyringError) -> ItemRecord? {
    let old = try current(base)
    // Of two lines for one item the search may have taken the other one, and would each time.
    try requireSound(shardKey(of: old))
    return old == base ? try apply(change, replacing: old) : nil
  }

  private mutating func apply(
    _ change: ItemChange, replacing old: ItemRecord
  ) throws(KeyringError) -> ItemRecord {
    switch change {
    case .nothing: return old
    case .line(let new) where file(of: new) == file(of: old):
      try putLine(new)
      subject.note(old, new)
      return new
    case .line(let new):
      // The same message in another place.
      guard let message = try message(of: old) else { throw .itemDamaged(old.reference, .missing) }
      return try replace(old, with: PreparedItem(record: new, message: message))
    case .sealed(let item): return try replace(old, with: item)
    }
  }

  /// Removes an item. A file that is not the one the index describes is not deleted but put aside, because
  /// nobody has seen what is in it.
  public mutating func delete(_ record: ItemRecord) throws(KeyringError) {
    let old = try current(record)
    let isStranger = touched.contains(file(of: old)) ? false : try isAsIndexed(old) == false
    let folder = isStranger ? quarantineFolder() : ""
    try take(old) { transaction, file in
      if isStranger {
        transaction.move(file, to: "\(folder)/\(file)")
      } else {
        transaction.remove(file)
      }
    }
    subject.note(old, nil)
  }

  /// The item that has the primary key of a new one, as this transaction sees it; nil when there is none.
  ///
  /// - Throws: `KeyringError.invalidAttribute`, or a file error.
  package mutating func item(like new: NewItem) throws(KeyringError) -> ItemRecord? {
    let path = try new.path()
    for isLocal in [false, true] {
      let key = ShardKey(isLocal: isLocal, number: path.shard)
      if let record = try shard(key).record(path: path) { return located(record, key) }
    }
    return nil
  }

  /// An item as this transaction sees it, wherever it is by now.
  ///
  /// - Throws: `KeyringError.itemNotFound` when it is gone.
  package mutating func latest(_ record: ItemRecord) throws(KeyringError) -> ItemRecord {
    try current(record)
  }

  // MARK: People

  /// Stages another policy with its signature and the key files that are new.
  mutating func place(_ step: PolicyStep, newKeys: [Fingerprint]) throws(KeyringError) {
    do throws(KeyringError) {
      // The policy last: before it is there, what it needs is.
      for fingerprint in newKeys.sorted() {
        guard let bytes = step.keys[fingerprint] else { continue }
        try transaction.place(bytes, at: StoreLayout.keyFile(fingerprint))
      }
      if let signature = step.signature { try transaction.place(signature, at: StoreLayout.policySignature) }
      try transaction.place(step.bytes, at: StoreLayout.policy)
    } catch {
      failure = error
      throw error
    }
  }

  // MARK: Ending

  /// Writes the shards and decides.
  ///
  /// - Parameter words: what the history says about it; nil for what the changes themselves say.
  /// - Throws: the error of a change that failed halfway and was caught; then nothing happens.
  consuming func commit(subject words: String? = nil) throws(KeyringError) {
    if let failure {
      transaction.abandon()
      throw failure
    }
    for key in changed.sorted() {
      guard let shard = shards[key] else { continue }
      let file = StoreLayout.shardFile(key.number, isLocal: key.isLocal)
      do {
        // A shard whose last item goes stays, empty: git then merges it, where it would stop for a file that one side
        // has removed.
        try transaction.place(shard.encode(), at: file)
      } catch {
        transaction.abandon()
        throw error
      }
    }
    try transaction.commit(under: lock, subject: words ?? subject.text)
  }

  /// Gives up; nothing has happened.
  consuming func abandon() { transaction.abandon() }

  // MARK: Parts

  /// The item as it is now, found by id where the caller saw it or anywhere else.
  private mutating func current(_ record: ItemRecord) throws(KeyringError) -> ItemRecord {
    let key = shardKey(of: record)
    if let line = try shard(key).record(id: record.id) { return located(line, key) }
    // This transaction may have put it elsewhere.
    for key in changed.sorted() {
      if let line = try shard(key).record(id: record.id) { return located(line, key) }
    }
    var byID = Query()
    byID.predicates = [.id(record.id)]
    guard let found = try IndexSearch.run(byID, in: keyring.tree).items.first else { throw .itemNotFound }
    // The search reads the disk; this transaction may have removed the item since.
    let place = shardKey(of: found)
    if let line = try shard(place).record(id: record.id) { return located(line, place) }
    throw changed.contains(place) ? .itemNotFound : .itemDamaged(found.reference, .lineMisplaced)
  }

  private func located(_ record: ItemRecord, _ key: ShardKey) -> ItemRecord {
    var record = record
    record.isLocal = key.isLocal
    return record
  }

  /// Puts a changed item in the place of its old version, or in a new one if its primary key changed.
  private mutating func replace(_ old: ItemRecord, with new: PreparedItem) throws(KeyringError) -> ItemRecord
  {
    let isOurs = touched.contains(file(of: old)) ? true : try isAsIndexed(old) == true
    guard isOurs else { throw .itemDamaged(old.reference, .notAsIndexed) }
    let isMoved = file(of: old) != file(of: new.record)
    if isMoved { try checkFree(new.record, replacing: old) }
    try put(new)
    // In one shard the new line has replaced the old one, as both have the same id.
    let hasOldLine = shardKey(of: old) != shardKey(of: new.record)
    if isMoved { try take(old, withLine: hasOldLine) { transaction, file in transaction.remove(file) } }
    subject.note(old, new.record)
    return new.record
  }

  /// Stages an item and its line. An error leaves half of that behind, so nothing may be decided after it.
  private mutating func put(_ item: PreparedItem) throws(KeyringError) {
    let file = file(of: item.record)
    do throws(KeyringError) {
      try transaction.place(item.message, at: file)
      try putLine(item.record)
    } catch {
      failure = error
      throw error
    }
    touched.insert(file)
  }

  /// Takes an item's file and line away, with the same care.
  private mutating func take(
    _ old: ItemRecord, withLine: Bool = true, _ body: (inout Transaction, String) -> Void
  ) throws(KeyringError) {
    let file = file(of: old)
    do throws(KeyringError) {
      body(&transaction, file)
      if withLine { try edit(old) { shard throws(ShardError) in try shard.remove(id: old.id) } }
    } catch {
      failure = error
      throw error
    }
    touched.insert(file)
  }

  private func shardKey(of record: ItemRecord) -> ShardKey {
    ShardKey(isLocal: record.isLocal, number: record.path.shard)
  }

  private mutating func putLine(_ record: ItemRecord) throws(KeyringError) {
    try edit(record) { shard throws(ShardError) in try shard.put(record) }
  }

  /// Refuses a primary key that is taken, in the store or among the items of this machine, and a place
  /// where something stands that the index does not know.
  ///
  /// - Parameter old: An item that gives up its place, and so takes nothing.
  private mutating func checkFree(
    _ record: ItemRecord, replacing old: ItemRecord? = nil
  ) throws(KeyringError) {
    for isLocal in [false, true] {
      var other = record
      other.isLocal = isLocal
      let key = ShardKey(isLocal: isLocal, number: record.path.shard)
      if let old, file(of: old) == file(of: other) { continue }
      if try shard(key).record(path: record.path) != nil { throw .itemExists(record.reference) }
      let file = file(of: other)
      if !touched.contains(file), try files(keyring.tree.status(file)) != nil {
        throw .itemDamaged(record.reference, .notInIndex)
      }
    }
  }

  /// Whether an item's file is the one its line describes; `nil` when it is missing.
  private func isAsIndexed(_ record: ItemRecord) throws(KeyringError) -> Bool? {
    do {
      guard let message = try ItemReader(keyring: keyring).message(of: record) else { return nil }
      return ContentDigest(of: message) == record.sealed
    } catch {
      guard case .itemDamaged = error else { throw error }
      return false
    }
  }

  /// The sealed message of an item as this transaction will leave it, else as it is.
  private func message(of record: ItemRecord) throws(KeyringError) -> [UInt8]? {
    if let staged = try transaction.staged(at: file(of: record)) { return staged }
    return try ItemReader(keyring: keyring).message(of: record)
  }

  private func file(of record: ItemRecord) -> String {
    StoreLayout.itemFile(record.path, isLocal: record.isLocal)
  }

  private mutating func quarantineFolder() -> String {
    let folder = quarantine ?? Quarantine.newFolder(at: keyring.host.clock())
    quarantine = folder
    return folder
  }

  // MARK: Shards

  private mutating func shard(_ key: ShardKey) throws(KeyringError) -> Shard {
    if let shard = shards[key] { return shard }
    let file = StoreLayout.shardFile(key.number, isLocal: key.isLocal)
    let bytes = try files(keyring.tree.read(file, limit: StoreLayout.shardLimit)) ?? []
    let shard = Shard(parsing: bytes, number: key.number)
    shards[key] = shard
    return shard
  }

  private mutating func requireSound(_ key: ShardKey) throws(KeyringError) {
    let shard = try shard(key)
    guard !shard.isWritable else { return }
    throw .shardDamaged(file: StoreLayout.shardFile(key.number, isLocal: key.isLocal), shard.problems)
  }

  private mutating func edit(
    _ record: ItemRecord, _ body: (inout Shard) throws(ShardError) -> Void
  ) throws(KeyringError) {
    let key = shardKey(of: record)
    var shard = try shard(key)
    let file = StoreLayout.shardFile(key.number, isLocal: key.isLocal)
    do {
      try body(&shard)
    } catch {
      switch error {
      case .damaged: throw .shardDamaged(file: file, shard.problems)
      // A line that is too long is the item's fault, not the shard's.
      case .line(let error): throw .attributesTooLarge(error)
      case .wrongShard, .full: throw .shardRefused(file: file, error)
      }
    }
    shards[key] = shard
    changed.insert(key)
  }
}
