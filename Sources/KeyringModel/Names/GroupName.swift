/// The rules for the names of groups: ASCII characters that are safe in commands and paths.
public enum GroupName {
  /// The group that every keyring has. Items are in this group unless another one is given.
  public static let `default` = "default"

  /// The maximum size of a name, in bytes.
  package static let maximumSize = 100

  /// Returns true if a group can have this name: letters, digits, `.`, `_` and `-`, starting with a letter or
  /// digit.
  ///
  /// - Parameter name: A proposed name, case-sensitive.
  package static func isValid(_ name: String) -> Bool {
    guard let first = name.utf8.first, isAlphanumeric(first), name.utf8.count <= maximumSize else {
      return false
    }
    return name.utf8.allSatisfy { byte in
      isAlphanumeric(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        || byte == UInt8(ascii: "-")
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
