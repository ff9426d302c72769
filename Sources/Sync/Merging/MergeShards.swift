internal import Keyring
internal import KeyringModel

/// The shards that a merge concerns, on both sides and where they come from.
struct MergeShards {
  /// Which shards.
  let numbers: Set<UInt8>
  /// The items of the bases; of several bases all of them.
  private(set) var base: [ItemRecord] = []
  /// The items of our side.
  private(set) var ours: [ItemRecord] = []
  /// The items of their side.
  private(set) var theirs: [ItemRecord] = []

  private var files: [UInt8: [UInt8]] = [:]
  /// Those that their side has a file of, be it empty.
  private var known: Set<UInt8> = []
  private var badLines: [UInt8: [[UInt8]]] = [:]

  /// Reads shards of commits.
  init(
    _ numbers: Set<UInt8>, bases: [String], ours: String, theirs: String, prefix: String,
    _ objects: ObjectReader
  ) throws(SyncError) {
    self.numbers = numbers
    func name(_ commit: String, _ number: UInt8) -> String {
      "\(commit):\(prefix)\(StoreLayout.shardFile(number, isLocal: false))"
    }
    let contents = try objects.contents(
      of: numbers.sorted().flatMap { number in (bases + [ours, theirs]).map { name($0, number) } })
    for number in numbers.sorted() {
      func shard(_ commit: String) -> Shard {
        Shard(parsing: contents[name(commit, number)] ?? [], number: number)
      }
      let old = bases.map(shard)
      let (mine, other) = (shard(ours), shard(theirs))
      base += old.flatMap(\.records)
      self.ours += mine.records
      self.theirs += other.records
      files[number] = contents[name(ours, number)]
      if contents[name(theirs, number)] != nil { known.insert(number) }
      badLines[number] = Self.badLines(old.flatMap(\.badLines), mine.badLines, other.badLines)
    }
  }

  /// The files of the index that are not any more what our side has.
  ///
  /// - Parameter records: The items of the result.
  /// - Returns: The bytes by the path in the store; an empty file stays.
  /// - Throws: `indexRefused`.
  func merged(_ records: [ItemRecord]) throws(SyncError) -> [String: [UInt8]] {
    var shards: [UInt8: Shard] = [:]
    for number in numbers { shards[number] = Shard(parsing: [], number: number) }
    for record in records {
      let number = record.path.shard
      do throws(ShardError) {
        try shards[number]?.put(record)
      } catch {
        throw .indexRefused(file: StoreLayout.shardFile(number, isLocal: false), error)
      }
    }
    var result: [String: [UInt8]] = [:]
    for (number, shard) in shards {
      var bytes = shard.encode()
      for line in badLines[number] ?? [] { bytes += line + [UInt8(ascii: "\n")] }
      let isNew = files[number] == nil && (known.contains(number) || !bytes.isEmpty)
      guard isNew || files[number].map({ $0 != bytes }) ?? false else { continue }
      result[StoreLayout.shardFile(number, isLocal: false)] = bytes
    }
    return result
  }

  /// Lines that nobody can read: those that a side has taken out are gone, all others stay.
  static func badLines(
    _ base: [[UInt8]], _ ours: [[UInt8]], _ theirs: [[UInt8]]
  ) -> [[UInt8]] {
    var result: [[UInt8]] = []
    for line in ours + theirs where !result.contains(line) {
      if base.contains(line), !(ours.contains(line) && theirs.contains(line)) { continue }
      result.append(line)
    }
    return result
  }
}

extension Shard {
  /// The lines that cannot be read.
  var badLines: [[UInt8]] { lines.filter { $0.record == nil }.map(\.bytes) }
}
