import Foundation
import KeyringModel
import Secrets
@testable import Interchange
@testable import KeytreeCLI

/// A format of `keytree import`, with the file in `fixtures` that uses all its features.
///
/// Values that must be imported contain the mark `mk` with digits, in upper case in a seed. Values with `lost` must not
/// be imported, and their entry must be in the report. Values with `id` have no meaning outside their program.
enum ImportFormat: String, CaseIterable, Sendable {
  case bitwarden = "imports/bitwarden.json"
  case onePassword = "imports/vault.1pux"
  case keePass = "imports/keepass.xml"
  case netrc = "imports/netrc"
  case keychain = "imports/keychain.txt"
  case csvBitwarden = "csv/bitwarden.csv"
  case csvBitwardenOrganisation = "csv/bitwarden-organisation.csv"
  case csvOnePassword8 = "csv/1password-8.csv"
  case csvOnePassword7 = "csv/1password-7.csv"
  case csvOnePassword6 = "csv/1password-6.csv"
  case csvKeePassXC = "csv/keepassxc.csv"
  case csvKeePass1 = "csv/keepass-1.csv"
  case csvLastPass = "csv/lastpass.csv"
  case csvDashlane = "csv/dashlane.csv"
  case csvNordPass = "csv/nordpass.csv"
  case csvProtonPass = "csv/protonpass.csv"

  static func file(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: ImportFixtures.folder.appending(path: name)))
  }

  /// Plans the import of the fixture.
  func plan(showsUnknown: Bool = false) throws -> ImportDraft {
    try plan(Self.file(rawValue), showsUnknown: showsUnknown)
  }

  /// Plans the import of a file of this format.
  func plan(_ file: [UInt8], showsUnknown: Bool = false) throws -> ImportDraft {
    let bytes = SecretBytes(copying: file)
    switch self {
    case .bitwarden: return try BitwardenImport.plan(bytes, showsUnknown: showsUnknown)
    case .onePassword: return try OnePasswordImport.plan(bytes, showsUnknown: showsUnknown)
    case .keePass: return try KeePassImport.plan(bytes, showsUnknown: showsUnknown)
    case .netrc: return try NetrcImport.plan(bytes)
    case .keychain: return try KeychainDumpImport.plan(bytes)
    default: return try CSVImport.plan(bytes, showsUnknown: showsUnknown).draft
    }
  }

  /// All bytes that can contain a mark; for an archive, the content of its members.
  var searchedText: String {
    get throws {
      guard self == .onePassword else { return String(decoding: try Self.file(rawValue), as: UTF8.self) }
      let archive = try ArchiveReader(SecretBytes(copying: Self.file(rawValue)), unpackingWith: Inflation())
      return try archive.members.map { member in
        let content = try archive.content(of: member, limit: 1 << 22)
        let text = unsafe content.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
        return member.name + "\n" + text
      }.joined(separator: "\n")
    }
  }
}

extension ImportDraft {
  /// The items as `name/account part: secret`, one per line, and the fields as `name/account/field part: secret`.
  var summary: [String] {
    items.map { item in
      let name = item.text(.server) ?? item.text(.service) ?? ""
      let account = item.text(.account) ?? ""
      let field = item.field.map { "/\($0)" } ?? ""
      return "\(name)/\(account)\(field) \(item.part.text): \(item.secret.text)"
    }
  }

  /// Everything that is in the store after the import, secret or not.
  var everything: String {
    items.map { item in
      item.attributes.entries.map { $0.value.contentBytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        .joined(separator: "\n") + "\n" + item.attributes.names.map(\.text).joined(separator: "\n") + "\n"
        + item.secret.text
    }.joined(separator: "\n")
  }
}
