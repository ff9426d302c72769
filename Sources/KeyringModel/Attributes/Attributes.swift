/// The attributes of one item: a map of known and custom attributes, sorted by the bytes of their names.
public struct Attributes: Sendable {
  /// All names and values, sorted by the bytes of the names; each name occurs once.
  public private(set) var entries: [(name: AttributeName, value: AttributeValue)] = []

  /// Makes an empty map.
  public init() {}

  /// Makes a map from entries in any order. If several entries have the same name, the last one is kept.
  ///
  /// It takes less time than setting many attributes one after the other, each of which moves the following entries.
  ///
  /// - Parameter unsorted: The entries.
  package init(unsorted: [(name: AttributeName, value: AttributeValue)]) {
    let isSorted = zip(unsorted, unsorted.dropFirst()).allSatisfy { $0.name < $1.name }
    if isSorted {
      entries = unsorted
      return
    }
    let order = unsorted.indices.sorted { (unsorted[$0].name, $0) < (unsorted[$1].name, $1) }
    entries.reserveCapacity(unsorted.count)
    for index in order {
      if let last = entries.indices.last, entries[last].name == unsorted[index].name {
        entries[last] = unsorted[index]
      } else {
        entries.append(unsorted[index])
      }
    }
  }

  /// The value of one attribute; setting nil removes it.
  ///
  /// - Parameter name: A known or custom name.
  public subscript(name: AttributeName) -> AttributeValue? {
    get {
      // For few entries a linear search is faster: most names differ in length, so testing equality is cheaper than
      // ordering.
      if entries.count <= 8 { return entries.first { $0.name == name }?.value }
      let index = position(of: name)
      return index < entries.count && entries[index].name == name ? entries[index].value : nil
    }
    set {
      let index = position(of: name)
      let exists = index < entries.count && entries[index].name == name
      switch (newValue, exists) {
      case (let value?, true): entries[index].value = value
      case (let value?, false): entries.insert((name, value), at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// The text of ``AttributeName/account``; nil if the item has none, or one that is not text.
  public var account: String? { self[.account]?.text }
  /// The text of ``AttributeName/service``; nil if the item has none, or one that is not text.
  public var service: String? { self[.service]?.text }
  /// The text of ``AttributeName/server``; nil if the item has none, or one that is not text.
  public var server: String? { self[.server]?.text }
  /// The text of ``AttributeName/label``; nil if the item has none, or one that is not text.
  public var label: String? { self[.label]?.text }
  /// The text of ``AttributeName/comment``; nil if the item has none, or one that is not text.
  public var comment: String? { self[.comment]?.text }

  /// A Boolean value that indicates whether there are no attributes.
  public var isEmpty: Bool { entries.isEmpty }

  /// The number of attributes.
  public var count: Int { entries.count }

  /// The names of all attributes, sorted.
  public var names: [AttributeName] { entries.map(\.name) }

  /// Sets every attribute of `other`, replacing existing values.
  ///
  /// - Parameter other: The attributes to set.
  public mutating func merge(_ other: Attributes) {
    for entry in other.entries { self[entry.name] = entry.value }
  }

  /// Returns the index of the first entry whose name is not before `name`.
  private func position(of name: AttributeName) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].name < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Attributes: Equatable {
  /// Returns true if both have the same names with exactly the same values.
  public static func == (left: Attributes, right: Attributes) -> Bool {
    left.entries.elementsEqual(right.entries) { $0.name == $1.name && $0.value == $1.value }
  }
}

extension Attributes: ExpressibleByDictionaryLiteral {
  /// Makes attributes from a literal. If several entries have the same name, the last one is kept.
  public init(dictionaryLiteral elements: (AttributeName, AttributeValue)...) {
    for (name, value) in elements { self[name] = value }
  }
}
