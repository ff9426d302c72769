import Foundation
import KeychainTestSupport
import Keyring
import Security
import TestSupport
import Testing

/// Tests items that are released only after a prompt, and those that need a device with a passcode.
@Suite(.serialized, .waits) struct UserPresenceTests {
  private static func item(
    _ account: String, _ flags: SecAccessControlCreateFlags,
    _ protection: CFString = kSecAttrAccessibleWhenUnlocked
  ) throws -> [String: Any] {
    let made = SecAccessControlCreateWithFlags(nil, protection, flags, nil)
    let control = try #require(made)
    return [
      kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
      kSecAttrAccessControl as String: control, kSecValueData as String: Data("hidden".utf8),
    ]
  }

  private static func query(_ account: String) -> [String: Any] {
    [
      kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
      kSecReturnData as String: true,
    ]
  }

  private static func find(_ query: [String: Any]) -> (status: OSStatus, data: Data?) {
    var result: CFTypeRef?
    let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
    return (status, result as? Data)
  }

  /// Creates a store whose owner has a passphrase, and the dialog that knows it.
  private static func lockedWorld() throws -> (KeychainWorld, Pinentry) {
    let pinentry = try Pinentry.answering()
    let world = try KeychainWorld(
      owner: .locked, agentConfiguration: ["pinentry-program \(pinentry.program)"])
    return (world, pinentry)
  }

  @Test(arguments: [.userPresence, .biometryAny, .devicePasscode] as [SecAccessControlCreateFlags])
  func `the user is asked each time, for this item only`(flags: SecAccessControlCreateFlags) throws {
    let (world, pinentry) = try Self.lockedWorld()
    defer { world.close() }
    #expect(SecItemAdd(try Self.item("guarded", flags) as CFDictionary, nil) == errSecSuccess)
    #expect(SecItemAdd(try Self.item("plain", []) as CFDictionary, nil) == errSecSuccess)
    #expect(Self.find(Self.query("plain")).data == Data("hidden".utf8))
    let before = pinentry.count
    for round in 1...3 {
      #expect(Self.find(Self.query("guarded")).data == Data("hidden".utf8))
      #expect(pinentry.count == before + round)
      #expect(Self.find(Self.query("plain")).data == Data("hidden".utf8))
      #expect(pinentry.count == before + round)
    }
  }

  @Test func `attributes and references of a protected item need no prompt`() throws {
    let (world, pinentry) = try Self.lockedWorld()
    defer { world.close() }
    #expect(SecItemAdd(try Self.item("guarded", .userPresence) as CFDictionary, nil) == errSecSuccess)
    let before = pinentry.count
    var query = Self.query("guarded")
    query[kSecReturnData as String] = nil
    query[kSecReturnAttributes as String] = true
    query[kSecReturnPersistentRef as String] = true
    var result: CFTypeRef?
    #expect(unsafe SecItemCopyMatching(query as CFDictionary, &result) == errSecSuccess)
    let found = try #require(result as? [String: Any])
    let control = try #require(found[kSecAttrAccessControl as String] as? SecAccessControl)
    let given = try Self.item("guarded", .userPresence)[kSecAttrAccessControl as String]
    #expect(control == given as? SecAccessControl)
    #expect(pinentry.count == before)
  }

  @Test
  func
    `a protected item is refused or skipped if no prompt is allowed, even if the agent has the passphrase`()
    throws
  {
    let (world, pinentry) = try Self.lockedWorld()
    defer { world.close() }
    #expect(SecItemAdd(try Self.item("guarded", .userPresence) as CFDictionary, nil) == errSecSuccess)
    #expect(Self.find(Self.query("guarded")).data == Data("hidden".utf8))
    let before = pinentry.count
    var query = Self.query("guarded")
    query[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUIFail
    #expect(Self.find(query).status == errSecInteractionNotAllowed)
    query[kSecUseAuthenticationUI as String] = kSecUseAuthenticationUISkip
    #expect(Self.find(query).status == errSecItemNotFound)
    query[kSecUseAuthenticationUI as String] = nil
    let context = LAContext()
    context.interactionNotAllowed = true
    query[kSecUseAuthenticationContext as String] = context
    #expect(Self.find(query).status == errSecInteractionNotAllowed)
    #expect(pinentry.count == before)
  }

  @Test func `a cancelled dialog is reported as a cancellation`() throws {
    let pinentry = try Pinentry.answering()
    let world = try KeychainWorld(
      owner: .locked, agentConfiguration: ["pinentry-program \(pinentry.program)"])
    defer { world.close() }
    #expect(SecItemAdd(try Self.item("guarded", .userPresence) as CFDictionary, nil) == errSecSuccess)
    let cancelling = try Pinentry.cancelling()
    try world.store.gnupg.configureAgent(["pinentry-program \(cancelling.program)"])
    world.store.gnupg.stopAgent()
    let found = Self.find(Self.query("guarded"))
    #expect(found.status == errSecUserCanceled)
    #expect(found.data == nil && cancelling.count == 1)
  }

  static let needing: [(SecAccessControlCreateFlags, String)] = [
    (.userPresence, kSecAttrAccessibleWhenUnlocked as String),
    ([], kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String),
  ]

  @Test(arguments: needing)
  func `a protected item can be neither added nor made with a key without a passphrase`(
    flags: SecAccessControlCreateFlags, protection: String
  ) throws {
    let world = try KeychainWorld()
    defer { world.close() }
    let item = try Self.item("guarded", flags, protection as CFString)
    #expect(SecItemAdd(item as CFDictionary, nil) == errSecAuthFailed)
    #expect(SecItemAdd(try Self.item("plain", []) as CFDictionary, nil) == errSecSuccess)
    var query = Self.query("plain")
    query[kSecReturnData as String] = nil
    let change = [kSecAttrAccessControl as String: try #require(item[kSecAttrAccessControl as String])]
    #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecAuthFailed)
    let left = try world.store.open().find(Query()).items
    #expect(left.count == 1 && left.first?.isLocal == false)
  }

  @Test func `an item can be protected by a prompt and unprotected again`() throws {
    let (world, pinentry) = try Self.lockedWorld()
    defer { world.close() }
    #expect(SecItemAdd(try Self.item("plain", []) as CFDictionary, nil) == errSecSuccess)
    var query = Self.query("plain")
    query[kSecReturnData as String] = nil
    for (flags, questions) in [(.userPresence, 2), ([], 0)] as [(SecAccessControlCreateFlags, Int)] {
      let control = try #require(try Self.item("plain", flags)[kSecAttrAccessControl as String])
      let change = [kSecAttrAccessControl as String: control] as CFDictionary
      #expect(SecItemUpdate(query as CFDictionary, change) == errSecSuccess)
      _ = Self.find(Self.query("plain"))
      let before = pinentry.count
      for _ in 0..<2 { #expect(Self.find(Self.query("plain")).status == errSecSuccess) }
      #expect(pinentry.count == before + questions)
    }
  }

  @Test func `an application password is not implemented`() throws {
    let (world, _) = try Self.lockedWorld()
    defer { world.close() }
    let item = try Self.item("guarded", .applicationPassword)
    #expect(SecItemAdd(item as CFDictionary, nil) == errSecUnimplemented)
  }

  @Test func `an item that is for this device only is moved there, and back`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    #expect(SecItemAdd(try Self.item("plain", []) as CFDictionary, nil) == errSecSuccess)
    var query = Self.query("plain")
    query[kSecReturnData as String] = nil
    for (protection, isLocal) in [
      (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, true), (kSecAttrAccessibleAfterFirstUnlock, false),
    ] {
      let change = [kSecAttrAccessible as String: protection] as CFDictionary
      #expect(SecItemUpdate(query as CFDictionary, change) == errSecSuccess)
      #expect(try world.store.open().find(Query()).items.map(\.isLocal) == [isLocal])
      #expect(Self.find(Self.query("plain")).data == Data("hidden".utf8))
    }
  }

  @Test func `a synchronizable item can be for this device only, and then stays here`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    var item = try Self.item("plain", [])
    item[kSecAttrAccessControl as String] = nil
    item[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    item[kSecAttrSynchronizable as String] = true
    #expect(SecItemAdd(item as CFDictionary, nil) == errSecSuccess)
    var query = Self.query("plain")
    #expect(Self.find(query).status == errSecItemNotFound, "only items that are not synchronizable")
    query[kSecAttrSynchronizable as String] = true
    #expect(Self.find(query).data == Data("hidden".utf8))
    query[kSecReturnData as String] = nil
    for (change, isLocal) in [
      ([kSecAttrComment: "x"], true), ([kSecAttrAccessible: kSecAttrAccessibleWhenUnlocked], false),
      ([kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly], true),
    ] as [([CFString: Any], Bool)] {
      #expect(SecItemUpdate(query as CFDictionary, change as CFDictionary) == errSecSuccess)
      #expect(try world.store.open().find(Query()).items.map(\.isLocal) == [isLocal])
    }
  }
}
