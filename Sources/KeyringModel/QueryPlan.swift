/// What a query means for reading the index: which shards, and what to look for before parsing a line.
///
/// The plan is sound, never exact: every line that matches is a candidate, and every candidate is still
/// asked with ``Query/matches(_:)``.
package struct QueryPlan: Sendable {
  /// Which shards can hold a match.
  package enum Shards: Equatable, Sendable {
    /// Only this one, because the query fixes the path.
    case one(UInt8)
    /// The 16 shards whose numbers begin with the digit of this one, because the query fixes the container.
    case row(UInt8)
    /// Any of them.
    case all
  }

  /// Which shards can hold a match.
  package let shards: Shards
  /// What a line must contain; an empty list makes every line a candidate.
  package let needles: [Needle]

  /// Whether few lines are candidates, so that the bytes of all lines are looked through faster than their values.
  package var isSelective: Bool { needles.first.map { !$0.isCommon } ?? false }

  /// Plans a query.
  package init(_ query: Query) {
    var needles = query.predicates.compactMap(Needle.init)
    if let itemClass = query.itemClass {
      needles.append(Needle([Needle.quoted(itemClass.rawValue.utf8)], isCommon: true))
    }
    // The first needle goes over whole shards: rare before common, long before short.
    self.needles = needles.sorted { left, right in
      left.isCommon == right.isCommon ? left.shortest > right.shortest : right.isCommon
    }
    let path = query.predicates.lazy.compactMap(\.path).first ?? QueryPlan.path(fixedBy: query)
    shards = path.map { .one($0.shard) } ?? QueryPlan.row(fixedBy: query).map { .row($0) } ?? .all
  }

  /// The first of the 16 shards of a container, where a query fixes the server or service.
  private static func row(fixedBy query: Query) -> UInt8? {
    for (name, itemClass) in [
      (AttributeName.server, ItemClass.internetPassword), (.service, .genericPassword),
    ] {
      // Without a class an empty value is that of every item that has no such attribute.
      guard let bytes = query.value(equalTo: name)?.contentBytes,
        !bytes.isEmpty || query.itemClass == itemClass
      else { continue }
      return ItemPath.shardRow(of: ReadableComponent(bytes).bytes)
    }
    return nil
  }

  /// The path that the class and all primary-key attributes lead to, where a query has them all.
  private static func path(fixedBy query: Query) -> ItemPath? {
    guard let itemClass = query.itemClass, let group = query.value(equalTo: .group)?.contentBytes else {
      return nil
    }
    var attributes = Attributes()
    for name in AttributeSchema.primaryKey(of: itemClass) + [.synchronizable] {
      guard let value = query.value(equalTo: name) else { return nil }
      attributes[name] = value
    }
    let key = PrimaryKey(
      itemClass: itemClass, attributes: attributes, group: String(decoding: group, as: UTF8.self))
    return ItemPath(key)
  }
}

extension Query {
  /// The value that an attribute must have, as the query says exactly.
  fileprivate func value(equalTo name: AttributeName) -> AttributeValue? {
    for predicate in predicates where predicate.subject == .attribute(name) && !predicate.ignoresCase {
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
