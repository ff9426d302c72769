internal import KeyringModel
internal import OpenPGP

extension Keyring {
  /// What became of messages that a merge by plain git had no place for.
  package struct Settlement: Sendable, Equatable {
    /// How many have their place now.
    package var placed = 0
    /// How many still wait, since nobody here can decrypt them to see what they are.
    package var waiting = 0
    /// The files that were brought back from the history, by their paths in the store.
    package var restored: [String] = []
  }

  /// The items whose lines have no file, those of this machine alone left out.
  ///
  /// - Parameter noted: Whether only those are looked at that a merge driver has noted.
  /// - Throws: a file error.
  package func itemsWithoutFile(noted: Bool) throws(KeyringError) -> [ItemRecord] {
    let ids = noted ? Set(try KeptMessages(of: tree).bases().keys) : []
    if noted && ids.isEmpty { return [] }
    var lost: [ItemRecord] = []
    for record in try lines() where !noted || ids.contains(record.id) {
      if try !hasFile(record) { lost.append(record) }
    }
    return lost
  }

  fileprivate func hasFile(_ record: ItemRecord) throws(KeyringError) -> Bool {
    try files(tree.status(SettlementPlan.file(of: record))) != nil
  }

  /// What the lines of the index say, one line for each place; a search leaves out an item's second place.
  private func lines() throws(KeyringError) -> [ItemRecord] {
    var byPath: [ItemPath: [ItemRecord]] = [:]
    for number in UInt8.min...UInt8.max {
      let bytes = try Keyring.fileBytes(StoreLayout.shardFile(number, isLocal: false), tree)
      for record in Shard(parsing: bytes, number: number).records {
        byPath[record.path, default: []].append(record)
      }
    }
    var result: [ItemRecord] = []
    for lines in byPath.values {
      let latest = lines.dropFirst().reduce(lines[0]) { $1.isLater(than: $0, bySecret: false) ? $1 : $0 }
      var described: ItemRecord?
      if lines.count > 1, let message = try message(of: latest) {
        let digest = ContentDigest(of: message)
        described = lines.first { $0.sealed == digest }
      }
      result.append(described ?? latest)
    }
    return result
  }

  /// The message of an item; nil where there is no file, or something else in its place, which `check` tells of.
  fileprivate func message(of record: ItemRecord) throws(KeyringError) -> [UInt8]? {
    do throws(KeyringError) {
      return try ItemReader(keyring: self).message(of: record)
    } catch {
      guard case .itemDamaged = error else { throw error }
      return nil
    }
  }

  /// Gives the messages that merge drivers have kept their places: those that a line names, and others a line of their
  /// own as conflict copies. An item that one side has renamed and the other one has changed becomes one item again.
  /// Nothing to do costs a look at a folder.
  ///
  /// - Parameter past: Messages from the history that lines without a file name; git removes such a file where one side
  ///   has deleted the item and the other one has changed its attributes.
  /// - Returns: What became of them.
  /// - Throws: `KeyringError.policyNotTrusted`, `.busy`, `.shardDamaged`, `.engine`, or a file error.
  package func settleMerges(past: [ContentDigest: [UInt8]] = [:]) throws(KeyringError) -> Settlement {
    let kept = KeptMessages(of: tree)
    let isIdle = try kept.isEmpty
    if isIdle && past.isEmpty { return Settlement() }
    try requireTrust()
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    var plan = SettlementPlan(
      keyring: self, records: try lines(), messages: try kept.messages(), past: past)
    try plan.join(bases: try kept.bases())
    try plan.run()
    // What was in a file that is replaced, and has no place yet, goes on waiting.
    for digest in plan.waiting where plan.messages[digest] == nil { try plan.pool[digest].map(kept.keep) }
    var transaction = Transaction(in: tree)
    do {
      for (file, message) in plan.files.sorted(by: { $0.key < $1.key }) {
        try transaction.place(message, at: file)
      }
      for (file, bytes) in try plan.shards() { try transaction.place(bytes, at: file) }
    } catch {
      transaction.abandon()
      throw error
    }
    try transaction.commit(under: lock, subject: "settle a merge")
    try kept.remove(plan.done)
    return Settlement(
      placed: plan.files.count, waiting: plan.waiting.count,
      restored: plan.files.filter { past[ContentDigest(of: $0.value)] != nil }.map(\.key).sorted())
  }
}

/// Works out the places of messages.
private struct SettlementPlan {
  let keyring: Keyring
  /// All items as their lines say, conflict copies and doubles included; not those of this machine alone.
  private var records: [ItemRecord]
  /// What waits for a place.
  let messages: [ContentDigest: [UInt8]]
  /// What was found in the history; it has a place where a line names it, and is not missed elsewhere.
  private var past: [ContentDigest: [UInt8]]
  /// What each file becomes.
  private(set) var files: [String: [UInt8]] = [:]
  /// The messages that need not be kept any more.
  private(set) var done: [ContentDigest] = []
  /// What waits, and what stood in its place.
  private(set) var pool: [ContentDigest: [UInt8]] = [:]
  /// The messages that have no place yet.
  var waiting: Set<ContentDigest> { Set(pool.keys).subtracting(done).subtracting(past.keys) }
  private var added: [ItemRecord] = []
  private var dropped: [ItemRecord] = []

  init(
    keyring: Keyring, records: [ItemRecord], messages: [ContentDigest: [UInt8]],
    past: [ContentDigest: [UInt8]]
  ) {
    (self.keyring, self.records, self.messages, self.past) = (keyring, records, messages, past)
  }

  /// Makes one item of two lines that speak of the same one, of which one has no file: one side has renamed it, and the
  /// other one has changed something else.
  ///
  /// - Parameter bases: What such items were before.
  mutating func join(bases: [ItemID: ItemRecord]) throws(KeyringError) {
    for (id, lines) in Dictionary(grouping: records, by: \.id) where lines.count == 2 {
      var there: [ItemRecord] = []
      for line in lines where try keyring.hasFile(line) { there.append(line) }
      guard there.count == 1, let left = lines.first(where: { $0 != there[0] }) else { continue }
      let base = bases[id] ?? left.moved(like: there[0])
      guard let base else {
        // Without knowing what it was, nobody can tell which side has changed what.
        if past[left.sealed] != nil { replace(left, by: left.conflictCopy) }
        continue
      }
      try join(there[0], left, base)
    }
  }

  /// Joins a renamed item with what the other side has made of it under its old name.
  private mutating func join(
    _ renamed: ItemRecord, _ left: ItemRecord, _ base: ItemRecord
  ) throws(KeyringError) {
    func tree(_ record: ItemRecord) -> StoreMerge.Tree {
      StoreMerge.Tree(records: [record]) { _ in true }
    }
    let items = StoreMerge().merge(base: tree(base), ours: tree(renamed), theirs: tree(left))
    guard items.contains(where: { $0.record.path == renamed.path && $0.record.sealed == renamed.sealed }),
      items.allSatisfy({ $0.source?.side == .ours || past[$0.record.sealed] != nil })
    else { return }
    replace(left, by: nil)
    replace(renamed, by: nil)
    // Both the item and a copy of it may be in the same message.
    if items.count > 1 { past[renamed.sealed] = try keyring.message(of: renamed) }
    for item in items {
      records.append(item.record)
      added.append(item.record)
    }
  }

  private mutating func replace(_ record: ItemRecord, by other: ItemRecord?) {
    records.removeAll { $0 == record }
    dropped.append(record)
    guard let other else { return }
    records.append(other)
    added.append(other)
  }

  mutating func run() throws(KeyringError) {
    var wanted: [ContentDigest: [ItemRecord]] = [:]
    for record in records { wanted[record.sealed, default: []].append(record) }
    // What stands in the place of a message may be wanted elsewhere, and has to be known before it is replaced.
    pool = messages.merging(past) { kept, _ in kept }
    var open = Array(pool.keys)
    while let digest = open.popLast() {
      for record in wanted[digest] ?? [] {
        let current = try keyring.message(of: record)
        let found = current.map { ContentDigest(of: $0) }
        if found == digest { continue }
        files[Self.file(of: record)] = pool[digest]
        if let current, let found, pool[found] == nil {
          pool[found] = current
          open.append(found)
        }
      }
    }
    for (digest, message) in pool.sorted(by: { $0.key.base64url < $1.key.base64url }) {
      if wanted[digest] != nil {
        done.append(digest)
      } else if messages[digest] != nil || past[digest] == nil {
        try addCopy(digest, message)
      }
    }
  }

  /// Makes a conflict copy of a message that no line names, if the version is not there already.
  private mutating func addCopy(_ digest: ContentDigest, _ message: [UInt8]) throws(KeyringError) {
    let header: ItemHeader
    do throws(KeyringError) {
      let item = try ItemReader(keyring: keyring).unseal(message, reference: Keyring.unknownItem)
      header = item.header
    } catch {
      switch error {
      case .itemDamaged: return
      case .engine(let error, _) where error.isAboutTheItem: return
      default: throw error
      }
    }
    guard header.keyring == keyring.policy.keyring else { return }
    done.append(digest)
    let version = header.record(sealed: digest)
    let isThere = records.contains { other in
      other.revision == version.revision && (other.id == version.id || other.conflictOf == version.id)
    }
    if isThere { return }
    let copy: ItemRecord
    if records.contains(where: { $0.id == version.id }) {
      copy = version.conflictCopy
    } else if let holder = records.first(where: { $0.path == version.path }) {
      copy = version.conflicting(with: holder.id)
    } else {
      copy = version
    }
    files[Self.file(of: copy)] = message
    added.append(copy)
  }

  /// The shards with the new lines.
  func shards() throws(KeyringError) -> [String: [UInt8]] {
    var shards: [UInt8: Shard] = [:]
    func shard(_ number: UInt8) throws(KeyringError) -> Shard {
      if let shard = shards[number] { return shard }
      let file = StoreLayout.shardFile(number, isLocal: false)
      return Shard(parsing: try Keyring.fileBytes(file, keyring.tree), number: number)
    }
    for record in dropped {
      var shard = try shard(record.path.shard)
      shard.dropLines(of: record.id, at: record.path)
      shards[record.path.shard] = shard
    }
    for record in added {
      let number = record.path.shard
      let file = StoreLayout.shardFile(number, isLocal: false)
      var shard = try shard(number)
      do {
        try shard.put(record)
      } catch {
        throw .shardDamaged(file: file, shard.problems)
      }
      shards[number] = shard
    }
    return Dictionary(
      uniqueKeysWithValues: shards.map { (StoreLayout.shardFile($0.key, isLocal: false), $0.value.encode()) })
  }

  static func file(of record: ItemRecord) -> String {
    StoreLayout.itemFile(record.path, isLocal: record.isLocal)
  }
}

extension Keyring {
  fileprivate static func fileBytes(_ file: String, _ tree: FileTree) throws(KeyringError) -> [UInt8] {
    try files(tree.read(file, limit: StoreLayout.shardLimit)) ?? []
  }
}

extension ItemRecord {
  /// This version where it was before another one of it got a new place; nil when they differ in more than that.
  fileprivate func moved(like renamed: ItemRecord) -> ItemRecord? {
    var plain = renamed
    (plain.group, plain.sealed, plain.modified) = (group, sealed, modified)
    for name in placeNames { plain.attributes[name] = attributes[name] }
    return plain == self ? self : nil
  }
}
