internal import CSystem
internal import Glibc

/// Searches byte strings many bytes at a time.
package enum ByteSearch {
  /// Returns the offset of the first `needle` in `bytes` at or after `start`, or nil.
  package static func first(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    unsafe first(needle, ignoringCase: false, in: bytes, from: start)
  }

  /// Returns the offset of the first occurrence of a text at or after `start`, or nil. ASCII letters match in either
  /// case.
  ///
  /// - Parameter text: the text, without upper-case ASCII letters.
  package static func first(
    ignoringCase text: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    unsafe first(text, ignoringCase: true, in: bytes, from: start)
  }

  private static func first(
    _ text: [UInt8], ignoringCase: Bool, in bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    guard !text.isEmpty else { return start <= bytes.count ? start : nil }
    guard let base = bytes.baseAddress, start < bytes.count else { return nil }
    let (rarest, second) = rarest(in: text)
    let found = unsafe keytree_search(
      base + start, bytes.count - start, text, text.count, rarest, second, ignoringCase ? 1 : 0)
    return unsafe found.map { unsafe $0 - base }
  }

  /// Returns the offset of the first `byte` in `bytes` at or after `start`, or nil (memchr).
  package static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count else { return nil }
    let found = unsafe memchr(base + start, CInt(byte), bytes.count - start)
    return unsafe found.map { unsafe UnsafeRawPointer($0) - base }
  }

  /// Returns the positions of the two bytes of a text that are rarest in other texts; twice the same one if the text has
  /// only one byte.
  private static func rarest(in text: [UInt8]) -> (Int, Int) {
    var (first, second) = (0, min(1, text.count - 1))
    var (firstRank, secondRank) = (rank(text[first]), rank(text[second]))
    if secondRank < firstRank {
      (first, second, firstRank, secondRank) = (second, first, secondRank, firstRank)
    }
    for index in text.indices.dropFirst(2) {
      let rank = rank(text[index])
      if rank < firstRank {
        (second, secondRank) = (first, firstRank)
        (first, firstRank) = (index, rank)
      } else if rank < secondRank {
        (second, secondRank) = (index, rank)
      }
    }
    return (first, second)
  }

  /// Returns the rank of a byte, roughly by its frequency in names, addresses and JSON: the lowest is the rarest.
  private static func rank(_ byte: UInt8) -> Int { commonBytes.firstIndex(of: byte).map { $0 + 1 } ?? 0 }

  /// Frequent bytes, the rarest first.
  private static let commonBytes = Array("@_-wfvybkgphmdulr.n3sio5t7c294861a0e:,\"".utf8)

  /// Returns the offset of the last `byte` at or after `start` and before `end`, or nil (memrchr).
  package static func last(
    _ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int, before end: Int
  ) -> Int? {
    guard let base = bytes.baseAddress, start < end else { return nil }
    let found = unsafe keytree_memrchr(base + start, byte, end - start)
    return unsafe found.map { unsafe $0 - base }
  }

  /// Returns true if `whole` contains `part`. An empty part is always contained.
  package static func contains(_ whole: [UInt8], _ part: [UInt8]) -> Bool {
    if part.isEmpty { return true }
    return unsafe whole.span.withUnsafeBytes { unsafe first(part, in: $0, from: 0) != nil }
  }
}
