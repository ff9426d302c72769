import Foundation
import Security
import Testing

/// Tests the form of results: every combination of requested parts, with every limit, for every class.
@Suite(.serialized)
struct ShapeTests {
  /// The parts that a query can request.
  struct Parts: OptionSet {
    let rawValue: Int
    static let data = Parts(rawValue: 1)
    static let attributes = Parts(rawValue: 2)
    static let reference = Parts(rawValue: 4)
    static let persistentReference = Parts(rawValue: 8)

    static let all = (0..<16).map(Parts.init)

    var query: [AnyHashable: Any] {
      [
        "r_Data": contains(.data), "r_Attributes": contains(.attributes), "r_Ref": contains(.reference),
        "r_PersistentRef": contains(.persistentReference),
      ]
    }
  }

  /// Three items of a class, and the properties that they share.
  struct Items: Sendable, CustomTestStringConvertible {
    let itemClass: String
    var hasData = true
    /// The type of the object that represents an item. Passwords have none.
    var type: CFTypeID?
    /// An attribute that every item of the class has.
    let attribute: String

    var testDescription: String { "\(itemClass)\(hasData ? "" : " without data")" }

    static let all = [
      Items(itemClass: "genp", attribute: "svce"),
      Items(itemClass: "genp", hasData: false, attribute: "svce"),
      Items(itemClass: "inet", attribute: "srvr"),
      Items(itemClass: "inet", hasData: false, attribute: "srvr"),
      Items(itemClass: "cert", type: SecCertificateGetTypeID(), attribute: "issr"),
      Items(itemClass: "keys", type: SecKeyGetTypeID(), attribute: "klbl"),
      Items(itemClass: "keys", hasData: false, attribute: "klbl"),
      Items(itemClass: "idnt", type: SecIdentityGetTypeID(), attribute: "issr"),
    ]

    /// Adds the items, and identities as their parts.
    func add() throws {
      let (certificate, key) = (try ItemFixture().certificate, try ItemFixture().key)
      for number in 0..<3 {
        let mark = Data([UInt8(number)])
        var items: [[AnyHashable: Any]]
        switch itemClass {
        case "cert": items = [["v_Ref": certificate, "slnr": mark]]
        case "keys": items = [hasData ? ["v_Ref": key, "atag": mark] : ["class": "keys", "atag": mark]]
        case "idnt": items = [["v_Ref": certificate, "slnr": mark]] + (number == 0 ? [["v_Ref": key]] : [])
        default: items = [["class": itemClass, "acct": mark, "v_Data": mark]]
        }
        if !hasData { items[0]["v_Data"] = nil }
        for item in items { #expect(SecItemCall.add(item).status == errSecSuccess) }
      }
    }

    /// Returns true if an object is the part.
    func isPart(_ object: Any?, _ part: Parts) -> Bool {
      switch part {
      case .data: object is Data && hasData
      case .persistentReference: (object as? Data)?.count == 20
      case .reference: object.map { CFGetTypeID($0 as AnyObject) } == type
      default: isDictionary(object, [.attributes])
      }
    }

    /// Returns true if an object is a dictionary of exactly these parts.
    func isDictionary(_ object: Any?, _ parts: Parts) -> Bool {
      guard let dictionary = object as? [String: Any] else { return false }
      let values: [(String, Parts)] = [
        ("v_Data", .data), ("v_Ref", .reference), ("v_PersistentRef", .persistentReference),
      ]
      for (key, part) in values {
        let isThere = parts.contains(part) && has(part)
        guard isThere ? isPart(dictionary[key], part) : dictionary[key] == nil else { return false }
      }
      let names = Set(dictionary.keys).subtracting(values.map(\.0))
      guard parts.contains(.attributes) else { return names.isEmpty }
      let expected: Set = ["class", attribute, "agrp", "cdat", "mdat", "sync", "pdmn", "accc"]
      return names.isSuperset(of: expected) && dictionary["class"] as? String == itemClass
        && names.subtracting(["class"]).isSubset(of: AttributeFacts.accepted[itemClass] ?? [])
    }

    /// Returns true if the items have the part.
    func has(_ part: Parts) -> Bool {
      part == .data ? hasData : part == .reference ? hasData && type != nil : true
    }
  }

  private static var limits: [(name: String, value: Any?, count: Int?)] {
    [
      ("absent", nil, nil), ("one", kSecMatchLimitOne, nil), ("1", 1, nil), ("2", 2, 2), ("9", 9, 3),
      ("all", kSecMatchLimitAll, 3),
    ]
  }

  @Test(arguments: Items.all) func `every combination of parts has its form for every limit`(items: Items)
    throws
  {
    let world = try StandInWorld()
    defer { world.close() }
    try items.add()
    let before = world.digest
    for parts in Parts.all {
      for (name, limit, count) in Self.limits {
        var query = parts.query
        query["class"] = items.itemClass
        query["m_Limit"] = limit
        check(SecItemCall.find(query), items, parts, count, name)
      }
    }
    #expect(world.digest == before)
  }

  private func check(
    _ answer: (status: OSStatus, result: CFTypeRef?), _ items: Items, _ parts: Parts, _ count: Int?,
    _ limit: String
  ) {
    let comment: Comment = "\(parts), \(limit): \(answer)"
    if parts.contains(.data), limit == "all" {
      #expect(answer.status == errSecParam && answer.result == nil, comment)
      return
    }
    #expect(answer.status == errSecSuccess, comment)
    let isOne = [.data, .attributes, .reference, .persistentReference].contains(parts)
    let isRight = { isOne ? items.isPart($0, parts) : items.isDictionary($0, parts) }
    if parts.isEmpty {
      #expect(answer.result == nil, comment)
    } else if let count {
      let list = answer.result as? [Any]
      // A list of a single part omits the items that do not have it.
      #expect(list?.count == (isOne && !items.has(parts) ? 0 : count), comment)
      #expect(list?.allSatisfy(isRight) == true, comment)
    } else if isOne, !items.has(parts) {
      #expect(answer.result == nil, comment)
    } else {
      #expect(isRight(answer.result), comment)
    }
  }

  @Test(arguments: ["genp", "cert", "keys", "idnt"])
  func `an added item is returned in the same forms, and never as a list`(itemClass: String) throws {
    let world = try StandInWorld()
    defer { world.close() }
    let items = try #require(Items.all.first { $0.itemClass == itemClass })
    let fixture = try ItemFixture()
    let objects: [String: AnyObject] = [
      "cert": fixture.certificate, "keys": fixture.key, "idnt": fixture.identity,
    ]
    for parts in Parts.all {
      var item = parts.query
      if let object = objects[itemClass] { item["v_Ref"] = object }
      item["m_Limit"] = kSecMatchLimitAll
      if objects[itemClass] == nil {
        item.merge(["class": itemClass, "acct": "\(parts.rawValue)", "v_Data": Data([1])]) { $1 }
      }
      let answer = SecItemCall.add(item)
      let comment: Comment = "\(parts): \(answer)"
      #expect(answer.status == errSecSuccess, comment)
      switch parts {
      case []: #expect(answer.result == nil, comment)
      case .data, .attributes, .persistentReference: #expect(items.isPart(answer.result, parts), comment)
      case .reference:
        #expect(items.has(parts) ? items.isPart(answer.result, parts) : answer.result == nil, comment)
      default: #expect(items.isDictionary(answer.result, parts), comment)
      }
      #expect(SecItemCall.delete(["class": itemClass]).status == errSecSuccess, comment)
    }
  }

  @Test func `items are returned in the order of their creation`() throws {
    let world = try StandInWorld()
    defer { world.close() }
    for name in ["c", "a", "b"] {
      let item: [AnyHashable: Any] = ["class": "genp", "acct": name, "v_Data": Data(name.utf8)]
      #expect(SecItemCall.add(item).status == errSecSuccess)
    }
    #expect(
      SecItemCall.update(["class": "genp", "acct": "c"], changes: ["labl": "x"]).status == errSecSuccess)
    for (limit, names) in [(1, "c"), (2, "ca"), (3, "cab")] {
      let all: [AnyHashable: Any] = ["class": "genp", "r_Data": true, "m_Limit": limit]
      let result = SecItemCall.find(all).result
      let list = result as? [Data] ?? [result as? Data ?? Data()]
      #expect(list == names.utf8.map { Data([$0]) })
    }
  }
}
