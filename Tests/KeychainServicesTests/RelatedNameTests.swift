import Foundation
import Security
import Testing

/// Tests names that code for Apple's systems uses beside the keychain functions.
@Suite(.serialized)
struct RelatedNameTests {
  @Test func `a code of four characters is a number`() {
    let code: FourCharCode = 0x6765_6E70
    let type: OSType = code
    #expect(type == UInt32(1_734_700_656))
  }

  @Test func `the key of the bundle identifier is Apple's`() {
    #expect(kCFBundleIdentifierKey as String == "CFBundleIdentifier")
    #expect(
      Bundle.main.infoDictionary?[kCFBundleIdentifierKey as String] as? String == Bundle.main.bundleIdentifier
    )
  }

  @Test func `an error has its details`() throws {
    let error = CFError(domain: NSOSStatusErrorDomain, code: 1, userInfo: ["reason": "none"])
    #expect(CFErrorCopyUserInfo(error) == ["reason": "none"] as CFDictionary)
    #expect(CFErrorCopyUserInfo(CFError(domain: NSOSStatusErrorDomain, code: 1)) == [:] as CFDictionary)
    #expect(CFErrorCopyUserInfo(nil) == nil)
  }

  @Test func `trust objects can be named`() {
    let trust: SecTrust? = nil
    #expect(trust == nil)
  }

  @Test func `shared web credentials are reported as not implemented`() async {
    let adding = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      SecAddSharedWebCredential("example.org" as CFString, "a" as CFString, "s" as CFString) { error in
        continuation.resume(returning: CFErrorGetCode(error))
      }
    }
    #expect(adding == Int(errSecUnimplemented))
    let asking = await withCheckedContinuation { (continuation: CheckedContinuation<(Bool, Int), Never>) in
      SecRequestSharedWebCredential(nil, nil) { credentials, error in
        continuation.resume(returning: (credentials == nil, CFErrorGetCode(error)))
      }
    }
    #expect(asking == (true, Int(errSecUnimplemented)))
  }

  @Test func `a generated password has the form of Apple's`() throws {
    var seen: Set<String> = []
    for _ in 0..<100 {
      let password = try #require(SecCreateSharedWebCredentialPassword()) as String
      let groups = password.split(separator: "-")
      #expect(groups.map(\.count) == [3, 3, 3, 3])
      #expect(
        groups.joined().allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) && !"01lIij2zO".contains($0) }
      )
      seen.insert(password)
    }
    #expect(seen.count == 100)
  }
}
