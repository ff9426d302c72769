internal import Encoding

/// Finds the lines of a shard that may match a query without parsing the others.
package enum ShardScanner {
  /// Hands every candidate line to `body`, in the order of the file.
  ///
  /// A line is a candidate when one alternative of every needle occurs in it, or when it holds a backslash:
  /// then the text that is sought may be written with escapes. So is a last line without a line feed: what was
  /// cut off may have held what is sought.
  ///
  /// - Parameters:
  ///   - shard: The bytes of the shard file.
  ///   - needles: What has to occur; with no needle every line is a candidate. The first
  ///     should be the rarest.
  ///   - body: Takes a line without its line feed, valid only during the call, and where it starts.
  /// - Throws: What `body` throws.
  package static func candidates<E: Error>(
    in shard: UnsafeRawBufferPointer, needles: [Needle],
    body: (UnsafeRawBufferPointer, _ offset: Int) throws(E) -> Void
  ) throws(E) {
    // The first needle goes over the whole shard, the others only over the lines that it finds.
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

  /// Numbers the lines of a shard in the order in which they come. All numbers together cost one pass over the shard,
  /// however many there are (threat T46).
  package struct LineCounter {
    private var offset = 0
    private var number = 1

    package init() {}

    /// Returns the number of the line that starts at an offset, from 1.
    ///
    /// - Parameters:
    ///   - offset: Where the line starts; not before the line that was asked for last.
    ///   - shard: The bytes of the shard file, the same each time.
    package mutating func number(at offset: Int, in shard: UnsafeRawBufferPointer) -> Int {
      precondition(offset >= self.offset)
      number += unsafe shard[self.offset..<offset].count { $0 == newline }
      self.offset = offset
      return number
    }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let backslash = UInt8(ascii: "\\")

  private static func isCandidate(_ line: UnsafeRawBufferPointer, _ needles: ArraySlice<Needle>) -> Bool {
    let hasAll = needles.allSatisfy { needle in
      unsafe needle.alternatives.contains { unsafe ByteSearch.first($0, in: line, from: 0) != nil }
        || placeOfBytes(of: needle, in: line, from: 0) != nil
    }
    return unsafe hasAll || ByteSearch.first(backslash, in: line, from: 0) != nil
  }

  /// The next place of each alternative and of the next backslash; each is searched for once.
  private struct Hits {
    private let needle: Needle
    private var places: [Int]
    private var bytes: Int
    private var escape: Int

    init(of needle: Needle, in shard: UnsafeRawBufferPointer) {
      self.needle = needle
      places = needle.alternatives.map { unsafe ByteSearch.first($0, in: shard, from: 0) ?? .max }
      bytes = unsafe placeOfBytes(of: needle, in: shard, from: 0) ?? .max
      escape = unsafe ByteSearch.first(backslash, in: shard, from: 0) ?? .max
    }

    /// The first place at or after `start`, or nil.
    mutating func next(from start: Int, in shard: UnsafeRawBufferPointer) -> Int? {
      if escape < start { escape = unsafe ByteSearch.first(backslash, in: shard, from: start) ?? .max }
      if bytes < start { bytes = unsafe placeOfBytes(of: needle, in: shard, from: start) ?? .max }
      var first = min(escape, bytes)
      for (index, alternative) in needle.alternatives.enumerated() {
        if places[index] < start {
          places[index] = unsafe ByteSearch.first(alternative, in: shard, from: start) ?? .max
        }
        first = min(first, places[index])
      }
      return first == .max ? nil : first
    }
  }

  /// The place of the next object that starts with the key `base64` and holds what the needle accepts.
  ///
  /// Few braces open in a shard, and jumping from one to the next takes a third of the time of searching for
  /// the key, or for a long value.
  private static func placeOfBytes(
    of needle: Needle, in shard: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    guard needle.acceptsBytes || !needle.bytesForms.isEmpty else { return nil }
    var position = start
    while let brace = unsafe ByteSearch.first(UInt8(ascii: "{"), in: shard, from: position) {
      position = brace + 1
      let key = unsafe afterSpaces(in: shard, from: position)
      guard unsafe shard[key...].starts(with: bytesKey) else { continue }
      if needle.acceptsBytes { return brace }
      let colon = unsafe afterSpaces(in: shard, from: key + bytesKey.count)
      guard colon < shard.count, unsafe shard[colon] == UInt8(ascii: ":") else { continue }
      let value = unsafe shard[afterSpaces(in: shard, from: colon + 1)...]
      for form in needle.bytesForms where unsafe value.starts(with: form) { return brace }
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
