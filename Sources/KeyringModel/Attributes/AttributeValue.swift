public import Encoding

/// The value of an attribute.
///
/// `==` is exact: same type, same bytes. ``isSame(as:)`` is the equality of queries and primary keys.
public enum AttributeValue: Sendable {
  /// Text; any characters, stored exactly.
  case string(String)
  /// An integer; the store accepts integers within ±2^53.
  case integer(Int64)
  /// A Boolean.
  case boolean(Bool)
  /// A date and time in UTC.
  case date(Timestamp)
  /// Bytes that need not be text.
  case bytes([UInt8])

  /// Makes a string value if the bytes are valid UTF-8, otherwise a bytes value.
  ///
  /// - Parameter bytes: Any bytes, including NUL and line ends. None is changed.
  public init(text bytes: [UInt8]) {
    if let text = String(validating: bytes, as: UTF8.self) {
      self = .string(text)
    } else {
      self = .bytes(bytes)
    }
  }

  /// The text of a string; nil for the other types, also for bytes.
  public var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The bytes of a string (as UTF-8) or of bytes; nil for the other types.
  public var contentBytes: [UInt8]? {
    switch self {
    case .string(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    case .integer, .boolean, .date: nil
    }
  }

  /// Returns true if both values are equivalent. A string and bytes are equivalent if their bytes are equal.
  ///
  /// - Parameter other: The value to compare with.
  public func isSame(as other: AttributeValue) -> Bool {
    switch (self, other) {
    case (.string(let text), .bytes(let bytes)), (.bytes(let bytes), .string(let text)):
      text.utf8.elementsEqual(bytes)
    default: self == other
    }
  }
}

extension AttributeValue: Hashable {
  /// Returns true if both values have the same type and the same content, byte for byte.
  public static func == (left: AttributeValue, right: AttributeValue) -> Bool {
    switch (left, right) {
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.integer(let left), .integer(let right)): left == right
    case (.boolean(let left), .boolean(let right)): left == right
    case (.date(let left), .date(let right)): left == right
    case (.bytes(let left), .bytes(let right)): left == right
    default: false
    }
  }

  /// Feeds type and content to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .string(let text):
      hasher.combine(0)
      hasher.combine(text)
    case .integer(let number):
      hasher.combine(1)
      hasher.combine(number)
    case .boolean(let flag):
      hasher.combine(2)
      hasher.combine(flag)
    case .date(let date):
      hasher.combine(3)
      hasher.combine(date)
    case .bytes(let bytes):
      hasher.combine(4)
      hasher.combine(bytes)
    }
  }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral
{
  /// Makes a string value from a literal.
  public init(stringLiteral value: String) {
    self = .string(value)
  }

  /// Makes an integer value from a literal.
  public init(integerLiteral value: Int64) {
    self = .integer(value)
  }

  /// Makes a boolean value from a literal.
  public init(booleanLiteral value: Bool) {
    self = .boolean(value)
  }
}

extension AttributeValue {
  /// A Boolean value that indicates whether this is the default value of a missing primary-key attribute: empty text,
  /// zero or false.
  package var isDefault: Bool {
    switch self {
    case .string(let text): text.isEmpty
    case .bytes(let bytes): bytes.isEmpty
    case .integer(let number): number == 0
    case .boolean(let flag): !flag
    case .date: false
    }
  }
}

extension JSONValue {
  /// Makes the JSON form of an attribute value: bytes are an object with one member, `base64`.
  package init(_ value: AttributeValue) {
    switch value {
    case .string(let text): self = .string(text)
    case .integer(let number): self = .integer(number)
    case .boolean(let flag): self = .bool(flag)
    case .date(let date): self = .string(date.rfc3339)
    case .bytes(let bytes):
      let text = String(decoding: Base64.encode(bytes, as: .standard), as: UTF8.self)
      self = .object([JSONMember("base64", .string(text))])
    }
  }
}
