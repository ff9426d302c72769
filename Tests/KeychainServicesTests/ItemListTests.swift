import Foundation
import OpenPGP
import TestSupport
import Testing

@testable import KeychainServices

/// Tests `kSecMatchItemList`, `kSecMatchIssuers` and names in other forms.
@Suite(.serialized) struct ItemListTests {
  private let world: StandInWorld
  private let fixture: ItemFixture
  private let other: SecCertificate

  init() throws {
    world = try StandInWorld()
    fixture = try ItemFixture()
    let der = try CertificateFixture.bytes("rsa-2048.der")
    other = try #require(SecCertificateCreateWithData(nil, der as CFData))
  }

  private func addAll() {
    for object in [other, fixture.certificate, fixture.key] as [AnyObject] {
      #expect(SecItemAdd([kSecValueRef: object] as CFDictionary, nil) == errSecSuccess)
    }
  }

  private func find(_ query: [CFString: Any]) -> (status: OSStatus, result: CFTypeRef?) {
    var query = query
    query[kSecMatchLimit] = kSecMatchLimitAll
    if query[kSecReturnRef] == nil { query[kSecReturnAttributes] = true }
    return SecItemCall.find(query)
  }

  private func labels(_ query: [CFString: Any]) -> [String] {
    (find(query).result as? [[String: Any]] ?? []).compactMap { $0[kSecAttrLabel as String] as? String }
  }

  @Test func `certificates, keys and identities are found by a list of objects`() throws {
    defer { world.close() }
    addAll()
    let both = [fixture.certificate, other]
    let query: [CFString: Any] = [kSecClass: kSecClassCertificate]
    #expect(labels(query.with(kSecMatchItemList, both)) == ["Alice Example", "ec.example.org"])
    #expect(labels(query.with(kSecMatchItemList, [fixture.certificate])) == ["ec.example.org"])
    #expect(labels(query.with(kSecMatchItemList, [fixture.identity])) == ["ec.example.org"])
    #expect(find(query.with(kSecMatchItemList, [fixture.key])).status == errSecItemNotFound)
    #expect(find(query.with(kSecMatchItemList, [])).status == errSecItemNotFound)
    let keys: [CFString: Any] = [kSecClass: kSecClassKey, kSecReturnRef: true]
    #expect(find(keys.with(kSecMatchItemList, [fixture.key, other])).result as? [SecKey] == [fixture.key])
    let identities: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecReturnRef: true]
    for object in [fixture.identity, fixture.certificate] as [AnyObject] {
      let found = find(identities.with(kSecMatchItemList, [object])).result as? [SecIdentity]
      #expect(found == [fixture.identity])
    }
    #expect(find(identities.with(kSecMatchItemList, [other])).status == errSecItemNotFound)
  }

  @Test func `objects and persistent references can be mixed`() throws {
    defer { world.close() }
    addAll()
    let found = SecItemCall.find([
      kSecClass: kSecClassCertificate, kSecAttrLabel: "Alice Example", kSecReturnPersistentRef: true,
    ])
    let reference = try #require(found.result as? Data)
    let list = [reference, fixture.certificate] as [Any]
    #expect(
      labels([kSecClass: kSecClassCertificate, kSecMatchItemList: list]) == [
        "Alice Example", "ec.example.org",
      ])
    #expect(labels([kSecClass: kSecClassCertificate, kSecMatchItemList: [reference]]) == ["Alice Example"])
    #expect(
      SecItemDelete([kSecClass: kSecClassCertificate, kSecMatchItemList: [reference]] as CFDictionary)
        == errSecSuccess)
    #expect(labels([kSecClass: kSecClassCertificate]) == ["ec.example.org"])
  }

  @Test(arguments: [kSecMatchItemList as String, kSecMatchIssuers as String])
  func `a list that contains itself or an unknown object is refused`(key: String) {
    defer { world.close() }
    addAll()
    let cycle = NSMutableArray()
    cycle.add(cycle)
    let strange: [NSObject] = [
      cycle, ["x"] as NSArray, [5] as NSArray, [NSNull()] as NSArray, "x" as NSString, NSDictionary(),
    ]
    for value in strange {
      for call in SecItemCall.allCases where call != .add {
        let query = [kSecClass: kSecClassCertificate, key: value] as NSDictionary
        #expect(
          call(query, changes: [kSecAttrLabel: "x"]).status == errSecParam, "\(call) \(type(of: value))")
      }
    }
    #expect(labels([kSecClass: kSecClassCertificate]).count == 2)
  }

  /// Returns the DER of a name with one part, a common name that is a PrintableString.
  private static func name(_ text: String) -> Data {
    let value = [0x13, UInt8(text.utf8.count)] + Array(text.utf8)
    let part = [0x06, 0x03, 0x55, 0x04, 0x03] + value
    let set = [0x30, UInt8(part.count)] + part
    let sequence = [0x31, UInt8(set.count)] + set
    return Data([0x30, UInt8(sequence.count)] + sequence)
  }

  @Test func `a name is found in every equivalent form`() throws {
    defer { world.close() }
    let der = try CertificateFixture.bytes("ec-p256.der")
    let item: [CFString: Any] = [
      kSecClass: kSecClassCertificate, kSecValueData: der, kSecAttrIssuer: Self.name("Some Body"),
    ]
    #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    for text in ["Some Body", "SOME BODY", " some  body "] {
      #expect(
        labels([kSecClass: kSecClassCertificate, kSecAttrIssuer: Self.name(text)]) == ["ec.example.org"],
        "\(text)")
    }
    for other in [Self.name("Somebody"), Data("no name".utf8)] {
      #expect(labels([kSecClass: kSecClassCertificate, kSecAttrIssuer: other]) == [])
    }
    let issuer = Data(fixture.certificate.certificate.issuer.normalized)
    #expect(labels([kSecClass: kSecClassCertificate, kSecMatchIssuers: [issuer]]) == ["ec.example.org"])
    #expect(labels([kSecClass: kSecClassCertificate, kSecMatchIssuers: [Self.name("Some Body")]]) == [])
  }

  @Test func `attributes and references of an identity decrypt nothing`() throws {
    defer { world.close() }
    addAll()
    let before = world.store.engine.statistics.decryptions
    let query: [CFString: Any] = [kSecClass: kSecClassIdentity, kSecReturnPersistentRef: true]
    #expect((find(query).result as? [[String: Any]])?.count == 1)
    #expect(world.store.engine.statistics.decryptions == before)
    #expect((find([kSecClass: kSecClassIdentity, kSecReturnRef: true]).result as? [SecIdentity])?.count == 1)
    #expect(world.store.engine.statistics.decryptions > before)
  }
}

extension [CFString: Any] {
  fileprivate func with(_ key: CFString, _ value: Any) -> [CFString: Any] {
    var copy = self
    copy[key] = value
    return copy
  }
}
