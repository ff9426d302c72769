internal import Encoding
package import KeyringModel

/// The items that a name and attributes of the command line stand for.
///
/// A name without a class stands for items of several classes, and the account is another attribute in each of
/// them. One query cannot say "account or serial number", so there is one that finds all of them and more, which
/// the index answers in one pass, and `accepts` decides about what it found.
package struct ItemSelection: Sendable {
  /// Why nothing can be selected.
  package enum Problem: Error, Equatable {
    /// Neither a name nor an attribute.
    case nothingGiven
    /// The name and the options want different classes.
    case contradictingClasses
    /// No class has all of the attributes.
    case noClassHasAll
    /// A field of an item that is named by its id.
    case fieldOfID
  }

  /// A query that finds every item meant, and perhaps others; without a limit, for attributes.
  package private(set) var query: Query
  /// The folders of a store in which every item that is meant has its file.
  package let folders: [String]
  /// Queries that say exactly what is meant; an item is meant when one of them matches.
  private var exact: [Query]

  /// The items of a name, narrowed by attributes.
  ///
  /// - Parameters:
  ///   - name: an item's name, or nil where attributes alone choose.
  ///   - given: the attributes.
  ///   - ignoringCase: true when the case of letters does not count in the attributes.
  /// - Throws: `nothingGiven`, `contradictingClasses`, `noClassHasAll`.
  package init(_ name: ItemName?, _ given: GivenAttributes, ignoringCase: Bool = false) throws(Problem) {
    guard name != nil || !given.isEmpty else { throw .nothingGiven }
    if given.field != nil, name?.isID == true { throw .fieldOfID }
    let name = name?.ofField(given.field)
    var wantedClass = given.itemClass
    if case .named(let itemClass?, _, _) = name {
      guard wantedClass == nil || wantedClass == itemClass else { throw .contradictingClasses }
      wantedClass = itemClass
    }
    let classes = wantedClass.map { [$0] } ?? ItemClass.allCases
    let exact = classes.compactMap { Self.query($0, name, given, ignoringCase: ignoringCase) }
    guard let first = exact.first else { throw .noClassHasAll }
    self.exact = exact
    folders = Self.folders(classes, name)
    query = exact.count == 1 ? first : Self.covering(wantedClass, name, given, ignoringCase: ignoringCase)
  }

  /// Whether an item that the query found is meant.
  package func accepts(_ record: ItemRecord) -> Bool {
    exact.contains { $0.matches(record) }
  }

  /// The same for fields of the items that are meant, which a name alone never means.
  var ofFields: ItemSelection {
    var selection = self
    selection.query.includesFields = true
    for index in exact.indices { selection.exact[index].includesFields = true }
    return selection
  }

  /// The query that says exactly what is meant and that an item answers; nil when the item is not meant.
  package func query(for record: ItemRecord) -> Query? {
    exact.first { $0.matches(record) }
  }

  /// The query that says exactly what is meant in one class; nil if the class lacks one of the attributes.
  private static func query(
    _ itemClass: ItemClass, _ name: ItemName?, _ given: GivenAttributes, ignoringCase: Bool
  ) -> Query? {
    var common: [Predicate] = []
    for entry in given.entries {
      let name = entry.name ?? (itemClass == .genericPassword ? .service : .server)
      guard AttributeSchema.applies(name, to: itemClass) || isRecordField(name) else { return nil }
      common.append(.equal(name, value(entry.bytes, for: name), ignoresCase: ignoringCase))
    }
    if let group = given.group { common.append(.equal(.group, .string(group))) }
    if let field = given.field {
      guard AttributeSchema.applies(.field, to: itemClass) else { return nil }
      common.append(.equal(.field, .string(field)))
    }
    switch name {
    case nil:
      return Query(itemClass: itemClass, predicates: common)
    case .reference(.path(let path)):
      guard path.itemClass == itemClass else { return nil }
      return Query(itemClass: itemClass, predicates: [.path(path)] + common)
    case .reference(.id(let id)):
      return Query(itemClass: itemClass, predicates: [.id(id)] + common)
    case .id(let prefix):
      return Query(itemClass: itemClass, predicates: [.id(prefix: prefix)] + common)
    case .named(_, let container, let account):
      if let account {
        let name = itemClass.accountName
        common.append(.equal(name, value(account, for: name)))
      }
      return Query(itemClass: itemClass, predicates: [.container(container)] + common)
    }
  }

  /// The query that finds everything that any of the exact ones finds.
  private static func covering(
    _ itemClass: ItemClass?, _ name: ItemName?, _ given: GivenAttributes, ignoringCase: Bool
  ) -> Query {
    var predicates: [Predicate] = []
    switch name {
    case nil: break
    case .reference(.path(let path)): predicates.append(.path(path))
    case .reference(.id(let id)): predicates.append(.id(id))
    case .id(let prefix): predicates.append(.id(prefix: prefix))
    case .named(_, let container, let account):
      predicates.append(.container(container))
      // An absent attribute stands for empty text, and no attribute shows that.
      if let account, !account.isEmpty {
        predicates.append(Predicate(subject: .any, comparison: .equal(AttributeValue(text: account))))
      }
    }
    for entry in given.entries {
      if let name = entry.name {
        predicates.append(.equal(name, value(entry.bytes, for: name), ignoresCase: ignoringCase))
      } else {
        predicates.append(.container(entry.bytes, ignoresCase: ignoringCase))
      }
    }
    if let group = given.group { predicates.append(.equal(.group, .string(group))) }
    if let field = given.field { predicates.append(.equal(.field, .string(field))) }
    return Query(itemClass: itemClass, predicates: predicates)
  }

  /// The value that bytes typed for an attribute stand for.
  private static func value(_ bytes: [UInt8], for name: AttributeName) -> AttributeValue {
    if [.created, .modified, .secretModified].contains(name),
      let date = Timestamp(rfc3339: String(decoding: bytes, as: UTF8.self))
    {
      return .date(date)
    }
    return AttributeSchema.value(ofText: bytes, for: name)
  }

  /// True for what every item has without being asked.
  private static func isRecordField(_ name: AttributeName) -> Bool {
    [.id, .revision, .created, .modified, .secretModified].contains(name)
  }
}
