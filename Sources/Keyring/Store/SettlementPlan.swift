internal import KeyringModel
internal import OpenPGP

/// Works out the places of messages.
struct SettlementPlan {
  let keyring: Keyring
  /// All items as their lines say, conflict copies and doubles included; not those of this machine alone.
  private var records: [ItemRecord]
  /// What waits for a place.
  let messages: [ContentDigest: [UInt8]]
  /// What was found in the history or in another place of the store; it has a place where a line names it, and is not
  /// missed elsewhere.
  private var past: [ContentDigest: [UInt8]]
  /// Which of the messages that wait the history has.
  private let known: Set<ContentDigest>
  /// What each file becomes.
  private(set) var files: [String: [UInt8]] = [:]
  /// The messages that need not be kept any more.
  private(set) var done: [ContentDigest] = []
  /// What waits, and what stood in its place.
  private(set) var pool: [ContentDigest: [UInt8]] = [:]
  /// The messages that have no place yet.
  var waiting: Set<ContentDigest> { Set(pool.keys).subtracting(done).subtracting(past.keys) }
  /// Files whose messages have another place now.
  private(set) var removed: Set<String> = []
  private var added: [ItemRecord] = []
  private var dropped: [ItemRecord] = []

  init(
    keyring: Keyring, records: [ItemRecord], messages: [ContentDigest: [UInt8]],
    past: [ContentDigest: [UInt8]], known: Set<ContentDigest>
  ) {
    (self.keyring, self.records, self.messages) = (keyring, records, messages)
    (self.past, self.known) = (past, known)
  }

  /// Makes one item of two lines that speak of the same one, where it was renamed on one side, and changed in another
  /// way, or renamed as well, on the other one.
  ///
  /// - Parameter bases: What such items were before.
  mutating func join(bases: [ItemID: ItemRecord]) throws(KeyringError) {
    for (id, lines) in Dictionary(grouping: records, by: \.id) where lines.count == 2 {
      var there: [ItemRecord] = []
      for line in lines.sorted(by: { $0.path < $1.path }) where try keyring.hasFile(line) {
        there.append(line)
      }
      if there.count == 2, let base = bases[id] {
        try join(there[0], there[1], base)
        continue
      }
      guard there.count == 1, let left = lines.first(where: { $0 != there[0] }) else { continue }
      if let base = bases[id] ?? left.moved(like: there[0]) {
        try join(there[0], left, base)
      } else if past[left.sealed] != nil {
        // Without knowing what it was, nobody can tell which side has changed what.
        replace(left, by: left.conflictCopy)
      }
    }
  }

  /// Joins two versions of an item that have different places; the first one has a file.
  private mutating func join(
    _ ours: ItemRecord, _ theirs: ItemRecord, _ base: ItemRecord
  ) throws(KeyringError) {
    func tree(_ record: ItemRecord) -> StoreMerge.Tree {
      StoreMerge.Tree(records: [record]) { _ in true }
    }
    let items = StoreMerge().merge(base: tree(base), ours: tree(ours), theirs: tree(theirs))
    var found: [ContentDigest: [UInt8]] = [:]
    for item in items {
      let digest = item.record.sealed
      var message = past[digest]
      if message == nil { message = try keyring.message(of: digest == ours.sealed ? ours : theirs) }
      // Without all messages it stays as it is, and `check` tells.
      guard let message, ContentDigest(of: message) == digest else { return }
      found[digest] = message
    }
    past.merge(found) { known, _ in known }
    for record in [ours, theirs] {
      replace(record, by: nil)
      let isKept = items.contains { $0.record.path == record.path }
      if try keyring.hasFile(record), !isKept {
        removed.insert(Self.file(of: record))
      }
    }
    for item in items {
      records.append(item.record)
      added.append(item.record)
    }
  }

  /// Looks for the messages of lines without a file where they may be still: with the item that a conflict copy is made
  /// of, or in the place that it had.
  mutating func findMessages() throws(KeyringError) {
    let taken = Set(records.map(\.path))
    let bySealed = Dictionary(grouping: records, by: \.sealed)
    for record in records where messages[record.sealed] == nil && past[record.sealed] == nil {
      if try keyring.hasFile(record) { continue }
      var before = record
      before.attributes[.conflictOf] = nil
      var places = (bySealed[record.sealed] ?? []).filter { $0.path != record.path }
      // Where no line speaks of the place that it had, its file is left over there.
      let isLeftOver = record.isConflictCopy && !taken.contains(before.path)
      if record.isConflictCopy { places.insert(before, at: isLeftOver ? 0 : places.count) }
      for (number, place) in places.enumerated() {
        guard let message = try keyring.message(of: place), ContentDigest(of: message) == record.sealed else {
          continue
        }
        past[record.sealed] = message
        if number == 0 && isLeftOver { removed.insert(Self.file(of: before)) }
        break
      }
    }
  }

  private mutating func replace(_ record: ItemRecord, by other: ItemRecord?) {
    records.removeAll { $0 == record }
    dropped.append(record)
    guard let other else { return }
    records.append(other)
    added.append(other)
  }

  /// Gives each message the place of the line that names it, and the others lines as conflict copies.
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
      if wanted[digest] != nil || known.contains(digest) {
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
        try shard.replaceLines(with: record)
      } catch {
        throw .shardRefused(file: file, error)
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

extension ItemRecord {
  /// This version where it was before another one of it got a new place; nil when they differ in more than that.
  fileprivate func moved(like renamed: ItemRecord) -> ItemRecord? {
    var plain = renamed
    (plain.group, plain.sealed, plain.modified) = (group, sealed, modified)
    for name in placeNames { plain.attributes[name] = attributes[name] }
    return plain == self ? self : nil
  }
}
