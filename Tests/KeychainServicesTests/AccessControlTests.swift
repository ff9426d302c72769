import Foundation
import Testing

@testable import KeychainServices

/// Tests which flags and protections can be combined.
@Suite(.serialized)
struct AccessControlTests {
  static let protections: [String] = [
    kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
    kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
    kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
  ].map { $0 as String }

  struct Row: Sendable {
    var flags: SecAccessControlCreateFlags
    var isAllowed = true
    var asks = true
  }

  static let rows = [
    Row(flags: [], asks: false), Row(flags: .privateKeyUsage, asks: false), Row(flags: .userPresence),
    Row(flags: .biometryAny), Row(flags: .biometryCurrentSet), Row(flags: .devicePasscode),
    Row(flags: .watch), Row(flags: .applicationPassword), Row(flags: [.userPresence, .applicationPassword]),
    Row(flags: [.userPresence, .privateKeyUsage]),
    Row(flags: [.userPresence, .privateKeyUsage, .applicationPassword]),
    Row(flags: [.biometryAny, .privateKeyUsage]), Row(flags: [.biometryAny, .or, .devicePasscode]),
    Row(flags: [.biometryCurrentSet, .and, .devicePasscode, .watch]),
    Row(flags: [.userPresence, .biometryAny], isAllowed: false),
    Row(flags: [.userPresence, .biometryCurrentSet], isAllowed: false),
    Row(flags: [.userPresence, .devicePasscode], isAllowed: false),
    Row(flags: [.userPresence, .watch], isAllowed: false),
    Row(flags: [.userPresence, .or], isAllowed: false), Row(flags: [.userPresence, .and], isAllowed: false),
    Row(flags: [.biometryAny, .biometryCurrentSet], isAllowed: false),
    Row(flags: [.biometryAny, .devicePasscode, .or, .and], isAllowed: false),
    Row(flags: SecAccessControlCreateFlags(rawValue: 1 << 2), isAllowed: false),
    Row(flags: SecAccessControlCreateFlags(rawValue: 1 << 63), isAllowed: false),
  ]

  @Test(arguments: protections, rows)
  func `flags can be combined or are a bad parameter`(protection: String, row: Row) throws {
    let (control, error) = takingError {
      unsafe SecAccessControlCreateWithFlags(kCFAllocatorDefault, protection as CFString, row.flags, $0)
    }
    #expect((control != nil) == row.isAllowed)
    guard let control else {
      #expect(error?.code == Int(errSecParam))
      return
    }
    #expect(error == nil)
    #expect(control.protection == protection)
    #expect(control.flags == row.flags)
    #expect(control.requiresUserPresence == row.asks)
    let copy = try #require(SecAccessControl(serialized: control.serialized))
    #expect(copy == control && copy.hash == control.hash)
    #expect(CFGetTypeID(control) == SecAccessControlGetTypeID())
  }

  @Test(arguments: ["", "AK", "ak ", "nonsense"])
  func `a protection must be one of Apple's`(protection: String) {
    let (control, error) = takingError {
      unsafe SecAccessControlCreateWithFlags(nil, protection as CFString, [], $0)
    }
    #expect(control == nil && error?.domain == NSOSStatusErrorDomain)
  }

  @Test func `a protection must be text`() {
    let (control, error) = takingError {
      unsafe SecAccessControlCreateWithFlags(nil, NSNumber(value: 1), [], $0)
    }
    #expect(control == nil && error?.code == Int(errSecParam))
  }

  @Test func `flags have Apple's numbers`() {
    let numbers: [(SecAccessControlCreateFlags, UInt)] = [
      (.userPresence, 0x1), (.biometryAny, 0x2), (.touchIDAny, 0x2), (.biometryCurrentSet, 0x8),
      (.touchIDCurrentSet, 0x8), (.devicePasscode, 0x10), (.watch, 0x20), (.companion, 0x20), (.or, 0x4000),
      (.and, 0x8000), (.privateKeyUsage, 0x4000_0000), (.applicationPassword, 0x8000_0000),
    ]
    for (flag, number) in numbers { #expect(flag.rawValue == number) }
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"flags":1,"format":2,"protection":"ak"}"#,
    #"{"flags":1,"format":1,"protection":"zz"}"#,
    #"{"flags":-1,"format":1,"protection":"ak"}"#, #"{"flags":3,"format":1,"protection":"ak"}"#,
    #"{"flags":1,"format":1,"protection":"ak" }"#, #"{"format":1,"flags":1,"protection":"ak"}"#,
    #"{"flags":1,"format":1,"protection":"ak","x":1}"#, #"{"flags":{"flags":{}},"format":1}"#,
    #"{"flags":1,"format":1,"protection":"ak"}x"#,
  ])
  func `only the form that was written is read back`(text: String) {
    #expect(SecAccessControl(serialized: Array(text.utf8)) == nil)
  }

  @Test func `the form in a store does not change`() throws {
    let bytes = Array(#"{"flags":1,"format":1,"protection":"ak"}"#.utf8)
    let control = try #require(SecAccessControl(serialized: bytes))
    #expect(control.serialized == bytes)
    #expect(control.flags == .userPresence)
  }
}
