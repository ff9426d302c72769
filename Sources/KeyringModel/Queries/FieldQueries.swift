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
  /// The conditions that the login and its fields fulfil: the same primary key except for the field and the group.
  fileprivate var loginPredicates: [Predicate] {
    (AttributeSchema.primaryKey(of: itemClass) + [.synchronizable]).filter { $0 != .field }.map { name in
      let value = primaryKey[name] ?? attributes[name] ?? AttributeSchema.emptyValue(of: name)
      return Predicate(subject: .attribute(name), comparison: .equal(value))
    }
  }
}
