internal import Arguments
internal import Encoding
internal import Interchange
package import Keyring
package import KeyringModel
internal import Terminal

/// Items that the user may have meant by a name that no item has, or that several items have.
package struct ItemCandidates {
  /// The largest number of candidates that an error lists.
  package static let limit = 10

  /// The items, sorted by their names.
  package let items: [ItemRecord]
  /// True if the items have all words of the name; false if only their containers are similar.
  package let haveAllWords: Bool

  /// Creates candidates from items that were found.
  package init(_ items: [ItemRecord], haveAllWords: Bool = true) {
    self.items = ItemOrder.byName(items)
    self.haveAllWords = haveAllWords
  }

  /// Finds the items whose container, account, label and name in pass contain all words of a name, in any order and in
  /// any case. If there are none, those that contain the words of the container.
  ///
  /// - Parameters:
  ///   - name: the name on the command line; nothing is found for a reference or an id.
  ///   - given: the attributes, which the items must have.
  package init(for name: ItemName?, _ given: GivenAttributes, in index: Index) throws {
    guard case .named(let itemClass, let readings) = name, let first = readings.first, given.field == nil
    else {
      self.init([])
      return
    }
    let container = ItemCandidates.words(of: first.container)
    let all = container + ItemCandidates.words(of: first.account ?? [])
    let selection: ItemSelection?
    do throws(ItemSelection.Problem) {
      selection = given.isEmpty ? nil : try ItemSelection(nil, given)
    } catch {
      // No item of any class has all of the attributes.
      self.init([])
      return
    }
    func find(_ words: [[UInt8]]) throws -> [ItemRecord] {
      if words.isEmpty { return [] }
      let predicates = words.map { word in
        Predicate(subject: .any, comparison: .contains(AttributeValue(text: word)), ignoresCase: true)
      }
      return try index.find(Query(itemClass: itemClass, predicates: predicates)).items.filter { item in
        let names = item.namesInLowerCase
        return words.allSatisfy { word in names.contains { ByteSearch.contains($0, word) } }
          && selection?.accepts(item) != false
      }
    }
    let found = try find(all)
    guard found.isEmpty, container != all else {
      self.init(found)
      return
    }
    self.init(try find(container), haveAllWords: false)
  }

  /// Returns the words of a text in lower case: the parts between white space, `/` and `@`.
  private static func words(of text: [UInt8]) -> [[UInt8]] {
    text.split { "/@ \t".utf8.contains($0) }
      .map { Array(String(decoding: $0, as: UTF8.self).lowercased().utf8) }
  }
}

extension ItemRecord {
  /// The name that a user types for the item: `container/account` or `container`. Names are not escaped.
  package var shortName: [UInt8] {
    let container = self.container?.shownBytes ?? []
    guard let account = accountValue?.shownBytes, !account.isEmpty else { return container }
    return container + [UInt8(ascii: "/")] + account
  }

  /// A line that shows the item in a list: its name and its label, its port if it has one, and its group if it is not
  /// the default group.
  package var listLine: String {
    var line = String(decoding: shortName, as: UTF8.self)
    if let field { line += " --field \(field)" }
    if let label = attributes[.label]?.shownBytes, label != container?.shownBytes {
      line += "  " + String(decoding: label, as: UTF8.self)
    }
    if case .integer(let port)? = attributes[.port], port != 0 { line += "  (port \(port))" }
    if group != GroupName.default { line += "  (group \(group))" }
    return line
  }

  /// The container, the account, the label and the name that the item had in a store of pass, in lower case.
  fileprivate var namesInLowerCase: [[UInt8]] {
    [container, accountValue, attributes[.label], attributes[.passPath]].compactMap { value in
      value?.contentBytes.map { Array(String(decoding: $0, as: UTF8.self).lowercased().utf8) }
    }
  }
}
