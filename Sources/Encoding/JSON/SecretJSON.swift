package import Secrets

/// A JSON value (RFC 8259) whose texts stay in wiped memory.
///
/// Names of members are ordinary strings, and so are numbers: neither is a secret in any format that is read here.
package indirect enum SecretJSON: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A number, as it is written.
  case number(String)
  /// A text without its quotes and escapes, in UTF-8.
  case string(SecretSlice)
  /// Values in order.
  case array([SecretJSON])
  /// Members in order; no name is there twice.
  case object([Member])

  /// A member of an object.
  package struct Member: Sendable {
    /// Its name.
    package let name: String
    /// Its value.
    package let value: SecretJSON

    /// Creates an item from its record and its secret.
    package init(name: String, value: SecretJSON) {
      self.name = name
      self.value = value
    }
  }

  /// Reads a whole document.
  ///
  /// - Parameter bytes: JSON in UTF-8; a byte order mark in front is passed over.
  /// - Throws: `SecretJSONError`, `tooMany` beyond 2 million values; no part of the content is in it, but for the
  ///   number of the line.
  package init(_ bytes: borrowing SecretBytes) throws(SecretJSONError) {
    var parser = SecretJSONParser(capacity: bytes.count)
    let node = try unsafe bytes.withBytes { text throws(SecretJSONError) in
      try unsafe parser.document(text)
    }
    self = node.value(in: SecretSlice(parser.takeContent()))
  }

  /// The member of a name; nil when this is no object or has none.
  package subscript(name: String) -> SecretJSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The text, when it is one.
  package var text: SecretSlice? {
    if case .string(let slice) = self { slice } else { nil }
  }

  /// The whole number, when it is one.
  package var integer: Int? {
    if case .number(let digits) = self { Int(digits) } else { nil }
  }

  /// The truth value, when it is one.
  package var boolean: Bool? {
    if case .boolean(let flag) = self { flag } else { nil }
  }

  /// The elements, when it is an array.
  package var elements: [SecretJSON]? {
    if case .array(let values) = self { values } else { nil }
  }

  /// The members, when it is an object.
  package var members: [Member]? {
    if case .object(let members) = self { members } else { nil }
  }
}

/// The reasons why bytes are not a JSON document. Lines are counted from 1.
package enum SecretJSONError: Error, Equatable, Sendable {
  /// There is nothing but white space.
  case empty
  /// The document ends in the middle of a value.
  case truncated
  /// Something stands where it cannot stand.
  case unexpected(line: Int)
  /// A text is not UTF-8, or has half of a surrogate pair.
  case notUnicode(line: Int)
  /// An object has two members of one name.
  case duplicateName(line: Int)
  /// Values inside each other, more than 64 deep.
  case tooDeep(line: Int)
  /// More values than are read.
  case tooMany(limit: Int)
}
