/// Finds the lines of a shard that may match a query without parsing the others.
package enum ShardScanner {
  /// Hands every candidate line to `body`, in the order of the file.
  ///
  /// A line is a candidate when one alternative of every needle occurs in it, or when it holds a backslash:
  /// then the text that is sought may be written with escapes.
  ///
  /// - Parameters:
  ///   - shard: The bytes of the shard file.
  ///   - needles: What has to occur; with no needle every line is a candidate. The first
  ///     should be the rarest.
  ///   - body: Takes a line without its line feed, valid only during the call, and its number from 1.
  /// - Throws: What `body` throws.
  package static func candidates<E: Error>(
    in shard: UnsafeRawBufferPointer, needles: [Needle],
    body: (UnsafeRawBufferPointer, Int) throws(E) -> Void
  ) throws(E) {
    // The first needle goes over the whole shard, the others only over the lines that it finds.
    var hits = needles.first.map { unsafe Hits(of: $0, in: shard) }
    let others = needles.dropFirst()
    var start = 0
    var number = 1
    while start < shard.count {
      var lineStart = start
      if hits != nil {
        guard let hit = unsafe hits?.next(from: start, in: shard) else { return }
        // Whole lines before the hit are passed over, but counted.
        while let end = unsafe ByteSearch.first(newline, in: shard, from: lineStart), end < hit {
          lineStart = end + 1
          number += 1
        }
      }
      let end = unsafe ByteSearch.first(newline, in: shard, from: lineStart) ?? shard.count
      let line = unsafe UnsafeRawBufferPointer(rebasing: shard[lineStart..<end])
      if unsafe isCandidate(line, others) { unsafe try body(line, number) }
      start = end + 1
      number += 1
    }
  }

  private static let newline = UInt8(ascii: "\n")
  private static let backslash = UInt8(ascii: "\\")

  private static func isCandidate(_ line: UnsafeRawBufferPointer, _ needles: ArraySlice<Needle>) -> Bool {
    let hasAll = needles.allSatisfy { needle in
      unsafe needle.alternatives.contains { unsafe ByteSearch.first($0, in: line, from: 0) != nil }
        || (needle.acceptsBytes && placeOfBytesForm(in: line, from: 0) != nil)
    }
    return unsafe hasAll || ByteSearch.first(backslash, in: line, from: 0) != nil
  }

  /// The next place of each alternative and of the next backslash; each is searched for once.
  private struct Hits {
    private let alternatives: [[UInt8]]
    private var places: [Int]
    private var bytesForm: Int
    private var escape: Int

    init(of needle: Needle, in shard: UnsafeRawBufferPointer) {
      alternatives = needle.alternatives
      places = alternatives.map { unsafe ByteSearch.first($0, in: shard, from: 0) ?? .max }
      bytesForm = unsafe needle.acceptsBytes ? placeOfBytesForm(in: shard, from: 0) ?? .max : .max
      escape = unsafe ByteSearch.first(backslash, in: shard, from: 0) ?? .max
    }

    /// The first place at or after `start`, or nil.
    mutating func next(from start: Int, in shard: UnsafeRawBufferPointer) -> Int? {
      if escape < start { escape = unsafe ByteSearch.first(backslash, in: shard, from: start) ?? .max }
      if bytesForm < start { bytesForm = unsafe placeOfBytesForm(in: shard, from: start) ?? .max }
      var first = min(escape, bytesForm)
      for (index, alternative) in alternatives.enumerated() {
        if places[index] < start {
          places[index] = unsafe ByteSearch.first(alternative, in: shard, from: start) ?? .max
        }
        first = min(first, places[index])
      }
      return first == .max ? nil : first
    }
  }

  /// The place of the next object that starts with the key `base64`, the form of bytes.
  ///
  /// Few braces open in a shard, and jumping from one to the next takes a third of the time of searching for
  /// the key.
  private static func placeOfBytesForm(in shard: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var position = start
    while let brace = unsafe ByteSearch.first(UInt8(ascii: "{"), in: shard, from: position) {
      var key = brace + 1
      while key < shard.count, unsafe isSpace(shard[key]) { key += 1 }
      if unsafe shard[key...].starts(with: bytesKey) { return brace }
      position = brace + 1
    }
    return nil
  }

  private static let bytesKey = Array("\"base64\"".utf8)

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
