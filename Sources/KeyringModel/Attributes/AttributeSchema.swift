internal import Encoding

/// The known attributes: their types, the classes that have them, and the primary key of each class.
///
/// The tables follow Apple's SecItem (classes and primary keys of `kSecClass...`), with words as names.
package enum AttributeSchema {
  /// The maximum size of a value, in bytes.
  package static let maximumValueSize = 4096
  /// The maximum size of a custom name, in bytes.
  package static let maximumNameSize = 128
  /// The maximum number of attributes of an item.
  package static let maximumCount = 64
  /// The largest integer that a value may have. The smallest is its negative.
  package static let maximumInteger = JSONValue.maximumInteger

  /// Returns the type of a known attribute or of a member that every item has (`class`, `created`, ...); nil for a
  /// custom name.
  ///
  /// - Parameter name: Any name.
  package static func kind(of name: AttributeName) -> AttributeKind? {
    switch KnownNames.role(of: name) {
    case .attribute(let kind, _): kind
    case .record(.created), .record(.modified), .record(.secretModified): .date
    case .record(.itemClass), .record(.id), .record(.revision), .record(.group): .string
    case .record, nil: nil
    }
  }

  /// Returns true if items of a class can have an attribute. Custom names fit every class.
  ///
  /// - Parameters:
  ///   - name: Any name.
  ///   - itemClass: The class of the item.
  package static func applies(_ name: AttributeName, to itemClass: ItemClass) -> Bool {
    switch KnownNames.role(of: name) {
    case .attribute(_, let classes): classes.contains(itemClass.member)
    case .record: false
    case nil: true
    }
  }

  /// Returns true if the name is neither a known attribute nor reserved.
  ///
  /// - Parameter name: Any name.
  package static func isCustom(_ name: AttributeName) -> Bool {
    KnownNames.role(of: name) == nil
  }

  /// Returns the known attributes of a class, sorted.
  ///
  /// - Parameter itemClass: Any class.
  package static func names(of itemClass: ItemClass) -> [AttributeName] {
    KnownNames.all.compactMap { entry in
      guard case .attribute(_, let classes) = entry.role, classes.contains(itemClass.member) else {
        return nil
      }
      return entry.name
    }
  }

  /// Returns the attributes that, with group and `synchronizable`, make an item unique within its class.
  ///
  /// - Parameter itemClass: Any class.
  package static func primaryKey(of itemClass: ItemClass) -> [AttributeName] {
    switch itemClass {
    case .genericPassword: genericKey
    case .internetPassword: internetKey
    case .certificate: certificateKey
    case .key: keyKey
    }
  }

  private static let genericKey: [AttributeName] = [.account, .field, .service]
  private static let internetKey: [AttributeName] = [
    .account, .authenticationType, .field, .path, .port, .protocol, .securityDomain, .server,
  ]
  private static let certificateKey: [AttributeName] = [.certificateType, .issuer, .serialNumber]
  private static let keyKey: [AttributeName] = [
    .applicationLabel, .applicationTag, .creator, .effectiveKeySize, .endDate, .keyClass, .keySize,
    .keyType, .startDate,
  ]
}

extension AttributeSchema {
  /// Converts a value to the type of its attribute if the conversion is lossless.
  ///
  /// For an integer attribute, a canonical decimal string (no sign except `-`, no leading zero) becomes an integer, and
  /// a Boolean becomes 0 or 1. For a Boolean attribute, 0 and 1 become Booleans. For a date attribute, RFC 3339 text
  /// becomes a date. All other values are unchanged.
  ///
  /// - Parameters:
  ///   - name: The attribute.
  ///   - value: A value given for it.
  /// - Returns: The value to store and to compare.
  package static func normalized(name: AttributeName, value: AttributeValue) -> AttributeValue {
    guard let kind = kind(of: name) else { return value }
    return normalized(value, as: kind)
  }

  static func normalized(_ value: AttributeValue, as kind: AttributeKind) -> AttributeValue {
    switch (kind, value) {
    case (.integer, .string), (.integer, .bytes):
      value.contentBytes.flatMap(canonicalInteger).map(AttributeValue.integer) ?? value
    case (.integer, .boolean(let flag)): .integer(flag ? 1 : 0)
    case (.boolean, .integer(0)): .boolean(false)
    case (.boolean, .integer(1)): .boolean(true)
    case (.date, .string(let text)): Timestamp(rfc3339: text).map(AttributeValue.date) ?? value
    default: value
    }
  }

  /// Parses a value that the user typed for an attribute: a number, `true` or `false`, an RFC 3339 date, or text.
  ///
  /// - Parameters:
  ///   - text: The bytes as typed. They are not changed for text attributes.
  ///   - name: The attribute.
  /// - Returns: A value of the attribute's type if the text represents one, otherwise the text itself, so that
  ///   ``check(name:value:class:)`` reports the error.
  package static func value(ofText text: [UInt8], for name: AttributeName) -> AttributeValue {
    let value = AttributeValue(text: text)
    if kind(of: name) == .boolean {
      if value == .string("true") { return .boolean(true) }
      if value == .string("false") { return .boolean(false) }
    }
    return normalized(name: name, value: value)
  }

  /// Returns the integer that the bytes represent in canonical decimal form; nil for any other form and for an integer
  /// outside the limits.
  private static func canonicalInteger(_ digits: [UInt8]) -> Int64? {
    // 17 bytes hold a sign and the 16 digits of 2^53.
    guard digits.count <= 17, let number = Int64(String(decoding: digits, as: UTF8.self)),
      abs(number) <= maximumInteger, String(number).utf8.elementsEqual(digits)
    else { return nil }
    return number
  }
}

extension AttributeSchema {
  /// Checks that items of a class may have an attribute with this value.
  ///
  /// - Parameters:
  ///   - name: A known or custom name.
  ///   - value: The value, after ``normalized(name:value:)``.
  ///   - itemClass: The class of the item.
  /// - Throws: ``AttributeError`` for the first violated rule.
  package static func check(
    name: AttributeName, value: AttributeValue, class itemClass: ItemClass
  ) throws(AttributeError) {
    switch KnownNames.role(of: name) {
    case .record:
      throw .reservedName(name)
    case .attribute(let kind, let classes):
      guard classes.contains(itemClass.member) else { throw .wrongClass(name, itemClass) }
      guard kind.accepts(value) else { throw .wrongKind(name, expected: kind, itemClass) }
      try checkField(name: name, value: value)
    case nil:
      try checkCustom(name)
      guard AttributeKind.string.accepts(value) else {
        throw .wrongKind(name, expected: .string, itemClass)
      }
    }
    try checkSize(of: value, name: name)
  }

  /// Checks all attributes of an item, and their number.
  ///
  /// - Parameters:
  ///   - attributes: The attributes, after ``normalized(name:value:)``.
  ///   - itemClass: The class of the item.
  /// - Throws: ``AttributeError`` for the first violated rule.
  package static func check(
    _ attributes: Attributes, class itemClass: ItemClass
  ) throws(AttributeError) {
    guard attributes.count <= maximumCount else { throw .tooMany(limit: maximumCount) }
    for entry in attributes.entries {
      try check(name: entry.name, value: entry.value, class: itemClass)
    }
  }

  /// Checks the name of a field, which is part of the path of its file; empty means that the item is not a field.
  static func checkField(name: AttributeName, value: AttributeValue) throws(AttributeError) {
    guard name == .field else { return }
    guard case .string(let field) = value, field.isEmpty || FieldName.isValid(field) else {
      throw .invalidFieldName
    }
  }

  /// Returns the default value of a missing primary-key attribute.
  static func emptyValue(of name: AttributeName) -> AttributeValue {
    switch kind(of: name) {
    case .integer: .integer(0)
    case .boolean: .boolean(false)
    default: .string("")
    }
  }

  /// Checks a name that is not a known one.
  static func checkCustom(_ name: AttributeName) throws(AttributeError) {
    guard !name.text.isEmpty else { throw .emptyName }
    guard name.text.utf8.count <= maximumNameSize else {
      throw .nameTooLong(name, limit: maximumNameSize)
    }
    // Names, unlike values, are typed in commands and printed as column headers, so they must not contain escape
    // sequences.
    let hasControl = name.text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    guard !hasControl else { throw .controlCharacterInName(name) }
  }

  static func checkSize(of value: AttributeValue, name: AttributeName) throws(AttributeError) {
    let size: Int
    switch value {
    case .string(let text): size = text.utf8.count
    case .bytes(let bytes): size = bytes.count
    case .integer(let number):
      guard number.magnitude <= maximumInteger.magnitude else { throw .integerOutOfRange(name) }
      return
    case .boolean, .date: return
    }
    guard size <= maximumValueSize else { throw .valueTooLong(name, limit: maximumValueSize) }
  }
}

extension AttributeKind {
  /// Returns true if an attribute of this type can have a value.
  func accepts(_ value: AttributeValue) -> Bool {
    switch (self, value) {
    case (.string, .string), (.string, .bytes), (.bytes, .string), (.bytes, .bytes): true
    case (.integer, .integer), (.integer, .string): true
    case (.boolean, .boolean), (.date, .date): true
    default: false
    }
  }
}
