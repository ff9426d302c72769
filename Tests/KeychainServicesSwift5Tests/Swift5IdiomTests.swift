import AuthenticationServices
import Testing

/// Tests keychain code in Swift 5 mode, with the one import that an app with a sign-in already has.
@Suite(.serialized)
struct Swift5IdiomTests {
  let token = Data("hunter2".utf8)

  @Test func `queries can be dictionaries of every kind`() {
    let strings: [String: Any] = [
      kSecClass as String: kSecClassGenericPassword,
      String(kSecAttrAccount): "ada",
      kSecValueData as String: token,
      kSecReturnData as String: kCFBooleanTrue!,
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
    let changeable = NSMutableDictionary()
    changeable[kSecClass] = kSecClassGenericPassword
    changeable[kSecAttrAccount as String] = "ada"
    changeable.setObject(token, forKey: kSecValueData)
    changeable.setValue(true, forKey: kSecReturnData as String)
    for query in [
      strings as CFDictionary, constants as CFDictionary, keys as CFDictionary, objects as CFDictionary,
      untyped,
      changeable,
    ] {
      #expect(query.count == 4)
      #expect(query[kSecClass] as? String == "genp")
      #expect(query[kSecAttrAccount] as? String == "ada")
      #expect(query[kSecValueData] as? Data == token)
      #expect(query[kSecReturnData] as? Bool == true)
    }
  }

  @Test func `values can be converted with as`() {
    let flag = true
    #expect(("x" as CFString) as String == "x")
    #expect((flag as CFBoolean) == kCFBooleanTrue)
    #expect((5 as CFNumber) as? Int == 5)
    #expect((token as CFData) as Data == token)
    #expect(String(kSecClass) == "class")
  }

  @Test func `strings, constants and Any values can be matched against constants in a switch`() {
    func name(_ text: String) -> String {
      switch text {
      case kSecClassKey: return "key"
      case String(kSecClassIdentity): return "identity"
      default: return "other"
      }
    }
    func name(_ constant: CFString) -> String {
      switch constant {
      case kSecClassKey: return "key"
      case "idnt": return "identity"
      default: return "other"
      }
    }
    func name(any value: Any?) -> String {
      switch value {
      case kSecClassKey as String: return "key"
      case kSecClassIdentity as CFString: return "identity"
      default: return "other"
      }
    }
    #expect(["keys", "idnt", "cert"].map { name($0 as String) } == ["key", "identity", "other"])
    #expect([kSecClassKey, kSecClassIdentity, kSecClass].map { name($0) } == ["key", "identity", "other"])
    #expect([kSecClassKey as Any, "idnt", 7].map { name(any: $0) } == ["key", "identity", "other"])
  }

  @Test func `results can be read by constants and by strings`() {
    var item: CFTypeRef?
    var result: AnyObject?
    let statuses = [
      answer(&item), withUnsafeMutablePointer(to: &result) { answer(UnsafeMutablePointer($0)) },
    ]
    #expect(statuses == [errSecSuccess, noErr])
    for found in [item, result] {
      #expect((found as? [String: Any])?[kSecAttrAccount as String] as? String == "ada")
      #expect((found as? [AnyHashable: Any])?[kSecAttrAccount] as? String == "ada")
      #expect((found as? [CFString: Any])?[kSecValueData] as? Data == token)
      #expect((found as? NSDictionary)?[kSecAttrAccount] as? String == "ada")
      #expect((found as! CFDictionary)[kSecAttrAccount] as? String == "ada")
    }
  }

  @Test func `errors are available as numbers, messages and Swift errors`() {
    #expect(SecCopyErrorMessageString(errSecItemNotFound, nil) as String? == "No item matches.")
    var error: Unmanaged<CFError>?
    #expect(!refuse(&error))
    do {
      throw error!.takeRetainedValue() as Error
    } catch let thrown as CFError {
      #expect(CFErrorGetCode(thrown) == Int(errSecParam))
      #expect(CFErrorGetDomain(thrown) == kCFErrorDomainOSStatus)
    } catch {
      Issue.record("\(error)")
    }
    #expect(CFGetTypeID(kCFBooleanTrue) == CFBooleanGetTypeID())
    #expect(CFGetTypeID(1 as CFNumber) == CFNumberGetTypeID())
  }

  /// Answers like a search that finds one item.
  private func answer(_ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    result?.pointee = [kSecAttrAccount: "ada", kSecValueData: token] as CFDictionary
    return errSecSuccess
  }

  /// Fails like a function of the keychain.
  private func refuse(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> Bool {
    error?.pointee = Unmanaged.passRetained(
      CFError(domain: NSOSStatusErrorDomain, code: Int(errSecParam), userInfo: nil))
    return false
  }
}
