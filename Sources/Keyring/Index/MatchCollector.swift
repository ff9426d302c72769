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
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: plan.needles) { line, offset in
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
    var isCandidate = false
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
    var items = Self.removingDuplicates(found)
    items.sort { left, right in
      left.created == right.created ? left.path < right.path : left.created < right.created
    }
    switch query.limit {
    case .one: items = Array(items.prefix(1))
    case .count(let count): items = Array(items.prefix(count))
    case .all: break
    }
    return Matches(items: items, problems: problems, statistics: statistics)
  }

  /// Removes duplicate records for a path, which a merge by plain git may leave. Until the index is rebuilt, the record
  /// that was modified last is used.
  private static func removingDuplicates(_ records: [ItemRecord]) -> [ItemRecord] {
    var positions: [String: Int] = [:]
    var result: [ItemRecord] = []
    for record in records {
      let file = StoreLayout.itemFile(record.path, isLocal: record.isLocal)
      if let position = positions[file] {
        if record.modified > result[position].modified { result[position] = record }
        continue
      }
      positions[file] = result.count
      result.append(record)
    }
    return result
  }
}
