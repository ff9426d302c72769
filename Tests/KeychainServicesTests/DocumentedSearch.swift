import Foundation
import KeychainTestSupport
import Security
import Testing

/// The Swift code of the article about code from iOS, so that it compiles and runs.
///
/// The tests of the documents compare every `swift` block of the article with the lines of this file.
@Suite(.serialized) struct DocumentedSearch {
  private func find() -> Data? {
    let query: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: "mailer",
      kSecAttrAccount as String: "bot",
      kSecMatchLimit as String: kSecMatchLimitOne,
      kSecReturnData as String: true,
    ]
    var item: CFTypeRef?
    let status = unsafe SecItemCopyMatching(query as CFDictionary, &item)
    guard status == errSecSuccess, let secret = item as? Data else { return nil }
    return secret
  }

  private func list() throws -> [Data] {
    let all: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrService as String: "mailer",
      kSecMatchLimit as String: kSecMatchLimitAll,
      kSecReturnAttributes as String: true,
      kSecReturnPersistentRef as String: true,
    ]
    var found: CFTypeRef?
    #expect(unsafe SecItemCopyMatching(all as CFDictionary, &found) == errSecSuccess)
    for entry in found as? [[String: Any]] ?? [] {
      guard let reference = entry[kSecValuePersistentRef as String] else { continue }
      let one: [String: Any] = [
        kSecValuePersistentRef as String: reference,
        kSecReturnData as String: true,
      ]
      var item: CFTypeRef?
      let status = unsafe SecItemCopyMatching(one as CFDictionary, &item)
      guard status == errSecSuccess, let secret = item as? Data else { continue }
      return [secret]
    }
    return []
  }

  @Test func `the Swift code in the article about code from iOS works as described`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    let item: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "mailer",
      kSecAttrAccount as String: "bot", kSecValueData as String: Data("open sesame".utf8),
    ]
    #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    #expect(find() == Data("open sesame".utf8))
    #expect(try list() == [Data("open sesame".utf8)])
    let before = KeychainSettings.current
    configure()
    #expect(KeychainSettings.current.store == "/srv/mailer/secrets")
    #expect(KeychainSettings.current.allowsInteraction == false && find() == nil)
    KeychainSettings.current = before
    #expect(find() == Data("open sesame".utf8))
  }

  private func configure() {
    var settings = KeychainSettings.current
    settings.store = "/srv/mailer/secrets"
    settings.accessGroup = "default"
    settings.allowsInteraction = false
    KeychainSettings.current = settings
  }
}
