internal import KeyringModel

/// One pass over the shards that a query can concern.
///
/// Bytes first: a shard is searched with `memmem` for what a matching line must contain, and only the
/// lines that have it are parsed (DESIGN section 4). Reading and searching 100,000 items is worth the time
/// to start threads; it is shared among the processors.
enum IndexSearch {
  /// Answers a query.
  static func run(_ query: Query, in tree: FileTree) throws(KeyringError) -> Matches {
    try run([query], in: tree)[0]
  }

  /// Answers queries; a shard that several of them concern is read once.
  ///
  /// - Returns: The matches of each query, in the order of the queries.
  static func run(_ queries: [Query], in tree: FileTree) throws(KeyringError) -> [Matches] {
    let searches = queries.map(Search.init)
    var collectors = searches.map(\.collector)
    let pieces = try pieces(of: searches, in: tree)
    // Items of this machine have an index of their own, which says nothing about the other one.
    var sharedShards = 0
    func take(_ parts: [MatchCollector], of piece: Piece) {
      for (index, part) in parts.enumerated() {
        if !piece.isLocal { sharedShards += part.statistics.shardsRead }
        collectors[index].append(part)
      }
    }
    do throws(FileError) {
      if pieces.count <= 2 {
        for piece in pieces { take(try scan(piece, searches, in: tree), of: piece) }
      } else {
        let results = try WorkerPool(workers: 0).map(pieces.count) { (number) throws(FileError) in
          try scan(pieces[number], searches, in: tree)
        }
        for (piece, parts) in zip(pieces, results) { take(parts, of: piece) }
      }
    } catch {
      throw .file(error)
    }
    let isIndexLost = sharedShards == 0 ? try Self.isIndexLost(in: tree) : false
    return collectors.map { collector in
      var matches = collector.finish()
      matches.isIndexLost = isIndexLost
      return matches
    }
  }

  /// A query and what it means for reading.
  private struct Search: Sendable {
    let plan: QueryPlan
    let collector: MatchCollector

    init(_ query: Query) {
      plan = QueryPlan(query)
      collector = MatchCollector(query: query, plan: plan)
    }
  }

  /// Shards that one thread reads one after the other.
  private struct Piece: Sendable {
    let isLocal: Bool
    let numbers: [UInt8]
  }

  /// The pieces in the order in which their matches are put together.
  private static func pieces(of searches: [Search], in tree: FileTree) throws(KeyringError) -> [Piece] {
    let numbers = (UInt8.min...UInt8.max).filter { number in
      searches.contains { $0.plan.shards.contains(number) }
    }
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

  /// What the queries find in a piece.
  private static func scan(
    _ piece: Piece, _ searches: [Search], in tree: FileTree
  ) throws(FileError) -> [MatchCollector] {
    var collectors = searches.map(\.collector)
    guard let folder = try tree.folder(StoreLayout.indexFolder(isLocal: piece.isLocal)) else {
      return collectors
    }
    var buffer: [UInt8] = []
    for number in piece.numbers {
      let name = StoreLayout.shardName(number)
      let status = try tree.waitingForWriters { () throws(FileError) in
        try folder.read(name, into: &buffer, limit: StoreLayout.shardLimit)
      }
      if status == nil { continue }
      for (index, search) in searches.enumerated() where search.plan.shards.contains(number) {
        collectors[index].scan(buffer, shard: number, isLocal: piece.isLocal)
      }
    }
    return collectors
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
