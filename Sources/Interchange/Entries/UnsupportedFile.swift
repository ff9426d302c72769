internal import Encoding
package import Secrets

/// A file that other programs write and no import reads, recognised by its first bytes or by its name.
package enum UnsupportedFile: CaseIterable, Sendable {
  /// A database of KeePass 2 or KeePassXC: `.kdbx`.
  case keePass
  /// A database of KeePass 1: `.kdb`.
  case keePass1
  /// A database of Password Safe: `.psafe3`.
  case passwordSafe
  /// The vault of 1Password: `.agilekeychain`, `.opvault`.
  case onePasswordVault
  /// An older export of 1Password: `.1pif`.
  case onePIF
  /// The vault of Enpass: `.enpassdb`, `.walletx`.
  case enpass
  /// An export of Proton Pass in JSON.
  case protonPass
  /// A keychain of macOS.
  case keychain
  /// A document of a spreadsheet program: `.xlsx`, `.ods`, `.xls`.
  case spreadsheet
  /// A PDF document.
  case pdf
  /// An SQLite database, such as those of browsers.
  case sqlite
  /// A ZIP archive that is no export of 1Password.
  case archive
  /// A file that is compressed with gzip.
  case gzip
  /// A message that is encrypted with OpenPGP.
  case openPGP
  /// A file that is encrypted with age.
  case age

  static let zipMark: [UInt8] = [0x50, 0x4B, 0x03, 0x04]

  // The first bytes of each kind of file.
  private static let marks: [(bytes: [UInt8], file: UnsupportedFile)] = [
    ([0x03, 0xD9, 0xA2, 0x9A, 0x67, 0xFB, 0x4B, 0xB5], .keePass),
    ([0x03, 0xD9, 0xA2, 0x9A, 0x66, 0xFB, 0x4B, 0xB5], .keePass),
    ([0x03, 0xD9, 0xA2, 0x9A, 0x65, 0xFB, 0x4B, 0xB5], .keePass1),
    (Array("PWS3".utf8), .passwordSafe), (Array("kych".utf8), .keychain),
    (Array("SQLite format 3\0".utf8), .sqlite), (Array("%PDF-".utf8), .pdf),
    ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], .spreadsheet), ([0x1F, 0x8B, 0x08], .gzip),
    (Array("age-encryption.org/".utf8), .age),
    (Array("-----BEGIN AGE ENCRYPTED FILE-----".utf8), .age),
    (Array("-----BEGIN PGP MESSAGE-----".utf8), .openPGP),
  ]

  // A separator between the entries of a 1PIF file.
  private static let onePIFMark = Array("***5642bee8-a5ff-11dc-8314-0800200c9a66***".utf8)

  /// Recognises the content of a file; nil for any other content.
  init?(content: UnsafeRawBufferPointer) {
    if let known = Self.marks.first(where: { unsafe content.starts(with: $0.bytes) }) {
      self = known.file
    } else if unsafe content.starts(with: Self.zipMark) {
      func has(_ name: String) -> Bool {
        unsafe ByteSearch.first(Array(name.utf8), in: content, from: 0) != nil
      }
      if has("export.data") { return nil }
      let isSpreadsheet =
        has("xl/workbook") || has("application/vnd.oasis.opendocument.spreadsheet")
      self = isSpreadsheet ? .spreadsheet : .archive
    } else if unsafe Self.isMessage(content) {
      self = .openPGP
    } else if unsafe content.first == UInt8(ascii: "{"),
      unsafe ByteSearch.first(Self.onePIFMark, in: content, from: 0) != nil
    {
      self = .onePIF
    } else {
      return nil
    }
  }

  /// Recognises the content of a file; nil for any other content.
  ///
  /// - Parameter bytes: the content.
  package init?(_ bytes: borrowing SecretBytes) {
    let known = unsafe bytes.withBytes { unsafe UnsupportedFile(content: $0) }
    guard let known else { return nil }
    self = known
  }

  /// Recognises a file or folder by the end of its name; nil for any other name.
  ///
  /// - Parameter name: the name or the path.
  package init?(name: String) {
    var name = name[...]
    while name.last == "/" { name.removeLast() }
    guard let dot = name.lastIndex(of: ".") else { return nil }
    switch name[name.index(after: dot)...].lowercased() {
    case "agilekeychain", "opvault": self = .onePasswordVault
    case "1pif": self = .onePIF
    case "enpassdb", "walletx": self = .enpass
    default: return nil
    }
  }

  /// Returns true for a binary OpenPGP message (RFC 4880, section 4.2): it begins with a packet for a recipient or a
  /// passphrase, of version 3, 4 or 6.
  private static func isMessage(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count > 4 else { return false }
    let version: Int
    switch unsafe bytes[0] {
    case 0x84, 0x8C, 0xC1, 0xC3: version = 2
    case 0x85, 0x8D: version = 3
    default: return false
    }
    return unsafe [3, 4, 6].contains(bytes[version])
  }
}
