internal import KeyringModel

/// Gathers matching lines, settles doubles, sorts and cuts them to the query's limit.
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

  /// Takes the matching lines of one shard.
  mutating func scan(_ bytes: [UInt8], shard: UInt8, isLocal: Bool) {
    statistics.shardsRead += 1
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: plan.needles) { line, offset in
        statistics.linesParsed += 1
        do throws(IndexLineError) {
          var record = try unsafe IndexLine.parse(line)
          record.isLocal = isLocal
          if query.matches(record) { found.append(record) }
        } catch {
          let file = StoreLayout.shardFile(shard, isLocal: isLocal)
          let number = unsafe ShardScanner.lineNumber(at: offset, in: buffer)
          problems.append(IndexProblem(file: file, problem: .badLine(number: number, error)))
        }
      }
    }
  }

  /// Takes a record that was read before, if it matches.
  mutating func scan(_ record: ItemRecord) {
    if query.matches(record) { found.append(record) }
  }

  /// Takes a line that could not be read before, if it could have matched.
  mutating func scan(_ line: DamagedLine) {
    var isCandidate = false
    unsafe line.bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: plan.needles) { _, _ in isCandidate = true }
    }
    if isCandidate { problems.append(line.problem) }
  }

  /// A collector for a part of the same search.
  func withoutMatches() -> MatchCollector { MatchCollector(query: query, plan: plan) }

  /// Takes what another collector has gathered for the same query, behind what is here.
  mutating func append(_ other: MatchCollector) {
    found += other.found
    problems += other.problems
    statistics.shardsRead += other.statistics.shardsRead
    statistics.linesParsed += other.statistics.linesParsed
  }

  /// The answer: one record for each item, in the order of creation, as many as were asked for.
  mutating func finish(in tree: FileTree) throws(KeyringError) -> Matches {
    var items = try settleDoubles(found, in: tree)
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

  /// Plain git may leave two lines for one item beside each other: the one that describes the item's file
  /// is right; where neither does, the newer one speaks until `check --repair`. Two items that both describe
  /// their files are both there, also when one was made from the other and has its id.
  private func settleDoubles(_ records: [ItemRecord], in tree: FileTree) throws(KeyringError) -> [ItemRecord]
  {
    var byID: [ItemID: Int] = [:]
    var byFile: [String: Int] = [:]
    var result: [ItemRecord] = []
    for record in records {
      let file = StoreLayout.itemFile(record.path, isLocal: record.isLocal)
      if let position = byFile[file] ?? byID[record.id] {
        let isRight = try describesItsFile(record, in: tree)
        if try describesItsFile(result[position], in: tree) {
          if byFile[file] != nil || !isRight { continue }
        } else {
          if isRight || record.modified > result[position].modified {
            result[position] = record
            byFile[file] = position
          }
          continue
        }
      }
      byID[record.id] = result.count
      byFile[file] = result.count
      result.append(record)
    }
    return result
  }

  private func describesItsFile(_ record: ItemRecord, in tree: FileTree) throws(KeyringError) -> Bool {
    do throws(FileError) {
      let file = StoreLayout.itemFile(record.path, isLocal: record.isLocal)
      guard let bytes = try tree.read(file, limit: StoreLayout.sealedItemLimit) else { return false }
      return ContentDigest(of: bytes) == record.sealed
    } catch {
      // A link or a folder in place of the file: the line does not describe it. `check` reports it.
      if case .system = error.reason { throw .file(error) }
      return false
    }
  }
}
