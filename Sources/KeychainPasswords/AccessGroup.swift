/// The name of the group that shares an item: a group in the store's policy on Linux, an access group of the program on
/// Apple's systems.
public struct AccessGroup: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  /// The name.
  public var rawValue: String

  /// Creates a group with any name. The right to use the group is checked only when it is used.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a group from a string literal.
  public init(stringLiteral name: String) { rawValue = name }
}
