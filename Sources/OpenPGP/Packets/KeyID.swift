internal import Encoding
package import KeyringModel

/// The 64-bit id of a key or subkey, as it is written before an encrypted message (RFC 9580, 5.1).
///
/// Different keys can have the same id, by accident or on purpose. An id helps to find a fingerprint, but never proves
/// one.
public struct KeyID: Hashable, Sendable, Comparable {
  /// The id as a big-endian number.
  package let value: UInt64

  /// The id of a hidden recipient. gpg writes it with `throw-keyids`.
  package static let hidden = KeyID(value: 0)

  /// Creates an id from a number.
  ///
  /// - Parameter value: The eight bytes as a big-endian number.
  package init(value: UInt64) { self.value = value }

  /// Reads 16 hexadecimal digits, upper or lower case.
  ///
  /// - Parameter text: Exactly 16 digits; anything else gives nil.
  public init?(_ text: String) {
    guard text.utf8.count == 16, text.utf8.allSatisfy({ Hex.value(of: $0) != nil }) else { return nil }
    guard let value = UInt64(text, radix: 16) else { return nil }
    self.value = value
  }

  /// Returns the id of a key or subkey (RFC 9580, 5.5.4).
  ///
  /// - Parameter fingerprint: Its own fingerprint: the id is the last 8 bytes of one of version 4, and the first 8 bytes
  ///   of a later one.
  package init(of fingerprint: Fingerprint) {
    let digits = fingerprint.text
    let text = digits.utf8.count == 40 ? digits.suffix(16) : digits.prefix(16)
    value = text.utf8.reduce(0) { $0 << 4 | UInt64(Hex.value(of: $1) ?? 0) }
  }

  /// The id as 16 upper-case hexadecimal digits.
  public var text: String { Hex.text(of: value, uppercase: true) }

  /// Orders by the number.
  public static func < (left: KeyID, right: KeyID) -> Bool { left.value < right.value }
}

/// Conversion between numbers and hexadecimal digits.
enum Hex {
  /// Returns the value of a digit.
  ///
  /// - Parameter digit: A byte of text.
  /// - Returns: 0 to 15; nil for anything but a digit.
  static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Returns a number as 16 digits.
  ///
  /// - Parameters:
  ///   - value: The number.
  ///   - uppercase: True for upper-case letters.
  /// - Returns: Exactly 16 digits.
  static func text(of value: UInt64, uppercase: Bool) -> String {
    Hexadecimal.text(value, digits: 16, uppercase: uppercase)
  }
}
