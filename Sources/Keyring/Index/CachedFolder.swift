internal import FileSystem
internal import KeyringModel

/// One folder of the index as it was read.
struct CachedFolder: Sendable {
  private let isLocal: Bool
  /// The stamp of the folder before its files were read; nil if it did not exist.
  private var stamp: FileStamp?
  /// True if an unchanged stamp proves that no file was replaced. False after a read error, which may disappear
  /// without a change of the stamp.
  private(set) var isSettled = false
  /// The shards by number; nil for a shard that does not exist or cannot be read.
  private var shards: [CachedShard?] = Array(repeating: nil, count: 256)
  private var filter = ShardFilter()
  /// The errors of the shards that cannot be read, by shard number.
  private var failures: [Int: FileError] = [:]
  /// True if there is no shard.
  private(set) var isEmpty = true
  private var recordCount = 0

  /// Creates the state of a folder that has not been read yet.
  init(isLocal: Bool) { self.isLocal = isLocal }

  private var path: String { StoreLayout.indexFolder(isLocal: isLocal) }

  // MARK: Searching

  /// Passes the records that can match to the collector.
  ///
  /// - Parameter keys: The keys that a record must have to match.
  /// - Throws: The error of an unreadable shard that concerns the query.
  func scan(
    _ plan: QueryPlan, _ keys: [UInt32], into collector: inout MatchCollector
  ) throws(KeyringError) {
    for number in failures.keys.sorted() where plan.shards.contains(UInt8(number)) {
      if let failure = failures[number] { throw .file(failure) }
    }
    if isEmpty { return }
    let numbers = filter.shards(having: keys).filter { plan.shards.contains(UInt8($0)) }
    let found = numbers.compactMap { shards[$0] }
    // Threads pay off only if a large number of records has to be compared one by one.
    guard keys.isEmpty, recordCount > 2000 else {
      for shard in found { shard.scan(keys, into: &collector) }
      return
    }
    let size = 32
    let empty = collector.withoutMatches()
    let parts = WorkerPool(workers: 0).map((found.count + size - 1) / size) { piece in
      var part = empty
      for shard in found[(piece * size)...].prefix(size) { shard.scan([], into: &part) }
      return part
    }
    for part in parts { collector.append(part) }
  }

  // MARK: Reading

  /// Returns true if the stamp of the folder has changed.
  func hasChanged(in tree: FileTree, clock: FileClock) throws(KeyringError) -> Bool {
    try files(tree.status(path))?.stamp.rounded(to: clock.tick) != stamp
  }

  /// Returns the current state of the folder, after reading the files whose stamps differ.
  ///
  /// - Parameter cost: The cost of the search, to which the cost of reading is added.
  /// - Throws: A file error that concerns the folder.
  func updated(
    from tree: FileTree, clock: FileClock, cost: inout SearchStatistics
  ) throws(KeyringError) -> CachedFolder {
    var new = self
    // The order matters: any change after the time was read gets a later stamp, and any change after the stamp was
    // read gives the folder another stamp.
    let now = clock.now()
    new.stamp = try files(tree.status(path))?.stamp.rounded(to: clock.tick)
    new.isSettled = new.stamp.map { !$0.isFresh(at: now) } ?? true
    let changed = try files { () throws(FileError) in try new.forgetChanged(in: tree, clock: clock) }
    for (number, result) in try files(read(changed, from: tree, clock: clock)) {
      switch result {
      case .success(let shard):
        new.shards[number] = shard
        cost.shardsRead += 1
        cost.linesParsed += shard.records.count + shard.damaged.count
      case .failure(let error): new.failures[number] = error
      case nil: break
      }
      new.filter.set(number, new.shards[number])
    }
    if !new.failures.isEmpty { new.isSettled = false }
    new.isEmpty = new.shards.allSatisfy { $0 == nil }
    new.recordCount = new.shards.reduce(0) { $0 + ($1?.records.count ?? 0) }
    return new
  }

  /// Discards the shards whose files have changed.
  ///
  /// - Returns: The numbers of the shards that have to be read.
  private mutating func forgetChanged(in tree: FileTree, clock: FileClock) throws(FileError) -> [Int] {
    let folder = try tree.folder(path)
    failures = [:]
    var changed: [Int] = []
    for number in shards.indices {
      let status = try folder?.status(StoreLayout.shardName(UInt8(number)))
      let old = shards[number]
      if let status, let old, !old.isFresh, old.stamp == status.stamp.rounded(to: clock.tick) { continue }
      if status != nil { changed.append(number) }
      guard old != nil else { continue }
      shards[number] = nil
      filter.set(number, nil)
    }
    return changed
  }

  /// Reads shards, on several threads if there are many.
  private func read(
    _ numbers: [Int], from tree: FileTree, clock: FileClock
  ) throws(FileError) -> [(number: Int, shard: Result<CachedShard, FileError>?)] {
    let size = numbers.count <= 8 ? max(1, numbers.count) : 32
    let pieces = stride(from: 0, to: numbers.count, by: size).map { start in
      numbers[start..<min(start + size, numbers.count)]
    }
    let results = try WorkerPool(workers: 0).map(pieces.count) { (piece) throws(FileError) in
      var buffer: [UInt8] = []
      let folder = try tree.folder(path)
      return pieces[piece].map { number in
        let name = StoreLayout.shardName(UInt8(number))
        let now = clock.now()
        do throws(FileError) {
          let status = try tree.waitingForWriters { () throws(FileError) in
            try folder?.read(name, into: &buffer, limit: StoreLayout.shardLimit)
          }
          let stamp = status?.stamp.rounded(to: clock.tick)
          let shard = stamp.map { stamp in
            CachedShard(
              parsing: buffer, file: "\(path)/\(name)", isLocal: isLocal, stamp: stamp,
              isFresh: stamp.isFresh(at: now))
          }
          return (number: number, shard: shard.map(Result<CachedShard, FileError>.success))
        } catch {
          return (number: number, shard: .failure(error))
        }
      }
    }
    return results.flatMap { $0 }
  }
}
