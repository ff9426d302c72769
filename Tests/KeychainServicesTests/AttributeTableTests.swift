import Foundation
import Keyring
import Security
import TestSupport
import Testing

/// Tests every class with every attribute that has a constant.
@Suite(.serialized, .slow)
struct AttributeTableTests {
  /// The attributes that an item needs besides the attribute of a case, and a query that finds no other item.
  private struct Base {
    /// The class and a value of the primary key.
    let query: [AnyHashable: Any]
    let item: [AnyHashable: Any]

    init(_ itemClass: String, besides code: String, mark: String) throws {
      let keys = ["genp": ["acct", "svce"], "inet": ["acct", "srvr"], "cert": ["slnr", "issr"]]
      let key = (keys[itemClass] ?? ["atag", "klbl"]).first { $0 != code }
      query = ["class": itemClass, try #require(key): Data(mark.utf8), "sync": "syna"]
      var item = query
      item["sync"] = false
      item["v_Data"] = itemClass == "cert" ? try CertificateFixture.bytes("ec-p256.der") : Data("s".utf8)
      self.item = item
    }

    func query(_ code: String, _ value: Any) -> [AnyHashable: Any] {
      query.merging([code: value, "r_Attributes": true]) { $1 }
    }
  }

  @Test func `the table of facts has every attribute of every class`() throws {
    let codes = try AttributeFacts.codes()
    #expect(codes.count == 51)
    let unnamed = AttributeFacts.accepted.values.reduce(Set()) { $0.union($1) }.subtracting(codes)
    // Attributes of passwords and keys that have no public constants.
    #expect(
      unnamed.sorted() == [
        "alis", "asen", "cusi", "edat", "modi", "next", "priv", "prot", "scrp", "sdat", "snrc", "vyrc",
      ])
    for (itemClass, accepted) in AttributeFacts.accepted {
      for code in accepted { #expect(AttributeFacts.kind(of: code) != nil, "\(itemClass) \(code)") }
    }
  }

  @Test(arguments: ["genp", "inet", "cert", "keys"])
  func `an attribute of the class is added, found, changed and returned as it was set`(
    itemClass: String
  ) throws {
    let world = try StandInWorld()
    defer { world.close() }
    for code in (AttributeFacts.accepted[itemClass] ?? []).sorted() {
      for (number, (first, second)) in (AttributeFacts.kind(of: code)?.samples ?? []).enumerated() {
        let base = try Base(itemClass, besides: code, mark: "\(code)-\(number)")
        check(base, code, first, second, "\(itemClass) \(code): \(first.given), \(second.given)")
      }
    }
    #expect(try world.store.open().check().findings.isEmpty)
  }

  private func check(
    _ base: Base, _ code: String, _ first: SampleValue, _ second: SampleValue, _ comment: Comment
  ) {
    let item = base.item.merging([code: first.given, "r_Attributes": true]) { $1 }
    let added = SecItemCall.add(item)
    #expect(added.status == errSecSuccess, comment)
    guard added.status == errSecSuccess else { return }
    #expect(first.isReturned((added.result as? NSDictionary)?[code]), comment)
    #expect(SecItemCall.add(item).status == errSecDuplicateItem, comment)
    let found = SecItemCall.find(base.query(code, first.given))
    #expect(found.status == errSecSuccess, comment)
    #expect(first.isReturned((found.result as? NSDictionary)?[code]), comment)
    #expect(SecItemCall.find(base.query(code, first.returned)).status == errSecSuccess, comment)
    #expect(SecItemCall.find(base.query(code, second.given)).status == errSecItemNotFound, comment)

    let update = SecItemCall.update(base.query, changes: [code: second.given])
    #expect(update.status == errSecSuccess, comment)
    #expect(SecItemCall.find(base.query(code, first.given)).status == errSecItemNotFound, comment)
    let changed = SecItemCall.find(base.query(code, second.given))
    #expect(changed.status == errSecSuccess, comment)
    #expect(second.isReturned((changed.result as? NSDictionary)?[code]), comment)
    #expect(SecItemCall.delete(base.query(code, second.given)).status == errSecSuccess, comment)
  }

  @Test(arguments: ["genp", "inet", "cert", "keys"], ["cdat", "mdat"])
  func `times are set by the store, and items are found by them`(itemClass: String, code: String) throws {
    let world = try StandInWorld()
    defer { world.close() }
    let base = try Base(itemClass, besides: code, mark: code)
    let old = Date(timeIntervalSince1970: 1)
    let added = SecItemCall.add(base.item.merging([code: old, "r_Attributes": true]) { $1 })
    #expect(added.status == errSecSuccess)
    let time = try #require((added.result as? NSDictionary)?[code] as? Date)
    #expect(time.timeIntervalSince1970 > 1_600_000_000)
    #expect(SecItemCall.find(base.query(code, time)).status == errSecSuccess)
    #expect(SecItemCall.find(base.query(code, old)).status == errSecItemNotFound)
    #expect(SecItemCall.update(base.query, changes: [code: old, "labl": "x"]).status == errSecSuccess)
    let changed = SecItemCall.find(base.query.merging(["r_Attributes": true]) { $1 }).result as? NSDictionary
    let after = try #require(changed?[code] as? Date)
    #expect(code == "cdat" ? after == time : after > time)
  }

  @Test(arguments: AttributeFacts.classes)
  func `every function refuses an attribute that the class does not have`(itemClass: String) throws {
    let world = try StandInWorld()
    defer { world.close() }
    let before = world.digest
    let foreign = try AttributeFacts.codes().filter {
      AttributeFacts.accepted[itemClass]?.contains($0) == false
    }
    #expect(foreign.count > 10)
    for code in foreign {
      // The names of attributes have four letters; any other key is not a name.
      let expected = code.utf8.count == 4 ? errSecNoSuchAttr : errSecParam
      for call in SecItemCall.allCases {
        let answer = call(["class": itemClass, code: "x", "v_Data": Data()])
        #expect(answer.status == expected && answer.result == nil, "\(call) \(itemClass) \(code)")
      }
      if itemClass != "idnt" {
        let answer = SecItemCall.update(["class": itemClass], changes: [code: "x"])
        #expect(answer.status == expected, "update \(itemClass) with \(code)")
      }
    }
    #expect(world.digest == before)
  }

  @Test(arguments: ["genp", "inet", "cert", "keys", "idnt"])
  func `a value of a wrong type is a bad parameter and changes nothing`(itemClass: String) throws {
    let world = try StandInWorld()
    defer { world.close() }
    if itemClass != "idnt" {
      #expect(SecItemCall.add(try Base(itemClass, besides: "", mark: "there").item).status == errSecSuccess)
    }
    let before = world.digest
    for code in (AttributeFacts.accepted[itemClass] ?? []).sorted() {
      for (value, status) in AttributeFacts.kind(of: code)?.answers ?? [] {
        guard let status else { continue }
        let base =
          itemClass == "idnt" ? ["class": "idnt"] : try Base(itemClass, besides: code, mark: "new").item
        let comment: Comment = "\(itemClass) \(code): \(value)"
        for call in SecItemCall.allCases {
          // The group is looked up last. An identity is neither added from attributes nor changed.
          let isLate = status == errSecMissingEntitlement && itemClass == "idnt"
          if isLate, call == .add || call == .update { continue }
          let answer = call(base.merging([code: value]) { $1 })
          #expect(answer.status == status && answer.result == nil, "\(call) \(comment)")
        }
        // An identity cannot be changed as a whole.
        guard itemClass != "idnt" else { continue }
        #expect(SecItemCall.update(["class": itemClass], changes: [code: value]).status == status, comment)
      }
    }
    #expect(world.digest == before)
  }

  @Test func `an identity is found by the attributes of both its parts`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    let identity = try ItemFixture().identity
    #expect(SecItemCall.add(["v_Ref": identity]).status == errSecSuccess)
    let all = SecItemCall.find(["class": "idnt", "r_Attributes": true]).result as? [String: Any]
    let attributes = try #require(all)
    let others: [AttributeFacts.Kind: Any] = [
      .blob: "other", .number: -5, .date: Date(), .time: Date(timeIntervalSince1970: 5), .group: "team",
      .protection: "aku", .synchronizable: true, .text: "other",
    ]
    var count = 0
    for (code, value) in attributes where code != "class" && code != "accc" {
      let kind = try #require(AttributeFacts.kind(of: code), "\(code)")
      let found = SecItemCall.find(["class": "idnt", code: value])
      #expect(found.status == errSecSuccess, "\(code): \(value)")
      let other = kind == .flag ? (value as? Bool) != true : others[kind]
      let missed = SecItemCall.find(["class": "idnt", code: try #require(other)])
      #expect(missed.status == errSecItemNotFound, "\(code)")
      count += 1
    }
    #expect(count > 20)
    #expect(Set(attributes.keys).isSubset(of: (AttributeFacts.accepted["idnt"] ?? []).union(["class"])))
  }
}
