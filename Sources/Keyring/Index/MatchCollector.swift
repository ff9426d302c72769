internal import KeyringModel

/// Collects matching records, removes duplicates, sorts them and applies the query's limit.
struct MatchCollector: Sendable {
  private let query: Query
  private let plan: QueryPlan
  private var found: [ItemRecord] = []
  private var problems: [IndexProblem] = []
  private(set) var statistics: SearchStatistics

  init(query: Query, plan: QueryPlan, cost: SearchStatistics = SearchStatistics()) {
    self.query = query
    self.plan = plan
    statistics = cost
  }

  /// Adds the matching lines of one shard.
  mutating func scan(_ bytes: [UInt8], shard: UInt8, isLocal: Bool) {
    statistics.shardsRead += 1
    var lines = ShardScanner.LineCounter()
    let needles = query.reportsAllDamage ? [] : plan.needles
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: needles) { line, offset in
        statistics.linesParsed += 1
        do throws(IndexLineError) {
          var record = try unsafe IndexLine.parse(line)
          record.isLocal = isLocal
          if query.matches(record) { found.append(record) }
        } catch {
          let file = StoreLayout.shardFile(shard, isLocal: isLocal)
          let number = unsafe lines.number(at: offset, in: buffer)
          problems.append(IndexProblem(file: file, problem: .badLine(number: number, error)))
        }
      }
    }
  }

  /// Adds a cached record if it matches.
  mutating func scan(_ record: ItemRecord) {
    if query.matches(record) { found.append(record) }
  }

  /// Reports a cached damaged line if it could have matched.
  mutating func scan(_ line: DamagedLine) {
    var isCandidate = query.reportsAllDamage
    unsafe line.bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: plan.needles) { _, _ in isCandidate = true }
    }
    if isCandidate { problems.append(line.problem) }
  }

  /// Returns an empty collector for a part of the same search.
  func withoutMatches() -> MatchCollector { MatchCollector(query: query, plan: plan) }

  /// Appends the matches of another collector for the same query.
  mutating func append(_ other: MatchCollector) {
    found += other.found
    problems += other.problems
    statistics.shardsRead += other.statistics.shardsRead
    statistics.linesParsed += other.statistics.linesParsed
  }

  /// Returns the result: one record for each path, in the order of creation, up to the query's limit.
  func finish() -> Matches {
    let records = Self.removingDuplicates(found)
    // Numbers are sorted instead of records, which are large. The path decides only between equal times.
    var order = records.indices.sorted { records[$0].created < records[$1].created }
    var start = 0
    while start < order.count {
      var end = start + 1
      while end < order.count, records[order[end]].created == records[order[start]].created { end += 1 }
      if end - start > 1 {
        let paths = order[start..<end].map { (path: records[$0].path, number: $0) }
        order.replaceSubrange(start..<end, with: paths.sorted { $0.path < $1.path }.map(\.number))
      }
      start = end
    }
    switch query.limit {
    case .one: order = Array(order.prefix(1))
    case .count(let count): order = Array(order.prefix(count))
    case .all: break
    }
    return Matches(items: order.map { records[$0] }, problems: problems, statistics: statistics)
  }

  /// Removes duplicate records for a path, which a merge by plain git may leave. Until the index is rebuilt, the record
  /// that was modified last is used.
  private static func removingDuplicates(_ records: [ItemRecord]) -> [ItemRecord] {
    // The first use of a dictionary with integers as keys makes the runtime search all protocol conformances.
    if records.count < 2 { return records }
    // Two records with the same path have the same name. Computing a path takes longer than hashing a name, so it is
    // computed only for records with the same hash.
    var numbers: [Int: [Int]] = [:]
    var first: [Int: Int] = [:]
    first.reserveCapacity(records.count)
    var removed: Set<Int> = []
    // Numbers are used instead of records, because copying a record takes longer than hashing its name.
    for number in records.indices {
      let hash = records[number].nameHash
      guard let other = first[hash] else {
        first[hash] = number
        continue
      }
      let record = records[number]
      let same = numbers[hash, default: [other]]
      let double = same.first { candidate in
        records[candidate].path == record.path && records[candidate].isLocal == record.isLocal
      }
      guard let double else {
        numbers[hash] = same + [number]
        continue
      }
      let isNewer = record.modified > records[double].modified
      removed.insert(isNewer ? double : number)
      if isNewer { numbers[hash] = same.filter { $0 != double } + [number] }
    }
    if removed.isEmpty { return records }
    return records.indices.filter { !removed.contains($0) }.map { records[$0] }
  }
}

extension ItemRecord {
  /// A number that is the same for records with the same path.
  fileprivate var nameHash: Int {
    var hasher = Hasher()
    for name in itemClass.containerNames { attributes[name]?.hashContent(into: &hasher) }
    attributes[.account]?.hashContent(into: &hasher)
    return hasher.finalize()
  }
}

extension AttributeValue {
  /// Hashes the bytes of text, which are the same in both forms of text.
  fileprivate func hashContent(into hasher: inout Hasher) {
    switch self {
    case .string(var text): text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .bytes(let bytes): unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    case .integer, .boolean, .date: break
    }
  }
}
