import Foundation
import Security
import Testing

/// Tests the functions of CoreFoundation that keychain code calls.
@Suite(.serialized)
struct CoreFoundationTests {
  @Test func `every type has its own type id`() {
    let numbers = [
      CFStringGetTypeID(), CFDictionaryGetTypeID(), CFArrayGetTypeID(), CFDataGetTypeID(), CFDateGetTypeID(),
      CFBooleanGetTypeID(), CFNumberGetTypeID(), CFErrorGetTypeID(), CFNullGetTypeID(),
    ]
    #expect(Set(numbers).count == numbers.count)
    #expect(!numbers.contains(0))
  }

  @Test func `an object has the id of its type`() {
    #expect(CFGetTypeID("a" as CFString) == CFStringGetTypeID())
    #expect(CFGetTypeID(kSecClass) == CFStringGetTypeID())
    #expect(CFGetTypeID(NSMutableString(string: "a")) == CFStringGetTypeID())
    #expect(CFGetTypeID([kSecClass: 1] as CFDictionary) == CFDictionaryGetTypeID())
    #expect(CFGetTypeID(NSMutableDictionary()) == CFDictionaryGetTypeID())
    #expect(CFGetTypeID([1] as CFArray) == CFArrayGetTypeID())
    #expect(CFGetTypeID(Data([1]) as CFData) == CFDataGetTypeID())
    #expect(CFGetTypeID(Date() as CFDate) == CFDateGetTypeID())
    #expect(CFGetTypeID(CFError(domain: NSOSStatusErrorDomain, code: 1)) == CFErrorGetTypeID())
    #expect(CFGetTypeID(NSNull()) == CFNullGetTypeID())
    #expect(CFGetTypeID(NSObject()) == 0)
    #expect(CFGetTypeID(nil) == 0)
  }

  @Test func `a boolean is not a number, and a number is not a boolean`() {
    for boolean in [kCFBooleanTrue, kCFBooleanFalse, true as CFBoolean, NSNumber(value: false)] {
      #expect(CFGetTypeID(boolean) == CFBooleanGetTypeID())
    }
    for number in [
      1 as CFNumber, 0 as CFNumber, 1.0 as CFNumber, NSNumber(value: Int8(1)), NSNumber(value: UInt8(1)),
    ] {
      #expect(CFGetTypeID(number) == CFNumberGetTypeID())
    }
  }

  @Test func `objects are compared by type and content`() {
    #expect(CFEqual(kSecClass, "class" as CFString))
    #expect(CFEqual(["a": 1] as CFDictionary, NSMutableDictionary(dictionary: ["a": 1])))
    #expect(CFEqual(5 as CFNumber, 5.0 as CFNumber))
    #expect(!CFEqual(kSecClass, kSecAttrType))
    #expect(!CFEqual(kCFBooleanTrue, 1 as CFNumber))
    #expect(!CFEqual(Data("a".utf8) as CFData, "a" as CFString))
    #expect(CFEqual(nil, nil))
    #expect(!CFEqual(kSecClass, nil))
  }

  @Test func `an error is returned through a pointer`() throws {
    var error: Unmanaged<CFError>?
    #expect(unsafe !refuse(&error))
    let found = try #require(unsafe error?.takeRetainedValue())
    #expect(CFErrorGetCode(found) == Int(errSecParam))
    #expect(CFErrorGetDomain(found) == kCFErrorDomainOSStatus)
    #expect(CFErrorGetDomain(found) as String == NSOSStatusErrorDomain)
    #expect(CFErrorCopyDescription(found) as String == "no")
    #expect(!CFEqual(kCFErrorDomainOSStatus, kCFErrorDomainPOSIX))
    #expect(unsafe !refuse(nil))
  }

  @Test func `an error can be thrown as a Swift error`() {
    var error: Unmanaged<CFError>?
    #expect(unsafe !refuse(&error))
    do {
      throw unsafe error!.takeRetainedValue() as any Error
    } catch let thrown as CFError {
      #expect(thrown.code == Int(errSecParam))
      #expect(thrown.domain == NSOSStatusErrorDomain)
    } catch {
      Issue.record("\(error)")
    }
  }

  /// Fails like a function of the keychain.
  private func refuse(_ error: UnsafeMutablePointer<Unmanaged<CFError>?>?) -> Bool {
    let reason = CFError(
      domain: NSOSStatusErrorDomain, code: Int(errSecParam), userInfo: [NSLocalizedDescriptionKey: "no"])
    unsafe error?.pointee = Unmanaged.passRetained(reason)
    return false
  }
}
