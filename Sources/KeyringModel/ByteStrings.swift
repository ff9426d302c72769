internal import CSystem

/// Several byte strings that are sought at once.
struct ByteStrings: Sendable {
  private let bytes: [UInt8]
  private let needles: [keytree_needle]

  /// - Parameter strings: What is sought; an empty one is found nowhere.
  init(_ strings: [[UInt8]]) {
    var bytes: [UInt8] = []
    needles = strings.filter { !$0.isEmpty }.map { string in
      defer { bytes += string }
      let (first, second) = Self.mostSeldom(in: string)
      return keytree_needle(start: bytes.count, count: string.count, first: first, second: second)
    }
    self.bytes = bytes
  }

  /// The offset at or after `start` where the first of them begins in `text`, or nil.
  func first(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = text.baseAddress, start < text.count else { return nil }
    let place = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe needles.withUnsafeBufferPointer { needles in
        unsafe keytree_search(
          base.assumingMemoryBound(to: UInt8.self), text.count, start, bytes.baseAddress,
          needles.baseAddress, needles.count)
      }
    }
    return place < text.count ? place : nil
  }

  /// The offsets of the two bytes that are the most seldom in lines of the index; twice the same for a single byte.
  private static func mostSeldom(in string: [UInt8]) -> (Int, Int) {
    var (first, second) = (0, string.count - 1)
    for (offset, byte) in string.enumerated() {
      if ranks[Int(byte)] < ranks[Int(string[first])] {
        (first, second) = (offset, first)
      } else if offset != first, second == first || ranks[Int(byte)] < ranks[Int(string[second])] {
        second = offset
      }
    }
    return (first, second)
  }

  /// How common each byte is in lines of the index, from 0; only the order counts.
  private static let ranks: [UInt8] = {
    var ranks = [UInt8](repeating: 0, count: 256)
    // As counted in an index of ordinary names, the most seldom first.
    let order = "LGVKW_BDCJHNXOPSRQAYIUEqz/jFy}{kMhxgwvZTmupbn-f79l86543,tsoicrd1a0:2e\""
    for (rank, byte) in order.utf8.enumerated() { ranks[Int(byte)] = UInt8(rank + 1) }
    return ranks
  }()
}
