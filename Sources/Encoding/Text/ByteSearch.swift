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
