internal import KeyringModel

/// The meaning of a column in a CSV file.
enum CSVColumn: Equatable {
  /// The displayed name.
  case label
  /// The URL that the password is for.
  case url
  /// Several such URLs, separated by commas or in a JSON array.
  case urls
  /// The URL that the password is for, or a mark of LastPass: `http://sn` for a note, `http://group` for a folder.
  case urlOrMark
  /// The user name.
  case account
  /// The password.
  case secret
  /// Free text, encrypted.
  case note
  /// A one-time-password seed or its `otpauth` URI.
  case oneTimePassword
  /// The HTTP realm.
  case securityDomain
  /// A public value, stored as a custom attribute.
  case attribute(AttributeName)
  /// Custom fields, `name: value` on each line.
  case fields
  /// Custom fields in a JSON array of objects with a label, a type and a value.
  case fieldsInJSON
  /// The type of the row: a password, a note or something else.
  case recordType
  /// A field that its program treats as a secret.
  case sealed(String)
  /// Any other column. It may be secret, so it is encrypted unless the user decides otherwise.
  case unknown(String)

  /// True if an item can have only one such value.
  fileprivate var isSingle: Bool {
    switch self {
    case .label, .account, .secret, .securityDomain, .attribute: true
    default: false
    }
  }
}

/// The columns that a program writes, recognised by their names. The order of the columns, the case of their names and
/// further columns do not matter.
struct CSVDialect {
  /// The programs, for messages.
  let name: String
  /// Columns that must exist, by lower-case name.
  let required: [String: CSVColumn]
  /// Columns that may exist.
  let optional: [String: CSVColumn]

  // An unknown program: the mapping determines all columns.
  private static let foreign = CSVDialect(name: "another program", required: [:], optional: [:])

  // Columns for one-time passwords under the names that programs use. Such a column is never anything else.
  private static let seeds: Set<String> = [
    "login_totp", "one-time password", "otp", "otpauth", "otpsecret", "otpurl", "totp",
  ]

  // Columns for notes under the names that programs use.
  private static let notes: Set<String> = ["note", "notes"]

  // Columns that organise passwords and are known to contain nothing else.
  private static let sorting: Set<String> = [
    "archived", "fav", "favorite", "folder", "grouping", "tags", "vault",
  ]

  // Attributes that say where an entry belongs, when it was changed and how it is shown. A row with nothing else is no
  // entry.
  private static let organising: Set<AttributeName> = Set(sorting.map { AttributeName($0) }).union([
    "archivedDate", "category", "collections", "creationDate", "groupID", "groupParent", "guid", "icon",
    "reprompt", "revisionDate", "timeCreated", "timeLastUsed", "timePasswordChanged", "uuid",
  ])

  /// Detects the program that wrote a file.
  ///
  /// - Parameters:
  ///   - header: the names of its columns.
  ///   - mapping: the user's choice of columns, which overrides the known meaning.
  ///   - hasContent: returns true for the number of a column that is not empty in all rows. Of several programs that
  ///     have these columns, the one that understands most of the filled ones is used.
  /// - Returns: the program, and the meaning of each column.
  /// - Throws: `CSVError.duplicateColumns`; `columnNameTooLong`; `noSuchColumn`; and `unknownHeader` if no known program writes these columns
  ///   and the mapping does not name the column of the secret.
  static func detect(
    _ header: [String], mapping: CSVMapping = CSVMapping(), hasContent: (Int) -> Bool = { _ in false }
  ) throws(CSVError) -> (dialect: CSVDialect, columns: [CSVColumn]) {
    let names = header.map(plainName)
    var given: [String: CSVColumn] = [:]
    for (title, column) in mapping.columns {
      guard names.contains(plainName(title)) else { throw .noSuchColumn(title) }
      given[plainName(title)] = column
    }
    let found = known.filter { $0.required.keys.allSatisfy(names.contains) }
    let filled = found.count > 1 ? names.indices.filter(hasContent).map { names[$0] } : []
    // Of several with the same number, `max` returns the last one.
    let best = found.reversed().max { $0.count(of: filled) < $1.count(of: filled) }
    guard let dialect = best ?? (given.values.contains(.secret) ? foreign : nil) else {
      throw .unknownHeader(columns: names.count)
    }
    var columnsByName: [String: Int] = [:]
    for (index, name) in names.enumerated() {
      if let earlier = columnsByName.updateValue(index, forKey: name) {
        throw .duplicateColumns(earlier + 1, index + 1)
      }
      // Each row that has a value in the column repeats its name.
      if name.utf8.count > ImportDraft.attributeLimit {
        throw .columnNameTooLong(column: index + 1, limit: ImportDraft.attributeLimit)
      }
    }
    let columns = zip(header, names).map { title, name -> CSVColumn in
      if let column = given[name] { return column }
      let column =
        dialect.required[name] ?? dialect.optional[name]
        ?? other(name, title)
      // The user's choice replaces the usual column.
      guard column.isSingle, given.values.contains(column) else { return column }
      return column == .secret ? .sealed(title) : .unknown(title)
    }
    return (dialect, columns)
  }

  // Returns the number of columns that the program writes.
  private func count(of names: [String]) -> Int {
    names.count { required[$0] != nil || optional[$0] != nil }
  }

  // The meaning of a column that the program does not write.
  private static func other(_ name: String, _ title: String) -> CSVColumn {
    if sorting.contains(name) { return .attribute(AttributeName(name)) }
    if seeds.contains(name) { return .oneTimePassword }
    return notes.contains(name) ? .note : .unknown(title)
  }

  /// Returns true if a column with this meaning only organises entries.
  static func isOrganising(_ column: CSVColumn) -> Bool {
    switch column {
    case .recordType: true
    case .attribute(let name): organising.contains(name)
    default: false
    }
  }

  // Without surrounding spaces, and with ASCII letters in lower case.
  private static func plainName(_ title: String) -> String {
    let bytes = title.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    let isText = { (byte: UInt8) in byte != UInt8(ascii: " ") }
    guard let first = bytes.firstIndex(where: isText), let last = bytes.lastIndex(where: isText) else {
      return ""
    }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }
}
