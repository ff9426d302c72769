// Swift's own functions for this are in the module `_StringProcessing`. One use of them would link its regular
// expressions into the command, which would slow down every start.
extension StringProtocol {
  /// Returns true if the text contains the UTF-8 bytes of another one.
  package func contains(bytesOf part: some StringProtocol) -> Bool {
    ByteSearch.contains(Array(utf8), Array(part.utf8))
  }

  /// Returns a copy of the text in which every occurrence of the UTF-8 bytes of `part` is replaced.
  ///
  /// - Parameters:
  ///   - part: The text to replace. If it is empty, nothing is replaced.
  ///   - other: The replacement.
  package func replacing(bytesOf part: String, with other: String) -> String {
    let (whole, part) = (Array(utf8), Array(part.utf8))
    if part.isEmpty { return String(self) }
    var result: [UInt8] = []
    var start = 0
    unsafe whole.span.withUnsafeBytes { bytes in
      while let found = unsafe ByteSearch.first(part, in: bytes, from: start) {
        result += whole[start..<found]
        result += other.utf8
        start = found + part.count
      }
    }
    return String(decoding: result + whole[start...], as: UTF8.self)
  }
}
