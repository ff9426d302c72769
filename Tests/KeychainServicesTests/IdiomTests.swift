import Foundation
import Security
import Testing

/// Tests how code for Apple's keychain writes its queries and reads its results.
@Suite(.serialized)
struct IdiomTests {
  let token = Data("hunter2".utf8)

  @Test func `queries can be Swift dictionaries of every kind`() {
    let strings: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      kSecAttrAccount as String: "ada",
      String(kSecValueData): token,
      kSecReturnData as String: kCFBooleanTrue as Any,
    ]
    let constants: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ada", kSecValueData: token, kSecReturnData: true,
    ]
    let keys: [AnyHashable: Any] = [
      kSecClass: kSecClassGenericPassword, "acct": "ada", kSecValueData: token, kSecReturnData: true,
    ]
    let objects: [String: AnyObject] = [
      kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "ada" as CFString,
      kSecValueData as String: token as CFData, kSecReturnData as String: kCFBooleanTrue,
    ]
    let untyped =
      [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "ada", kSecValueData: token,
        kSecReturnData: true,
      ] as CFDictionary
    for query in [
      strings as CFDictionary, constants as CFDictionary, keys as CFDictionary, objects as CFDictionary,
      untyped,
    ] {
      #expect(query.count == 4)
      #expect(query[kSecClass] as? String == "genp")
      #expect(query[kSecAttrAccount] as? String == "ada")
      #expect(query[kSecValueData] as? Data == token)
      #expect(query[kSecReturnData] as? Bool == true)
      #expect(query == untyped)
    }
  }

  @Test func `queries can be Foundation dictionaries`() throws {
    let query = NSMutableDictionary()
    query[kSecClass] = kSecClassInternetPassword
    query[kSecAttrServer as String] = "example.org"
    query.setObject(443, forKey: kSecAttrPort)
    query.setValue("ada", forKey: kSecAttrAccount as String)
    query.removeObject(forKey: kSecAttrAccount)
    let passed: CFDictionary = query
    #expect(passed.count == 3)
    #expect(passed[kSecAttrServer] as? String == "example.org")
    #expect(passed.object(forKey: kSecAttrPort) as? Int == 443)
    #expect(passed["srvr"] as? String == "example.org")

    let literal: NSDictionary = [kSecClass: kSecClassKey, kSecAttrLabel: "a" as NSString]
    let changeable = try #require(literal.mutableCopy() as? CFMutableDictionary)
    changeable[kSecMatchLimit] = kSecMatchLimitOne
    #expect((changeable as CFDictionary).count == 3)
  }

  @Test func `values can be converted with as`() {
    let flag = false
    #expect(("x" as CFString) as String == "x")
    #expect((flag as CFBoolean) == kCFBooleanFalse)
    #expect((5 as CFNumber) as? Int == 5)
    #expect((token as CFData) as Data == token)
    #expect((["a", "b"] as CFArray).count == 2)
    #expect(
      (Date(timeIntervalSinceReferenceDate: 0) as CFDate) as Date == Date(timeIntervalSinceReferenceDate: 0))
    #expect(String(kSecClass) == "class")
    #expect("\(kSecClass)" == "class")
    let limit: CFTypeRef = kSecMatchLimitAll
    #expect(limit as? String == "m_LimitAll")
    let unwrapped: CFBoolean = kCFBooleanTrue!
    #expect(unwrapped == kCFBooleanTrue)
  }

  @Test func `a string can be matched against constants in a switch`() {
    func name(_ text: String) -> String {
      switch text {
      case kSecClassGenericPassword: "password"
      case String(kSecClassKey): "key"
      default: "other"
      }
    }
    #expect(["genp", "keys", "cert"].map(name) == ["password", "key", "other"])
  }

  @Test func `a constant can be matched against constants and strings in a switch`() {
    func name(_ constant: CFString) -> String {
      switch constant {
      case kSecClassGenericPassword: "password"
      case "keys": "key"
      default: "other"
      }
    }
    #expect(
      [kSecClassGenericPassword, kSecClassKey, kSecClassCertificate].map(name) == [
        "password", "key", "other",
      ])
    // Text from another source than the constant itself.
    #expect(name(String(["g", "e", "n", "p"]) as CFString) == "password")
  }

  @Test func `a value of any type can be matched against constants in a switch`() {
    func name(_ value: Any?) -> String {
      switch value {
      case kSecClassGenericPassword as String: "password"
      case kSecClassKey as CFString: "key"
      default: "other"
      }
    }
    #expect(name("genp") == "password")
    #expect(name(kSecClassGenericPassword) == "password")
    #expect(name("keys") == "key")
    #expect(name(7) == "other")
    #expect(name(nil) == "other")
  }

  @Test func `a result can be read as a dictionary of strings`() throws {
    let item: CFTypeRef? = result()
    let attributes = try #require(item as? [String: Any])
    #expect(attributes[kSecAttrAccount as String] as? String == "ada")
    #expect(attributes[kSecValueData as String] as? Data == token)
    #expect((item as? [String: AnyObject])?["acct"] as? String == "ada")
    let array: AnyObject? = [result(), result()] as CFArray
    #expect((array as? [[String: Any]])?.count == 2)
    #expect((array as? [CFDictionary])?.first?[kSecAttrAccount] as? String == "ada")
  }

  @Test func `a result can be read by constants`() throws {
    let item: CFTypeRef? = result()
    let anyKeys = try #require(item as? [AnyHashable: Any])
    #expect(anyKeys[kSecAttrAccount] as? String == "ada")
    #expect(anyKeys["acct"] as? String == "ada")
    #expect(anyKeys.keys.compactMap { $0 as? String }.sorted() == ["acct", "v_Data"])
    #expect(anyKeys.keys.compactMap { $0 as? CFString }.count == 2)
    let constants = try #require(item as? [CFString: Any])
    #expect(constants[kSecAttrAccount] as? String == "ada")
    #expect(constants[kSecValueData] as? Data == token)
    let dictionary = try #require(item as? NSDictionary)
    #expect(dictionary[kSecAttrAccount] as? String == "ada")
    #expect(dictionary.value(forKey: kSecAttrAccount as String) as? String == "ada")
    #expect(dictionary[kSecAttrComment] == nil)
  }

  @Test func `a constant and its text are the same key`() {
    #expect(AnyHashable(kSecClass) == AnyHashable("class"))
    #expect(Set<AnyHashable>([kSecClass, "class", NSMutableString(string: "class")]).count == 1)
  }

  private func result() -> CFTypeRef {
    [kSecAttrAccount: "ada", kSecValueData: token] as CFDictionary
  }
}
