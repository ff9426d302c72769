internal import Arguments
package import Keyring
package import KeyringModel
internal import Terminal

extension CommandCall {
  /// Returns the selected items in the order of their creation, and reports damage in the index.
  ///
  /// If the store has several groups, all ways to read the name are tried; see `ItemSelection.selected(among:)`. If no
  /// item has the name, the only one whose label equals it is selected.
  package func find(_ selection: ItemSelection, in index: Index) throws -> Matches {
    let matches = try search(selection, in: index)
    tell(matches.problems)
    return matches
  }

  /// Returns the selected items like `find(_:in:)`, and reports nothing.
  func search(_ selection: ItemSelection, in index: Index) throws -> Matches {
    var matches = try index.find(selection.query)
    matches.items = matches.items.filter(selection.alternatives[0].accepts)
    for alternative in selection.alternatives.dropFirst()
    where matches.items.isEmpty || store.mayHaveSeveralGroups {
      let found = try index.find(alternative.query)
      matches.items += ItemSelection.further(found.items.filter(alternative.accepts), than: matches.items)
      matches.problems += found.problems.filter { !matches.problems.contains($0) }
      matches.statistics += found.statistics
    }
    if matches.items.isEmpty, matches.problems.isEmpty, let label = selection.label {
      let found = try labelled(label, selection, in: index)
      matches.items = found.items
      matches.statistics += found.statistics
    }
    return matches
  }

  /// Returns the only item with a label, or its selected field. Several items with the label are none: a member of any
  /// group could otherwise add one to those that a name finds.
  private func labelled(_ label: Predicate, _ selection: ItemSelection, in index: Index) throws -> Matches {
    var given = selection.given
    let field = given.field
    given.field = nil
    var matches = try index.find(Query(predicates: [label]))
    if let attributes = given.isEmpty ? nil : try self.selection(of: given) {
      matches.items = matches.items.filter(attributes.accepts)
    }
    guard matches.items.count == 1, matches.problems.isEmpty else {
      matches.items = []
      return matches
    }
    if let field {
      matches.items = try findLogin(of: matches.items[0], in: index).0.fields.filter { $0.field == field }
    }
    return matches
  }

  /// Returns the one selected item.
  ///
  /// - Parameters:
  ///   - selection: the selection.
  ///   - operand: the position of the operand with the name, for messages.
  ///   - index: the index to search.
  ///   - letsChoose: true if the user may choose among several matches or similar names, because the command only shows
  ///     the item to that user. The user is asked only on a terminal.
  /// - Throws: `noMatch`, or `noMatchButDamage` if lines in the shards that were read are damaged and might be the
  ///   item; `ambiguous` with the candidates; the errors of `ItemChooser.choose`.
  package func findOne(
    _ selection: ItemSelection, operand: Int = 0, in index: Index, letsChoose: Bool = false
  ) throws -> ItemRecord {
    let canChoose = letsChoose && ItemChooser(self).canAsk
    let matches = try find(selection, in: index)
    explain(matches.statistics)
    if let item = try one(of: matches.items, operand, letsChoose: canChoose) { return item }
    let name = nameForMessages(operand)
    guard matches.problems.isEmpty else { throw CommandError.noMatchButDamage(name) }
    // The secret of a field is not that of a similar login.
    let namesField = try canChoose && hintForField(in: selection, index) != nil
    if canChoose, !namesField, selection.given.field == nil, selection.name?.problem == nil {
      let verb = selection.given.isEmpty ? "is named" : "matches"
      let similar = try ItemCandidates(for: selection, in: index)
      // An item that lacks a word of the name, such as its account, is not taken without asking.
      if similar.items.count == 1, similar.haveAllWords {
        console.complain("No item \(verb) \(name); using \(self.name(of: similar.items[0])).")
        return similar.items[0]
      }
      if !similar.items.isEmpty {
        console.complain("No item \(verb) \(name). These match:")
        return try ItemChooser(self).choose(among: similar.items)
      }
    }
    throw try noMatch(selection, name, in: index)
  }

  /// Returns the single item of a list, or the one that the user chooses; nil for an empty list.
  ///
  /// - Throws: `ambiguous` with the candidates; the errors of `ItemChooser.choose`.
  package func one(of items: [ItemRecord], _ operand: Int = 0, letsChoose: Bool) throws -> ItemRecord? {
    if items.count < 2 { return items.first }
    if letsChoose { return try ItemChooser(self).choose(among: ItemCandidates(items).items) }
    throw CommandError.ambiguous(nameForMessages(operand), candidates: names(of: items))
  }

  /// Returns the error for a selection that no item matches: with the fields that exist, or with the items that have
  /// similar names.
  ///
  /// - Parameters:
  ///   - selection: the selection.
  ///   - name: the name for the message.
  ///   - index: the index to search.
  package func noMatch(_ selection: ItemSelection, _ name: String, in index: Index) throws -> any Error {
    if let problem = selection.name?.problem { return misuse(problem.usage) }
    let login = selection.given.field == nil ? nil : try self.login(of: selection, in: index)
    if let login, login.fields.isEmpty {
      return CommandError.other(
        .notFound, message: "no item matches \(name)", hint: "\(self.name(of: login.item)) has no fields")
    }
    let fields = try login?.fieldNames ?? fieldNames(selection, in: index)
    let isNamed = selection.name != nil && selection.given.withoutField.isEmpty
    if !fields.isEmpty { return CommandError.noMatch(name, isNamed: isNamed, fields: fields) }
    if let hint = try hintForField(in: selection, index) {
      return CommandError.other(.notFound, message: "no item matches \(name)", hint: hint)
    }
    let items = try ItemCandidates(for: selection, in: index).items.prefix(ItemCandidates.limit)
    return CommandError.noMatch(name, isNamed: isNamed, candidates: ItemLines.of(Array(items)))
  }

  /// Returns the one login whose field was selected, if it exists.
  private func login(of selection: ItemSelection, in index: Index) throws -> Login? {
    let login = try self.selection(selection.name, of: selection.given.withoutField)
    let items = try find(login, in: index).items
    return items.count == 1 ? try findLogin(of: items[0], in: index).0 : nil
  }

  /// Returns the hint for a name that ends with `/` and the name of a field that its item has; else nil.
  private func hintForField(in selection: ItemSelection, _ index: Index) throws -> String? {
    guard case .named(let readings) = selection.name,
      let whole = readings.first(where: { $0.account == nil }),
      let slash = whole.container.lastIndex(of: UInt8(ascii: "/")), slash > 0
    else { return nil }
    let field = String(decoding: whole.container[(slash + 1)...], as: UTF8.self)
    var given = selection.given
    let item = Word(Array(whole.container[..<slash]))
    // The part before the last `/` can be no name, for example in a URL.
    guard given.field == nil, FieldName.isValid(field), let name = try? ItemName(item) else { return nil }
    given.field = field
    // Items of the given class can have no such name.
    guard let selection = try? ItemSelection(name, given), try !find(selection, in: index).items.isEmpty
    else {
      return nil
    }
    return "`\(Escaping.terminal.show(item.bytes)) --field \(field)` names the field of that item"
  }

  /// Returns the names of fields that match the selection although their item no longer exists.
  private func fieldNames(_ selection: ItemSelection, in index: Index) throws -> [String] {
    let names = try find(selection.ofFields, in: index).items.compactMap(\.field)
    return Set(names).sorted()
  }
}
