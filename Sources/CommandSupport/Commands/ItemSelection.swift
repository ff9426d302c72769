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

  /// One way to read the name.
  package struct Alternative: Sendable {
    /// A query for attributes, without a limit, that finds every selected item and perhaps others.
    package private(set) var query: Query
    /// The exact queries. An item is selected if one of them matches.
    private var exact: [Query]
    /// The tags that a selected item has.
    private let tags: [[UInt8]]
    /// The attributes of which a selected item has one of the values, or none.
    private let optional: [AttributeName: [[UInt8]]]

    fileprivate init(_ query: Query, exact: [Query], tags: [[UInt8]], optional: [AttributeName: [[UInt8]]]) {
      (self.query, self.exact, self.tags, self.optional) = (query, exact, tags, optional)
    }

    /// Returns true if an item that the query found is selected.
    package func accepts(_ record: ItemRecord) -> Bool { query(for: record) != nil }

    /// Returns the exact query that an item matches, or nil if the item is not selected.
    fileprivate func query(for record: ItemRecord) -> Query? {
      guard record.hasTags(tags), optional.allSatisfy({ record.has($0.key, amongOrNone: $0.value) }) else {
        return nil
      }
      return exact.first { $0.matches(record) }
    }

    /// The same for the fields of the selected items, which a name alone does not select.
    fileprivate var ofFields: Alternative {
      var fields = self
      fields.query.includesFields = true
      for index in exact.indices { fields.exact[index].includesFields = true }
      return fields
    }
  }

  /// The name that the selection was made of; nil if only attributes select.
  package let name: ItemName?
  /// The attributes that the selection was made of.
  package let given: GivenAttributes
  /// The ways to read the name, the preferred one first. The first that matches an item applies.
  package private(set) var alternatives: [Alternative]
  /// The folders of a store that contain the files of all selected items.
  package let folders: [String]
  /// The query of the preferred way to read the name.
  package var query: Query { alternatives[0].query }

  /// The label that an item can have instead of the name; nil for a selection that is not by a name, or by a name with
  /// a class.
  package var label: Predicate? {
    guard case .named(let readings)? = name, readings.first?.hasTypedClass != true,
      let reading = readings.last(where: { $0.account == nil && !$0.ignoresCase })
    else { return nil }
    return .equal(.label, AttributeValue(text: reading.container), ignoresCase: true)
  }

  /// Returns true if the label of an item equals the name, ignoring case.
  package func isLabel(of record: ItemRecord) -> Bool {
    label.map { Query(predicates: [$0]).matches(record) } ?? false
  }

  /// Creates the selection of the items with a name, narrowed by attributes.
  ///
  /// - Parameters:
  ///   - name: an item's name, or nil if only attributes select.
  ///   - given: the attributes.
  ///   - ignoringCase: true if attributes are compared without regard to case.
  /// - Throws: `nothingGiven`, `contradictingClasses`, `noClassHasAll`, `fieldOfID`.
  package init(_ name: ItemName?, _ given: GivenAttributes, ignoringCase: Bool = false) throws(Problem) {
    guard name != nil || !given.isEmpty else { throw .nothingGiven }
    (self.name, self.given) = (name, given)
    if given.field != nil, name?.isID == true { throw .fieldOfID }
    let name = name?.ofField(given.field)
    var readings: [ItemNameReading?] = [nil]
    if case .named(let namings) = name {
      guard namings.first?.hasTypedClass != true || namings.first?.accepts(given.itemClass) == true else {
        throw .contradictingClasses
      }
      readings = namings.filter { $0.accepts(given.itemClass) }
    }
    var folders: Set<String> = []
    var alternatives: [Alternative] = []
    for reading in readings {
      let wantedClass = given.itemClass ?? reading?.itemClass
      let classes = wantedClass.map { [$0] } ?? ItemClass.allCases
      folders.formUnion(Self.folders(classes, name, reading))
      let subject = Subject(name: name, reading: reading, given: given, ignoresCase: ignoringCase)
      let exact = classes.compactMap(subject.query)
      guard let first = exact.first else {
        // The other readings of a name with a class are for names that only look like one.
        guard reading?.hasTypedClass != true else { throw .noClassHasAll }
        continue
      }
      let query = exact.count == 1 ? first : subject.coveringQuery(wantedClass)
      alternatives.append(
        Alternative(query, exact: exact, tags: given.tags, optional: reading?.optionalAttributes ?? [:]))
    }
    guard !alternatives.isEmpty else { throw .noClassHasAll }
    self.alternatives = alternatives
    self.folders = folders.sorted()
  }

  /// Returns the items that are selected: those that the first matching way to read the name accepts, and items of other
  /// groups that another way accepts.
  ///
  /// Without the latter, a member of any group could add an item that a preferred way finds, and take over the name of
  /// an item in another group.
  package func selected(among records: [ItemRecord]) -> [ItemRecord] {
    var selected: [ItemRecord] = []
    for alternative in alternatives {
      selected += Self.further(records.filter(alternative.accepts), than: selected)
    }
    return selected
  }

  /// Returns those of the items that another way to read the name found that are selected besides the items of the
  /// preferred ways: all if there are none, otherwise those in other groups.
  package static func further(_ records: [ItemRecord], than selected: [ItemRecord]) -> [ItemRecord] {
    if selected.isEmpty { return records }
    let groups = Set(selected.map(\.group))
    return records.filter { !groups.contains($0.group) }
  }

  /// Returns true if some way to read the name accepts an item.
  package func accepts(_ record: ItemRecord) -> Bool {
    alternatives.contains { $0.accepts(record) }
  }

  /// The same selection for the fields of the selected items, which a name alone does not select.
  package var ofFields: ItemSelection {
    var selection = self
    selection.alternatives = alternatives.map(\.ofFields)
    return selection
  }

  /// Returns the exact query that an item matches, or that for its path if the user has chosen it from a list of similar
  /// names, which the selection does not describe.
  package func query(forChosen record: ItemRecord) -> Query {
    query(for: record) ?? Query(predicates: [.path(record.path)])
  }

  /// Returns the exact query that an item matches, or nil if the item is not selected.
  package func query(for record: ItemRecord) -> Query? {
    alternatives.lazy.compactMap { $0.query(for: record) }.first
  }

  /// The items that the attributes and one reading of the name describe.
  private struct Subject {
    let name: ItemName?
    let reading: ItemNameReading?
    let given: GivenAttributes
    let ignoresCase: Bool

    private var entries: [GivenAttributes.Entry] { (reading?.attributes ?? []) + given.entries }

    /// The predicates about the tags; an item can still have other tags that contain one of these.
    private var tags: [Predicate] {
      given.tags.map {
        Predicate(
          subject: .attribute(.tags), comparison: .contains(AttributeValue(text: $0)), ignoresCase: true)
      }
    }

    /// Returns the exact query for one class, or nil if the class lacks one of the attributes.
    func query(_ itemClass: ItemClass) -> Query? {
      var common: [Predicate] = []
      for entry in entries {
        let name = entry.name ?? (itemClass == .genericPassword ? .service : .server)
        guard AttributeSchema.applies(name, to: itemClass) || isRecordField(name) else { return nil }
        common.append(.equal(name, value(entry.bytes, for: name), ignoresCase: ignoresCase))
      }
      if let group = given.group { common.append(.equal(.group, .string(group))) }
      if let field = given.field {
        guard AttributeSchema.applies(.field, to: itemClass) else { return nil }
        common.append(.equal(.field, .string(field)))
      }
      common += tags
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
      case .named:
        guard let reading else { return nil }
        if let account = reading.account {
          let name = itemClass.accountName
          common.append(.equal(name, value(account, for: name)))
        }
        return Query(itemClass: itemClass, predicates: [container(of: reading)] + common)
      }
    }

    /// Returns the query that finds every item that any of the exact queries finds.
    func coveringQuery(_ itemClass: ItemClass?) -> Query {
      var predicates: [Predicate] = []
      switch name {
      case nil: break
      case .reference(.path(let path)): predicates.append(.path(path))
      case .reference(.id(let id)): predicates.append(.id(id))
      case .id(let prefix): predicates.append(.id(prefix: prefix))
      case .named:
        guard let reading else { break }
        predicates.append(container(of: reading))
        // An absent attribute represents empty text, so a query for its value would not find it.
        if let account = reading.account, !account.isEmpty {
          predicates.append(Predicate(subject: .any, comparison: .equal(AttributeValue(text: account))))
        }
      }
      for entry in entries {
        if let name = entry.name {
          predicates.append(.equal(name, value(entry.bytes, for: name), ignoresCase: ignoresCase))
        } else {
          predicates.append(.container(entry.bytes, ignoresCase: ignoresCase))
        }
      }
      if let group = given.group { predicates.append(.equal(.group, .string(group))) }
      if let field = given.field { predicates.append(.equal(.field, .string(field))) }
      return Query(itemClass: itemClass, predicates: predicates + tags)
    }

    private func container(of reading: ItemNameReading) -> Predicate {
      .container(reading.container, ignoresCase: reading.ignoresCase)
    }

    /// Returns the value of an attribute for typed bytes.
    private func value(_ bytes: [UInt8], for name: AttributeName) -> AttributeValue {
      if [.created, .modified, .secretModified].contains(name),
        let date = Timestamp(rfc3339: String(decoding: bytes, as: UTF8.self))
      {
        return .date(date)
      }
      return AttributeSchema.value(ofText: bytes, for: name)
    }

    /// Returns true for a member that every record has.
    private func isRecordField(_ name: AttributeName) -> Bool {
      [.id, .revision, .created, .modified, .secretModified].contains(name)
    }
  }
}

extension ItemNameReading {
  /// Returns true if the reading means items of a class; for nil, always.
  fileprivate func accepts(_ wanted: ItemClass?) -> Bool {
    wanted == nil || itemClass == nil || itemClass == wanted
  }
}

extension ItemRecord {
  /// Returns true if an attribute is absent or has one of some typed values.
  fileprivate func has(_ name: AttributeName, amongOrNone values: [[UInt8]]) -> Bool {
    guard let value = attributes[name], !value.isDefault else { return true }
    return values.contains { AttributeSchema.value(ofText: $0, for: name).isSame(as: value) }
  }

  /// Returns true if the item has all of these tags, in any case.
  fileprivate func hasTags(_ wanted: [[UInt8]]) -> Bool {
    if wanted.isEmpty { return true }
    let tags = self.tags.map { $0.lowercased() }
    return wanted.allSatisfy { tags.contains(String(decoding: $0, as: UTF8.self).lowercased()) }
  }

  /// The tags of the item: the attribute `tags`, separated by commas.
  package var tags: [String] {
    guard let bytes = attributes[.tags]?.contentBytes else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: ",").compactMap { tag in
      let words = tag.split(whereSeparator: \.isWhitespace)
      return words.isEmpty ? nil : words.joined(separator: " ")
    }
  }
}

extension AttributeName {
  /// The custom attribute with the tags of an item, separated by commas.
  package static let tags: AttributeName = "tags"
  /// The custom attribute with the address of a login.
  package static let url: AttributeName = "url"
}
