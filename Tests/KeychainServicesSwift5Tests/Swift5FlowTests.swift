import AuthenticationServices
import KeychainTestSupport
import Testing

/// Tests how an app signs in with the keychain, in the spellings of older code, with the real functions.
@Suite(.serialized)
struct Swift5FlowTests {
  let service = "org.example.mailer"

  /// Returns the base of every query, built as older code builds it.
  private func query(_ account: String?) -> NSMutableDictionary {
    let query = NSMutableDictionary()
    query.setObject(kSecClassGenericPassword, forKey: kSecClass)
    query[kSecAttrService] = service
    query.setValue(account, forKey: kSecAttrAccount as String)
    return query
  }

  private func save(_ token: String, for account: String) -> OSStatus {
    let item = query(account)
    item[kSecValueData] = Data(token.utf8)
    let status = SecItemAdd(item, nil)
    guard status == errSecDuplicateItem else { return status }
    let changes: [CFString: Any] = [kSecValueData: Data(token.utf8)]
    return SecItemUpdate(query(account), changes as CFDictionary)
  }

  private func load(_ account: String) -> (OSStatus, String?) {
    let query: [String: AnyObject] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service as CFString,
      kSecAttrAccount as String: account as AnyObject, kSecReturnData as String: kCFBooleanTrue,
      kSecMatchLimit as String: kSecMatchLimitOne,
    ]
    var result: AnyObject?
    let status = withUnsafeMutablePointer(to: &result) {
      SecItemCopyMatching(query as CFDictionary, UnsafeMutablePointer($0))
    }
    return (status, (result as? Data).flatMap { String(data: $0, encoding: .utf8) })
  }

  @Test func `a token is saved, replaced, listed and removed`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    #expect(load("ada") == (errSecItemNotFound, nil))
    #expect(save("first", for: "ada") == errSecSuccess)
    #expect(save("second", for: "ada") == noErr)
    #expect(save("other", for: "grace") == noErr)
    #expect(load("ada") == (errSecSuccess, "second"))

    let all: [AnyHashable: Any] = [
      kSecClass: kSecClassGenericPassword, "svce": service, kSecReturnAttributes: true,
      kSecMatchLimit: kSecMatchLimitAll,
    ]
    var items: CFTypeRef?
    #expect(SecItemCopyMatching(all as CFDictionary, &items) == errSecSuccess)
    let dictionaries = items as! [[String: Any]]
    #expect(dictionaries.compactMap { $0[kSecAttrAccount as String] as? String } == ["ada", "grace"])
    for dictionary in items as! [NSDictionary] {
      #expect(dictionary[kSecAttrService] as? String == service)
      #expect(dictionary.value(forKey: kSecAttrAccessible as String) as? String == "ak")
    }
    for constants in items as! [[CFString: Any]] {
      #expect(constants[kSecAttrCreationDate] is Date)
      #expect(constants[kSecAttrSynchronizable] as? Bool == false)
    }

    #expect(SecItemDelete(query("ada")) == errSecSuccess)
    #expect(SecItemDelete(query("ada")) == errSecItemNotFound)
    #expect(SecItemDelete(query(nil) as CFDictionary) == errSecSuccess)
    #expect(load("grace") == (errSecItemNotFound, nil))
  }

  @Test func `statuses can be handled in a switch`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    func outcome(_ status: OSStatus) -> String {
      switch status {
      case errSecSuccess: return "done"
      case errSecDuplicateItem: return "already there"
      case errSecItemNotFound: return "nothing there"
      case errSecParam, errSecNoSuchAttr: return "nonsense"
      default: return SecCopyErrorMessageString(status, nil)! as String
      }
    }
    let item =
      [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecValueData: Data(),
      ] as CFDictionary
    #expect(outcome(SecItemAdd(item, nil)) == "done")
    #expect(outcome(SecItemAdd(item, nil)) == "already there")
    #expect(
      outcome(SecItemAdd([kSecClass: kSecClassKey, kSecAttrService: "x"] as CFDictionary, nil)) == "nonsense")
    #expect(outcome(SecItemDelete(query("nobody"))) == "nothing there")
    let foreign = query("ada")
    foreign[kSecAttrAccessGroup] = "nobody"
    #expect(outcome(SecItemAdd(foreign, nil)).hasSuffix("."))
  }

  @Test func `an item can be read with an authentication context and access control`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var error: Unmanaged<CFError>?
    let access = SecAccessControlCreateWithFlags(
      kCFAllocatorDefault, kSecAttrAccessibleAfterFirstUnlock, [], &error)!
    #expect(error == nil)
    let item = query("ada")
    item[kSecAttrAccessControl] = access
    item[kSecValueData] = Data("token".utf8)
    item[kSecReturnPersistentRef] = true
    var reference: CFTypeRef?
    #expect(SecItemAdd(item, &reference) == errSecSuccess)
    let context = LAContext()
    context.interactionNotAllowed = true
    let get: [String: Any] = [
      kSecValuePersistentRef as String: reference as! Data, kSecUseAuthenticationContext as String: context,
      kSecReturnData as String: true, kSecReturnAttributes as String: true,
    ]
    var found: CFTypeRef?
    #expect(SecItemCopyMatching(get as CFDictionary, &found) == errSecSuccess)
    let attributes = found as! [String: Any]
    #expect(attributes[kSecValueData as String] as? Data == Data("token".utf8))
    let control = attributes[kSecAttrAccessControl as String] as AnyObject
    #expect(CFGetTypeID(control) == SecAccessControlGetTypeID())
    #expect(
      attributes[kSecAttrAccessible as String] as? String == kSecAttrAccessibleAfterFirstUnlock as String)
  }
}
