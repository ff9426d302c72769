// The standard library has no public function that normalizes a string.
@_spi(_Unicode) internal import Swift

extension StringProtocol {
  /// True if the text is in Unicode's normalization form C and each `/` is a character of its own.
  ///
  /// Swift compares strings by canonical equivalence and divides them into characters. Git and the file system compare
  /// bytes. A name from outside must have this form before it is a key of a dictionary or is compared with a path:
  /// two such names are equal strings only if their bytes are equal.
  package var isUnambiguousName: Bool {
    if utf8.allSatisfy({ $0 < 0x80 }) { return true }
    let slash = UInt8(ascii: "/")
    return unicodeScalars.elementsEqual(String(self)._nfc)
      && count { $0 == "/" } == utf8.count { $0 == slash }
  }
}
