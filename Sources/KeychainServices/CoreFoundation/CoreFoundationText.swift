// Makes a CFString and a Swift string interchangeable; on Apple's systems, the runtime does this.

public import Foundation

/// Matches a string against a constant: `switch string { case kSecClassKey: ... }`.
///
/// - Parameters:
///   - pattern: The pattern after `case`.
///   - value: The value of the `switch` statement.
/// - Returns: True if both are the same text.
public func ~= (pattern: CFString, value: String) -> Bool {
  pattern as String == value
}

/// Matches a constant against a string: `switch kSecClass { case "class": ... }`.
///
/// - Parameters:
///   - pattern: The pattern after `case`.
///   - value: The value of the `switch` statement.
/// - Returns: True if both are the same text.
public func ~= (pattern: String, value: CFString) -> Bool {
  pattern == value as String
}

/// Lets a constant find its entry in `[AnyHashable: Any]`, as on Apple's systems. There, a CFString and a Swift string
/// with the same text are the same key; on Linux, they would be two keys.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
  /// Returns the text as a key that is equal to the key of the Swift string.
  ///
  /// - Returns: The key.
  public func _toCustomAnyHashable() -> AnyHashable? {
    AnyHashable(self as String)
  }
}
