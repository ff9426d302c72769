internal import Encoding

/// The facts about known attributes: their types, the classes that have them, and what makes items unique.
///
/// The tables follow Apple's SecItem (classes and primary keys of `kSecClass...`), in words.
public enum AttributeSchema {
  /// The most bytes that a value may have.
  public static let maximumValueSize = 4096
  /// The most bytes that a custom name may have.
  public static let maximumNameSize = 128
  /// The most attributes that an item may have.
  public static let maximumCount = 64
  /// The largest integer that a value may be, and the smallest with the sign reversed.
  public static let maximumInteger = JSONValue.maximumInteger

  /// The type of a known attribute or of what every item has (`class`, `created`, ...); nil for a custom name.
  ///
  /// - Parameter name: Any name.
  public static func kind(of name: AttributeName) -> AttributeKind? {
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
  public static func applies(_ name: AttributeName, to itemClass: ItemClass) -> Bool {
    switch KnownNames.role(of: name) {
    case .attribute(_, let classes): classes.contains(itemClass.member)
    case .record: false
    case nil: true
    }
  }

  /// Returns true if the name is neither a known attribute nor reserved.
  ///
  /// - Parameter name: Any name.
  public static func isCustom(_ name: AttributeName) -> Bool {
    KnownNames.role(of: name) == nil
  }

  /// The known attributes of a class, sorted.
  ///
  /// - Parameter itemClass: Any class.
  public static func names(of itemClass: ItemClass) -> [AttributeName] {
    KnownNames.all.compactMap { entry in
      guard case .attribute(_, let classes) = entry.role, classes.contains(itemClass.member) else {
        return nil
      }
      return entry.name
    }
  }

  /// The attributes that, with group and `synchronizable`, make an item unique within its class.
  ///
  /// - Parameter itemClass: Any class.
  public static func primaryKey(of itemClass: ItemClass) -> [AttributeName] {
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
  /// Brings a value to the type of its attribute where that loses nothing.
  ///
  /// A canonical decimal string (no sign but `-`, no leading zero) becomes the integer that it spells, for an
  /// integer attribute; 0 and 1 become booleans for a boolean attribute and the other way round; RFC 3339
  /// text becomes a date. Everything else stays as it is.
  ///
  /// - Parameters:
  ///   - name: The attribute.
  ///   - value: A value given for it.
  /// - Returns: The value to store and to compare.
  public static func normalized(name: AttributeName, value: AttributeValue) -> AttributeValue {
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

  /// Reads a value that a person typed for an attribute: a number, `true` or `false`, RFC 3339, or text.
  ///
  /// - Parameters:
  ///   - text: The bytes as typed; for text attributes none is changed.
  ///   - name: The attribute that they are for.
  /// - Returns: A value of the attribute's type where the text spells one, else the text itself, so that
  ///   ``check(name:value:class:)`` names what is wrong.
  public static func value(ofText text: [UInt8], for name: AttributeName) -> AttributeValue {
    let value = AttributeValue(text: text)
    if kind(of: name) == .boolean {
      if value == .string("true") { return .boolean(true) }
      if value == .string("false") { return .boolean(false) }
    }
    return normalized(name: name, value: value)
  }

  /// The integer that the bytes spell in the one form that integers are written in, within the limits.
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
  /// - Throws: The first thing that is wrong; ``AttributeError`` describes each case.
  public static func check(
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
  /// - Throws: The first thing that is wrong.
  public static func check(
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

  /// The value that a missing attribute of a primary key counts as.
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
    // Names, unlike values, are typed in commands and shown as column heads: no escape sequences there.
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
