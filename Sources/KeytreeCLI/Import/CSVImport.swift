internal import KeyringModel
package import Secrets

/// Turns the rows of a password manager's CSV file into items.
///
/// - A row becomes an internet password: `server`, `protocol` and `port` from its URL, `account` from its user
///   name, `label` from its title. The path of the URL does not name the item, so that `github.com/alice` is
///   one item; it is in the attribute `url`. A row without a host becomes a generic password.
/// - What may be secret is never an attribute: a note, a column that nobody knows, and a URL with a password,
///   a query or a fragment become items of kind `note` beside the password.
/// - A row with an empty password is kept as an item with an empty secret.
package enum CSVImport {
  /// Reads a file.
  ///
  /// - Parameters:
  ///   - bytes: The file as it is.
  ///   - mapping: What the person says about columns.
  /// - Returns: The items; where they came from; the program that wrote the file; and the number of rows.
  /// - Throws: `CSVError` when the file as a whole cannot be understood. Nothing of it should be imported then.
  package static func plan(
    _ bytes: borrowing SecretBytes, mapping: CSVMapping = CSVMapping()
  ) throws(CSVError) -> (draft: ImportDraft, dialect: String, rowCount: Int) {
    let table = try CSVReader.read(bytes)
    let (dialect, columns) = try CSVDialect.detect(table.header, mapping: mapping)
    var draft = ImportDraft()
    for row in 0..<table.rowCount {
      read(row: row, of: table, columns, into: &draft)
    }
    return (draft, dialect.name, table.rowCount)
  }

  private static func read(
    row: Int, of table: CSVTable, _ columns: [CSVColumn], into draft: inout ImportDraft
  ) {
    var attributes = Attributes()
    var secret = table.field(row: row, column: 0).part(0..<0)
    var url: (text: SecretSlice, parts: ImportedURL)?
    var further: [(part: ImportPart, secret: SecretSlice)] = []
    for (index, column) in columns.enumerated() {
      let field = table.field(row: row, column: index)
      // An empty field says nothing, as opposed to an empty password.
      if field.isEmpty { continue }
      switch column {
      case .secret: secret = field
      case .label: attributes[.label] = AttributeValue(text: field.publicBytes())
      case .account: attributes[.account] = AttributeValue(text: field.publicBytes())
      case .securityDomain: attributes[.securityDomain] = AttributeValue(text: field.publicBytes())
      case .attribute(let name): attributes[name] = AttributeValue(text: field.publicBytes())
      case .url: url = unsafe (field, field.withBytes { unsafe ImportedURL($0) })
      case .note: further.append((.note, field))
      case .oneTimePassword: further.append((.oneTimePassword, field))
      case .sealed(let title): further.append((.column(title), field))
      }
    }
    var item = PlannedItem(
      itemClass: .internetPassword, attributes: attributes, secret: secret,
      source: .row(CSVTable.number(ofRow: row)), part: .secret)
    if let url {
      item.place(at: url.parts)
      if url.parts.hidesSomething {
        item.remarks.append(.urlPartlySealed)
        further.append((.column("url"), url.text))
      }
    }
    if item.attributes[.server] == nil { item.makeGeneric() }
    draft.add(item)
    for (part, secret) in further {
      draft.add(
        part == .oneTimePassword ? item.oneTimePassword(secret) : item.companion(part, keeping: secret))
    }
  }
}

extension PlannedItem {
  // Says where the password belongs, as far as the URL knows.
  fileprivate mutating func place(at url: ImportedURL) {
    if !url.publicText.isEmpty { attributes[.url] = AttributeValue(text: url.publicText) }
    guard let host = url.host else { return }
    attributes[.server] = AttributeValue(text: host.host)
    attributes[.protocol] = url.scheme.map { AttributeValue(text: $0) }
    attributes[.port] = host.port.map { .integer($0) }
    if !url.path.isEmpty, url.path != [UInt8(ascii: "/")] {
      alternatives = [[.path: AttributeValue(text: url.path)]]
    }
  }

  // Without a host the title is the best name of the service; else the text where a URL should be.
  fileprivate mutating func makeGeneric() {
    itemClass = .genericPassword
    attributes[.service] = attributes[.label] ?? attributes[.url]
    if let realm = attributes[.securityDomain] {
      attributes[.securityDomain] = nil
      attributes["httpRealm"] = realm
    }
  }
}
