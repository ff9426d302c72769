/// OpenPGP data as text (RFC 9580, section 6).
package enum Armor {
  /// The kind of data, which is part of the first and the last line.
  package enum Label: String, Sendable {
    case message = "PGP MESSAGE"
    case publicKey = "PGP PUBLIC KEY BLOCK"
    case signature = "PGP SIGNATURE"
  }

  /// Returns data in binary, or the bytes unchanged if they do not begin with armored data of this kind.
  ///
  /// The checksum at the end is ignored: it protects nothing that the encryption or a signature does not protect.
  ///
  /// - Parameters:
  ///   - bytes: The content of a file.
  ///   - label: The kind of data.
  package static func binary(_ bytes: [UInt8], _ label: Label) -> [UInt8] {
    guard bytes.starts(with: "-----BEGIN \(label.rawValue)-----".utf8) else { return bytes }
    let end = Array("-----END \(label.rawValue)-----".utf8)
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
