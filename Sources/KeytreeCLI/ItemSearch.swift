internal import Arguments
internal import Keyring
internal import KeyringModel

/// The question of `keytree find`: text in any attribute, attributes, an order and a limit.
struct ItemSearch {
  private let call: CommandCall
  private let selection: ItemSelection?
  private let query: Query
  private let limit: Int?
  private let order: ItemOrder?

  /// Reads the question from a command line.
  ///
  /// - Parameters:
  ///   - call: the command line.
  ///   - operand: the position of the text.
  /// - Throws: a usage error.
  init(_ call: CommandCall, operand: Int = 0) throws {
    self.call = call
    let ignoresCase = call.arguments.has(FindCommand.ignoreCase)
    let given = try call.givenAttributes()
    selection = given.isEmpty ? nil : try call.selection(of: given, ignoringCase: ignoresCase)
    var query = selection?.query ?? Query()
    if let text = call.arguments.operand(operand)?.bytes, !text.isEmpty {
      query.predicates.append(
        Predicate(
          subject: .any, comparison: .contains(AttributeValue(text: text)), ignoresCase: ignoresCase))
    }
    self.query = query
    limit = call.arguments.integer(FindCommand.limit)
    order = call.arguments.text(FindCommand.sort).map(ItemOrder.init)
  }

  /// What a search has found.
  struct Found {
    /// Items with their fields, in the wanted order. A field whose item is gone is listed by itself.
    var logins: [Login]
    /// Damage met in the index.
    let problems: [IndexProblem]
    /// Whether the store has no index at all.
    let isIndexLost: Bool
  }

  /// The answer, in the wanted order and cut to the limit; damage met on the way is told, and what it cost.
  ///
  /// - Throws: a usage error for an order that no item found knows; `keyring`.
  func run(in index: Index) throws -> Found {
    // Fields in the same pass: reading the index is most of what a search costs.
    var search = query
    search.includesFields = true
    var matches = try index.find(search)
    let fields = matches.items.filter { $0.field != nil }
    if !fields.isEmpty { matches.items.removeAll { $0.field != nil && !query.matches($0) } }
    if let selection { matches.items.removeAll { !selection.accepts($0) } }
    call.tell(matches.problems)
    matches.items += try alone(fields, beside: matches.items, in: index)
    if let order, !matches.items.isEmpty, !order.applies(to: matches.items) {
      throw call.misuse(
        .advised(
          "--sort is `container` or the name of an attribute, and no item found has this one",
          hint: "`keytree get ITEM --attributes` shows the attributes of an item by their names"))
    }
    if let order { matches.items = order.sorted(matches.items) }
    if let limit { matches.items = Array(matches.items.prefix(limit)) }
    call.explain(matches.statistics)
    let logins = try logins(of: matches.items, fields, in: index)
    return Found(logins: logins, problems: matches.problems, isIndexLost: matches.isIndexLost)
  }

  /// Fields that match and whose item is gone: nothing else would show that they are there.
  private func alone(
    _ fields: [ItemRecord], beside items: [ItemRecord], in index: Index
  ) throws -> [ItemRecord] {
    if fields.isEmpty { return [] }
    var places = Set(items.map(\.loginPlace))
    let accepted = selection?.ofFields
    var alone = fields.filter { !places.contains($0.loginPlace) && accepted?.accepts($0) != false }
    // Items that do not match themselves.
    let asked = Dictionary(grouping: alone, by: \.loginPlace).compactMap(\.value.first)
    let queries = asked.map { field in
      var item = Query.login(of: field)
      item.includesFields = false
      return item
    }
    for (field, matches) in zip(asked, try index.find(queries)) where !matches.items.isEmpty {
      places.insert(field.loginPlace)
    }
    alone.removeAll { places.contains($0.loginPlace) }
    return alone
  }

  /// The items with their fields, given the fields that match the query.
  private func logins(
    of items: [ItemRecord], _ matches: [ItemRecord], in index: Index
  ) throws -> [Login] {
    guard items.count > Self.few else { return try call.findLogins(of: items, in: index).map(\.0) }
    // What names an item names its fields, too.
    let isByName = query.predicates.allSatisfy(\.isAboutName)
    let fields = isByName ? matches : try fields(query.predicates.filter(\.isAboutName), in: index)
    if fields.isEmpty { return items.map { Login($0) } }
    let places = Dictionary(grouping: fields, by: \.loginPlace)
    var logins = items.map { item in
      Login(item, among: item.field == nil ? places[item.loginPlace] ?? [] : [])
    }
    // Where a field is in another group than its item, all of the login's items count.
    let divided = logins.indices.filter { number in
      logins[number].fields.contains { $0.group != logins[number].item.group }
    }
    for (number, found) in zip(divided, try call.findLogins(of: divided.map { items[$0] }, in: index)) {
      logins[number] = found.0
    }
    return logins
  }

  /// Up to so many items the fields of each are looked up; of more, those of all together.
  private static let few = 16

  private func fields(_ predicates: [Predicate], in index: Index) throws -> [ItemRecord] {
    if let itemClass = query.itemClass, !AttributeSchema.applies(.field, to: itemClass) { return [] }
    let exists = Predicate(subject: .attribute(.field), comparison: .exists)
    return try index.find(Query(itemClass: query.itemClass, predicates: predicates + [exists])).items
  }
}

extension Predicate {
  /// Whether it is about what an item and its fields have in common, apart from their group.
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
