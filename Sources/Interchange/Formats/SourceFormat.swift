internal import Encoding
package import Secrets

/// A format of a file that can be imported.
package enum SourceFormat: String, CaseIterable, Sendable {
  /// A CSV file of a browser or a password manager.
  case csv
  /// An unencrypted JSON export of Bitwarden.
  case bitwarden
  /// A JSON export of Enpass.
  case enpass
  /// An archive of 1Password.
  case onePassword = "1pux"
  /// An XML export of KeePass.
  case keePass = "keepass-xml"
  /// A `.netrc` or `.authinfo` file.
  case netrc
  /// The output of macOS `security dump-keychain -d`.
  case keychainDump = "keychain-dump"
  /// An export of keytree.
  case keytree = "json"

  /// Detects the format of a file from its content.
  ///
  /// - Parameter bytes: the content of the file.
  /// - Returns: the format; nil if the content is not certain to be in one of the formats.
  /// - Throws: `empty`; `json` for a file that begins like JSON and is damaged; `notUTF8` for text in UTF-16; `unsupported`
  ///   for a known file that is not read.
  package static func detect(_ bytes: borrowing SecretBytes) throws(SourceError) -> SourceFormat? {
    guard !bytes.isEmpty else { throw .empty }
    switch unsafe bytes.withBytes({ unsafe beginning(of: $0) }) {
    case .json:
      let json = try SecretJSON(source: bytes)
      if json["format"]?.text?.isEqual(toText: "keytree") == true { return .keytree }
      if json["encrypted"]?.boolean == true, json["vaults"] == nil { return .bitwarden }
      if json["vaults"]?.members != nil { throw .unsupported(.protonPass) }
      if json["items"]?.elements == nil { return nil }
      return BitwardenImport.isExport(json)
        ? .bitwarden : EnpassImport.isExport(json) ? .enpass : nil
    case .format(let format): return format
    case .unsupported(let file): throw .unsupported(file)
    case .other:
      if unsafe bytes.withBytes({ unsafe SourceText.isUTF16($0) }) { throw .notUTF8 }
      // A file that cannot be read as a table, or whose columns are unknown, is not certain to be CSV.
      guard let header = try? CSVReader.header(of: bytes), (try? CSVDialect.detect(header)) != nil else {
        return nil
      }
      return .csv
    }
  }

  private enum Beginning {
    case json
    case format(SourceFormat)
    case unsupported(UnsupportedFile)
    case other
  }

  // The number of bytes in which the root element of an XML file is expected.
  private static let rootLimit = 4096

  private static func beginning(of file: UnsafeRawBufferPointer) -> Beginning {
    if let known = unsafe UnsupportedFile(content: file) { return .unsupported(known) }
    if unsafe file.starts(with: UnsupportedFile.zipMark) { return .format(.onePassword) }
    let mark = unsafe file.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let start = unsafe file[mark...].firstIndex { $0 > 0x20 } ?? file.count
    let text = unsafe UnsafeRawBufferPointer(rebasing: file[start...])
    switch unsafe text.first {
    case UInt8(ascii: "{") where unsafe SourceText.mayBeJSON(text),
      UInt8(ascii: "[") where unsafe SourceText.mayBeJSON(text):
      return .json
    case UInt8(ascii: "<"):
      let beginning = unsafe UnsafeRawBufferPointer(rebasing: text.prefix(rootLimit))
      return unsafe contains("<KeePassFile", beginning) ? .format(.keePass) : .other
    default: break
    }
    if unsafe text.starts(with: "keychain: \"".utf8) { return .format(.keychainDump) }
    return unsafe isNetrc(text) ? .format(.netrc) : .other
  }

  /// Returns true if the first word that is not in a comment begins an entry of a netrc file.
  private static func isNetrc(_ text: UnsafeRawBufferPointer) -> Bool {
    var start = 0
    while start < text.count, unsafe text[start] == UInt8(ascii: "#") {
      let end = unsafe text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
      start = unsafe text[end...].firstIndex { $0 > 0x20 } ?? text.count
    }
    let end = unsafe text[start...].firstIndex { $0 <= 0x20 } ?? text.count
    return ["machine", "default", "macdef"].contains { unsafe text[start..<end].elementsEqual($0.utf8) }
  }

  private static func contains(_ text: String, _ bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe ByteSearch.first(Array(text.utf8), in: bytes, from: 0) != nil
  }
}
