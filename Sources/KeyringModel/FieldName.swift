/// The rule for names of fields: the further secrets of a login, such as its one-time-password seed.
public enum FieldName {
  /// The field that holds a seed of one-time passwords, as an `otpauth://` URI or base32.
  public static let oneTimePassword = "otp"
  /// The field that holds a note.
  public static let note = "note"

  /// The most bytes of a name.
  public static let maximumSize = 40

  /// Returns whether a field can have this name: 1 to 40 of `[a-z0-9-]`, not starting with `-`, and not the name of a
  /// DOS device, because the name is also the name of a file.
  ///
  /// - Parameter name: A proposed name.
  public static func isValid(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    guard name.count <= maximumSize, ReadableComponent.isValid(name, isName: false) else { return false }
    return name.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  /// Returns whether a field can have this name; see the other function.
  public static func isValid(_ name: String) -> Bool { isValid(name.utf8) }
}

extension ItemRecord {
  /// The name of the field of a login that this item is; nil for an item that is not a field.
  public var field: String? {
    guard let bytes = attributes[.field]?.contentBytes, !bytes.isEmpty else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Query {
  /// Returns the query for all fields of a login, in any group.
  ///
  /// - Parameter login: The login, or any of its fields.
  public static func fields(of login: ItemRecord) -> Query {
    var query = Query.login(of: login)
    query.predicates.append(Predicate(subject: .attribute(.field), comparison: .exists))
    return query
  }

  /// Returns the query for a login with all of its fields, in any group.
  ///
  /// - Parameter item: The login, or any of its fields.
  package static func login(of item: ItemRecord) -> Query {
    var query = Query(itemClass: item.itemClass, predicates: item.loginPredicates)
    query.includesFields = true
    return query
  }
}

extension ItemRecord {
  /// Conditions that the login and its fields fulfil: the same primary key but for the field and the group.
  fileprivate var loginPredicates: [Predicate] {
    (AttributeSchema.primaryKey(of: itemClass) + [.synchronizable]).filter { $0 != .field }.map { name in
      let value = primaryKey[name] ?? attributes[name] ?? AttributeSchema.emptyValue(of: name)
      return Predicate(subject: .attribute(name), comparison: .equal(value))
    }
  }
}
