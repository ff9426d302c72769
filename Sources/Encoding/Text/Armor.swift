/// OpenPGP data as text (RFC 9580, section 6).
package enum Armor {
  /// The kind of data, which is part of the first and the last line.
  package enum Label: String, Sendable {
    case message = "PGP MESSAGE"
    case publicKey = "PGP PUBLIC KEY BLOCK"
    case signature = "PGP SIGNATURE"
  }

  /// Returns the data of each armored block of a kind, in binary. A block may follow any text. A block that cannot be
  /// decoded is returned unchanged, and so is a file without a block, or that begins with an OpenPGP packet.
  ///
  /// - Parameters:
  ///   - bytes: The content of a file.
  ///   - label: The kind of data.
  package static func blocks(_ bytes: [UInt8], _ label: Label) -> [[UInt8]] {
    let isBinary = bytes.first.map { $0 & 0x80 != 0 } ?? true
    let starts =
      isBinary
      ? []
      : bytes.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: begin(label)) }.map(\.startIndex)
    if starts.isEmpty { return [bytes] }
    return zip(starts, starts.dropFirst() + [bytes.endIndex]).map { binary(Array(bytes[$0..<$1]), label) }
  }

  private static func begin(_ label: Label) -> [UInt8] { Array("-----BEGIN \(label.rawValue)-----".utf8) }

  private static let blanks = Array(" \t\r".utf8)

  /// Returns data in binary, or the bytes unchanged if they do not begin with armored data of this kind.
  ///
  /// The checksum at the end is ignored: it protects nothing that the encryption or a signature does not protect.
  ///
  /// - Parameters:
  ///   - bytes: The content of a file.
  ///   - label: The kind of data.
  package static func binary(_ bytes: [UInt8], _ label: Label) -> [UInt8] {
    guard bytes.starts(with: begin(label)) else { return bytes }
    let end = Array("-----END \(label.rawValue)-----".utf8)
    var isBody = false
    var digits: [UInt8] = []
    for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropFirst() {
      if line.starts(with: end) {
        return unsafe digits.withUnsafeBytes { unsafe Base64.decode($0, as: .standard) } ?? bytes
      }
      // GnuPG skips blanks anywhere. A copy of a page or mail may have some at the ends of lines.
      let text = line.filter { !blanks.contains($0) }
      if !isBody {
        // Headers such as `Version: ...` end with an empty line.
        isBody = text.isEmpty
      } else if text.first != UInt8(ascii: "=") {
        digits += text
      }
    }
    return bytes
  }
}
