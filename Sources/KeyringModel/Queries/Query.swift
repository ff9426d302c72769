internal import Encoding

/// A query for items in the index: the conditions, the limit, and the parts to return.
public struct Query: Sendable {
  /// The number of items to return, in the order of creation.
  public enum Limit: Hashable, Sendable {
    /// The first match.
    case one
    /// At most this many.
    case count(Int)
    /// Every match. Cannot be combined with secrets.
    case all
  }

  /// The parts of an item that a query returns.
  public struct Returns: OptionSet, Hashable, Sendable {
    /// The bits of the set.
    public let rawValue: Int
    /// Makes a set from bits.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// The attributes.
    public static let attributes = Returns(rawValue: 1)
    /// The secret; each item returned is decrypted.
    public static let secret = Returns(rawValue: 2)
    /// The reference by path.
    public static let reference = Returns(rawValue: 4)
    /// The reference by id, which survives renames.
    public static let persistentReference = Returns(rawValue: 8)
  }

  /// The class of the items; nil for any.
  public var itemClass: ItemClass?
  /// The conditions, all of which an item must fulfil.
  public var predicates: [Predicate]
  /// The number of items to return.
  public var limit: Limit
  /// The parts of each item to return.
  public var returns: Returns
  /// A Boolean value that indicates whether fields of logins are among the matches. They always are if a condition is
  /// about the id, the path or the attribute `field`. The name of a login never means one of its fields.
  public var includesFields = false
  /// A Boolean value that indicates whether a line that cannot be read is reported even if it does not contain the
  /// values of the conditions. The damage may have hit just these values.
  package var reportsAllDamage = false

  /// Makes a query.
  ///
  /// - Parameters:
  ///   - itemClass: The class of the items, or nil for any.
  ///   - predicates: Conditions, all of which must hold.
  ///   - limit: The number of items to return.
  ///   - returns: The parts of each item to return.
  public init(
    itemClass: ItemClass? = nil, predicates: [Predicate] = [], limit: Limit = .all,
    returns: Returns = .attributes
  ) {
    self.itemClass = itemClass
    self.predicates = predicates
    self.limit = limit
    self.returns = returns
  }

  /// Checks that the query is valid, before anything is read.
  ///
  /// - Throws: ``QueryError`` for the first violated rule.
  package func validate() throws(QueryError) {
    if limit == .all, returns.contains(.secret) { throw .secretOfAllMatches }
    if case .count(let number) = limit, number < 1 { throw .limitNotPositive(number) }
    for predicate in predicates { try predicate.validate(itemClass: itemClass) }
  }

  /// Returns true if an item is of the class and fulfils all conditions.
  ///
  /// - Parameter record: The item's record.
  public func matches(_ record: ItemRecord) -> Bool {
    if let itemClass, itemClass != record.itemClass { return false }
    guard predicates.allSatisfy({ $0.matches(record) }) else { return false }
    return record.field == nil || includesFields || predicates.contains(where: \.namesFields)
  }
}

/// The reasons why a query cannot be answered.
public enum QueryError: Error, Hashable, Sendable {
  /// The secrets of all matches cannot be returned at once.
  case secretOfAllMatches
  /// The limit is zero or negative.
  case limitNotPositive(Int)
  /// Items of the class never have this attribute.
  case wrongClass(AttributeName, ItemClass)
  /// The attribute has no name, or a name that cannot be queried (`sealed`, `custom`, ...).
  case noSuchAttribute(AttributeName)
  /// The attribute is not a date, so nothing is before or after it.
  case notADate(AttributeName)
  /// The prefix of an id is empty, longer than an id, or not hexadecimal.
  case badIDPrefix(String)
}

extension Predicate {
  /// A Boolean value that indicates whether the condition can explicitly refer to a field.
  fileprivate var namesFields: Bool {
    switch subject {
    case .id, .path, .attribute(.field): true
    case .attribute, .any, .container: false
    }
  }

  fileprivate func validate(itemClass: ItemClass?) throws(QueryError) {
    switch subject {
    case .any, .container, .path: return
    case .id(let prefix):
      let isHexadecimal = prefix.utf8.allSatisfy { Hexadecimal.value(ofDigit: Self.lowerASCII($0)) != nil }
      guard isHexadecimal, (1...32).contains(prefix.utf8.count) else { throw .badIDPrefix(prefix) }
    case .attribute(let name):
      guard !name.text.isEmpty else { throw .noSuchAttribute(name) }
      switch KnownNames.role(of: name) {
      case .record(.sealed), .record(.custom):
        throw .noSuchAttribute(name)
      case .attribute(_, let classes):
        if let itemClass, !classes.contains(itemClass.member) { throw .wrongClass(name, itemClass) }
      case .record, nil: break
      }
      switch comparison {
      case .before, .after:
        guard AttributeSchema.kind(of: name) == .date else { throw .notADate(name) }
      default: break
      }
    }
  }
}
