internal import Keyring
internal import KeyringModel

/// What the index says about one item in commits; every file is read once.
struct ItemLines {
  /// What is known of the item.
  struct State {
    /// Its line.
    var record: ItemRecord?
    /// Whether there is a line that nobody can read and that might be its line.
    var isUnknown = false
  }

  private let id: ItemID
  private let prefix: String
  private let objects: ObjectReader
  /// By the name of a file's content.
  private var known: [String: State] = [:]

  /// How many files are read at once.
  private static let pieceSize = 128

  /// Begins to read about an item.
  init(of id: ItemID, in repository: Repository) {
    self.id = id
    prefix = repository.prefix
    objects = ObjectReader(git: repository.git)
  }

  /// What commits say in some files of the index.
  ///
  /// - Returns: For every commit, by the number of the file, what is known; nothing for a file that it does not have.
  /// - Throws: as `Git.run`.
  mutating func states(
    at commits: Set<String>, in shards: Set<UInt8>
  ) throws(SyncError) -> [String: [UInt8: State]] {
    let names = try objects.names(of: commits.flatMap { commit in shards.map { place(commit, $0) } })
    try read(Set(names.values))
    var states: [String: [UInt8: State]] = [:]
    for commit in commits {
      var found: [UInt8: State] = [:]
      for shard in shards { found[shard] = names[place(commit, shard)].flatMap { known[$0] } }
      states[commit] = found
    }
    return states
  }

  private func place(_ commit: String, _ shard: UInt8) -> String {
    "\(commit):\(prefix)\(StoreLayout.shardFile(shard, isLocal: false))"
  }

  private mutating func read(_ names: Set<String>) throws(SyncError) {
    let missing = names.filter { known[$0] == nil }.sorted()
    for start in stride(from: 0, to: missing.count, by: Self.pieceSize) {
      let piece = missing[start..<min(start + Self.pieceSize, missing.count)]
      for (name, bytes) in try objects.contents(of: piece) { known[name] = State(of: id, in: bytes) }
    }
  }
}

extension ItemLines.State {
  /// Looks for an item in the bytes of a file of the index; other lines are not parsed.
  init(of id: ItemID, in bytes: [UInt8]) {
    let needle = Needle([Array("\"\(id.hex)\"".utf8)])
    var records: [ItemRecord] = []
    var hasBadLine = false
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: [needle]) { line, _ in
        do throws(IndexLineError) {
          let record = try unsafe IndexLine.parse(line)
          if record.id == id { records.append(record) }
        } catch {
          hasBadLine = true
        }
      }
    }
    self.init(records, hasBadLine: hasBadLine)
  }

  /// What several files say together: of several lines, as plain git may leave them, the latest one counts.
  init(_ states: some Collection<Self>) {
    self.init(states.compactMap(\.record), hasBadLine: states.contains(where: \.isUnknown))
  }

  private init(_ records: [ItemRecord], hasBadLine: Bool) {
    record = records.reduce(nil) { best, record in
      best.map { $0.isLater(than: record, bySecret: true) } ?? false ? best : record
    }
    isUnknown = record == nil && hasBadLine
  }
}
