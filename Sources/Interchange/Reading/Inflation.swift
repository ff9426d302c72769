internal import CSystem
internal import CZlib
internal import Glibc
internal import Secrets

/// Decompression with zlib, with wiped memory for the result and for zlib's own state.
package struct Inflation: Sendable {
  private let zlib: keytree_zlib

  /// Loads zlib.
  ///
  /// - Throws: `notInstalled`.
  package init() throws(SourceError) {
    var zlib = keytree_zlib()
    guard unsafe keytree_zlib_load(ImportLibrary.zlib.fileName, &zlib) == 1 else {
      throw .notInstalled(.zlib)
    }
    self.zlib = zlib
  }

  /// Unpacks a raw deflate stream (RFC 1951).
  ///
  /// - Parameters:
  ///   - packed: exactly the whole stream.
  ///   - size: the exact size of the result in bytes.
  /// - Throws: `damaged`.
  func unpack(_ packed: SecretSlice, size: Int) throws(ArchiveProblem) -> SecretBytes {
    guard let content = run(packed, room: size, windowBits: -MAX_WBITS), content.count == size else {
      throw .damaged
    }
    return content
  }

  /// Unpacks a gzip stream (RFC 1952), which contains its own checksum.
  ///
  /// - Parameter limit: the largest accepted number of bytes.
  /// - Returns: nil if it is not a valid stream, or the result is larger.
  func gunzip(_ packed: SecretSlice, limit: Int) -> SecretBytes? {
    run(packed, room: limit, windowBits: MAX_WBITS + 16)
  }

  /// Returns the CRC-32 of some bytes.
  func checksum(of bytes: borrowing SecretBytes) -> UInt32 {
    unsafe bytes.withBytes { bytes in
      unsafe UInt32(zlib.crc32(0, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(bytes.count)))
    }
  }

  private func run(_ packed: SecretSlice, room: Int, windowBits: Int32) -> SecretBytes? {
    var stream = unsafe z_stream()
    // zlib keeps the last 32 KiB of the unpacked data.
    unsafe stream.zalloc = { _, count, size in unsafe calloc(Int(count), Int(size)) }
    unsafe stream.zfree = { _, block in unsafe keytree_release(block) }
    guard
      unsafe zlib.inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { _ = unsafe zlib.inflateEnd(&stream) }
    var content = SecretBytes()
    // One byte more than the limit shows that the result is too large.
    let status = unsafe packed.withBytes { input -> Int32 in
      // zlib does not write to its input.
      let source = unsafe UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
      unsafe stream.next_in = source
      unsafe stream.avail_in = UInt32(input.count)
      var status = Z_OK
      while status == Z_OK, content.count <= room {
        let chunk = min(max(room + 1 - content.count, 1), 1 << 20)
        _ = unsafe content.append(room: chunk) { output in
          unsafe stream.next_out = output.bindMemory(to: UInt8.self).baseAddress
          unsafe stream.avail_out = UInt32(output.count)
          status = unsafe zlib.inflate(&stream, Z_NO_FLUSH)
          return unsafe output.count - Int(stream.avail_out)
        }
      }
      return status
    }
    guard status == Z_STREAM_END, unsafe stream.avail_in == 0, content.count <= room else { return nil }
    return content
  }
}
