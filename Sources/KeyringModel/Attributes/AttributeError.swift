/// The reasons why an item cannot have an attribute.
public enum AttributeError: Error, Hashable, Sendable {
  /// The attribute exists, but not on items of this class.
  case wrongClass(AttributeName, ItemClass)
  /// The value is not of the type that the attribute has on items of this class.
  case wrongKind(AttributeName, expected: AttributeKind, ItemClass)
  /// The value has more bytes than an attribute may have.
  case valueTooLong(AttributeName, limit: Int)
  /// The number is outside ±2^53, the range that every JSON reader represents exactly (RFC 8259 section 6).
  case integerOutOfRange(AttributeName)
  /// A custom attribute has no name.
  case emptyName
  /// The name has more bytes than a custom name may have.
  case nameTooLong(AttributeName, limit: Int)
  /// The name contains a control character.
  case controlCharacterInName(AttributeName)
  /// The name is reserved for a member that the keyring itself sets on each item (`id`, `created`, ...).
  case reservedName(AttributeName)
  /// The name of a field is not valid; see ``FieldName``.
  case invalidFieldName
  /// The item has more attributes than an item may have.
  case tooMany(limit: Int)
}

/// The type of an attribute's values.
public enum AttributeKind: String, Hashable, Sendable {
  /// Text. Bytes are accepted, too.
  case string
  /// An integer. Text that is not a number is accepted, too (for example `https` as a protocol).
  case integer
  /// True or false.
  case boolean
  /// A date and time in UTC.
  case date
  /// Bytes. Text is accepted, too.
  case bytes
}
