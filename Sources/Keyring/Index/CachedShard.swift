internal import FileSystem
internal import KeyringModel

/// One shard of the index as it was read: its records, and a lookup table for exact values.
final class CachedShard: Sendable {
  /// The stamp of the file before it was read.
  let stamp: FileStamp
  /// True if the file could have changed since it was read and still have the same stamp.
  let isFresh: Bool
  /// The records, in the order of their lines.
  let records: [ItemRecord]
  /// The lines that cannot be read, in order.
  let damaged: [DamagedLine]
  /// Sorted pairs without duplicates: a key in the upper 32 bits, the position of a record in the lower 32 bits.
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

  /// The keys of all records, in ascending order.
  var keys: some Sequence<UInt32> { places.lazy.map { UInt32($0 >> 32) } }

  /// Passes the records that can match to the collector, in order.
  ///
  /// - Parameter wanted: The keys that a record must have to match.
  func scan(_ wanted: [UInt32], into collector: inout MatchCollector) {
    for line in damaged { collector.scan(line) }
    guard let shortest = wanted.map(range).min(by: { $0.count < $1.count }) else {
      for record in records { collector.scan(record) }
      return
    }
    for place in places[shortest] { collector.scan(records[Int(place & 0xffff_ffff)]) }
  }

  /// Returns the range of `places` that belongs to a key.
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
  /// The bytes of the line, with its line feed if it has one.
  let bytes: [UInt8]
  let problem: IndexProblem
}
