package import Secrets

/// A strict pull reader over the bytes of one JSON text (RFC 8259): takes tokens in order, builds nothing.
///
/// It is stricter than the RFC: no byte order mark, no duplicate keys, no lone surrogates, integers only. A cursor must
/// not outlive its buffer. All reads are bounds-checked.
@safe package struct JSONCursor {
  private let bytes: UnsafeRawBufferPointer
  private(set) var position = 0
  private var depth = 0
  private let maximumDepth: Int

  /// A string in the text, before unescaping.
  package struct Text {
    /// The range between the quotes.
    let range: Range<Int>
    /// True if the string has no escapes, so its bytes are the content.
    let isPlain: Bool
  }

  /// Creates a cursor, and checks the size and the encoding of the whole text.
  package init(_ bytes: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONError) {
    guard bytes.count <= limits.size else { throw .tooLarge(limit: limits.size) }
    guard unsafe !bytes.starts(with: [0xef, 0xbb, 0xbf]) else { throw .byteOrderMark }
    do throws(UTF8.ValidationError) {
      _ = unsafe try UTF8Span(validating: bytes.bindMemory(to: UInt8.self).span)
    } catch {
      throw .invalidUTF8(offset: error.byteOffsets.lowerBound)
    }
    unsafe self.bytes = bytes
    maximumDepth = limits.depth
  }

  // MARK: Bytes

  private func byte(at index: Int) -> UInt8? {
    unsafe index < bytes.count ? bytes[index] : nil
  }

  private func unexpected(at index: Int) -> JSONError {
    byte(at: index).map { .unexpectedByte($0, offset: index) } ?? .unexpectedEnd
  }

  /// Returns the first byte of the next token, or nil at the end of the text.
  package mutating func peek() -> UInt8? {
    while let byte = byte(at: position) {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
      default: return byte
      }
    }
    return nil
  }

  /// Reads one structural byte.
  private mutating func take(_ scalar: Unicode.Scalar) throws(JSONError) {
    guard peek() == UInt8(ascii: scalar) else { throw unexpected(at: position) }
    position += 1
  }

  /// Throws an error if anything but white space is left.
  package mutating func finish() throws(JSONError) {
    if peek() != nil { throw .trailingData(offset: position) }
  }

  // MARK: Containers

  /// Enters an object.
  package mutating func openObject() throws(JSONError) -> JSONKeys {
    try open("{")
    return JSONKeys()
  }

  /// Reads the next key and its colon, or leaves the object and returns nil.
  package mutating func nextKey(_ keys: inout JSONKeys) throws(JSONError) -> Text? {
    guard try nextElement(isFirst: keys.isEmpty, end: "}") else { return nil }
    let key = try takeText()
    guard keys.insert(key, of: self) else { throw .duplicateKey(string(of: key)) }
    try take(":")
    return key
  }

  /// Enters an array or object.
  mutating func open(_ bracket: Unicode.Scalar) throws(JSONError) {
    try take(bracket)
    depth += 1
    guard depth <= maximumDepth else { throw .tooDeep(limit: maximumDepth) }
  }

  /// Moves to the next element of a container, or leaves it and returns false.
  mutating func nextElement(isFirst: Bool, end: Unicode.Scalar) throws(JSONError) -> Bool {
    if peek() == UInt8(ascii: end) {
      position += 1
      depth -= 1
      return false
    }
    if !isFirst {
      try take(",")
      // A trailing comma is not allowed.
      if peek() == UInt8(ascii: end) { throw unexpected(at: position) }
    }
    return true
  }

  // MARK: Scalars

  /// Reads a literal: `true`, `false` or `null`.
  package mutating func takeLiteral(_ word: StaticString) throws(JSONError) {
    for index in 0..<word.utf8CodeUnitCount {
      guard unsafe byte(at: position) == word.utf8Start[index] else { throw unexpected(at: position) }
      position += 1
    }
  }

  /// Reads an integer within ±2^53.
  package mutating func takeInteger() throws(JSONError) -> Int64 {
    // Skips white space, so that errors name the offset of the number.
    let isNegative = peek() == UInt8(ascii: "-")
    let start = position
    if isNegative { position += 1 }
    let firstDigit = position
    var magnitude: Int64 = 0
    var isInRange = true
    while let byte = byte(at: position), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      // A value that is out of range is not needed, and it must not overflow.
      if isInRange { magnitude = magnitude * 10 + Int64(byte - UInt8(ascii: "0")) }
      if magnitude > JSONValue.maximumInteger { isInRange = false }
      position += 1
    }
    guard position > firstDigit else { throw unexpected(at: position) }
    let hasLeadingZero = position > firstDigit + 1 && byte(at: firstDigit) == UInt8(ascii: "0")
    switch byte(at: position) {
    case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): throw .notAnInteger(offset: start)
    default: break
    }
    guard !hasLeadingZero, !(isNegative && magnitude == 0) else { throw .notAnInteger(offset: start) }
    guard isInRange else { throw .integerOutOfRange(offset: start) }
    return isNegative ? -magnitude : magnitude
  }

  /// Takes a number of any form (RFC 8259, section 6) and returns it as written.
  mutating func takeNumber() throws(JSONError) -> String {
    _ = peek()
    let start = position
    try skipNumber()
    return unsafe String(decoding: bytes[start..<position], as: UTF8.self)
  }

  private mutating func skipNumber() throws(JSONError) {
    skip("-")
    if !skip("0") { try takeDigits() }
    if skip(".") { try takeDigits() }
    if skip("e") || skip("E") {
      if !skip("+") { skip("-") }
      try takeDigits()
    }
  }

  private mutating func takeDigits() throws(JSONError) {
    let start = position
    while let byte = byte(at: position), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
      position += 1
    }
    guard position > start else { throw unexpected(at: position) }
  }

  /// Takes a byte if it is the next one, and returns true if it was.
  @discardableResult
  private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
    guard byte(at: position) == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  /// Takes a string and checks its escapes.
  package mutating func takeText() throws(JSONError) -> Text {
    try take("\"")
    let start = position
    var isPlain = true
    while unsafe position < bytes.count {
      let byte = unsafe bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        let text = Text(range: start..<position, isPlain: isPlain)
        position += 1
        return text
      case UInt8(ascii: "\\"):
        isPlain = false
        _ = try takeEscape(at: &position)
      case 0..<0x20: throw .controlCharacter(offset: position)
      default: position += 1
      }
    }
    throw .unexpectedEnd
  }

  /// Reads the escape at `index`, which is the position of a backslash, and advances the index past it.
  private func takeEscape(at index: inout Int) throws(JSONError) -> Unicode.Scalar {
    let start = index
    guard let letter = byte(at: start + 1) else { throw .unexpectedEnd }
    index = start + 2
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw .invalidEscape(offset: start)
    }
    let unit = try takeCodeUnit(at: &index)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard UTF16.isLeadSurrogate(unit), byte(at: index) == UInt8(ascii: "\\"),
      byte(at: index + 1) == UInt8(ascii: "u")
    else { throw .loneSurrogate(offset: start) }
    index += 2
    let trail = try takeCodeUnit(at: &index)
    guard UTF16.isTrailSurrogate(trail) else { throw .loneSurrogate(offset: start) }
    return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
  }

  private func takeCodeUnit(at index: inout Int) throws(JSONError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = byte(at: index) else { throw .unexpectedEnd }
      let lower = (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(digit) ? digit | 0x20 : digit
      guard let value = Hexadecimal.value(ofDigit: lower) else { throw .invalidEscape(offset: index) }
      unit = unit << 4 | UInt16(value)
      index += 1
    }
    return unit
  }

  // MARK: Skipping

  /// Skips a value of any type, without recursion. Its numbers may have any form, its strings may contain halves of
  /// surrogate pairs, and its objects may have several members with one name.
  ///
  /// - Returns: The range of the value in the text.
  package mutating func skipValue() throws(JSONError) -> Range<Int> {
    _ = peek()
    let start = position
    var brackets: [UInt8] = []
    while true {
      switch peek() {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let bracket = unsafe bytes[position]
        brackets.append(bracket)
        guard depth + brackets.count <= maximumDepth else { throw .tooDeep(limit: maximumDepth) }
        position += 1
        if peek() != Self.end(of: bracket) {
          if bracket == UInt8(ascii: "{") { try skipKey() }
          continue
        }
      case UInt8(ascii: "\""): try skipText()
      case UInt8(ascii: "t"): try takeLiteral("true")
      case UInt8(ascii: "f"): try takeLiteral("false")
      case UInt8(ascii: "n"): try takeLiteral("null")
      default: try skipNumber()
      }
      // A value is complete, and with it perhaps the containers that it ends.
      while let bracket = brackets.last, peek() == Self.end(of: bracket) {
        position += 1
        brackets.removeLast()
      }
      guard let bracket = brackets.last else { return start..<position }
      try take(",")
      if bracket == UInt8(ascii: "{") { try skipKey() }
    }
  }

  private static func end(of bracket: UInt8) -> UInt8 {
    bracket == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
  }

  private mutating func skipKey() throws(JSONError) {
    try skipText()
    try take(":")
  }

  private mutating func skipText() throws(JSONError) {
    try take("\"")
    while let byte = byte(at: position) {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return
      case UInt8(ascii: "\\"): position += 2
      case 0..<0x20: throw .controlCharacter(offset: position)
      default: position += 1
      }
    }
    throw .unexpectedEnd
  }

  // MARK: Content of strings

  /// Calls a closure with the unescaped bytes of a string that this cursor read.
  package func withBytes<R>(of text: Text, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    if text.isPlain { return unsafe body(UnsafeRawBufferPointer(rebasing: bytes[text.range])) }
    var string = string(of: text)
    return string.withUTF8 { unsafe body(UnsafeRawBufferPointer($0)) }
  }

  /// Returns the unescaped content of a string that this cursor read.
  package func string(of text: Text) -> String {
    var content = ""
    unsafe forEachPart(of: text) { part in
      unsafe content += String(decoding: part, as: UTF8.self)
    } escape: { scalar in
      content.unicodeScalars.append(scalar)
    }
    return content
  }

  /// Appends the content of a string that this cursor took, without any other copy of it.
  package func append(_ text: Text, to content: inout SecretBytes) {
    unsafe forEachPart(of: text) { part in
      unsafe content.append(contentsOf: part)
    } escape: { scalar in
      // Only surrogates have no encoding, and a scalar is never one.
      for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { content.append(byte) }
    }
  }

  /// Calls one closure for each stretch of a string that has no escapes, and the other for each escape.
  private func forEachPart(
    of text: Text, plain: (UnsafeRawBufferPointer) -> Void, escape: (Unicode.Scalar) -> Void
  ) {
    guard !text.isPlain else { return unsafe plain(UnsafeRawBufferPointer(rebasing: bytes[text.range])) }
    var index = text.range.lowerBound
    var plainStart = index
    while index < text.range.upperBound {
      guard byte(at: index) == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      unsafe plain(UnsafeRawBufferPointer(rebasing: bytes[plainStart..<index]))
      do throws(JSONError) {
        escape(try takeEscape(at: &index))
      } catch {
        preconditionFailure("takeText checked every escape of this string")
      }
      plainStart = index
    }
    unsafe plain(UnsafeRawBufferPointer(rebasing: bytes[plainStart..<index]))
  }
}
