internal import Encoding
internal import KeyringModel

/// OpenPGP messages as text (RFC 9580, section 6), which gpg writes if its settings contain `armor`.
package enum ArmoredMessage {
  private static let begin = Array("-----BEGIN PGP MESSAGE-----".utf8)
  private static let end = Array("-----END PGP MESSAGE-----".utf8)

  /// Returns the message in binary, or the bytes unchanged if they are not an armored message.
  ///
  /// The checksum at the end is ignored: it protects nothing that the encryption does not protect.
  package static func binary(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.starts(with: begin) else { return bytes }
    var isBody = false
    var digits: [UInt8] = []
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropFirst() {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      if line.starts(with: end) {
        return unsafe digits.withUnsafeBytes { unsafe Base64.decode($0, as: .standard) } ?? bytes
      }
      if !isBody {
        // Headers such as `Version: ...` end with an empty line.
        isBody = line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      } else if line.first != UInt8(ascii: "=") {
        digits += line
      }
    }
    return bytes
  }
}
