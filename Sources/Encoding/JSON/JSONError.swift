/// The reasons why a text is not JSON that Keytree accepts. Offsets are in bytes and start at zero.
public enum JSONError: Error, Hashable, Sendable {
  /// The text is longer than the limit in bytes.
  case tooLarge(limit: Int)
  /// Objects and arrays are nested deeper than the limit.
  case tooDeep(limit: Int)
  /// The text starts with a byte order mark, which RFC 8259 section 8.1 does not allow writers to add.
  case byteOrderMark
  /// The bytes are not UTF-8.
  case invalidUTF8(offset: Int)
  /// The text is truncated.
  case unexpectedEnd
  /// A byte is not allowed at its position by the grammar.
  case unexpectedByte(UInt8, offset: Int)
  /// A string contains a control character that is not escaped.
  case controlCharacter(offset: Int)
  /// A backslash is not followed by an escape of RFC 8259 section 7.
  case invalidEscape(offset: Int)
  /// An escape is half of a surrogate pair, which UTF-8 cannot encode.
  case loneSurrogate(offset: Int)
  /// A number is not a plain integer: a fraction, an exponent, a leading zero or minus zero.
  case notAnInteger(offset: Int)
  /// An integer is outside ±2^53.
  case integerOutOfRange(offset: Int)
  /// Two members of an object have the same name, compared as bytes after unescaping.
  case duplicateKey(String)
  /// Data follows the value.
  case trailingData(offset: Int)
  /// The value is JSON, but does not have the expected type.
  case unexpectedType(offset: Int)
}

/// The limits of a JSON reader.
package struct JSONLimits: Sendable {
  /// The maximum size of the whole text in bytes.
  package var size: Int
  /// The maximum nesting depth of objects and arrays.
  package var depth: Int

  /// Creates a pair of limits.
  package init(size: Int, depth: Int) {
    self.size = size
    self.depth = depth
  }
}
