internal import FileSystem
package import KeyringModel

/// The number of items in an index, and the damage found in it.
package struct IndexCounts: Sendable {
  /// The number of items of each class. Fields are not counted.
  package var items: [ItemClass: Int] = [:]
  /// The number of items that never leave this machine, which `items` contains, too.
  package var local = 0
  /// The damage found in the shards.
  package var problems: [IndexProblem] = []
  /// The cost of counting.
  package var statistics = SearchStatistics()
}

extension Index {
  /// Returns the number of items. Only shards that have changed since the last call on this machine are read.
  ///
  /// - Throws: The errors of ``find(_:)``.
  package func counts() throws(KeyringError) -> IndexCounts {
    let before = try ReaderSnapshot(of: tree)
    if !before.isPending, let counts = try ShardCounts(in: tree, clock: clock).counts(),
      try ReaderSnapshot(of: tree) == before
    {
      return counts
    }
    let matches = try find(Query())
    var counts = IndexCounts(problems: matches.problems, statistics: matches.statistics)
    for item in matches.items { counts.items[item.itemClass, default: 0] += 1 }
    counts.local = matches.items.count(where: \.isLocal)
    return counts
  }
}

/// The number of items in each shard, as they were last counted on this machine.
///
/// They are kept with the stamps of the shards in `.keytree/shard-counts`. A stamp that is so recent that another
/// change could have the same one is not kept. Only `status` shows these numbers, and nothing else depends on them.
private struct ShardCounts {
  private static let file = "\(StoreLayout.work)/shard-counts"
  private static let temporary = "\(StoreLayout.work)/shard-counts.new"
  private static let magic = Array("keytree shard counts 1\n".utf8)
  private static let sizeLimit = 1 << 20

  private struct Place: Hashable {
    let isLocal: Bool
    let number: UInt8
  }

  private struct Count: Equatable, Sendable {
    let stamp: FileStamp
    /// The number of items of each class, in the order of the classes.
    let items: [Int]
  }

  private let tree: FileTree
  private let clock: FileClock
  private var kept: [Place: Count] = [:]

  init(in tree: FileTree, clock: FileClock) {
    (self.tree, self.clock) = (tree, clock)
    // Without the file everything is counted again, which only takes longer.
    guard let bytes = try? tree.read(Self.file, limit: Self.sizeLimit), bytes.starts(with: Self.magic) else {
      return
    }
    var cursor = StoredCursor(bytes, in: Self.magic.count..<bytes.count)
    guard let size = cursor.number(), Int(size) == bytes.count else { return }
    while let place = cursor.number(), let stamp = cursor.stamp() {
      let items = ItemClass.allCases.compactMap { _ in cursor.number().map(Int.init) }
      guard items.count == ItemClass.allCases.count else { break }
      kept[Place(isLocal: place > 255, number: UInt8(place & 255))] = Count(stamp: stamp, items: items)
    }
  }

  /// Returns the numbers; nil if a shard is damaged, so that its lines must be compared with those of other shards.
  func counts() throws(KeyringError) -> IndexCounts? {
    var result = IndexCounts()
    var new: [Place: Count] = [:]
    var fresh: Set<Place> = []
    for isLocal in [false, true] {
      let now = clock.now()
      let changed = try files { () throws(FileError) -> [UInt8] in
        guard let folder = try tree.folder(StoreLayout.indexFolder(isLocal: isLocal)) else { return [] }
        var changed: [UInt8] = []
        for number in UInt8.min...UInt8.max {
          guard let status = try folder.status(StoreLayout.shardName(number)) else { continue }
          let place = Place(isLocal: isLocal, number: number)
          if let count = kept[place], count.stamp == status.stamp.rounded(to: clock.tick) {
            new[place] = count
          } else {
            changed.append(number)
          }
        }
        return changed
      }
      for (number, count) in try read(changed, isLocal: isLocal) {
        guard let count else { return nil }
        let place = Place(isLocal: isLocal, number: number)
        new[place] = count
        if count.stamp.isFresh(at: now) { fresh.insert(place) }
        result.statistics.shardsRead += 1
        result.statistics.linesParsed += count.items.reduce(0, +)
      }
    }
    for (place, count) in new {
      for (itemClass, number) in zip(ItemClass.allCases, count.items) where number > 0 {
        result.items[itemClass, default: 0] += number
        if place.isLocal { result.local += number }
      }
    }
    // A shard that could change without another stamp is counted again.
    let settled = new.filter { !fresh.contains($0.key) }
    if settled != kept { store(settled) }
    return result
  }

  /// Counts the items in shards. The count of a shard is nil if the shard is damaged.
  private func read(
    _ numbers: [UInt8], isLocal: Bool
  ) throws(KeyringError) -> [(number: UInt8, count: Count?)] {
    try files(
      WorkerPool(workers: 0).map(numbers.count) { (index) throws(FileError) -> (UInt8, Count?) in
        let number = numbers[index]
        var bytes: [UInt8] = []
        let status = try tree.waitingForWriters { () throws(FileError) in
          try tree.folder(StoreLayout.indexFolder(isLocal: isLocal))?
            .read(StoreLayout.shardName(number), into: &bytes, limit: StoreLayout.shardLimit)
        }
        let shard = Shard(parsing: bytes, number: number)
        // Then no other shard has a line of the same item.
        guard let status, shard.isWritable, shard.lines.allSatisfy({ $0.path?.shard == number }) else {
          return (number, nil)
        }
        let records = shard.records.filter { $0.field == nil }
        let items = ItemClass.allCases.map { itemClass in records.count { $0.itemClass == itemClass } }
        return (number, Count(stamp: status.stamp.rounded(to: clock.tick), items: items))
      })
  }

  private func store(_ counts: [Place: Count]) {
    var content: [UInt8] = []
    for (place, count) in counts {
      StoredCursor.append(UInt32(place.number) + (place.isLocal ? 256 : 0), to: &content)
      content += count.stamp.stored
      for number in count.items { StoredCursor.append(UInt32(clamping: number), to: &content) }
    }
    StoredCursor.store(content, magic: Self.magic, at: Self.file, temporary: Self.temporary, in: tree)
  }
}
