import Foundation
import TestSupport
import Testing

@testable import KeychainServices

/// Tests the search for certificates by their subject, and the refusal of searches that require trust.
@Suite(.serialized) struct SubjectMatchTests {
  private let world: StandInWorld

  init() throws {
    world = try StandInWorld()
    for name in ["ec-p256.der", "utf8-names.der"] {
      let item: [CFString: Any] = [
        kSecClass: kSecClassCertificate, kSecValueData: try CertificateFixture.bytes(name),
      ]
      #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    }
  }

  // The common names are `ec.example.org` and `鍵 🔑 é`.
  static let conditions: [(conditions: [String: String], flags: [String], count: Int)] = [
    (["Contains": "example"], [], 1), (["Contains": "EXAMPLE"], [], 0),
    (["Contains": "EXAMPLE"], ["Case"], 1), (["StartsWith": "ec."], [], 1),
    (["StartsWith": "example"], [], 0),
    (["StartsWith": "EC"], ["Case"], 1), (["EndsWith": ".org"], [], 1), (["EndsWith": "example"], [], 0),
    (["EndsWith": "ORG"], ["Case"], 1), (["WholeString": "ec.example.org"], [], 1),
    (["WholeString": "ec.example"], [], 0), (["WholeString": "EC.Example.ORG"], ["Case"], 1),
    (["Contains": "e"], [], 1), (["EndsWith": "e"], ["Diacritic"], 1), (["EndsWith": "é"], [], 1),
    (["EndsWith": "E"], ["Diacritic", "Case"], 1), (["StartsWith": "ｅｃ"], ["Width"], 1),
    (["StartsWith": "ｅｃ"], [], 0), (["Contains": ""], [], 2), (["WholeString": ""], [], 0),
    (["StartsWith": "ec", "EndsWith": "org"], [], 1), (["StartsWith": "ec", "EndsWith": "é"], [], 0),
  ]

  @Test(arguments: conditions)
  func `a subject is compared as the query requests`(
    conditions: [String: String], flags: [String], count: Int
  ) {
    defer { world.close() }
    var query: [String: Any] = [
      kSecClass as String: kSecClassCertificate, kSecMatchLimit as String: kSecMatchLimitAll,
      kSecReturnPersistentRef as String: true,
    ]
    for (kind, text) in conditions { query["m_Subject\(kind)"] = text }
    for flag in flags { query["m_\(flag)Insensitive"] = true }
    let (status, result) = SecItemCall.find(query)
    #expect(((result as? [Data])?.count ?? 0) == count)
    #expect(status == (count == 0 ? errSecItemNotFound : errSecSuccess))
  }

  @Test func `a search that requires trust is refused, and one that does not is accepted`() {
    defer { world.close() }
    for itemClass in [kSecClassCertificate, kSecClassIdentity] {
      for call in SecItemCall.allCases where call != .add {
        let query = [kSecClass: itemClass, kSecMatchTrustedOnly: true] as NSDictionary
        #expect(call(query, changes: [kSecAttrLabel: "x"]).status == errSecUnimplemented)
        let byPolicy = [kSecClass: itemClass, kSecMatchPolicy: NSObject()] as NSDictionary
        #expect(call(byPolicy, changes: [kSecAttrLabel: "x"]).status == errSecUnimplemented)
      }
    }
    let any: NSDictionary = [kSecClass: kSecClassCertificate, kSecMatchTrustedOnly: false]
    #expect(SecItemCall.find(any).status == errSecSuccess)
    let password: NSDictionary = [kSecClass: kSecClassGenericPassword, kSecMatchTrustedOnly: true]
    #expect(SecItemCall.find(password).status == errSecItemNotFound)
  }
}
