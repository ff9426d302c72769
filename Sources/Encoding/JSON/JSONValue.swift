/// A JSON value of the subset that the store uses: no fractions, and integers within ±2^53.
package enum JSONValue: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A whole number.
  case integer(Int64)
  /// Text.
  case string(String)
  /// Values in order.
  case array([JSONValue])
  /// Members in the order in which they were read or added; the writer sorts them.
  case object([JSONMember])

  /// The largest integer that is allowed, and the negated smallest one.
  package static let maximumInteger: Int64 = 1 << 53
}

/// A name and a value within a JSON object.
package struct JSONMember: Equatable, Sendable {
  /// The name, compared as UTF-8 bytes.
  package let name: String
  /// The value.
  package let value: JSONValue

  /// Creates a member.
  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }

  /// Returns true if the names and the values are equal byte by byte.
  package static func == (left: JSONMember, right: JSONMember) -> Bool {
    left.name.hasSameBytes(as: right.name) && left.value == right.value
  }
}

extension JSONValue: Equatable {
  /// Returns true if both values are equal. Strings are compared as bytes, and the order of members matters.
  package static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }
}

// MARK: Reading

extension JSONValue {
  /// Reads one JSON text with the strict reader.
  ///
  /// - Parameters:
  ///   - bytes: The whole text; white space around tokens is allowed.
  ///   - limits: The limits on size and depth.
  /// - Throws: ``JSONError`` for everything that RFC 8259 does not allow, and for byte order marks, duplicate keys,
  ///   lone surrogates, numbers that are not integers within ±2^53, and a text that exceeds the limits.
  package init(parsing bytes: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONError) {
    var cursor = unsafe try JSONCursor(bytes, limits: limits)
    self = try cursor.takeValue()
    try cursor.finish()
  }

  /// Reads one JSON text with the strict reader; see the other initializer.
  package init(parsing bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    self = unsafe try bytes.span.withUnsafeBytes { buffer throws(JSONError) in
      unsafe try JSONValue(parsing: buffer, limits: limits)
    }
  }
}

extension JSONCursor {
  /// Reads a value of any type.
  package mutating func takeValue() throws(JSONError) -> JSONValue {
    switch peek() {
    case UInt8(ascii: "\""):
      return .string(string(of: try takeText()))
    case UInt8(ascii: "{"):
      var members: [JSONMember] = []
      var keys = try openObject()
      while let key = try nextKey(&keys) {
        members.append(JSONMember(string(of: key), try takeValue()))
      }
      return .object(members)
    case UInt8(ascii: "["):
      var elements: [JSONValue] = []
      try open("[")
      while try nextElement(isFirst: elements.isEmpty, end: "]") {
        elements.append(try takeValue())
      }
      return .array(elements)
    case UInt8(ascii: "t"):
      try takeLiteral("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try takeLiteral("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try takeLiteral("null")
      return .null
    default:
      return .integer(try takeInteger())
    }
  }
}

// MARK: Writing

extension JSONValue {
  /// The canonical form: members sorted by the bytes of their names, no white space, and the shortest escapes.
  ///
  /// Values with equal content have equal bytes. The names within an object must be unique.
  package var canonicalBytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }
}

/// Writes canonical JSON.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []

  /// Creates an empty writer.
  package init() {}

  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let flag): bytes += (flag ? "true" : "false").utf8
    case .integer(let number): bytes += String(number).utf8
    case .string(let text): write(quoting: text.utf8)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(element)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      let sorted = members.sorted { $0.name.precedesInBytes($1.name) }
      for (index, member) in sorted.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        write(quoting: member.name.utf8)
        bytes.append(UInt8(ascii: ":"))
        write(member.value)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Writes a string with its quotes.
  package mutating func write(quoting text: some Sequence<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    JSONWriter.appendEscaped(text, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends the escaped content of a string. Works byte by byte, so a part of a text, even one that is cut within a
  /// character, is escaped exactly as it is within the whole text.
  package static func appendEscaped(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    for byte in text { escape(byte) { bytes.append($0) } }
  }

  /// Writes a byte of a string as the canonical form has it: with the shortest escape, or unchanged.
  @inline(__always)
  static func escape(_ byte: UInt8, _ put: (UInt8) -> Void) {
    let letter: Unicode.Scalar
    switch byte {
    case UInt8(ascii: "\""): letter = "\""
    case UInt8(ascii: "\\"): letter = "\\"
    case 0x08: letter = "b"
    case 0x0c: letter = "f"
    case 0x0a: letter = "n"
    case 0x0d: letter = "r"
    case 0x09: letter = "t"
    case 0..<0x20:
      for byte in "\\u00".utf8 { put(byte) }
      for digit in Hexadecimal.encode([byte]) { put(digit) }
      return
    default: return put(byte)
    }
    put(UInt8(ascii: "\\"))
    put(UInt8(ascii: letter))
  }
}
