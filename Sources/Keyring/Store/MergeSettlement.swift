internal import KeyringModel
internal import OpenPGP

extension Keyring {
  /// What became of messages that a merge by plain git had no place for.
  package struct Settlement: Sendable, Equatable {
    /// How many have their place now.
    package var placed = 0
    /// How many still wait, since nobody here can decrypt them to see what they are.
    package var waiting = 0
  }

  /// Gives the messages that merge drivers have kept their places: those that a line names, and others a line of their
  /// own as conflict copies. Nothing to do costs a look at a folder.
  ///
  /// - Returns: What became of them.
  /// - Throws: `KeyringError.policyNotTrusted`, `.busy`, `.shardDamaged`, `.engine`, or a file error.
  package func settleMerges() throws(KeyringError) -> Settlement {
    let kept = KeptMessages(of: tree)
    if try kept.isEmpty { return Settlement() }
    try requireTrust()
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    let messages = try kept.messages()
    var all = Query()
    all.includesConflictCopies = true
    let records = try IndexSearch.run(all, in: tree).items
    var plan = SettlementPlan(keyring: self, records: records, messages: messages)
    try plan.run()
    // What was in a file that is replaced, and has no place yet, goes on waiting.
    for digest in plan.waiting where messages[digest] == nil { try plan.pool[digest].map(kept.keep) }
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
    return Settlement(placed: plan.files.count, waiting: plan.waiting.count)
  }
}

/// Works out the places of messages.
private struct SettlementPlan {
  let keyring: Keyring
  /// All items as their lines say, conflict copies included.
  let records: [ItemRecord]
  /// What waits for a place.
  let messages: [ContentDigest: [UInt8]]
  /// What each file becomes.
  private(set) var files: [String: [UInt8]] = [:]
  /// The messages that need not be kept any more.
  private(set) var done: [ContentDigest] = []
  /// What waits, and what stood in its place.
  private(set) var pool: [ContentDigest: [UInt8]] = [:]
  /// The messages that have no place yet.
  var waiting: Set<ContentDigest> { Set(pool.keys).subtracting(done) }
  private var added: [ItemRecord] = []

  init(keyring: Keyring, records: [ItemRecord], messages: [ContentDigest: [UInt8]]) {
    (self.keyring, self.records, self.messages) = (keyring, records, messages)
  }

  mutating func run() throws(KeyringError) {
    var wanted: [ContentDigest: [ItemRecord]] = [:]
    for record in records where !record.isLocal { wanted[record.sealed, default: []].append(record) }
    // What stands in the place of a message may be wanted elsewhere, and has to be known before it is replaced.
    pool = messages
    var open = Array(messages.keys)
    while let digest = open.popLast() {
      for record in wanted[digest] ?? [] {
        let current = try ItemReader(keyring: keyring).message(of: record)
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
      } else {
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
    for record in added {
      let number = record.path.shard
      let file = StoreLayout.shardFile(number, isLocal: false)
      let bytes = try Keyring.fileBytes(file, keyring.tree)
      var shard = shards[number] ?? Shard(parsing: bytes, number: number)
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

  private static func file(of record: ItemRecord) -> String {
    StoreLayout.itemFile(record.path, isLocal: record.isLocal)
  }
}

extension Keyring {
  fileprivate static func fileBytes(_ file: String, _ tree: FileTree) throws(KeyringError) -> [UInt8] {
    try files(tree.read(file, limit: StoreLayout.shardLimit)) ?? []
  }
}
