/// Finds the lines of a shard that may match a query without parsing the others.
package struct ShardScanner: Sendable {
  /// What is sought in whole shards; nil takes every line.
  private let first: ByteStrings?
  /// What is sought in the lines that were found so.
  private let others: [ByteStrings]

  /// - Parameter needles: What has to occur; with no needle every line is a candidate. The first should be the
  ///   rarest.
  package init(_ needles: [Needle]) {
    first = needles.first.map { ByteStrings(Self.strings(of: $0) + [[Self.backslash]]) }
    others = needles.dropFirst().map { ByteStrings(Self.strings(of: $0)) }
  }

  /// Hands every candidate line to `body`, in the order of the file.
  ///
  /// A line is a candidate when one alternative of every needle occurs in it, or when it holds a backslash:
  /// then the text that is sought may be written with escapes. So is a last line without a line feed: what was
  /// cut off may have held what is sought.
  ///
  /// - Parameters:
  ///   - shard: The bytes of the shard file.
  ///   - body: Takes a line without its line feed, valid only during the call, and where it starts.
  /// - Throws: What `body` throws.
  package func candidates<E: Error>(
    in shard: UnsafeRawBufferPointer, body: (UnsafeRawBufferPointer, _ offset: Int) throws(E) -> Void
  ) throws(E) {
    let cutOff = unsafe Self.startOfCutOffLine(in: shard) ?? .max
    var start = 0
    while start < shard.count {
      if let first {
        let hit = unsafe min(first.first(in: shard, from: start) ?? .max, cutOff)
        guard hit < .max else { return }
        start = unsafe ByteSearch.last(Self.newline, in: shard, from: start, before: hit).map { $0 + 1 } ?? start
      }
      let end = unsafe ByteSearch.first(Self.newline, in: shard, from: start) ?? shard.count
      let line = unsafe UnsafeRawBufferPointer(rebasing: shard[start..<end])
      if unsafe start == cutOff || isCandidate(line) { unsafe try body(line, start) }
      start = end + 1
    }
  }

  /// Where a last line without a line feed starts; nil when the last line is whole.
  private static func startOfCutOffLine(in shard: UnsafeRawBufferPointer) -> Int? {
    guard let last = unsafe shard.last, last != newline else { return nil }
    return unsafe ByteSearch.last(newline, in: shard, from: 0, before: shard.count).map { $0 + 1 } ?? 0
  }

  /// The number of the line that starts at an offset, from 1.
  package static func lineNumber(at offset: Int, in shard: UnsafeRawBufferPointer) -> Int {
    unsafe shard.prefix(offset).count { $0 == newline } + 1
  }

  private static let newline = UInt8(ascii: "\n")
  private static let backslash = UInt8(ascii: "\\")

  /// What is sought for a needle. The key of an object that holds bytes stands for all such values.
  private static func strings(of needle: Needle) -> [[UInt8]] {
    needle.alternatives + (needle.acceptsBytes ? [Array("\"base64\"".utf8)] : [])
  }

  private func isCandidate(_ line: UnsafeRawBufferPointer) -> Bool {
    unsafe others.allSatisfy { unsafe $0.first(in: line, from: 0) != nil }
      || ByteSearch.first(Self.backslash, in: line, from: 0) != nil
  }
}
