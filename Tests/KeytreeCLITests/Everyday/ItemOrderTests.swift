import Encoding
import KeyringModel
import Testing
@testable import CommandSupport
@testable import KeytreeCLI

@Suite("The order of items", .serialized)
struct ItemOrderTests {
  private static func item(_ number: Int64, _ attributes: Attributes) -> ItemRecord {
    let time = Timestamp(microseconds: number)
    var generator = SystemRandomNumberGenerator()
    return ItemRecord(
      itemClass: .internetPassword, id: ItemID(using: &generator), revision: Revision(using: &generator),
      created: time, modified: Timestamp(microseconds: -number), secretModified: time, group: "default",
      sealed: ContentDigest(of: []), attributes: attributes)
  }

  private static let items = [
    item(0, [.server: "b", .port: 443, .label: "x"]),
    item(1, [.server: "a", .port: 80]),
    item(2, [.server: "B", .port: "http"]),
    item(3, [.server: .bytes([0xFF]), .label: "x"]),
    item(4, [.account: "nobody"]),
  ]

  @Test(
    "items are sorted by value: numbers, times, text by its bytes, missing values last; equal ones by creation time",
    arguments: [
      ("server", [2, 1, 0, 3, 4]), ("container", [2, 1, 0, 3, 4]), ("port", [1, 0, 2, 3, 4]),
      ("label", [0, 3, 1, 2, 4]), ("created", [0, 1, 2, 3, 4]), ("modified", [4, 3, 2, 1, 0]),
      ("class", [0, 1, 2, 3, 4]), ("nothing like it", [0, 1, 2, 3, 4]),
    ] as [(String, [Int64])])
  func sorted(name: String, expected: [Int64]) {
    #expect(ItemOrder(name).sorted(Self.items).map(\.created.microseconds) == expected)
  }
}
