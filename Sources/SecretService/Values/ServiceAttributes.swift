internal import Encoding

/// The attributes of an item as clients see them: names and values, sorted by the bytes of the names.
package struct ServiceAttributes: Sendable {
  /// A name and its value.
  package struct Pair: Sendable {
    /// The name, such as `xdg:schema`.
    package let name: String
    /// The value.
    package let value: String
  }

  /// The pairs, sorted by the bytes of their names. No two have the same name.
  package private(set) var pairs: [Pair] = []

  /// Creates attributes from pairs. Of two pairs with the same name, the last one is used.
  ///
  /// - Parameter pairs: The pairs in any order.
  package init(_ pairs: [(name: String, value: String)] = []) {
    for pair in pairs { self[pair.name] = pair.value }
  }

  /// The number of pairs.
  package var count: Int { pairs.count }

  /// True if there is no pair.
  package var isEmpty: Bool { pairs.isEmpty }

  /// The value of a name; nil if there is no such pair.
  package subscript(name: String) -> String? {
    get {
      let place = position(of: name)
      return place < pairs.count && pairs[place].name.hasSameBytes(as: name) ? pairs[place].value : nil
    }
    set {
      let place = position(of: name)
      let exists = place < pairs.count && pairs[place].name.hasSameBytes(as: name)
      switch (newValue, exists) {
      case (let value?, true): pairs[place] = Pair(name: name, value: value)
      case (let value?, false): pairs.insert(Pair(name: name, value: value), at: place)
      case (nil, true): pairs.remove(at: place)
      case (nil, false): break
      }
    }
  }

  private func position(of name: String) -> Int {
    var (low, high) = (0, pairs.count)
    while low < high {
      let middle = (low + high) / 2
      if pairs[middle].name.precedesInBytes(name) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension ServiceAttributes: Equatable {
  /// Returns true if both have the same pairs, byte for byte.
  package static func == (left: ServiceAttributes, right: ServiceAttributes) -> Bool {
    left.pairs.elementsEqual(right.pairs) {
      $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value)
    }
  }
}

extension ServiceAttributes: ExpressibleByDictionaryLiteral {
  /// Creates attributes from a literal, for tests.
  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { self[name] = value }
  }
}
