public import Encoding

/// One condition on an item.
public struct Predicate: Sendable {
  /// The subjects of conditions.
  public enum Subject: Hashable, Sendable {
    /// One attribute, known or custom, or a member that every item has (`class`, `created`, ...).
    case attribute(AttributeName)
    /// Any attribute of the item, but not the members that every item has.
    case any
    /// The container in an item's path: the server, the service, the issuer, a key's application tag or, without one,
    /// its application label. One condition can therefore select items of all classes by the first part of their name.
    case container
    /// The item's id: all or its first hexadecimal digits. The comparison is ignored.
    case id(prefix: String)
    /// The item's path. The comparison is ignored.
    case path(ItemPath)
  }

  /// The comparisons. Text and bytes are compared by their bytes. Prefix, suffix and contains compare the digits of
  /// integers.
  public enum Comparison: Hashable, Sendable {
    /// The same value, as defined by ``AttributeValue/isSame(as:)``. A missing primary-key attribute equals its default
    /// (empty, zero, false).
    case equal(AttributeValue)
    /// Text that starts with this value.
    case prefix(AttributeValue)
    /// Text that ends with this value.
    case suffix(AttributeValue)
    /// Text that contains this value.
    case contains(AttributeValue)
    /// A date earlier than this one.
    case before(Timestamp)
    /// A date later than this one.
    case after(Timestamp)
    /// Any value.
    case exists
  }

  /// The subject of the condition.
  public var subject: Subject
  /// The comparison.
  public var comparison: Comparison
  /// A Boolean value that indicates whether case is ignored: with Unicode's lower-case mapping for text, and for ASCII
  /// letters only in other bytes.
  public var ignoresCase: Bool

  /// Makes a condition.
  ///
  /// - Parameters:
  ///   - subject: The subject of the condition.
  ///   - comparison: The comparison.
  ///   - ignoresCase: True to ignore the case of letters. Has no effect on other values.
  public init(subject: Subject, comparison: Comparison, ignoresCase: Bool = false) {
    self.subject = subject
    self.comparison = comparison
    self.ignoresCase = ignoresCase
  }

  /// Returns the condition that an attribute has a value.
  public static func equal(
    _ name: AttributeName, _ value: AttributeValue, ignoresCase: Bool = false
  ) -> Predicate {
    Predicate(subject: .attribute(name), comparison: .equal(value), ignoresCase: ignoresCase)
  }

  /// Returns the condition that the container in the item's path is this server, service, issuer, or key tag or label.
  ///
  /// - Parameters:
  ///   - content: The bytes of the attribute.
  ///   - ignoresCase: True to ignore the case of letters.
  package static func container(_ content: [UInt8], ignoresCase: Bool = false) -> Predicate {
    Predicate(
      subject: .container, comparison: .equal(AttributeValue(text: content)), ignoresCase: ignoresCase)
  }

  /// Returns the condition that the id starts with these hexadecimal digits.
  package static func id(prefix: String) -> Predicate {
    Predicate(subject: .id(prefix: prefix), comparison: .exists)
  }

  /// Returns the condition that the item has this id.
  public static func id(_ id: ItemID) -> Predicate {
    .id(prefix: id.hex)
  }

  /// Returns the condition that the item has this path.
  public static func path(_ path: ItemPath) -> Predicate {
    Predicate(subject: .path(path), comparison: .exists)
  }
}
