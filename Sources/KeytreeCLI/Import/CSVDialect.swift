internal import KeyringModel

/// What a column of a CSV file means.
enum CSVColumn: Equatable {
  /// The name that people see.
  case label
  /// Where the password belongs.
  case url
  /// Several such places, with commas between them.
  case urls
  /// Where the password belongs, or `http://sn`, by which LastPass says that the row is a note.
  case urlOrNoteMark
  /// The user name.
  case account
  /// The password.
  case secret
  /// Free text, sealed.
  case note
  /// A seed of one-time passwords or its `otpauth` URI.
  case oneTimePassword
  /// The HTTP realm.
  case securityDomain
  /// A public fact, kept as a custom attribute.
  case attribute(AttributeName)
  /// Custom fields, `name: value` on each line.
  case fields
  /// Whether the row is a password, a note or something else.
  case recordType
  /// A field that its program treats as a secret.
  case sealed(String)
  /// Anything else. Nobody knows whether it is secret, so it is sealed unless its owner says otherwise.
  case unknown(String)

  /// Whether an item has room for one such value.
  fileprivate var isSingle: Bool {
    switch self {
    case .label, .account, .secret, .securityDomain, .attribute: true
    default: false
    }
  }
}

/// The columns that a program writes, recognised by their names alone: neither the order of the columns nor
/// the letter case of their names nor further columns matter.
struct CSVDialect {
  /// The programs, for messages.
  let name: String
  /// Columns that must be there, by lower-case name.
  let required: [String: CSVColumn]
  /// Columns that may be there.
  let optional: [String: CSVColumn]

  // A program that nothing is known about: the mapping says it all.
  private static let foreign = CSVDialect(name: "another program", required: [:], optional: [:])

  // Columns that sort passwords and are known to hold nothing else.
  private static let sorting: Set<String> = [
    "archived", "fav", "favorite", "folder", "grouping", "tags", "vault",
  ]

  /// Finds out which program wrote a file.
  ///
  /// - Parameters:
  ///   - header: The names of its columns.
  ///   - mapping: What the person says about columns; that comes before what is known about a program.
  /// - Returns: The program, and what each column means.
  /// - Throws: `CSVError.duplicateColumn`; `noSuchColumn`; and `unknownHeader` when no known program writes these
  ///   columns and the mapping does not say which one is the secret.
  static func detect(
    _ header: [String], mapping: CSVMapping = CSVMapping()
  ) throws(CSVError) -> (dialect: CSVDialect, columns: [CSVColumn]) {
    let names = header.map(plainName)
    var given: [String: CSVColumn] = [:]
    for (title, column) in mapping.columns {
      guard names.contains(plainName(title)) else { throw .noSuchColumn(title) }
      given[plainName(title)] = column
    }
    let found = known.first { $0.required.keys.allSatisfy(names.contains) }
    guard let dialect = found ?? (given.values.contains(.secret) ? foreign : nil) else {
      throw .unknownHeader(columns: names.count)
    }
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      throw .duplicateColumn(header[index])
    }
    let columns = zip(header, names).map { title, name -> CSVColumn in
      if let column = given[name] { return column }
      let column =
        dialect.required[name] ?? dialect.optional[name]
        ?? (sorting.contains(name) ? .attribute(AttributeName(name)) : .unknown(title))
      // What the person has said is so in place of what is usual.
      guard column.isSingle, given.values.contains(column) else { return column }
      return column == .secret ? .sealed(title) : .unknown(title)
    }
    return (dialect, columns)
  }

  // Without spaces around and in lower-case ASCII letters.
  private static func plainName(_ title: String) -> String {
    let bytes = title.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    let isText = { (byte: UInt8) in byte != UInt8(ascii: " ") }
    guard let first = bytes.firstIndex(where: isText), let last = bytes.lastIndex(where: isText) else {
      return ""
    }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }
}
