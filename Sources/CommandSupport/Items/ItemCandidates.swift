internal import Encoding
internal import Interchange
package import Keyring
package import KeyringModel

/// Items that the user may have meant by a name that no item has, or that several items have.
package struct ItemCandidates {
  /// The largest number of candidates that an error lists.
  package static let limit = 10

  /// The items, sorted by their names.
  package let items: [ItemRecord]
  /// True if the items have all words of the name, and those of the account as whole words; false if only their containers
  /// or parts of their accounts are similar.
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
  ///   - selection: the selection that matches nothing. Items must have its attributes, apart from its field. Nothing is
  ///     found for a reference or an id.
  ///   - index: the index to search.
  package init(for selection: ItemSelection, in index: Index) throws {
    guard case .named(let readings) = selection.name, let first = readings.first else {
      self.init([])
      return
    }
    let container = ItemCandidates.words(of: first.container)
    let all = container + ItemCandidates.words(of: first.account ?? [])
    let given = selection.given.withoutField
    let attributes: ItemSelection?
    do throws(ItemSelection.Problem) {
      attributes = given.isEmpty ? nil : try ItemSelection(nil, given)
    } catch {
      // No item of any class has all of the attributes.
      self.init([])
      return
    }
    let itemClass = first.hasTypedClass ? first.itemClass : nil
    func find(_ words: [[UInt8]]) throws -> [ItemRecord] {
      if words.isEmpty { return [] }
      let predicates = words.map { word in
        Predicate(subject: .any, comparison: .contains(AttributeValue(text: word)), ignoresCase: true)
      }
      return try index.find(Query(itemClass: itemClass, predicates: predicates)).items.filter { item in
        let names = item.namesInLowerCase
        return words.allSatisfy { word in names.contains { ByteSearch.contains($0, word) } }
          && attributes?.accepts(item) != false
      }
    }
    let found = try find(all)
    guard found.isEmpty, container != all else {
      // The secret of `alice-work` is not that of `alice`.
      let account = ItemCandidates.words(of: first.account ?? [])
      self.init(
        found,
        haveAllWords: found.allSatisfy { item in
          let names = item.namesInLowerCase.flatMap(ItemCandidates.words)
          return account.allSatisfy(names.contains)
        })
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
  /// The container, the account, the label and the name that the item had in a store of pass, in lower case.
  fileprivate var namesInLowerCase: [[UInt8]] {
    [container, accountValue, attributes[.label], attributes[.passPath]].compactMap { value in
      value?.contentBytes.map { Array(String(decoding: $0, as: UTF8.self).lowercased().utf8) }
    }
  }
}
