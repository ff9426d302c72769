internal import Encoding
package import KeyringModel

/// The items that a name and attributes on the command line select.
///
/// A name without a class selects items of several classes, and each class stores the account in another attribute.
/// One query cannot express "account or serial number". A broader query therefore finds all of them and more in one
/// pass of the index, and `accepts` filters the result.
package struct ItemSelection: Sendable {
  /// The reason why nothing can be selected.
  package enum Problem: Error, Equatable {
    /// The command line has neither a name nor an attribute.
    case nothingGiven
    /// The name and the options specify different classes.
    case contradictingClasses
    /// No class has all of the attributes.
    case noClassHasAll
    /// A field was given for an item that is identified by its id.
    case fieldOfID
  }

  /// A query for attributes, without a limit, that finds every selected item and perhaps others.
  package private(set) var query: Query
  /// The folders of a store that contain the files of all selected items.
  package let folders: [String]
  /// The exact queries. An item is selected if one of them matches.
  private var exact: [Query]

  /// Creates the selection of the items with a name, narrowed by attributes.
  ///
  /// - Parameters:
  ///   - name: an item's name, or nil if only attributes select.
  ///   - given: the attributes.
  ///   - ignoringCase: true if attributes are compared without regard to case.
  /// - Throws: `nothingGiven`, `contradictingClasses`, `noClassHasAll`, `fieldOfID`.
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

  /// Returns true if an item that the query found is selected.
  package func accepts(_ record: ItemRecord) -> Bool {
    exact.contains { $0.matches(record) }
  }

  /// The same selection for the fields of the selected items, which a name alone does not select.
  var ofFields: ItemSelection {
    var selection = self
    selection.query.includesFields = true
    for index in exact.indices { selection.exact[index].includesFields = true }
    return selection
  }

  /// Returns the exact query that an item matches, or nil if the item is not selected.
  package func query(for record: ItemRecord) -> Query? {
    exact.first { $0.matches(record) }
  }

  /// Returns the exact query for one class, or nil if the class lacks one of the attributes.
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

  /// Returns the query that finds every item that any of the exact queries finds.
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
      // An absent attribute represents empty text, so a query for its value would not find it.
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

  /// Returns the value of an attribute for typed bytes.
  private static func value(_ bytes: [UInt8], for name: AttributeName) -> AttributeValue {
    if [.created, .modified, .secretModified].contains(name),
      let date = Timestamp(rfc3339: String(decoding: bytes, as: UTF8.self))
    {
      return .date(date)
    }
    return AttributeSchema.value(ofText: bytes, for: name)
  }

  /// Returns true for a member that every record has.
  private static func isRecordField(_ name: AttributeName) -> Bool {
    [.id, .revision, .created, .modified, .secretModified].contains(name)
  }
}
