/// A JSON value of the subset that a keyring uses: no fractions, integers within ±2^53.
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
  /// Members in the order they were read or given; the writer sorts them.
  case object([JSONMember])

  /// The largest integer that a value may be, and the smallest with the sign reversed.
  package static let maximumInteger: Int64 = 1 << 53
}

/// A name and a value within a JSON object.
package struct JSONMember: Equatable, Sendable {
  /// The name, compared as UTF-8 bytes.
  package let name: String
  /// The value.
  package let value: JSONValue

  /// Pairs a name with a value.
  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }

  /// Returns true if name and value are equal, byte for byte.
  package static func == (left: JSONMember, right: JSONMember) -> Bool {
    left.name.hasSameBytes(as: right.name) && left.value == right.value
  }
}

extension JSONValue: Equatable {
  /// Returns true if both values are equal; strings are compared as bytes, members in their order.
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
  /// Reads one JSON text strictly.
  ///
  /// - Parameters:
  ///   - bytes: The whole text; white space around tokens is allowed.
  ///   - limits: What is accepted at most.
  /// - Throws: ``JSONError`` for everything that RFC 8259 forbids, and for byte order marks, duplicate keys,
  ///   lone surrogates, numbers that are not integers within ±2^53, and more than the limits.
  package init(parsing bytes: UnsafeRawBufferPointer, limits: JSONLimits) throws(JSONError) {
    var cursor = unsafe try JSONCursor(bytes, limits: limits)
    self = try cursor.takeValue()
    try cursor.finish()
  }

  /// Reads one JSON text strictly; see the other initialiser.
  package init(parsing bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    self = unsafe try bytes.span.withUnsafeBytes { buffer throws(JSONError) in
      unsafe try JSONValue(parsing: buffer, limits: limits)
    }
  }
}

extension JSONCursor {
  /// Takes a value of any type.
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
  /// The one canonical form: members sorted by the bytes of their names, no white space, the shortest escapes.
  ///
  /// Equal content is equal bytes. Names within an object must differ.
  package var canonicalBytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }
}

/// Writes canonical JSON.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []

  /// Makes a writer that has written nothing.
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

  /// Appends the content of a string as the writer escapes it. Works byte by byte, so that a part of a
  /// text, even one cut within a character, is written as it stands within the whole.
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
