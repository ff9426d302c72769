package import Arguments
package import Keyring
internal import KeyringModel

/// The search of `keytree find`: words in any attribute, attributes, an order and a limit.
package struct ItemSearch {
  package static let ignoreCase = OptionDeclaration(
    "ignore-case", short: "i", help: "ignore case, which is the default")
  package static let caseSensitive = OptionDeclaration(
    "case-sensitive", help: "distinguish upper and lower case")
  package static let limit = OptionDeclaration(
    "limit", .required(ValueDeclaration("N|all", .integer(1...Int.max, or: ["all"]))),
    help: "list at most N items (default: all)")
  static let sort = OptionDeclaration(
    "sort", .required(ValueDeclaration("NAME", .text)),
    help:
      "sort by `container` or an attribute, given by its name in the index (default: container and account)")

  /// The options of a search, in addition to those for attributes.
  package static let options = [ignoreCase, caseSensitive, limit, sort]

  private let call: CommandCall
  private let selection: ItemSelection?
  private let query: Query
  private let limit: Int?
  private let order: ItemOrder?

  /// Creates the search from a command line.
  ///
  /// - Parameters:
  ///   - call: the command line.
  ///   - words: the words, each of which must occur in some attribute.
  /// - Throws: a usage error.
  package init(_ call: CommandCall, words: some Sequence<Word>) throws {
    self.call = call
    let ignoresCase = !call.arguments.has(Self.caseSensitive)
    if !ignoresCase, call.arguments.has(Self.ignoreCase) {
      throw call.misuse(.conflict(Self.ignoreCase.display, Self.caseSensitive.display))
    }
    let given = try call.givenAttributes()
    selection = given.isEmpty ? nil : try call.selection(of: given, ignoringCase: ignoresCase)
    var query = selection?.query ?? Query()
    for word in words where !word.bytes.isEmpty {
      query.predicates.append(
        Predicate(
          subject: .any, comparison: .contains(AttributeValue(text: word.bytes)), ignoresCase: ignoresCase))
    }
    self.query = query
    limit = call.arguments.integer(Self.limit)
    order = call.arguments.text(Self.sort).map(ItemOrder.init)
  }

  /// The result of a search.
  package struct Found {
    /// Items with their fields, in the requested order. A field whose item no longer exists is listed separately.
    package var logins: [Login]
    /// Damage found in the index.
    package let problems: [IndexProblem]
    /// True if the store has no index at all.
    package let isIndexLost: Bool
  }

  /// Returns the result, in the requested order and up to the limit. Reports damage in the index, and the cost.
  ///
  /// - Throws: a usage error if the order does not apply to the items found; `KeyringError`.
  package func run(in index: Index) throws -> Found {
    // The same pass finds the fields, because reading the index is most of the cost of a search.
    var search = query
    search.includesFields = true
    var matches = try index.find(search)
    let fields = matches.items.filter { $0.field != nil }
    if !fields.isEmpty { matches.items.removeAll { $0.field != nil && !query.matches($0) } }
    if let selection { matches.items.removeAll { !selection.accepts($0) } }
    call.tell(matches.problems)
    matches.items += try fieldsWithoutItem(fields, beside: matches.items, in: index)
    if let order, !matches.items.isEmpty, !order.applies(to: matches.items) {
      throw call.misuse(
        .advised(
          "--sort must be `container` or the name of an attribute that an item in the result has",
          hint: "`keytree get ITEM --attributes` shows the attributes of an item by their names"))
    }
    matches.items = order.map { $0.sorted(matches.items) } ?? ItemOrder.byName(matches.items)
    if let limit { matches.items = Array(matches.items.prefix(limit)) }
    call.explain(matches.statistics)
    let logins = try logins(of: matches.items, fields, in: index)
    return Found(logins: logins, problems: matches.problems, isIndexLost: matches.isIndexLost)
  }

  /// Returns the matching fields whose item no longer exists. No other output would show them.
  private func fieldsWithoutItem(
    _ fields: [ItemRecord], beside items: [ItemRecord], in index: Index
  ) throws -> [ItemRecord] {
    if fields.isEmpty { return [] }
    var places = Set(items.map(\.loginPlace))
    let accepted = selection?.ofFields
    var orphans = fields.filter { !places.contains($0.loginPlace) && accepted?.accepts($0) != false }
    // Finds items that exist, but do not match the query.
    let asked = Dictionary(grouping: orphans, by: \.loginPlace).compactMap(\.value.first)
    let queries = asked.map { field in
      var item = Query.login(of: field)
      item.includesFields = false
      return item
    }
    for (field, matches) in zip(asked, try index.find(queries)) where !matches.items.isEmpty {
      places.insert(field.loginPlace)
    }
    orphans.removeAll { places.contains($0.loginPlace) }
    return orphans
  }

  /// Returns the items with their fields, given the fields that match the query.
  private func logins(
    of items: [ItemRecord], _ matches: [ItemRecord], in index: Index
  ) throws -> [Login] {
    guard items.count > Self.few else { return try call.findLogins(of: items, in: index).map(\.0) }
    // A predicate about the name of an item also matches its fields.
    let isByName = query.predicates.allSatisfy(\.isAboutName)
    let fields = isByName ? matches : try fields(query.predicates.filter(\.isAboutName), in: index)
    if fields.isEmpty { return items.map { Login($0) } }
    let places = Dictionary(grouping: fields, by: \.loginPlace)
    var logins = items.map { item in
      Login(item, among: item.field == nil ? places[item.loginPlace] ?? [] : [])
    }
    // If a field is in another group than its item, the items of all groups with this login matter.
    let divided = logins.indices.filter { number in
      logins[number].fields.contains { $0.group != logins[number].item.group }
    }
    for (number, found) in zip(divided, try call.findLogins(of: divided.map { items[$0] }, in: index)) {
      logins[number] = found.0
    }
    return logins
  }

  /// The largest number of items for which fields are looked up per item. For more, all fields are read together.
  private static let few = 16

  private func fields(_ predicates: [Predicate], in index: Index) throws -> [ItemRecord] {
    if let itemClass = query.itemClass, !AttributeSchema.applies(.field, to: itemClass) { return [] }
    let exists = Predicate(subject: .attribute(.field), comparison: .exists)
    return try index.find(Query(itemClass: query.itemClass, predicates: predicates + [exists])).items
  }
}

extension Predicate {
  /// True if it concerns an attribute that an item and its fields share, apart from their group.
  fileprivate var isAboutName: Bool {
    switch (subject, comparison) {
    case (.attribute(let name), _):
      AttributeSchema.primaryKey(of: .internetPassword).contains(name)
        || AttributeSchema.primaryKey(of: .genericPassword).contains(name)
    case (.container, _): true
    default: false
    }
  }
}
