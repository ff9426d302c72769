internal import Foundation
internal import Keyring

/// A reference that survives changes and moves of an item: four bytes for the class and sixteen for the id.
///
/// The reference of an identity is that of its certificate, but with the class of identities.
struct PersistentReference: Equatable {
  let itemClass: ItemClass
  let id: ItemID
  let isIdentity: Bool

  /// Creates the reference of an item of a class.
  init(itemClass: ItemClass, id: ItemID) {
    self.itemClass = itemClass
    self.id = id
    isIdentity = false
  }

  /// Creates the reference of an item, or of the identity that a certificate belongs to.
  init(_ record: ItemRecord, isIdentity: Bool = false) {
    itemClass = record.itemClass
    id = record.id
    self.isIdentity = isIdentity
  }

  /// Decodes the bytes of ``data``.
  init?(_ data: Data) {
    guard data.count == 20, let code = String(validating: data.prefix(4), as: UTF8.self),
      let id = ItemID(hex: data.dropFirst(4).map { String(format: "%02x", $0) }.joined())
    else { return nil }
    isIdentity = code == kSecClassIdentity as String
    guard let itemClass = isIdentity ? .certificate : ItemClass(code: code) else { return nil }
    self.itemClass = itemClass
    self.id = id
  }

  var data: Data {
    var bytes = Array((isIdentity ? kSecClassIdentity as String : itemClass.code).utf8)
    var digits = id.hex[...]
    while !digits.isEmpty {
      bytes.append(UInt8(digits.prefix(2), radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
    return Data(bytes)
  }
}
