internal import Encoding
internal import KeyringModel
internal import Secrets

/// The items of the collection `session`: in memory, and gone when the service ends.
struct MemoryItems {
  /// The largest number of items.
  static let maximumCount = 1000
  /// The largest total size of secrets, attributes and labels, in bytes.
  static let maximumSize = 16 << 20

  /// An item.
  struct Item {
    let id: ItemID
    var label: String
    var attributes: ServiceAttributes
    var secret: SecretSlice
    var contentType: String
    let created: UInt64
    var modified: UInt64
    /// The position in the order of changes.
    fileprivate(set) var order: Int

    fileprivate var size: Int {
      attributes.pairs.reduce(secret.count + label.utf8.count + contentType.utf8.count) { sum, pair in
        sum + pair.name.utf8.count + pair.value.utf8.count
      }
    }
  }

  private var items: [ItemID: Item] = [:]
  private var size = 0
  private var changeCount = 0

  /// Returns an item.
  subscript(id: ItemID) -> Item? { items[id] }

  /// The number of items.
  var count: Int { items.count }

  /// All items, the one that was changed last first.
  var all: [Item] { items.values.sorted { $0.order > $1.order } }

  /// The time of the last change; nil without items.
  var modified: UInt64? { items.values.lazy.map(\.modified).max() }

  /// Returns the items that have some attributes, the one that was changed last first.
  func items(with attributes: ServiceAttributes) -> [Item] {
    items.values.filter { item in
      attributes.pairs.allSatisfy { pair in item.attributes[pair.name]?.hasSameBytes(as: pair.value) == true }
    }.sorted { $0.order > $1.order }
  }

  /// Adds an item.
  ///
  /// - Throws: `limitsExceeded`.
  mutating func add(_ content: ItemContent, at time: UInt64) throws -> Item {
    guard items.count < Self.maximumCount else { throw Self.full }
    var generator = SystemRandomNumberGenerator()
    let item = Item(
      id: ItemID(using: &generator), label: content.label, attributes: content.attributes,
      secret: content.secret, contentType: content.contentType, created: time, modified: time, order: 0)
    return try put(item)
  }

  /// Changes an item.
  ///
  /// - Returns: The changed item.
  /// - Throws: `noSuchObject`, `limitsExceeded`.
  mutating func change(_ id: ItemID, at time: UInt64, _ body: (inout Item) -> Void) throws -> Item {
    guard var item = items[id] else { throw SecretServiceError.noSuchItem }
    body(&item)
    item.modified = time
    return try put(item)
  }

  /// Removes an item.
  ///
  /// - Throws: `noSuchObject`.
  mutating func remove(_ id: ItemID) throws {
    guard let item = items.removeValue(forKey: id) else { throw SecretServiceError.noSuchItem }
    size -= item.size
  }

  private mutating func put(_ item: Item) throws -> Item {
    let newSize = size - (items[item.id]?.size ?? 0) + item.size
    guard newSize <= Self.maximumSize else { throw Self.full }
    size = newSize
    changeCount += 1
    var item = item
    item.order = changeCount
    items[item.id] = item
    return item
  }

  private static let full = SecretServiceError(.limitsExceeded, "The session collection is full.")
}
