import Foundation
import Keyring
import Security
import TestSupport
import Testing

/// Tests that the functions answer every input with a status: none of them traps or stores an unintended value.
@Suite(.serialized, .slow)
struct HostileTests {
  /// The statuses that may be returned. An error of decoding is not among them: the functions must not write what they
  /// cannot read.
  static let statuses: Set<OSStatus> = [
    errSecSuccess, errSecParam, errSecItemNotFound, errSecDuplicateItem, errSecNoSuchAttr, errSecNoSuchClass,
    errSecMissingEntitlement, errSecDataTooLarge, errSecUnimplemented,
  ]

  /// Keys whose values are lists. Foundation does not return from searching a list that contains itself.
  private static var lists: Set<AnyHashable> { ["m_ItemList", "m_Issuers"] }

  /// Returns every key that the functions know, and some that they do not.
  static func keys() throws -> [String] {
    let constants = try FactTable("constants.tsv").rows.map(\.value)
    let known = constants.filter { $0.count == 4 || $0.contains("_") || $0 == "class" || $0 == "persistref" }
    return Set(known + AttributeFacts.accepted.values.joined() + ["odd", "longer"]).sorted()
  }

  @Test func `a hostile value of any key is answered with a status`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    let values = HostileValues.all
    var turn = 0
    for key in try Self.keys() {
      let classes = AttributeFacts.classes.filter { AttributeFacts.accepted[$0]?.contains(key) ?? false }
      for (name, value) in values {
        if HostileValues.endless.contains(name), Self.lists.contains(key) { continue }
        turn += 1
        let known = classes.isEmpty ? AttributeFacts.classes : classes
        let item: [AnyHashable: Any] = ["class": known[turn % known.count], "labl": "hostile"]
        let hostile = item.merging([key: value]) { $1 }
        let answer =
          switch turn % 3 {
          case 0: SecItemCall.find(hostile)
          case 1: SecItemCall.delete(hostile)
          default: SecItemCall.update(item, changes: [key: value])
          }
        #expect(Self.statuses.contains(answer.status), "\(key): \(name) \(answer.status)")
        #expect(answer.result == nil, "\(key): \(name)")
      }
    }
    #expect(turn > 10_000)
    #expect(try world.store.open().find(Query()).items.isEmpty)
  }

  @Test(arguments: ["genp", "inet", "cert", "keys"])
  func `an item with a hostile value is found by it, or is not added`(itemClass: String) throws {
    let world = try StandInWorld()
    defer { world.close() }
    let values = HostileValues.all
    let certificate = try CertificateFixture.bytes("ec-p256.der")
    // Attributes of a kind are parsed in the same way, so one of each is enough.
    let kinds = Dictionary(grouping: AttributeFacts.accepted[itemClass] ?? []) { AttributeFacts.kind(of: $0) }
    for key in kinds.values.compactMap({ $0.min() }) {
      for (name, value) in values {
        var item: [AnyHashable: Any] = ["class": itemClass, key: value, "r_Attributes": true]
        if itemClass == "cert" { item["v_Data"] = certificate }
        let added = SecItemCall.add(item)
        #expect(Self.statuses.contains(added.status), "add \(key): \(name) \(added.status)")
        guard added.status == errSecSuccess else { continue }
        guard !["cdat", "mdat", "accc"].contains(key) else { continue }
        let found = SecItemCall.find(
          ["class": itemClass, "sync": "syna"].merging([key: value]) { $1 })
        #expect(found.status == errSecSuccess, "find \(key): \(name)")
        #expect(SecItemCall.delete(["class": itemClass, "sync": "syna"]).status == errSecSuccess)
      }
    }
    #expect(try world.store.open().check().findings.isEmpty)
  }

  @Test func `a key that is not text is answered with a status`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    for key in HostileValues.keys {
      let dictionary: [AnyHashable: Any] = ["class": "genp", "labl": "hostile", key: "x"]
      for call in SecItemCall.allCases {
        let status = call(dictionary, changes: [key: "x"]).status
        #expect(Self.statuses.contains(status), "\(call) \(key)")
      }
    }
  }

  @Test func `a dictionary that contains itself, or is inconsistent, is answered with a status`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    let cycle = NSMutableDictionary()
    cycle["class"] = "genp"
    cycle["labl"] = cycle
    let many = NSMutableDictionary()
    for number in 0..<200 { many["k\(number)"] = number }
    many["class"] = "genp"
    let long = NSMutableDictionary()
    for number in 0..<200 { long["key number \(number)"] = String(repeating: "x", count: 1 << 12) }
    for dictionary in [cycle, many, long, CustomDictionary()] as [NSDictionary] {
      for call in SecItemCall.allCases {
        #expect(Self.statuses.contains(call(dictionary, changes: dictionary).status), "\(call)")
      }
    }
    for dictionary in [cycle, many, long] as [NSDictionary] {
      let status = SecItemCall.update(["class": "genp"], changes: dictionary).status
      #expect([errSecParam, errSecNoSuchAttr].contains(status))
    }
  }

  @Test func `text with NUL and bytes that are not text are kept unchanged`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    let item: [AnyHashable: Any] = [
      "class": "genp", "acct": "n\u{0}ul", "labl": Data([0xff, 0xfe]), "v_Data": Data(), "r_Data": true,
      "r_Attributes": true,
    ]
    #expect(SecItemCall.add(item).status == errSecSuccess)
    let found = try #require(SecItemCall.find(item).result as? [String: Any])
    #expect(found["acct"] as? String == "n\u{0}ul")
    #expect(found["labl"] as? Data == Data([0xff, 0xfe]))
    #expect(found["v_Data"] as? Data == Data())
  }

  /// A generator with the same numbers in every run (SplitMix64).
  private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var bits = state
      bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
      return bits ^ (bits >> 31)
    }
  }

  @Test(arguments: 0..<6) func `500 random dictionaries are answered with a status`(seed: UInt64) throws {
    let world = try StandInWorld()
    defer { world.close() }
    var random = Seeded(state: seed)
    let keys = try Self.keys()
    let values = HostileValues.all
    func dictionary() -> [AnyHashable: Any] {
      var dictionary: [AnyHashable: Any] = [:]
      // Usually a class and few keys: a dictionary with many errors is refused for the first of them.
      if Int.random(in: 0..<20, using: &random) > 0 {
        dictionary["class"] = AttributeFacts.classes.randomElement(using: &random)
      }
      for _ in 0..<Int.random(in: 0..<4, using: &random) {
        let isOdd = Int.random(in: 0..<20, using: &random) == 0
        let key =
          isOdd ? HostileValues.keys.randomElement(using: &random) : keys.randomElement(using: &random)
        guard let key, let value = values.randomElement(using: &random) else { continue }
        let kind = (key as? String).flatMap { AttributeFacts.kind(of: $0) }
        let usual = kind?.samples.randomElement(using: &random)?.0.given
        if HostileValues.endless.contains(value.name), Self.lists.contains(key) { continue }
        dictionary[key] = Bool.random(using: &random) ? usual ?? value.value : value.value
      }
      return dictionary
    }
    var counts: [OSStatus: Int] = [:]
    for _ in 0..<500 {
      let (first, second) = (dictionary(), dictionary())
      let call = SecItemCall.allCases.randomElement(using: &random) ?? .find
      let answer = call(first, changes: second)
      counts[answer.status, default: 0] += 1
      #expect(Self.statuses.contains(answer.status), "\(call) \(first.keys) \(second.keys): \(answer.status)")
      if answer.status != errSecSuccess { #expect(answer.result == nil) }
    }
    #expect(counts[errSecSuccess, default: 0] > 10 && counts[errSecParam, default: 0] > 10)
    #expect(try world.store.open().check(decrypts: true).findings.isEmpty)
  }
}
