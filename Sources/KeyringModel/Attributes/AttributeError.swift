/// The reasons why an item cannot have an attribute.
public enum AttributeError: Error, Hashable, Sendable {
  /// The attribute exists, but not on items of this class.
  case wrongClass(AttributeName, ItemClass)
  /// The value is not of the type that the attribute has on items of this class.
  case wrongKind(AttributeName, expected: AttributeKind, ItemClass)
  /// The value has more bytes than an attribute may have.
  case valueTooLong(AttributeName, limit: Int)
  /// The number lies outside ±2^53, what every JSON reader keeps exactly (RFC 8259 section 6).
  case integerOutOfRange(AttributeName)
  /// A custom attribute has no name.
  case emptyName
  /// The name has more bytes than a custom name may have.
  case nameTooLong(AttributeName, limit: Int)
  /// The name contains a control character.
  case controlCharacterInName(AttributeName)
  /// The name belongs to something that the keyring itself keeps about each item (`id`, `created`, ...).
  case reservedName(AttributeName)
  /// The name of a field breaks the rule of ``FieldName``.
  case invalidFieldName
  /// The item has more attributes than an item may have.
  case tooMany(limit: Int)
}

/// The type of an attribute's values.
public enum AttributeKind: String, Hashable, Sendable {
  /// Text; bytes are accepted in its place.
  case string
  /// A whole number; text that is not a number is accepted in its place (`https` as a protocol).
  case integer
  /// True or false.
  case boolean
  /// A moment in UTC.
  case date
  /// Bytes; text is accepted in their place.
  case bytes
}
