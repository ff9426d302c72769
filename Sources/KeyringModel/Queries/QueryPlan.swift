/// A plan for reading the index: the shards to read, and the byte strings to search for before a line is
/// parsed.
///
/// The plan finds every match but may find more: every line that matches is a candidate, and every candidate must still
/// be checked with ``Query/matches(_:)``.
package struct QueryPlan: Sendable {
  /// The shards that can contain a match.
  package enum Shards: Equatable, Sendable {
    /// Only this shard, because the query determines the path.
    case one(UInt8)
    /// The 16 shards whose numbers begin with the same digit as one of these, because the query determines the
    /// container.
    case rows([UInt8])
    /// Any shard.
    case all

    /// Returns true if the shard with this number can contain a match.
    package func contains(_ number: UInt8) -> Bool {
      switch self {
      case .one(let one): number == one
      case .rows(let rows): rows.contains(number & 0xf0)
      case .all: true
      }
    }
  }

  /// The shards that can contain a match.
  package let shards: Shards
  /// The byte strings that a line must contain. An empty list makes every line a candidate.
  package let needles: [Needle]

  /// A Boolean value that indicates whether few lines are candidates, so that searching the bytes of all
  /// lines is faster than comparing their values.
  package var isSelective: Bool { needles.first.map { !$0.isCommon } ?? false }

  /// Makes the plan of a query.
  package init(_ query: Query) {
    var needles = query.predicates.compactMap(Needle.init)
    if let itemClass = query.itemClass {
      needles.append(Needle([Needle.quoted(itemClass.rawValue.utf8)], isCommon: true))
    }
    // The first needle is searched for in whole shards, so rare needles come before common ones and long ones before
    // short ones.
    self.needles = needles.sorted { left, right in
      left.isCommon == right.isCommon ? left.shortest > right.shortest : right.isCommon
    }
    let path = query.predicates.lazy.compactMap(\.path).first ?? QueryPlan.path(fixedBy: query)
    shards = path.map { .one($0.shard) } ?? QueryPlan.rows(fixedBy: query).map { .rows($0) } ?? .all
  }

  /// Returns the first shard number of each row that can contain a match; nil if the query does not determine the
  /// container.
  private static func rows(fixedBy query: Query) -> [UInt8]? {
    if let content = query.value(equalTo: .container)?.contentBytes {
      let classes = query.itemClass.map { [$0] } ?? ItemClass.allCases
      return Set(classes.map { row(of: content, in: $0) }).sorted()
    }
    for (name, itemClass) in [
      (AttributeName.server, ItemClass.internetPassword), (.service, .genericPassword),
    ] {
      // Without a class, an empty value also matches every item that has no such attribute.
      guard let bytes = query.value(equalTo: .attribute(name))?.contentBytes,
        !bytes.isEmpty || query.itemClass == itemClass
      else { continue }
      return [row(of: bytes, in: itemClass)]
    }
    return nil
  }

  private static func row(of content: [UInt8], in itemClass: ItemClass) -> UInt8 {
    ItemPath.shardRow(of: ItemPath.container(showing: content, in: itemClass).utf8)
  }

  /// Returns the path that follows from the class and all primary-key attributes; nil if the query does not have all of
  /// them.
  private static func path(fixedBy query: Query) -> ItemPath? {
    guard let itemClass = query.itemClass, let group = query.value(equalTo: .attribute(.group))?.contentBytes
    else {
      return nil
    }
    var attributes = Attributes()
    for name in AttributeSchema.primaryKey(of: itemClass) + [.synchronizable] {
      guard let value = query.value(equalTo: .attribute(name)) else { return nil }
      attributes[name] = value
    }
    let key = PrimaryKey(
      itemClass: itemClass, attributes: attributes, group: String(decoding: group, as: UTF8.self))
    return ItemPath(key)
  }
}

extension Query {
  /// Returns the exact value that the query requires of a subject; nil if there is none.
  fileprivate func value(equalTo subject: Predicate.Subject) -> AttributeValue? {
    for predicate in predicates where predicate.subject == subject && !predicate.ignoresCase {
      if case .equal(let value) = predicate.comparison { return value }
    }
    return nil
  }
}

extension Predicate {
  fileprivate var path: ItemPath? {
    guard case .path(let path) = subject else { return nil }
    return path
  }
}
