/// The position of an entry in its source.
package enum ImportSource: Hashable, Sendable {
  /// A row of a CSV file, counted as in spreadsheets: the header is row 1.
  case row(Int)
  /// A file of a password store: its path below the store, without `.gpg` if it is an item.
  case file([UInt8])
  /// A line of a text file, counted from 1.
  case line(Int)
  /// An entry of a file that is not a table: its number from 1, and its title.
  case entry(Int, title: [UInt8])

  /// The position for people: `row 17`, `web/github.com/alice`. Not escaped for a terminal.
  package var text: String {
    switch self {
    case .row(let number): "row \(number)"
    case .file(let path): String(decoding: path, as: UTF8.self)
    case .line(let number): "line \(number)"
    case .entry(let number, let title) where title.isEmpty: "entry \(number)"
    case .entry(let number, let title): "entry \(number) (\(String(decoding: title, as: UTF8.self)))"
    }
  }
}

/// A part of an entry: the item or one of its fields.
package enum ImportPart: Hashable, Sendable {
  /// The password.
  case secret
  /// The text that accompanies the password.
  case note
  /// The one-time-password seed.
  case oneTimePassword
  /// A value that may be secret and therefore is not an attribute, identified by the name of its column.
  case column(String)

  /// The name of the part, for reports.
  package var text: String {
    switch self {
    case .secret: "secret"
    case .note: "note"
    case .oneTimePassword: "one-time password"
    case .column(let name): name
    }
  }
}

/// A remark about an imported item for the user. No data is lost.
package enum ImportRemark: Hashable, Sendable {
  /// The secret has no bytes.
  case emptySecret
  /// The first line ended with CR LF; the CR is not part of the secret.
  case carriageReturn
  /// The value of this attribute, or the secret, is not UTF-8 and is kept as bytes.
  case notUTF8(String)
  /// Parts of the URL may be secret: the whole URL is encrypted, and the attribute shows the rest.
  case urlPartlySealed
  /// The value of this attribute is too long for an attribute and is encrypted instead.
  case sealedForLength(String)
  /// A string with this name should be a seed and is not: it is kept as a field.
  case notASeed(String)
  /// The keyring has no group of this name.
  case groupMissing(String)

  /// The message.
  package var text: String {
    switch self {
    case .emptySecret: "the secret is empty"
    case .carriageReturn: "the line end CR LF is not part of the secret"
    case .notUTF8(let name): "\(name) is not UTF-8 and is kept as bytes"
    case .urlPartlySealed:
      "parts of the URL may be secret: the whole URL is encrypted, and its public parts are shown"
    case .sealedForLength(let name): "\(name) is too long for an attribute and is encrypted"
    case .notASeed(let name): "\(name) is not a usable seed, and is kept as a field"
    case .groupMissing(let name): "this keyring has no group \(name)"
    }
  }
}
