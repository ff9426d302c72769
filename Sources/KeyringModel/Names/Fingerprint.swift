internal import Encoding

/// The full fingerprint of an OpenPGP primary key: 40 hexadecimal digits (version 4) or 64 (version 5, 6).
///
/// Only the full fingerprint identifies a person, because short key ids can be forged and mail addresses can be shared.
public struct Fingerprint: Hashable, Comparable, Sendable {
  /// The digits, upper case, without spaces.
  public let text: String

  /// Parses a fingerprint in the only accepted form.
  ///
  /// - Parameter text: 40 or 64 digits of `0-9A-F`. Anything else, including lower case, gives nil.
  public init?(_ text: String) {
    guard text.utf8.count == 40 || text.utf8.count == 64 else { return nil }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"): continue
      default: return nil
      }
    }
    self.text = text
  }

  /// Orders fingerprints by their digits.
  public static func < (left: Fingerprint, right: Fingerprint) -> Bool {
    left.text.precedesInBytes(right.text)
  }
}

extension Fingerprint: CustomStringConvertible {
  /// The same as ``text``.
  public var description: String { text }
}
