import Foundation
import Keyring
import Secrets
import TestSupport
import Testing

@testable import KeychainServices

/// Tests that Apple's functions see only items without a field.
@Suite(.serialized) struct FieldTests {
  private let world: StandInWorld
  private let login: ItemRecord
  private let field: ItemRecord

  init() throws {
    world = try StandInWorld()
    let keyring = try world.store.open()
    var attributes: Attributes = [.server: "h.example", .account: "alice"]
    login = try keyring.add(
      NewItem(itemClass: .internetPassword, attributes: attributes),
      secret: SecretBytes(copying: Array("pw".utf8)))
    attributes[.field] = "otp"
    field = try keyring.add(
      NewItem(itemClass: .internetPassword, attributes: attributes),
      secret: SecretBytes(copying: Array("seed".utf8)))
  }

  private func data(of record: ItemRecord) -> Data { PersistentReference(record).data }

  @Test func `a persistent reference does not release, change or delete a field`() throws {
    defer { world.close() }
    let reference = data(of: field)
    for query in [["v_PersistentRef": reference], ["class": "inet", "v_PersistentRef": reference]]
      as [[AnyHashable: Any]]
    {
      #expect(SecItemCall.find(query.merging(["r_Data": true]) { $1 }).status == errSecItemNotFound)
      #expect(SecItemCall.delete(query).status == errSecItemNotFound)
    }
    #expect(
      SecItemCall.find(["class": "inet", "m_ItemList": [reference], "r_Attributes": true]).status
        == errSecItemNotFound)
    let found = SecItemCall.find(["v_PersistentRef": data(of: login), "r_Data": true])
    #expect(found.status == errSecSuccess && found.result as? Data == Data("pw".utf8))
  }

  @Test func `a query finds the item, and nothing after the item was deleted`() throws {
    defer { world.close() }
    let query: [AnyHashable: Any] = ["class": "inet", "srvr": "h.example"]
    let all = SecItemCall.find(query.merging(["m_Limit": "m_LimitAll", "r_Attributes": true]) { $1 })
    #expect((all.result as? [Any])?.count == 1)
    #expect(SecItemCall.delete(query).status == errSecSuccess)
    #expect(SecItemCall.find(query.merging(["r_Data": true]) { $1 }).status == errSecItemNotFound)
    // The field still exists.
    let fields = try world.store.open().find(Query.fields(of: login)).items
    #expect(fields.map(\.id) == [field.id])
  }
}
