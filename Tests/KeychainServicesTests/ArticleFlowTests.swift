import Foundation
import KeychainTestSupport
import Security
import Testing

/// Tests the tasks in Apple's articles about the keychain, with every status checked, as a program does them that
/// imports `Security` beside Foundation and no other module of ours.
@Suite(.serialized)
struct ArticleFlowTests {
  struct Credentials: Equatable {
    var username: String
    var password: String
  }

  enum KeychainError: Error, Equatable {
    case noPassword
    case unexpectedPasswordData
    case unhandledError(status: OSStatus)
  }

  let server = "www.example.org"

  func add(_ credentials: Credentials) throws {
    let account = credentials.username
    let password = Data(credentials.password.utf8)
    let query: [String: Any] = [
      kSecClass as String: kSecClassInternetPassword,
      kSecAttrAccount as String: account,
      kSecAttrServer as String: server,
      kSecValueData as String: password,
    ]
    let status = SecItemAdd(query as CFDictionary, nil)
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
  }

  func search() throws -> Credentials {
    let query: [String: Any] = [
      kSecClass as String: kSecClassInternetPassword,
      kSecAttrServer as String: server,
      kSecMatchLimit as String: kSecMatchLimitOne,
      kSecReturnAttributes as String: true,
      kSecReturnData as String: true,
    ]
    var item: CFTypeRef?
    let status = unsafe SecItemCopyMatching(query as CFDictionary, &item)
    guard status != errSecItemNotFound else { throw KeychainError.noPassword }
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
    guard let existing = item as? [String: Any],
      let data = existing[kSecValueData as String] as? Data,
      let password = String(data: data, encoding: String.Encoding.utf8),
      let account = existing[kSecAttrAccount as String] as? String
    else { throw KeychainError.unexpectedPasswordData }
    return Credentials(username: account, password: password)
  }

  func update(_ credentials: Credentials) throws {
    let query: [String: Any] = [
      kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: server,
    ]
    let attributes: [String: Any] = [
      kSecAttrAccount as String: credentials.username,
      kSecValueData as String: Data(credentials.password.utf8),
    ]
    let status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
    guard status != errSecItemNotFound else { throw KeychainError.noPassword }
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
  }

  func delete() throws {
    let query: [String: Any] = [
      kSecClass as String: kSecClassInternetPassword, kSecAttrServer as String: server,
    ]
    let status = SecItemDelete(query as CFDictionary)
    guard status == errSecSuccess || status == errSecItemNotFound else {
      throw KeychainError.unhandledError(status: status)
    }
  }

  @Test func `a password is added, found, updated and deleted`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    #expect(throws: KeychainError.noPassword) { try search() }
    let first = Credentials(username: "ada", password: "correct horse")
    try add(first)
    #expect(throws: KeychainError.unhandledError(status: errSecDuplicateItem)) { try add(first) }
    #expect(try search() == first)
    let second = Credentials(username: "grace", password: "battery staple")
    try update(second)
    #expect(try search() == second)
    try delete()
    #expect(throws: KeychainError.noPassword) { try search() }
    #expect(throws: KeychainError.noPassword) { try update(first) }
    #expect(throws: Never.self) { try delete() }
  }

  @Test func `all passwords are found by reference, and one of them is read`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    for name in ["ada", "grace"] { try add(Credentials(username: name, password: "of \(name)")) }
    let all: [String: Any] = [
      kSecClass as String: kSecClassInternetPassword, kSecMatchLimit as String: kSecMatchLimitAll,
      kSecReturnAttributes as String: true, kSecReturnPersistentRef as String: true,
    ]
    var items: CFTypeRef?
    #expect(unsafe SecItemCopyMatching(all as CFDictionary, &items) == errSecSuccess)
    let list = try #require(items as? [[String: Any]])
    #expect(list.map { $0[kSecAttrAccount as String] as? String } == ["ada", "grace"])
    let reference = try #require(list.last?[kSecValuePersistentRef as String] as? Data)
    let one: [String: Any] = [
      kSecValuePersistentRef as String: reference, kSecReturnData as String: true,
    ]
    var item: CFTypeRef?
    #expect(unsafe SecItemCopyMatching(one as CFDictionary, &item) == errSecSuccess)
    #expect(item as? Data == Data("of grace".utf8))
  }

  @Test func `a certificate is stored under a label and found by it`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    let certificate = try ItemFixture().certificate
    let add: [String: Any] = [
      kSecClass as String: kSecClassCertificate, kSecValueRef as String: certificate,
      kSecAttrLabel as String: "My Certificate",
    ]
    #expect(SecItemAdd(add as CFDictionary, nil) == errSecSuccess)
    let get: [String: Any] = [
      kSecClass as String: kSecClassCertificate, kSecAttrLabel as String: "My Certificate",
      kSecReturnRef as String: kCFBooleanTrue!,
    ]
    var item: CFTypeRef?
    #expect(unsafe SecItemCopyMatching(get as CFDictionary, &item) == errSecSuccess)
    let found = try #require(item as? SecCertificate)
    #expect(CFEqual(found, certificate))
    #expect(SecCertificateCopySubjectSummary(found) as String? == "ec.example.org")
  }

  @Test func `a key is stored under a tag, found by it and deleted`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    let key = try ItemFixture().key
    let tag = Data("org.example.keys.mykey".utf8)
    let add: [String: Any] = [
      kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag,
      kSecValueRef as String: key,
    ]
    #expect(SecItemAdd(add as CFDictionary, nil) == errSecSuccess)
    let get: [String: Any] = [
      kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: tag,
      kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecReturnRef as String: true,
    ]
    var item: CFTypeRef?
    #expect(unsafe SecItemCopyMatching(get as CFDictionary, &item) == errSecSuccess)
    let found = try #require(item as? SecKey)
    #expect(CFEqual(found, key))
    #expect(SecItemDelete(get as CFDictionary) == errSecSuccess)
    #expect(unsafe SecItemCopyMatching(get as CFDictionary, &item) == errSecItemNotFound && item == nil)
  }
}
