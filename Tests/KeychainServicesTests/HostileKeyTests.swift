import Foundation
import Security
import Testing

/// Tests that the functions for keys and certificates answer for every value in a dictionary.
@Suite(.serialized)
struct HostileKeyTests {
  private static var bytes: CFData { Data(repeating: 7, count: 16) as CFData }
  private static var good: [AnyHashable: Any] {
    [kSecAttrKeyType: kSecAttrKeyTypeAES, kSecAttrKeyClass: kSecAttrKeyClassSymmetric]
  }
  private static let needed = [kSecAttrKeyType as String, kSecAttrKeyClass as String]
  private static let others = [
    kSecAttrKeySizeInBits, kSecPrivateKeyAttrs, kSecPublicKeyAttrs, kSecImportExportPassphrase,
    SecKeyKeyExchangeParameter.requestedSize.rawValue, SecKeyKeyExchangeParameter.sharedInfo.rawValue, "odd",
  ].map { $0 as String }

  private func makeKey(_ attributes: CFDictionary) -> (result: SecKey?, error: NSError?) {
    takingError { unsafe SecKeyCreateWithData(Self.bytes, attributes, $0) }
  }

  @Test(arguments: needed) func `a hostile value of a required attribute makes no key`(of key: String) {
    for (name, value) in HostileValues.all {
      let (result, error) = makeKey(Self.good.merging([key: value]) { $1 } as CFDictionary)
      #expect(result == nil && error?.code == Int(errSecParam), "\(name)")
    }
  }

  @Test(arguments: others) func `a hostile value of an unused attribute does no harm`(of key: String) throws {
    for (name, value) in HostileValues.all {
      let attributes = Self.good.merging([key: value]) { $1 } as CFDictionary
      #expect(makeKey(attributes).result != nil, "\(name)")
    }
  }

  @Test func `a dictionary that contains itself, has odd keys or is inconsistent does no harm`() {
    let cycle = NSMutableDictionary(dictionary: Self.good)
    cycle["self"] = cycle
    #expect(makeKey(cycle).result != nil)
    cycle[kSecAttrKeyType] = cycle
    #expect(makeKey(cycle).error?.code == Int(errSecParam))
    #expect(makeKey(CustomDictionary()).error?.code == Int(errSecParam))
    for key in HostileValues.keys {
      #expect(makeKey(Self.good.merging([key: "x"]) { $1 } as CFDictionary).result != nil, "\(key)")
    }
  }

  @Test(arguments: needed + others)
  func `a function that is not implemented says so for every argument`(under key: String) throws {
    let secret = try #require(makeKey(Self.good as CFDictionary).result)
    for (name, value) in HostileValues.all {
      let dictionary = [AnyHashable(key): value] as CFDictionary
      let (made, error) = takingError { unsafe SecKeyCreateRandomKey(dictionary, $0) }
      #expect(made == nil && error?.code == Int(errSecUnimplemented), "\(name)")
      let (shared, refusal) = takingError {
        unsafe SecKeyCopyKeyExchangeResult(
          secret, .ecdhKeyExchangeStandard, secret, dictionary, $0)
      }
      #expect(shared == nil && refusal?.code == Int(errSecUnimplemented), "\(name)")
      var items: CFArray? = []
      let status = unsafe SecPKCS12Import(Self.bytes, dictionary, &items)
      #expect(status == errSecUnimplemented && items == nil, "\(name)")
    }
  }
}
