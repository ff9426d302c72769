internal import FileSystem
internal import KeyringModel

/// One file of the index as it was read: its records, and where to find them by exact values.
final class CachedShard: Sendable {
  /// What the file was before it was read.
  let stamp: FileStamp
  /// Whether the file could have changed since without another stamp.
  let isFresh: Bool
  /// The records in the order of the lines.
  let records: [ItemRecord]
  /// The lines that cannot be read, in their order.
  let damaged: [DamagedLine]
  /// A key in the upper half, the position of a record in the lower one; sorted, each once.
  private let places: [UInt64]

  init(parsing bytes: [UInt8], file: String, isLocal: Bool, stamp: FileStamp, isFresh: Bool) {
    var records: [ItemRecord] = []
    var damaged: [DamagedLine] = []
    var places: [UInt64] = []
    var lines = ShardScanner.LineCounter()
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe ShardScanner.candidates(in: buffer, needles: []) { line, offset in
        do throws(IndexLineError) {
          var record = try unsafe IndexLine.parse(line)
          record.isLocal = isLocal
          places += ExactKey.all(of: record).map { UInt64($0) << 32 | UInt64(records.count) }
          records.append(record)
        } catch {
          let number = unsafe lines.number(at: offset, in: buffer)
          let end = min(offset + line.count + 1, buffer.count)
          damaged.append(
            DamagedLine(
              bytes: unsafe Array(buffer[offset..<end]),
              problem: IndexProblem(file: file, problem: .badLine(number: number, error))))
        }
      }
    }
    self.stamp = stamp
    self.isFresh = isFresh
    self.records = records
    self.damaged = damaged
    places.sort()
    self.places = zip(places, places.dropFirst() + [.max]).compactMap { $0 == $1 ? nil : $0 }
  }

  /// The keys of all records, in order.
  var keys: some Sequence<UInt32> { places.lazy.map { UInt32($0 >> 32) } }

  /// Hands the records that can match to the collector, in their order.
  ///
  /// - Parameter wanted: keys that a record must have to match.
  func scan(_ wanted: [UInt32], into collector: inout MatchCollector) {
    for line in damaged { collector.scan(line) }
    guard let shortest = wanted.map(range).min(by: { $0.count < $1.count }) else {
      for record in records { collector.scan(record) }
      return
    }
    for place in places[shortest] { collector.scan(records[Int(place & 0xffff_ffff)]) }
  }

  /// Where the places of a key are.
  private func range(of key: UInt32) -> Range<Int> {
    first(notBelow: UInt64(key) << 32)..<first(notBelow: UInt64(key) << 32 | 0xffff_ffff)
  }

  private func first(notBelow place: UInt64) -> Int {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A line of the index that cannot be read.
struct DamagedLine: Sendable {
  /// Its bytes with its line feed, if it has one.
  let bytes: [UInt8]
  let problem: IndexProblem
}
