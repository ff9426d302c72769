internal import Encoding
internal import KeyringModel
package import Secrets

/// The import of a password manager's CSV file, which converts its rows to logins.
///
/// - A row becomes an internet password: `server`, `protocol` and `port` come from its URL, `account` from its user
///   name, `label` from its title. The path of the URL is not part of the item's name, so that `github.com/alice` is
///   one item; the path is in the attribute `url`. A row without a host becomes a generic password.
/// - Data that may be secret never becomes an attribute: a note, an unknown column, and a URL with a password, a query
///   or a fragment become fields of the login.
/// - A row with an empty password becomes an item with an empty secret. A row that only contains a note becomes an item
///   with the note as its secret and the kind `secure note`.
/// - A row without anything that belongs to an entry, such as one for a folder, is skipped. A row with another number of
///   fields than the header is a loss.
package enum CSVImport {
  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - mapping: the user's choice of columns.
  ///   - showsUnknown: true if unknown columns become custom attributes, which are public.
  /// - Returns: the items with their sources, the program that wrote the file, and the number of rows.
  /// - Throws: `CSVError` if the file as a whole cannot be understood. Then nothing of it should be imported.
  package static func plan(
    _ bytes: borrowing SecretBytes, mapping: CSVMapping = CSVMapping(), showsUnknown: Bool = false
  ) throws(CSVError) -> (draft: ImportDraft, dialect: String, rowCount: Int) {
    let table = try CSVReader.read(bytes)
    let (dialect, columns) = try CSVDialect.detect(
      table.header, mapping: mapping, hasContent: table.hasContent(inColumn:))
    var draft = ImportDraft()
    for (row, fields) in table.uneven {
      draft.lose(.row(row), .wrongFieldCount(fields, expected: table.header.count))
    }
    for row in 0..<table.rowCount {
      var entry = ImportedEntry(.row(table.number(ofRow: row)), showsUnknown: showsUnknown)
      if let reason = read(row: row, of: table, columns, into: &entry) {
        draft.skip(entry.source, reason)
      } else {
        entry.finish(into: &draft)
      }
    }
    return (draft, dialect.name, table.rowCount + table.uneven.count)
  }

  // Returns the reason why the row needs no item, or nil if it needs one.
  private static func read(
    row: Int, of table: CSVTable, _ columns: [CSVColumn], into entry: inout ImportedEntry
  ) -> ImportSkip? {
    let isEmpty = columns.enumerated().allSatisfy { index, column in
      CSVDialect.isOrganising(column) || table.field(row: row, column: index).isEmpty
    }
    if isEmpty { return .empty }
    var recordType = RecordType.password
    for (index, column) in columns.enumerated() {
      let field = table.field(row: row, column: index)
      // An empty field is ignored, unlike an empty password.
      if field.isEmpty { continue }
      switch column {
      case .secret: entry.claimSecret(field, title: table.header[index])
      case .label: entry.claim(.label, field, title: table.header[index])
      case .account: entry.claim(.account, field, title: table.header[index])
      case .securityDomain: entry.claim(.securityDomain, field, title: table.header[index])
      case .attribute(let name): entry.claim(name, field, title: table.header[index])
      case .url: if !entry.urls.contains(where: field.isEqual) { entry.urls.append(field) }
      case .urls: entry.addresses(in: field)
      case .urlOrMark:
        if field.isEqual(toText: "http://sn") {
          recordType = .note
        } else if field.isEqual(toText: "http://group") {
          recordType = .folder
        } else {
          entry.urls.append(field)
        }
      case .note: entry.note(field)
      case .oneTimePassword: entry.oneTimePassword(field)
      case .fields: for (name, value) in CSVFields.fields(in: field) { entry.field(name, value) }
      case .fieldsInJSON:
        guard let fields = CSVFields.fieldsInJSON(field) else {
          entry.field(table.header[index], field, isSecret: true)
          break
        }
        for (name, value, isSecret) in fields { entry.field(name, value, isSecret: isSecret) }
      case .recordType:
        recordType = RecordType(field)
        if case .other = recordType { entry.set("category", field) }
      case .sealed(let title): entry.field(title, field, isSecret: true)
      case .unknown(let title): entry.field(title, field)
      }
    }
    // Proton Pass identifies an account without a user name by its mail address.
    if columns.contains(.attribute("email")), entry.attributes[.account] == nil {
      entry.attributes[.account] = entry.attributes["email"]
    }
    let isBare = entry.secret.isEmpty && !entry.hasParts && entry.urls.isEmpty
    if recordType == .folder, isBare, entry.attributes[.account] == nil { return .folder }
    if recordType == .note, entry.secret.isEmpty { entry.becomeNote() }
    if !entry.secret.isText { entry.remarks.append(.notUTF8("the secret")) }
    return nil
  }

  /// The type of a row, in the terms of several programs.
  private enum RecordType {
    case password, note, folder, other

    init(_ text: SecretSlice) {
      switch String(decoding: text.publicBytes(), as: UTF8.self).lowercased() {
      case "login", "password", "entry": self = .password
      case "note", "secure note", "securenote": self = .note
      case "folder", "group": self = .folder
      default: self = .other
      }
    }
  }
}

extension SecretSlice {
  /// A Boolean value that indicates whether these bytes are UTF-8.
  fileprivate var isText: Bool { unsafe withBytes { unsafe SecretText.isUTF8($0) } }
}
