internal import FileSystem
internal import KeyringModel

/// One folder of the index as it was read.
struct CachedFolder: Sendable {
  private let isLocal: Bool
  /// What the folder was before its files were read; nil when there was none.
  private var stamp: FileStamp?
  /// Whether an unchanged stamp tells that no file was replaced. An error can go away without a sign.
  private(set) var isSettled = false
  /// The shards by their numbers; nil for one that does not exist or cannot be read.
  private var shards: [CachedShard?] = Array(repeating: nil, count: 256)
  private var filter = ShardFilter()
  /// Why a shard cannot be read, by its number.
  private var failures: [Int: FileError] = [:]
  /// Whether there is no shard at all.
  private(set) var isEmpty = true
  private var recordCount = 0

  /// A folder that was not read yet.
  init(isLocal: Bool) { self.isLocal = isLocal }

  private var path: String { StoreLayout.indexFolder(isLocal: isLocal) }

  // MARK: Searching

  /// Hands what can match to the collector.
  ///
  /// - Parameter keys: keys that a record must have to match.
  /// - Throws: why a shard that the query concerns cannot be read.
  func scan(
    _ plan: QueryPlan, _ keys: [UInt32], into collector: inout MatchCollector
  ) throws(KeyringError) {
    for number in failures.keys.sorted() where plan.shards.contains(UInt8(number)) {
      if let failure = failures[number] { throw .file(failure) }
    }
    if isEmpty { return }
    let numbers = filter.shards(having: keys).filter { plan.shards.contains(UInt8($0)) }
    let found = numbers.compactMap { shards[$0] }
    // Asking all of many records takes longer than starting threads.
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

  /// Whether the folder has another stamp now.
  func hasChanged(in tree: FileTree, clock: FileClock) throws(KeyringError) -> Bool {
    try files(tree.status(path))?.stamp.rounded(to: clock.tick) != stamp
  }

  /// The folder as it is now: files whose stamps differ are read.
  ///
  /// - Parameter cost: what was read is added to it.
  /// - Throws: a file error that concerns the folder.
  func updated(
    from tree: FileTree, clock: FileClock, cost: inout SearchStatistics
  ) throws(KeyringError) -> CachedFolder {
    var new = self
    // In this order: what changes after the time is known gets a later one, and what changes after the stamp was
    // taken gives the folder another one.
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

  /// Forgets the files that are not as they were.
  ///
  /// - Returns: the numbers of those that have to be read.
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

  /// Reads files, many of them on several threads.
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
