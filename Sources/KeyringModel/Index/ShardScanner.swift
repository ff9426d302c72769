internal import Encoding

/// Finds the lines of a shard that may match a query without parsing the others.
package enum ShardScanner {
  /// Calls `body` with every candidate line, in file order.
  ///
  /// A line is a candidate if one spelling of every needle occurs in it (`Needle.spellings`). A last line without a line
  /// feed is also a candidate, because the text may be in the missing part.
  ///
  /// - Parameters:
  ///   - shard: The bytes of the shard file.
  ///   - needles: The byte strings that have to occur. Without needles every line is a candidate. The first needle
  ///     should be the rarest.
  ///   - body: Takes a line without its line feed, valid only during the call, and the offset of its start.
  /// - Throws: The errors of `body`.
  package static func candidates<E: Error>(
    in shard: UnsafeRawBufferPointer, needles: [Needle],
    body: (UnsafeRawBufferPointer, _ offset: Int) throws(E) -> Void
  ) throws(E) {
    // The first needle is searched for in the whole shard, the others only in the lines that contain it.
    var hits = needles.first.map { unsafe Hits(of: $0, in: shard) }
    let others = needles.dropFirst()
    let cutOff = unsafe startOfCutOffLine(in: shard) ?? .max
    var start = 0
    while start < shard.count {
      if hits != nil {
        let hit = unsafe min(hits?.next(from: start, in: shard) ?? .max, cutOff)
        guard hit < .max else { return }
        start = unsafe ByteSearch.last(newline, in: shard, from: start, before: hit).map { $0 + 1 } ?? start
      }
      let end = unsafe ByteSearch.first(newline, in: shard, from: start) ?? shard.count
      let line = unsafe UnsafeRawBufferPointer(rebasing: shard[start..<end])
      if unsafe start == cutOff || isCandidate(line, others) { unsafe try body(line, start) }
      start = end + 1
    }
  }

  /// Returns the start of a last line without a line feed; nil if the last line is complete.
  private static func startOfCutOffLine(in shard: UnsafeRawBufferPointer) -> Int? {
    guard let last = unsafe shard.last, last != newline else { return nil }
    return unsafe ByteSearch.last(newline, in: shard, from: 0, before: shard.count).map { $0 + 1 } ?? 0
  }

  /// A counter that returns the numbers of lines in a shard, in ascending order. All calls together take one pass over
  /// the shard, however many there are (threat T46).
  package struct LineCounter {
    private var offset = 0
    private var number = 1

    package init() {}

    /// Returns the number of the line that starts at an offset, from 1.
    ///
    /// - Parameters:
    ///   - offset: The offset of the line's start; not less than in the previous call.
    ///   - shard: The bytes of the shard file, the same each time.
    package mutating func number(at offset: Int, in shard: UnsafeRawBufferPointer) -> Int {
      precondition(offset >= self.offset)
      number += unsafe shard[self.offset..<offset].count { $0 == newline }
      self.offset = offset
      return number
    }
  }

  private static let newline = UInt8(ascii: "\n")

  private static func isCandidate(_ line: UnsafeRawBufferPointer, _ needles: ArraySlice<Needle>) -> Bool {
    needles.allSatisfy { needle in
      unsafe needle.spellings.contains { unsafe needle.first($0, in: line, from: 0) != nil }
        || placeOfBytes(of: needle, in: line, from: 0) != nil
    }
  }

  /// The next occurrence of each spelling. Each occurrence is searched for only once.
  private struct Hits {
    private let needle: Needle
    private var places: [Int]
    private var bytes: Int

    init(of needle: Needle, in shard: UnsafeRawBufferPointer) {
      self.needle = needle
      places = needle.spellings.map { unsafe needle.first($0, in: shard, from: 0) ?? .max }
      bytes = unsafe placeOfBytes(of: needle, in: shard, from: 0) ?? .max
    }

    /// Returns the first occurrence at or after `start`, or nil.
    mutating func next(from start: Int, in shard: UnsafeRawBufferPointer) -> Int? {
      if bytes < start { bytes = unsafe placeOfBytes(of: needle, in: shard, from: start) ?? .max }
      var first = bytes
      for (index, spelling) in needle.spellings.enumerated() {
        if places[index] < start {
          places[index] = unsafe needle.first(spelling, in: shard, from: start) ?? .max
        }
        first = min(first, places[index])
      }
      return first == .max ? nil : first
    }
  }

  /// Returns the offset of the next key `base64` with a value that the needle accepts.
  private static func placeOfBytes(
    of needle: Needle, in shard: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    guard needle.acceptsBytes || !needle.bytesForms.isEmpty else { return nil }
    var position = start
    while let key = unsafe ByteSearch.first(bytesKey, in: shard, from: position) {
      if needle.acceptsBytes { return key }
      position = key + bytesKey.count
      let colon = unsafe afterSpaces(in: shard, from: position)
      guard colon < shard.count, unsafe shard[colon] == UInt8(ascii: ":") else { continue }
      let value = unsafe shard[afterSpaces(in: shard, from: colon + 1)...]
      for form in needle.bytesForms where unsafe value.starts(with: form) { return key }
    }
    return nil
  }

  private static func afterSpaces(in shard: UnsafeRawBufferPointer, from start: Int) -> Int {
    var position = start
    while position < shard.count, unsafe isSpace(shard[position]) { position += 1 }
    return position
  }

  private static let bytesKey = Array("\"base64\"".utf8)

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
