/// The rules for the names of fields, the additional secrets of a login such as its one-time-password seed.
public enum FieldName {
  /// The field for the seed of one-time passwords, as an `otpauth://` URI or base32.
  public static let oneTimePassword = "otp"
  /// The field for a note.
  public static let note = "note"

  /// The maximum size of a name, in bytes.
  package static let maximumSize = 40

  /// Returns true if a field can have this name: 1 to 40 of `[a-z0-9-]`, not starting with `-`, and not the name of a
  /// DOS device, because the name is also the name of a file.
  ///
  /// - Parameter name: A proposed name.
  package static func isValid(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    guard name.count <= maximumSize, ReadableComponent.isValid(name, isName: false) else { return false }
    return name.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  /// Returns true if a field can have this name; see the overload for bytes.
  package static func isValid(_ name: String) -> Bool { isValid(name.utf8) }
}
