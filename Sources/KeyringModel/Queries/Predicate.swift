public import Encoding

/// One condition on an item.
public struct Predicate: Sendable {
  /// The subjects of conditions.
  public enum Subject: Hashable, Sendable {
    /// One attribute, known or custom, or what every item has (`class`, `created`, ...).
    case attribute(AttributeName)
    /// Any attribute of the item; what every item has without being asked is not among them.
    case any
    /// The attribute that an item's path begins with: the server, the service, the issuer, a key's application tag or,
    /// without one, its application label. So one condition asks for items of all classes by the first part of their
    /// name.
    case container
    /// The item's id: all or its first hexadecimal digits. The comparison has no part in it.
    case id(prefix: String)
    /// The item's path. The comparison has no part in it.
    case path(ItemPath)
  }

  /// The comparisons. Texts and bytes are compared by their bytes; integers by their digits if the comparison
  /// is about parts.
  public enum Comparison: Hashable, Sendable {
    /// The same value, as ``AttributeValue/isSame(as:)`` says; a missing primary-key attribute equals its
    /// default (empty, zero, false).
    case equal(AttributeValue)
    /// Text that starts like this.
    case prefix(AttributeValue)
    /// Text that ends like this.
    case suffix(AttributeValue)
    /// Text with this in it.
    case contains(AttributeValue)
    /// A date earlier than this.
    case before(Timestamp)
    /// A date later than this.
    case after(Timestamp)
    /// Any value at all.
    case exists
  }

  /// The subject of the condition.
  public var subject: Subject
  /// The comparison.
  public var comparison: Comparison
  /// A Boolean value that indicates whether case is ignored: by Unicode's lower-case mapping for text, for
  /// ASCII letters in other bytes.
  public var ignoresCase: Bool

  /// Makes a condition.
  ///
  /// - Parameters:
  ///   - subject: What it looks at.
  ///   - comparison: How it is compared.
  ///   - ignoresCase: Whether the case of letters does not matter; without effect on other values.
  public init(subject: Subject, comparison: Comparison, ignoresCase: Bool = false) {
    self.subject = subject
    self.comparison = comparison
    self.ignoresCase = ignoresCase
  }

  /// The condition that an attribute has a value.
  public static func equal(
    _ name: AttributeName, _ value: AttributeValue, ignoresCase: Bool = false
  ) -> Predicate {
    Predicate(subject: .attribute(name), comparison: .equal(value), ignoresCase: ignoresCase)
  }

  /// The condition that the item's path begins with this server, service, issuer, or key's tag or label.
  ///
  /// - Parameters:
  ///   - content: The bytes of the attribute.
  ///   - ignoresCase: Whether the case of letters does not matter.
  public static func container(_ content: [UInt8], ignoresCase: Bool = false) -> Predicate {
    Predicate(
      subject: .container, comparison: .equal(AttributeValue(text: content)), ignoresCase: ignoresCase)
  }

  /// The condition that the id starts with these hexadecimal digits.
  public static func id(prefix: String) -> Predicate {
    Predicate(subject: .id(prefix: prefix), comparison: .exists)
  }

  /// The condition that the item is the one with this id.
  public static func id(_ id: ItemID) -> Predicate {
    .id(prefix: id.hex)
  }

  /// The condition that the item lives at this path.
  public static func path(_ path: ItemPath) -> Predicate {
    Predicate(subject: .path(path), comparison: .exists)
  }
}
