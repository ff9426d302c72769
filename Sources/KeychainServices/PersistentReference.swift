internal import Foundation
internal import Keyring

/// A reference that survives changes and moves of an item: four bytes of the class and sixteen of the id.
struct PersistentReference: Equatable {
  let itemClass: ItemClass
  let id: ItemID

  init(_ record: ItemRecord) {
    itemClass = record.itemClass
    id = record.id
  }

  /// Reads what ``data`` writes.
  init?(_ data: Data) {
    guard data.count == 20, let code = String(validating: data.prefix(4), as: UTF8.self),
      let itemClass = ItemClass(code: code),
      let id = ItemID(hex: data.dropFirst(4).map { String(format: "%02x", $0) }.joined())
    else { return nil }
    self.itemClass = itemClass
    self.id = id
  }

  var data: Data {
    var bytes = Array(itemClass.code.utf8)
    var digits = id.hex[...]
    while !digits.isEmpty {
      bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
    return Data(bytes)
  }
}
