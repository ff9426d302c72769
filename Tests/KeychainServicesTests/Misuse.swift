import Foundation
import Security
import Testing

/// An invalid call and its status.
struct Misuse: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let status: OSStatus
  /// The functions that return the status.
  let calls: [SecItemCall]
  /// The item or query.
  let dictionary: @Sendable () throws -> [AnyHashable: Any]
  /// The changes of an update.
  let changes: @Sendable () throws -> [AnyHashable: Any]

  init(
    _ sentence: String, _ status: OSStatus, _ calls: [SecItemCall] = SecItemCall.allCases,
    _ dictionary: @escaping @Sendable () throws -> [AnyHashable: Any] = { Self.there },
    changes: @escaping @Sendable () throws -> [AnyHashable: Any] = { [:] }
  ) {
    (testDescription, self.status, self.calls) = (sentence, status, calls)
    (self.dictionary, self.changes) = (dictionary, changes)
  }

  /// The item that exists in all cases; another item has the account `other`.
  static var there: [AnyHashable: Any] { ["class": "genp", "acct": "bot", "svce": "mailer"] }

  /// Returns the item of ``there`` with more attributes.
  static func there(_ more: [AnyHashable: Any]) -> [AnyHashable: Any] { there.merging(more) { $1 } }

  /// Returns an item that does not exist.
  static func new(_ more: [AnyHashable: Any]) -> [AnyHashable: Any] {
    ["class": "genp", "acct": "new"].merging(more) { $1 }
  }
}

// MARK: Queries and items

extension Misuse {
  static let dictionaries: [Misuse] = classes + options + values + passwordsOnly

  private static let searches: [SecItemCall] = [.find, .update, .delete]

  private static let classes = [
    Misuse("no class", errSecParam) { [:] },
    Misuse("a class that is a number, without attributes", errSecParam) { ["class": 1] },
    Misuse("a class of another platform", errSecNoSuchClass) { ["class": "odd"] },
    Misuse("no class, but attributes", errSecParam) { ["acct": "new", "svce": "mailer"] },
    Misuse("an unknown long key", errSecParam) { new(["longer": "x"]) },
    Misuse("an unknown short key", errSecNoSuchAttr) { new(["nope": "x"]) },
    Misuse("an empty key", errSecParam) { new(["": "x"]) },
    Misuse("a key that is a number", errSecParam) { new([5: "x"]) },
    Misuse("a key that is bytes", errSecParam) { new([Data("acct".utf8): "x"]) },
    Misuse("an unknown match key", errSecParam) { new(["m_Colour": true]) },
    Misuse("an unknown return key", errSecParam) { new(["r_Colour": true]) },
    Misuse("an unknown use key", errSecParam) { new(["u_Colour": true]) },
    Misuse("an unknown value key", errSecParam) { new(["v_Colour": true]) },
    Misuse("an unknown access group", errSecMissingEntitlement) { new(["agrp": "nobody"]) },
    Misuse("a certificate with the class of a key", errSecParam) {
      ["class": "keys", "v_Ref": try ItemFixture().certificate]
    },
  ]

  private static let returnKeys = ["r_Data", "r_Attributes", "r_Ref", "r_PersistentRef"]

  private static let options: [Misuse] =
    returnKeys.flatMap { key in
      [
        Misuse("\(key) that is text", errSecParam) { new([key: "yes"]) },
        Misuse("\(key) that is two", errSecParam) { new([key: 2]) },
        Misuse("\(key) that is null", errSecParam) { new([key: NSNull()]) },
      ]
    } + [
      Misuse("a limit below zero", errSecParam) { new(["m_Limit": -1]) },
      Misuse("a limit of zero", errSecParam) { new(["m_Limit": 0]) },
      Misuse("a limit of one and a half", errSecParam) { new(["m_Limit": 1.5]) },
      Misuse("a limit that is not a number", errSecParam) { new(["m_Limit": Double.nan]) },
      Misuse("a limit beyond the largest number", errSecParam) { new(["m_Limit": UInt64.max]) },
      Misuse("a limit that is another word", errSecParam) { new(["m_Limit": "m_LimitSome"]) },
      Misuse("a limit that is a list", errSecParam) { new(["m_Limit": [1]]) },
      Misuse("an unknown way to prompt", errSecParam) { new(["u_AuthUI": "u_AuthUIX"]) },
      Misuse("a way to prompt that is a flag", errSecParam) { new(["u_AuthUI": true]) },
      Misuse("skipping items that would prompt", errSecParam, [.add, .update, .delete]) {
        there(["u_AuthUI": kSecUseAuthenticationUISkip])
      },
      Misuse("u_NoAuthUI that is text", errSecParam) { new(["u_NoAuthUI": "yes"]) },
      Misuse("a context that is text", errSecParam) { new(["u_AuthCtx": "x"]) },
      Misuse("a list of items to use", errSecParam) { new(["u_ItemList": [Data()]]) },
      Misuse("a list of items to match that is text", errSecParam) { new(["m_ItemList": "x"]) },
    ]
    + ["m_CaseInsensitive", "m_DiacriticInsensitive", "m_WidthInsensitive", "m_TrustedOnly"].map {
      (key: String) in
      Misuse("\(key) that is text", errSecParam) { new([key: "yes"]) }
    }
    + [
      "m_SubjectContains", "m_SubjectStartsWith", "m_SubjectEndsWith", "m_SubjectWholeString",
      "m_EmailAddressIfPresent", "m_HostOrSubdomainOfHost", "m_Issuers", "m_ValidOnDate",
    ].map { (key: String) in
      Misuse("\(key) that is a number", errSecParam) { ["class": "cert", key: 5] }
    }

  private static let values: [Misuse] =
    [
      Misuse("data that is text", errSecParam) { new(["v_Data": "text"]) },
      Misuse("data that is a number", errSecParam) { new(["v_Data": 5]) },
      Misuse("data that is null", errSecParam) { new(["v_Data": NSNull()]) },
      Misuse("data that is a list", errSecParam) { new(["v_Data": [Data()]]) },
      Misuse("a reference that is text", errSecParam) { new(["v_Ref": "x"]) },
      Misuse("a reference that is null", errSecParam) { new(["v_Ref": NSNull()]) },
      Misuse("a persistent reference of a new item", errSecParam, [.add]) {
        new(["v_PersistentRef": Data(count: 20)])
      },
      Misuse("a persistent reference that is text", errSecParam) { ["v_PersistentRef": "x"] },
      Misuse("a persistent reference beside attributes", errSecParam, searches) {
        there(["v_PersistentRef": Data("genp".utf8) + Data(count: 16)])
      },
      Misuse("a persistent reference of another length", errSecParam, searches) {
        ["v_PersistentRef": Data("genp".utf8) + Data(count: 8)]
      },
      Misuse("a persistent reference without bytes", errSecParam, searches) { ["v_PersistentRef": Data()] },
      Misuse("a persistent reference of an unknown class", errSecParam, searches) {
        ["v_PersistentRef": Data("xxxx".utf8) + Data(count: 16)]
      },
      Misuse("a persistent reference to nothing", errSecItemNotFound, searches) {
        ["v_PersistentRef": Data("genp".utf8) + Data(count: 16)]
      },
      Misuse("an attribute of 5,000 bytes", errSecParam) {
        new(["labl": String(repeating: "x", count: 5000)])
      },
      Misuse("a number that is not finite", errSecParam) { ["class": "inet", "port": Double.infinity] },
      Misuse("a number beyond what is kept exactly", errSecParam) {
        ["class": "inet", "port": (1 << 53) + 1]
      },
      Misuse("a flag of seven", errSecParam) { new(["invi": 7]) },
      Misuse("two protections that differ", errSecParam) {
        new(["pdmn": "ck", "accc": try control(kSecAttrAccessibleWhenUnlocked, [])])
      },
      Misuse("a protection beside conditions", errSecParam) {
        new(["pdmn": "ak", "accc": try control(kSecAttrAccessibleWhenUnlocked, .privateKeyUsage)])
      },
      Misuse("conditions for an item that is synchronized", errSecParam) {
        new(["sync": true, "accc": try control(kSecAttrAccessibleWhenUnlocked, .privateKeyUsage)])
      },
    ]

  private static let passwordsOnly = [
    Misuse("an item that exists", errSecDuplicateItem, [.add]) { there(["labl": "x", "gena": Data([1])]) },
    Misuse("a reference to an item that exists", errSecDuplicateItem, [.add]) {
      ["v_Ref": try ItemFixture().certificate]
    },
    Misuse("a new item with any value of synchronizable", errSecParam, [.add]) { new(["sync": "syna"]) },
    Misuse("an identity without its parts", errSecParam, [.add]) { ["class": "idnt", "labl": "x"] },
    Misuse("a certificate without data", errSecParam, [.add]) { ["class": "cert", "labl": "x"] },
    Misuse("an invalid certificate", errSecParam, [.add]) { ["class": "cert", "v_Data": Data([0x30])] },
    Misuse("a secret of more than 1 MiB", errSecDataTooLarge, [.add]) {
      new(["v_Data": Data(count: (1 << 20) + 1)])
    },
    Misuse("attributes of more than 16 KiB", errSecDataTooLarge, [.add]) {
      let long = String(repeating: "x", count: 4096)
      return new(["labl": long, "desc": long, "icmt": long, "gena": long])
    },
    Misuse("a missing item", errSecItemNotFound, searches) { new([:]) },
    Misuse("an item in another group", errSecItemNotFound, searches) { there(["agrp": "team"]) },
    Misuse("a synchronizable item that is missing", errSecItemNotFound, searches) { there(["sync": true]) },
    Misuse("a missing item, with its data", errSecItemNotFound, searches) {
      new(["r_Data": true, "m_Limit": 5])
    },
    Misuse("all matches of a missing item", errSecItemNotFound, searches) {
      new(["r_Attributes": true, "m_Limit": kSecMatchLimitAll])
    },
    Misuse("an attribute outside the primary key that the item does not have", errSecItemNotFound, searches) {
      there(["gena": Data([1])])
    },
  ]

  private static func control(_ protection: CFString, _ flags: SecAccessControlCreateFlags) throws -> Any {
    let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil)
    return try #require(control)
  }
}

// MARK: Changes

extension Misuse {
  static let updates: [Misuse] =
    ([
      "class", "v_Ref", "v_PersistentRef", "m_Limit", "m_CaseInsensitive", "m_ItemList", "u_AuthUI",
      "u_AuthCtx",
    ] + returnKeys).map { (key: String) in
      Misuse("\(key), which is not an attribute", errSecNoSuchAttr, [.update], changes: { [key: true] })
    } + [
      Misuse("an unknown long key", errSecParam, [.update], changes: { ["longer": "x"] }),
      Misuse("a key that is a number", errSecParam, [.update], changes: { [5: "x"] }),
      Misuse("data that is text", errSecParam, [.update], changes: { ["v_Data": "text"] }),
      Misuse("data that is null", errSecParam, [.update], changes: { ["v_Data": NSNull()] }),
      Misuse("any value of synchronizable", errSecParam, [.update], changes: { ["sync": "syna"] }),
      Misuse("an unknown group", errSecMissingEntitlement, [.update], changes: { ["agrp": "nobody"] }),
      Misuse(
        "a secret of more than 1 MiB", errSecDataTooLarge, [.update],
        changes: { ["v_Data": Data(count: (1 << 20) + 1)] }),
      Misuse(
        "the primary key of another item", errSecDuplicateItem, [.update], changes: { ["acct": "other"] }),
      Misuse(
        "one primary key for two items", errSecDuplicateItem, [.update],
        { ["class": "genp", "svce": "mailer"] },
        changes: { ["acct": "one", "labl": "x"] }),
      Misuse(
        "an attribute of a missing item", errSecItemNotFound, [.update], { new([:]) },
        changes: { ["labl": "x"] }),
    ]
}
