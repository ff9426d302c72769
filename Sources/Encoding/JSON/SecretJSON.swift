package import Secrets

/// A JSON value (RFC 8259) whose strings are kept in memory that is wiped.
///
/// Member names and numbers are ordinary strings, because they are not secret in any format that is read here.
package indirect enum SecretJSON: Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A number as it is written in the document.
  case number(String)
  /// A string without its quotes and escapes, in UTF-8.
  case string(SecretSlice)
  /// Values in order.
  case array([SecretJSON])
  /// Members in order, with unique names.
  case object([Member])

  /// A member of an object.
  package struct Member: Sendable {
    /// The name.
    package let name: String
    /// The value.
    package let value: SecretJSON

    /// Creates a member.
    package init(name: String, value: SecretJSON) {
      self.name = name
      self.value = value
    }
  }

  /// Reads a whole document.
  ///
  /// - Parameter bytes: JSON in UTF-8. A leading byte order mark is ignored.
  /// - Throws: `SecretJSONError`, with `tooMany` for more than 2 million values. The error contains a line number, but
  ///   no part of the content.
  package init(_ bytes: borrowing SecretBytes) throws(SecretJSONError) {
    var parser = SecretJSONParser(capacity: bytes.count)
    let node = try unsafe bytes.withBytes { text throws(SecretJSONError) in
      try unsafe parser.document(text)
    }
    self = node.value(in: SecretSlice(parser.takeContent()))
  }

  /// The member with this name; nil if it does not exist or the value is not an object.
  package subscript(name: String) -> SecretJSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The string, if the value is one.
  package var text: SecretSlice? {
    if case .string(let slice) = self { slice } else { nil }
  }

  /// The number, if the value is a whole number.
  package var integer: Int? {
    if case .number(let digits) = self { Int(digits) } else { nil }
  }

  /// The Boolean, if the value is one.
  package var boolean: Bool? {
    if case .boolean(let flag) = self { flag } else { nil }
  }

  /// The elements, if the value is an array.
  package var elements: [SecretJSON]? {
    if case .array(let values) = self { values } else { nil }
  }

  /// The members, if the value is an object.
  package var members: [Member]? {
    if case .object(let members) = self { members } else { nil }
  }
}

/// The reasons why bytes are not a JSON document. Lines are counted from 1.
package enum SecretJSONError: Error, Equatable, Sendable {
  /// The document contains only white space.
  case empty
  /// The document ends in the middle of a value.
  case truncated
  /// A character is not allowed at its position.
  case unexpected(line: Int)
  /// A string is not UTF-8, or contains half of a surrogate pair.
  case notUnicode(line: Int)
  /// An object has two members with the same name.
  case duplicateName(line: Int)
  /// Values are nested more than 64 levels deep.
  case tooDeep(line: Int)
  /// The document has more values than the limit.
  case tooMany(limit: Int)
}
