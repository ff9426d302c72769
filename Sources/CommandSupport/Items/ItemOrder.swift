internal import Encoding
internal import Keyring
internal import KeyringModel

/// An order of items by one attribute.
///
/// Items without the attribute come last. Integers are ordered by value, times by time, text by its bytes. If values of
/// several types occur, numbers come before times and times before text. Equal items stay in the order of their
/// creation.
struct ItemOrder {
  private let name: String

  /// Creates the order by the name of an attribute in the index, or by `container`, as in the columns of `find`.
  init(_ name: String) {
    self.name = name
  }

  /// Returns true if the order applies to these items: every item can have the attribute, or it is a custom attribute
  /// of one of them.
  func applies(to items: [ItemRecord]) -> Bool {
    let attribute = AttributeName(name)
    return name == "container" || !AttributeSchema.isCustom(attribute)
      || items.contains { $0.value(of: attribute) != nil }
  }

  /// Returns the items in this order.
  func sorted(_ items: [ItemRecord]) -> [ItemRecord] {
    let keys = items.map { Key(value(of: $0)) }
    // The positions make the order stable.
    let order = items.indices.sorted { left, right in
      keys[left] == keys[right] ? left < right : keys[left] < keys[right]
    }
    return order.map { items[$0] }
  }

  /// Returns items sorted by container and account, without regard to the case of ASCII letters. Items without a
  /// container come last.
  static func byName(_ items: [ItemRecord]) -> [ItemRecord] {
    let size = 2048
    let keys = WorkerPool(workers: 0).map((items.count + size - 1) / size) { piece in
      (piece * size..<min((piece + 1) * size, items.count)).map { nameKey(items[$0]) }
    }.flatMap { $0 }
    return items.indices.sorted { left, right in
      keys[left] == keys[right] ? left < right : keys[left] < keys[right]
    }.map { items[$0] }
  }

  /// Returns the bytes by which the name of an item is compared.
  private static func nameKey(_ item: ItemRecord) -> OrderedBytes {
    var bytes = HostName.lowerCase(item.container?.contentBytes ?? [])
    if bytes.isEmpty { bytes = [0xFF] }
    bytes.append(0)
    if let account = item.accountValue?.contentBytes { bytes += HostName.lowerCase(account) }
    return OrderedBytes(bytes)
  }

  private func value(of item: ItemRecord) -> AttributeValue? {
    name == "container" ? item.container : item.value(of: AttributeName(name))
  }

  /// The value by which two items are compared.
  private struct Key: Comparable {
    let rank: Int
    let number: Int64
    let bytes: [UInt8]

    init(_ value: AttributeValue?) {
      switch value {
      case .integer(let number): (rank, self.number, bytes) = (0, number, [])
      case .boolean(let flag): (rank, number, bytes) = (0, flag ? 1 : 0, [])
      case .date(let date): (rank, number, bytes) = (1, date.microseconds, [])
      case .string(let text): (rank, number, bytes) = (2, 0, Array(text.utf8))
      case .bytes(let bytes): (rank, number, self.bytes) = (2, 0, bytes)
      case nil: (rank, number, bytes) = (3, 0, [])
      }
    }

    static func < (left: Key, right: Key) -> Bool {
      if left.rank != right.rank { return left.rank < right.rank }
      if left.number != right.number { return left.number < right.number }
      return left.bytes.lexicographicallyPrecedes(right.bytes)
    }
  }
}
