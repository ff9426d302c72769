internal import KeyringModel
package import Secrets

/// Turns the rows of a password manager's CSV file into logins.
///
/// - A row becomes an internet password: `server`, `protocol` and `port` from its URL, `account` from its user
///   name, `label` from its title. The path of the URL does not name the item, so that `github.com/alice` is
///   one item; it is in the attribute `url`. A row without a host becomes a generic password.
/// - What may be secret is never an attribute: a note, a column that nobody knows, and a URL with a password,
///   a query or a fragment become fields of the login.
/// - A row with an empty password is kept as an item with an empty secret; a row that is a note alone has the note
///   for its secret and the kind `secure note`.
package enum CSVImport {
  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: The file as it is.
  ///   - mapping: What the person says about columns.
  ///   - showsUnknown: Whether columns that nobody knows become custom attributes, which are public.
  /// - Returns: The items; where they came from; the program that wrote the file; and the number of rows.
  /// - Throws: `CSVError` when the file as a whole cannot be understood. Nothing of it should be imported then.
  package static func plan(
    _ bytes: borrowing SecretBytes, mapping: CSVMapping = CSVMapping(), showsUnknown: Bool = false
  ) throws(CSVError) -> (draft: ImportDraft, dialect: String, rowCount: Int) {
    let table = try CSVReader.read(bytes)
    let (dialect, columns) = try CSVDialect.detect(table.header, mapping: mapping)
    var draft = ImportDraft()
    for row in 0..<table.rowCount {
      var entry = ImportedEntry(.row(CSVTable.number(ofRow: row)), showsUnknown: showsUnknown)
      if let reason = read(row: row, of: table, columns, into: &entry) {
        draft.skip(entry.source, reason)
      } else {
        entry.finish(into: &draft)
      }
    }
    return (draft, dialect.name, table.rowCount)
  }

  // Why the row needs no item, when it needs none.
  private static func read(
    row: Int, of table: CSVTable, _ columns: [CSVColumn], into entry: inout ImportedEntry
  ) -> ImportSkip? {
    if columns.indices.allSatisfy({ table.field(row: row, column: $0).isEmpty }) { return .empty }
    var recordType = RecordType.password
    for (index, column) in columns.enumerated() {
      let field = table.field(row: row, column: index)
      // An empty field says nothing, as opposed to an empty password.
      if field.isEmpty { continue }
      switch column {
      case .secret: entry.claimSecret(field, title: table.header[index])
      case .label: entry.claim(.label, field, title: table.header[index])
      case .account: entry.claim(.account, field, title: table.header[index])
      case .securityDomain: entry.claim(.securityDomain, field, title: table.header[index])
      case .attribute(let name): entry.claim(name, field, title: table.header[index])
      case .url: entry.urls.append(field)
      case .urls: entry.addresses(in: field)
      case .urlOrNoteMark:
        if field.isEqual(toText: "http://sn") {
          recordType = .note
        } else {
          entry.urls.append(field)
        }
      case .note: entry.note(field)
      case .oneTimePassword: entry.oneTimePassword(field)
      case .fields: for (name, value) in CSVFields.fields(in: field) { entry.field(name, value) }
      case .recordType:
        recordType = RecordType(field)
        if case .other = recordType { entry.set("category", field) }
      case .sealed(let title): entry.field(title, field, isSecret: true)
      case .unknown(let title): entry.field(title, field)
      }
    }
    // Proton Pass names an account by its mail address alone, where there is no other name.
    if columns.contains(.attribute("email")), entry.attributes[.account] == nil {
      entry.attributes[.account] = entry.attributes["email"]
    }
    if recordType == .folder, entry.secret.isEmpty, !entry.hasParts, entry.urls.isEmpty { return .folder }
    if recordType == .note, entry.secret.isEmpty { entry.becomeNote() }
    return nil
  }

  /// What a row is, in the words of several programs.
  private enum RecordType {
    case password, note, folder, other

    init(_ text: SecretSlice) {
      switch String(decoding: text.publicBytes(), as: UTF8.self).lowercased() {
      case "login", "password": self = .password
      case "note", "secure note", "securenote": self = .note
      case "folder": self = .folder
      default: self = .other
      }
    }
  }
}
