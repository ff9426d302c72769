/// The name of those who share an item: a group of the store's policy on Linux, an access group of the program on
/// Apple's systems.
public struct AccessGroup: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  /// The name.
  public var rawValue: String

  /// Takes any name; whether the program may use the group shows when it does.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Takes a name that is written in the program.
  public init(stringLiteral name: String) { rawValue = name }
}
