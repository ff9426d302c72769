internal import KeyringModel

/// What a column of a CSV file means.
enum CSVColumn: Equatable {
  /// The name that people see.
  case label
  /// Where the password belongs.
  case url
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
  /// Anything else. Nobody knows whether it is secret, so it is sealed.
  case sealed(String)
}

/// The columns that a program writes, recognised by their names alone: neither the order of the columns nor
/// the letter case of their names nor further columns matter.
struct CSVDialect {
  /// The programs, for messages.
  let name: String
  /// Columns that must be there, by lower-case name.
  private let required: [String: CSVColumn]
  /// Columns that may be there.
  private let optional: [String: CSVColumn]

  // The first one whose columns are all there is taken. Chrome's are fewer than those of programs that
  // resemble it; what such a program adds is sealed like any column that is not known.
  private static let all = [
    CSVDialect(
      name: "Firefox",
      required: [
        "url": .url, "username": .account, "password": .secret, "httprealm": .securityDomain,
        "formactionorigin": .attribute("formActionOrigin"),
      ],
      optional: [
        "guid": .attribute("guid"), "timecreated": .attribute("timeCreated"),
        "timelastused": .attribute("timeLastUsed"),
        "timepasswordchanged": .attribute("timePasswordChanged"),
      ]),
    CSVDialect(
      name: "Apple Passwords",
      required: ["title": .label, "url": .url, "username": .account, "password": .secret],
      optional: ["notes": .note, "otpauth": .oneTimePassword]),
    CSVDialect(
      name: "Chrome, Edge or Brave",
      required: ["name": .label, "url": .url, "username": .account, "password": .secret],
      optional: ["note": .note]),
  ]

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
    let known = all.first { $0.required.keys.allSatisfy(names.contains) }
    guard let dialect = known ?? (given.values.contains(.secret) ? foreign : nil) else {
      throw .unknownHeader(columns: names.count)
    }
    for (index, name) in names.enumerated() where names[..<index].contains(name) {
      throw .duplicateColumn(header[index])
    }
    let columns = zip(header, names).map { title, name in
      given[name] ?? dialect.required[name] ?? dialect.optional[name]
        ?? (sorting.contains(name) ? .attribute(AttributeName(name)) : .sealed(title))
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
