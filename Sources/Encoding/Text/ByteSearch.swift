internal import CSystem
internal import Glibc

/// Searches byte strings with the C library, which compares many bytes at a time.
package enum ByteSearch {
  /// Returns the offset of the first `needle` in `bytes` at or after `start`, or nil (memmem).
  package static func first(_ needle: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count else { return nil }
    let found = unsafe keytree_memmem(base + start, bytes.count - start, needle, needle.count)
    return unsafe found.map { unsafe $0 - base }
  }

  /// Returns the offset of the first `byte` in `bytes` at or after `start`, or nil (memchr).
  package static func first(_ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard let base = bytes.baseAddress, start < bytes.count else { return nil }
    let found = unsafe memchr(base + start, CInt(byte), bytes.count - start)
    return unsafe found.map { unsafe UnsafeRawPointer($0) - base }
  }

  /// Returns the offset of the first occurrence of a text at or after `start`, or nil. ASCII letters match in either
  /// case.
  ///
  /// - Parameter text: the text, without upper-case ASCII letters.
  package static func first(
    ignoringCase text: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    guard !text.isEmpty else { return start <= bytes.count ? start : nil }
    // The search looks for the byte of the text that is rarest in other texts, and then compares the whole text.
    let rarest = text.indices.min { rank(text[$0]) < rank(text[$1]) } ?? 0
    let end = bytes.count - (text.count - rarest) + 1
    let (lower, upper) = (text[rarest], isLetter(text[rarest]) ? text[rarest] & 0xDF : text[rarest])
    var position = start + rarest
    // Each byte is searched at most twice, however often one of the two cases occurs.
    var nextLower = -1
    while position < end {
      if nextLower < position {
        nextLower = unsafe first(lower, in: bytes, from: position, before: end) ?? end
      }
      var hit = nextLower
      if upper != lower {
        hit = unsafe first(upper, in: bytes, from: position, before: nextLower) ?? nextLower
      }
      guard hit < end else { return nil }
      if unsafe matches(text, ignoringCaseOf: bytes, at: hit - rarest) { return hit - rarest }
      position = hit + 1
    }
    return nil
  }

  private static func first(
    _ byte: UInt8, in bytes: UnsafeRawBufferPointer, from start: Int, before end: Int
  ) -> Int? {
    guard let base = bytes.baseAddress, start < end else { return nil }
    let found = unsafe memchr(base + start, CInt(byte), end - start)
    return unsafe found.map { unsafe UnsafeRawPointer($0) - base }
  }

  private static func matches(
    _ text: [UInt8], ignoringCaseOf bytes: UnsafeRawBufferPointer, at start: Int
  ) -> Bool {
    for index in text.indices {
      let byte = unsafe bytes[start + index]
      if byte != text[index], !(isLetter(text[index]) && byte | 0x20 == text[index]) { return false }
    }
    return true
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
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
