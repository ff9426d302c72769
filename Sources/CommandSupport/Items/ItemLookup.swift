internal import Arguments
package import Keyring
package import KeyringModel
internal import Terminal

extension CommandCall {
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
    let name = nameForMessages(operand)
    let canChoose = letsChoose && console.canAsk
    let matches = try find(selection, in: index)
    explain(matches.statistics)
    switch matches.items.count {
    case 1: return matches.items[0]
    case 0: break
    default:
      if canChoose { return try ItemChooser(self).choose(among: ItemCandidates(matches.items).items) }
      throw CommandError.ambiguous(name, candidates: matches.items.map(\.reference.text))
    }
    guard matches.problems.isEmpty else { throw CommandError.noMatchButDamage(name) }
    let fields = try fieldNames(selection, in: index)
    if let advice = try fieldInName(operand, in: index) {
      throw CommandError.other(.notFound, message: "no item matches \(name)", hint: advice)
    }
    let similar =
      try fields.isEmpty
      ? ItemCandidates(for: itemName(operand), try givenAttributes(), in: index) : ItemCandidates([])
    let candidates = similar.items
    // An item that lacks a word of the name, such as its account, is not taken without asking.
    if canChoose, candidates.count == 1, similar.haveAllWords {
      console.say("No item matches \(name); using \(candidates[0].reference.text).")
      return candidates[0]
    }
    if canChoose, !candidates.isEmpty {
      console.complain("No item matches \(name). Items with similar names:")
      return try ItemChooser(self).choose(among: candidates)
    }
    throw CommandError.noMatch(
      name, fields: fields, candidates: candidates.prefix(ItemCandidates.limit).map(\.listLine))
  }

  /// Returns the hint for a name that ends with `/` and the name of a field that its item has; else nil.
  private func fieldInName(_ operand: Int, in index: Index) throws -> String? {
    guard let bytes = arguments.operand(operand)?.bytes,
      case .named = try? ItemName(Word(bytes)),  // A name that cannot be read has been refused before.
      let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > bytes.startIndex
    else { return nil }
    let field = String(decoding: bytes[(slash + 1)...], as: UTF8.self)
    var given = try givenAttributes()
    let item = Word(Array(bytes[..<slash]))
    // The part before the last `/` can be no name, for example in a URL.
    guard given.field == nil, FieldName.isValid(field), let name = try? ItemName(item) else { return nil }
    given.field = field
    // Items of the given class can have no such name.
    guard let selection = try? ItemSelection(name, given),
      try !find(selection, in: index).items.isEmpty
    else { return nil }
    return "`\(Escaping.terminal.show(item.bytes)) --field \(field)` names the field of that item"
  }

  /// Returns the names of fields that match the selection although their item no longer exists.
  private func fieldNames(_ selection: ItemSelection, in index: Index) throws -> [String] {
    let names = try find(selection.ofFields, in: index).items.compactMap(\.field)
    return Set(names).sorted()
  }
}
