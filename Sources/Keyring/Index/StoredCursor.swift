internal import FileSystem

/// Reads values from bytes that this program has stored below `.keytree`, checking every size.
struct StoredCursor: Sendable {
  private let bytes: [UInt8]
  /// The place of the next value.
  private(set) var offset: Int
  private let end: Int

  /// Creates a cursor for a part of some bytes.
  init(_ bytes: [UInt8], in range: Range<Int>) {
    (self.bytes, offset, end) = (bytes, range.lowerBound, min(range.upperBound, bytes.count))
  }

  /// True if all bytes were read.
  var isAtEnd: Bool { offset >= end }

  /// Reads a number; nil if the bytes end before it does, as for the other methods.
  mutating func number() -> UInt32? {
    guard let start = take(4) else { return nil }
    return (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << (8 * UInt32($1)) }
  }

  /// Reads a text, with the NUL at its end.
  mutating func text() -> ArraySlice<UInt8>? {
    guard let start = take(1), let text = take(Int(bytes[start]) + 1) else { return nil }
    return bytes[offset - 1] == 0 ? bytes[text..<offset] : nil
  }

  /// Reads a stamp.
  mutating func stamp() -> FileStamp? {
    take(FileStamp.storedSize).map { FileStamp(storedIn: bytes, at: $0) }
  }

  /// Reads a digest.
  mutating func digest() -> ContentDigest? {
    guard let start = take(ContentDigest.size) else { return nil }
    return unsafe bytes[start..<offset].withUnsafeBytes { unsafe ContentDigest(storedAs: $0) }
  }

  /// Reads the range of a number of bytes.
  mutating func range(_ count: Int) -> Range<Int>? { take(count).map { $0..<offset } }

  private mutating func take(_ count: Int) -> Int? {
    guard count >= 0, count <= end - offset else { return nil }
    defer { offset += count }
    return offset
  }

  /// Appends a number.
  static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    for index in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt32(index)))) }
  }

  /// Appends a text of at most 255 bytes.
  static func append(_ text: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(UInt8(text.count))
    bytes += text + [0]
  }

  /// Writes a file of stored values below `.keytree`: a line with its format, its size in four bytes, and the content.
  ///
  /// A failure is ignored, because the values can be computed again. The size shows whether the file is complete. In a
  /// store that has no folder `.keytree` yet, nothing is written.
  static func store(
    _ content: [UInt8], magic: [UInt8], at path: String, temporary: String, in tree: FileTree
  ) {
    guard let work = try? tree.status(FileTree.workFolder), work.kind == .directory else { return }
    var file = magic
    append(UInt32(file.count + 4 + content.count), to: &file)
    // The values can be computed again.
    try? tree.replaceFileLater(path, with: file + content, temporary: temporary)
  }
}
