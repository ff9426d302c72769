/// The reasons why a text is not JSON that a keyring accepts. Offsets count bytes from zero.
public enum JSONError: Error, Hashable, Sendable {
  /// The text is longer than what is being read may be.
  case tooLarge(limit: Int)
  /// Objects and arrays are nested deeper than the limit.
  case tooDeep(limit: Int)
  /// The text starts with a byte order mark (RFC 8259 section 8.1 forbids writing one).
  case byteOrderMark
  /// The bytes are not UTF-8.
  case invalidUTF8(offset: Int)
  /// The text ends too early.
  case unexpectedEnd
  /// A byte stands where the grammar has no place for it.
  case unexpectedByte(UInt8, offset: Int)
  /// A string holds a control character that is not escaped.
  case controlCharacter(offset: Int)
  /// A backslash is not followed by an escape of RFC 8259 section 7.
  case invalidEscape(offset: Int)
  /// An escape names half of a surrogate pair, which no UTF-8 text can hold.
  case loneSurrogate(offset: Int)
  /// A number is not a plain integer: a fraction, an exponent, a leading zero or minus zero.
  case notAnInteger(offset: Int)
  /// An integer lies outside ±2^53.
  case integerOutOfRange(offset: Int)
  /// Two members of an object have the same name, compared as bytes after unescaping.
  case duplicateKey(String)
  /// Something follows the value.
  case trailingData(offset: Int)
  /// The value is JSON, but not of the type that is wanted here.
  case unexpectedType(offset: Int)
}

/// The limits of a reader of JSON.
package struct JSONLimits: Sendable {
  /// The most bytes of the whole text.
  package var size: Int
  /// The most objects and arrays within each other.
  package var depth: Int

  /// Sets both limits.
  package init(size: Int, depth: Int) {
    self.size = size
    self.depth = depth
  }
}
