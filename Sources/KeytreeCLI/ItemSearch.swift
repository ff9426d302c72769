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
  init(_ call: CommandCall, operand: Int = 0) throws(Failure) {
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

  /// The answer, in the wanted order and cut to the limit; damage met on the way is told.
  ///
  /// - Throws: a usage error for an order that no item found knows; `keyring`.
  func run(in index: Index) throws(Failure) -> Matches {
    var matches = try keyringCall(index.find(query))
    if let selection { matches.items.removeAll { !selection.accepts($0) } }
    call.tell(matches.problems)
    if let order, !matches.items.isEmpty, !order.applies(to: matches.items) {
      throw call.misuse(
        .advised(
          "--sort is `container` or the name of an attribute, and no item found has this one",
          hint: "`keytree get ITEM --attributes` shows the attributes of an item by their names"))
    }
    if let order { matches.items = order.sorted(matches.items) }
    if let limit { matches.items = Array(matches.items.prefix(limit)) }
    return matches
  }
}
