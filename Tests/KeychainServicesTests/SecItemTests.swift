import Foundation
import KeychainTestSupport
import Keyring
import Security
import TestSupport
import Testing

/// Tests the four functions with a real store, in the style of code that was written for Apple's keychain.
@Suite(.serialized) struct SecItemTests {
  private static func password(_ account: String, service: String = "mailer") -> [String: Any] {
    [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
      kSecAttrAccount as String: account,
    ]
  }

  private static func find(_ query: [String: Any]) -> (status: OSStatus, result: CFTypeRef?) {
    var result: CFTypeRef?
    let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
    return (status, result)
  }

  private static func add(_ item: [String: Any], _ text: String) -> OSStatus {
    var item = item
    item[kSecValueData as String] = Data(text.utf8)
    return SecItemAdd(item as CFDictionary, nil)
  }

  private static func text(_ object: Any?) -> String? {
    (object as? Data).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a password is added, found, updated and deleted`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var item = Self.password("bot")
    #expect(Self.add(item, "first") == errSecSuccess)
    #expect(Self.add(item, "again") == errSecDuplicateItem)
    item[kSecReturnData as String] = true
    item[kSecMatchLimit as String] = kSecMatchLimitOne
    #expect(Self.text(Self.find(item).result) == "first")

    let query = Self.password("bot") as CFDictionary
    let change =
      [kSecValueData as String: Data("second".utf8), kSecAttrLabel as String: "Mail"] as [String: Any]
    #expect(SecItemUpdate(query, change as CFDictionary) == errSecSuccess)
    item[kSecReturnAttributes as String] = true
    let found = try #require(Self.find(item).result as? [String: Any])
    #expect(Self.text(found[kSecValueData as String]) == "second")
    #expect(found[kSecAttrLabel as String] as? String == "Mail")
    #expect(found[kSecAttrAccount as String] as? String == "bot")
    #expect(found[kSecClass as String] as? String == kSecClassGenericPassword as String)
    #expect(found[kSecAttrAccessible as String] as? String == kSecAttrAccessibleWhenUnlocked as String)
    #expect(found[kSecAttrAccessControl as String] is SecAccessControl)
    #expect(found[kSecAttrCreationDate as String] is Date)

    #expect(SecItemDelete(query) == errSecSuccess)
    #expect(SecItemDelete(query) == errSecItemNotFound)
    #expect(Self.find(item).status == errSecItemNotFound && Self.find(item).result == nil)
    #expect(SecItemUpdate(query, change as CFDictionary) == errSecItemNotFound)
  }

  @Test func `the data of all matches is refused before anything is looked up`() {
    // A test that changes the settings of this process holds the lock. Otherwise another test would use this store.
    KeychainWorld.lock.lock()
    let before = KeychainSettings.current
    defer {
      KeychainSettings.current = before
      KeychainWorld.lock.unlock()
    }
    KeychainSettings.current.store = "/nonexistent/store"
    for itemClass in [
      kSecClassGenericPassword, kSecClassInternetPassword, kSecClassCertificate, kSecClassKey,
      kSecClassIdentity,
    ] {
      let query =
        [
          kSecClass: itemClass, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll,
          kSecUseDataProtectionKeychain: true,
        ] as CFDictionary
      var result: AnyObject? = NSNumber(value: 1)
      #expect(unsafe SecItemCopyMatching(query, &result) == errSecParam)
      #expect(result == nil)
      let one = [kSecClass: itemClass, kSecReturnData: true] as CFDictionary
      #expect(unsafe SecItemCopyMatching(one, &result) == errSecNotAvailable)
    }
  }

  @Test func `a persistent reference stays valid through changes and moves`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var item = Self.password("bot")
    item[kSecValueData as String] = Data("secret".utf8)
    item[kSecReturnPersistentRef as String] = true
    var added: CFTypeRef?
    #expect(unsafe SecItemAdd(item as CFDictionary, &added) == errSecSuccess)
    let reference = try #require(added as? Data)
    let query = Self.password("bot") as CFDictionary
    #expect(
      SecItemUpdate(query, [kSecAttrAccount: "robot", kSecAttrComment: "x"] as CFDictionary) == errSecSuccess)
    let byReference: [String: Any] = [
      kSecValuePersistentRef as String: reference, kSecReturnData as String: true,
    ]
    #expect(Self.text(Self.find(byReference).result) == "secret")
    #expect(SecItemDelete([kSecValuePersistentRef: reference] as CFDictionary) == errSecSuccess)
    #expect(Self.find(byReference).status == errSecItemNotFound)
    var mixed = byReference
    mixed[kSecAttrAccount as String] = "bot"
    mixed[kSecClass as String] = kSecClassGenericPassword
    #expect(Self.find(mixed).status == errSecParam)
  }

  @Test func `a value keeps its type and is compared by its bytes`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var item = Self.password("x")
    item[kSecAttrAccount as String] = Data("bytes".utf8)
    item[kSecAttrGeneric as String] = Data([0, 255])
    #expect(Self.add(item, "s") == errSecSuccess)
    var query = Self.password("bytes")
    query[kSecReturnAttributes as String] = true
    let found = try #require(Self.find(query).result as? [String: Any])
    #expect(found[kSecAttrAccount as String] as? Data == Data("bytes".utf8))
    #expect(found[kSecAttrGeneric as String] as? Data == Data([0, 255]))
    #expect(Self.add(Self.password("bytes"), "s") == errSecDuplicateItem)
    let site =
      [
        kSecClass: kSecClassInternetPassword, kSecAttrServer: "a.example",
        kSecAttrProtocol: kSecAttrProtocolHTTPS,
        kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTMLForm, kSecAttrPort: 443,
        kSecValueData: Data("s".utf8),
      ] as CFDictionary
    #expect(SecItemAdd(site, nil) == errSecSuccess)
    let index = try world.store.open().find(Query(predicates: [.equal(.server, "a.example")])).items
    #expect(index.first?.attributes[.protocol] == .string("https"), "the store has words")
    let back = Self.find([
      kSecClass as String: kSecClassInternetPassword, kSecAttrProtocol as String: kSecAttrProtocolHTTPS,
      kSecReturnAttributes as String: true,
    ])
    let attributes = try #require(back.result as? [String: Any])
    #expect(attributes[kSecAttrProtocol as String] as? String == kSecAttrProtocolHTTPS as String)
    #expect(attributes[kSecAttrPort as String] as? Int == 443)
    #expect(attributes[kSecAttrAccount as String] as? String == "")
  }

  @Test func `synchronizable items and those of this machine are distinguished`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var shared = Self.password("bot")
    shared[kSecAttrSynchronizable as String] = true
    #expect(Self.add(shared, "shared") == errSecSuccess)
    #expect(Self.find(Self.password("bot")).status == errSecItemNotFound)
    #expect(Self.find(shared).status == errSecSuccess)
    #expect(Self.add(Self.password("bot"), "own") == errSecSuccess)
    var any = Self.password("bot")
    any[kSecAttrSynchronizable as String] = kSecAttrSynchronizableAny
    any[kSecReturnAttributes as String] = true
    any[kSecMatchLimit as String] = kSecMatchLimitAll
    #expect((Self.find(any).result as? [Any])?.count == 2)
    var here = Self.password("here")
    here[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    #expect(Self.add(here, "s") == errSecSuccess)
    #expect(
      try world.store.open().find(Query(predicates: [.equal(.account, "here")])).items.map(\.isLocal) == [
        true
      ])
  }

  @Test func `certificates, keys and identities are stored`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("fixtures/secitem/certificates")
    let der = try Data(contentsOf: folder.appendingPathComponent("ec-p256.der"))
    let raw = try Data(contentsOf: folder.appendingPathComponent("ec-p256-private.x963"))
    let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
    let kind = [kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeyClass: kSecAttrKeyClassPrivate]
    let created = SecKeyCreateWithData(raw as CFData, kind as CFDictionary, nil)
    let key = try #require(created)
    for object in [certificate, key] as [AnyObject] {
      #expect(SecItemAdd([kSecValueRef: object] as CFDictionary, nil) == errSecSuccess)
      #expect(SecItemAdd([kSecValueRef: object] as CFDictionary, nil) == errSecDuplicateItem)
    }
    let identity = Self.find([kSecClass as String: kSecClassIdentity, kSecReturnRef as String: true])
    #expect(identity.status == errSecSuccess)
    let joined = try #require(identity.result as? SecIdentity)
    var copy: SecCertificate?
    #expect(unsafe SecIdentityCopyCertificate(joined, &copy) == errSecSuccess)
    #expect(copy.map { SecCertificateCopyData($0) as Data } == der)
    let byRef = Self.find([kSecValueRef as String: certificate, kSecReturnData as String: true])
    #expect(byRef.result as? Data == der)
    #expect(SecItemDelete([kSecClass: kSecClassIdentity] as CFDictionary) == errSecSuccess)
    #expect(try world.store.open().find(Query()).items.isEmpty)
  }

  @Test func `the functions may be called from many threads`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    try ThreadGroup.run(4) { member in
      for round in 0..<5 {
        let item = Self.password("\(member)-\(round)")
        #expect(Self.add(item, "s\(member)-\(round)") == errSecSuccess)
        var query = item
        query[kSecReturnData as String] = true
        #expect(Self.text(Self.find(query).result) == "s\(member)-\(round)")
      }
    }
    #expect(try world.store.open().find(Query()).items.count == 20)
  }
}
