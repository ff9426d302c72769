// What lets a CFString and a Swift string stand for each other, where Apple's systems do it in the runtime.

public import Foundation

/// Matches a string against a constant: `switch string { case kSecClassKey: ... }`.
///
/// - Parameters:
///   - pattern: What stands after `case`.
///   - value: What is switched over.
/// - Returns: Whether both are the same text.
public func ~= (pattern: CFString, value: String) -> Bool {
  pattern as String == value
}

/// Matches a constant against a string: `switch kSecClass { case "class": ... }`.
///
/// - Parameters:
///   - pattern: What stands after `case`.
///   - value: What is switched over.
/// - Returns: Whether both are the same text.
public func ~= (pattern: String, value: CFString) -> Bool {
  pattern == value as String
}

/// Makes a constant find its entry in `[AnyHashable: Any]`, as it does on Apple's systems: there a CFString
/// and the Swift string of the same text are one key, on Linux they would be two.
extension NSString: @retroactive _HasCustomAnyHashableRepresentation {
  /// The text as a key, the same as that of the Swift string.
  ///
  /// - Returns: The key.
  public func _toCustomAnyHashable() -> AnyHashable? {
    AnyHashable(self as String)
  }
}
