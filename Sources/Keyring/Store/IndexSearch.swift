internal import KeyringModel

/// One pass over the shards that a query can concern.
///
/// Bytes first: a shard is searched with `memmem` for what a matching line must contain, and only the
/// lines that have it are parsed (DESIGN section 4). Reading and searching 100,000 items is worth the time
/// to start threads; it is shared among the processors.
enum IndexSearch {
  static func run(_ query: Query, in tree: FileTree) throws(KeyringError) -> Matches {
    let plan = QueryPlan(query)
    var collector = MatchCollector(query: query, plan: plan)
    let pieces = try pieces(of: plan, in: tree)
    // Items of this machine have an index of their own, which says nothing about the other one.
    var sharedShards = 0
    do throws(FileError) {
      if pieces.count <= 2 {
        for piece in pieces {
          let result = try scan(piece, query, plan, in: tree)
          if !piece.isLocal { sharedShards += result.statistics.shardsRead }
          collector.append(result)
        }
      } else {
        let results = try WorkerPool(workers: 0).map(pieces.count) { (number) throws(FileError) in
          try scan(pieces[number], query, plan, in: tree)
        }
        for (piece, result) in zip(pieces, results) {
          if !piece.isLocal { sharedShards += result.statistics.shardsRead }
          collector.append(result)
        }
      }
    } catch {
      throw .file(error)
    }
    var matches = collector.finish()
    if sharedShards == 0 { matches.isIndexLost = try isIndexLost(in: tree) }
    return matches
  }

  /// Shards that one thread reads one after the other.
  private struct Piece: Sendable {
    let isLocal: Bool
    let numbers: [UInt8]
  }

  /// The pieces in the order in which their matches are put together.
  private static func pieces(of plan: QueryPlan, in tree: FileTree) throws(KeyringError) -> [Piece] {
    let numbers = (UInt8.min...UInt8.max).filter(plan.shards.contains)
    // More pieces than threads, so that nobody waits long for the last one.
    let size = 32
    var pieces = stride(from: 0, to: numbers.count, by: size).map { start in
      Piece(isLocal: false, numbers: Array(numbers[start...].prefix(size)))
    }
    if try files(tree.status(StoreLayout.indexFolder(isLocal: true))) != nil {
      pieces.append(Piece(isLocal: true, numbers: numbers))
    }
    return pieces
  }

  private static func scan(
    _ piece: Piece, _ query: Query, _ plan: QueryPlan, in tree: FileTree
  ) throws(FileError) -> MatchCollector {
    var collector = MatchCollector(query: query, plan: plan)
    guard let folder = try tree.folder(StoreLayout.indexFolder(isLocal: piece.isLocal)) else {
      return collector
    }
    var buffer: [UInt8] = []
    for number in piece.numbers {
      let name = StoreLayout.shardName(number)
      guard try folder.read(name, into: &buffer, limit: StoreLayout.shardLimit) != nil else { continue }
      collector.scan(buffer, shard: number, isLocal: piece.isLocal)
    }
    return collector
  }
}

extension IndexSearch {
  /// Whether there are sealed items, but nothing in the folder of the index.
  static func isIndexLost(in tree: FileTree) throws(KeyringError) -> Bool {
    guard try files(tree.list(StoreLayout.index)).isEmpty else { return false }
    return try hasItems(tree)
  }

  /// Whether there is a file where items are. Empty folders are none: a writer makes them before it decides anything.
  private static func hasItems(_ tree: FileTree) throws(KeyringError) -> Bool {
    for itemClass in try files(tree.list(StoreLayout.items)) {
      let folder = "\(StoreLayout.items)/\(itemClass)"
      // What is no folder is no item either; `check` tells.
      guard let containers = try? tree.list(folder) else { continue }
      for container in containers {
        if let names = try? tree.list("\(folder)/\(container)"), !names.isEmpty { return true }
      }
    }
    return false
  }
}
