import Foundation
import OpenPGP
import Security
import TestSupport
import Testing

@testable import KeychainServices

/// Tests that invalid and impossible calls have their status, return nothing and change nothing.
@Suite(.serialized)
struct MisuseTests {
  /// Creates a store with two passwords, a certificate and its key.
  private func makeWorld() throws -> StandInWorld {
    let world = try StandInWorld()
    let other: [AnyHashable: Any] = ["acct": "other", "v_Data": Data([1])]
    for item in [
      Misuse.there(["v_Data": Data("s".utf8)]), Misuse.there(other), ["v_Ref": try ItemFixture().identity],
    ] {
      #expect(SecItemCall.add(item).status == errSecSuccess)
    }
    return world
  }

  @Test(arguments: Misuse.dictionaries + Misuse.updates)
  func `an invalid call is answered with its status`(misuse: Misuse) throws {
    let world = try makeWorld()
    defer { world.close() }
    let before = world.digest
    for call in misuse.calls {
      let answer = call(try misuse.dictionary(), changes: try misuse.changes())
      #expect(answer.status == misuse.status, "\(call)")
      #expect(answer.result == nil, "\(call)")
      #expect(world.digest == before, "\(call) changed \(world.digest.difference(from: before))")
    }
  }

  @Test(
    arguments: Misuse.dictionaries.filter {
      [errSecParam, errSecNoSuchClass, errSecNoSuchAttr].contains($0.status)
    })
  func `an invalid call is refused before the store is opened`(misuse: Misuse) throws {
    let world = try StandInWorld(hasStore: false)
    defer { world.close() }
    for call in misuse.calls {
      #expect(call(try misuse.dictionary()).status == misuse.status, "\(call)")
    }
  }

  @Test func `keys that do not apply are ignored`() throws {
    let world = try makeWorld()
    defer { world.close() }
    let more: [AnyHashable: Any] = [
      "m_Limit": kSecMatchLimitAll, "r_Data": true, "m_CaseInsensitive": true, "m_Issuers": [Data()],
      "m_SubjectContains": "x", "m_HostOrSubdomainOfHost": "example.org", "m_TrustedOnly": true,
      "u_OpPrompt": "Please", "nleg": true, "u_UserIndependentKeychain": true, "m_ValidOnDate": NSNull(),
    ]
    let item = Misuse.new(more)
    let added = SecItemCall.add(item.merging(["v_Data": Data("s".utf8)]) { $1 })
    #expect(added.status == errSecSuccess && added.result as? Data == Data("s".utf8))
    let one = item.merging(["m_Limit": 1]) { $1 }
    #expect(SecItemCall.find(one).result as? Data == Data("s".utf8), "success means stored")
    #expect(SecItemCall.update(item, changes: ["labl": "x", "nleg": true]).status == errSecSuccess)
    #expect(SecItemCall.delete(item).status == errSecSuccess)
    #expect(SecItemCall.find(one).status == errSecItemNotFound)
  }

  @Test(arguments: [
    (EngineError.cancelled, errSecUserCanceled), (.noPromptPossible, errSecInteractionNotAllowed),
    (.badPassphrase, errSecAuthFailed), (.corrupt, errSecDecode),
    (.notARecipient(recipients: []), errSecDecode),
  ])
  func `a failed decryption is reported, and only if the data is requested`(
    refusal: EngineError, status: OSStatus
  ) throws {
    let world = try makeWorld()
    defer { world.close() }
    world.store.engine.refusal = refusal
    let data = SecItemCall.find(Misuse.there(["r_Data": true]))
    #expect(data.status == status && data.result == nil)
    let both = SecItemCall.find(Misuse.there(["r_Data": true, "r_Attributes": true, "m_Limit": 2]))
    #expect(both.status == status && both.result == nil)
    #expect(SecItemCall.find(Misuse.there(["r_Attributes": true])).status == errSecSuccess)
    #expect(SecItemCall.find(["class": "cert", "r_Ref": true]).status == status)
    #expect(SecItemCall.delete(Misuse.there).status == errSecSuccess)
  }

  @Test func `the user is not asked if a query, a context or the settings forbid it`() throws {
    let world = try makeWorld()
    defer { world.close() }
    world.silentEngine.refusal = .noPromptPossible
    let context = LAContext()
    context.interactionNotAllowed = true
    let ways: [[AnyHashable: Any]] = [
      ["u_AuthUI": kSecUseAuthenticationUIFail], ["u_AuthCtx": context], ["u_NoAuthUI": true],
    ]
    for way in ways {
      let data = SecItemCall.find(Misuse.there(way).merging(["r_Data": true]) { $1 })
      #expect(data.status == errSecInteractionNotAllowed && data.result == nil)
      #expect(SecItemCall.find(Misuse.there(way)).status == errSecSuccess)
    }
    let allowed = Misuse.there([
      "u_AuthUI": kSecUseAuthenticationUIAllow, "u_AuthCtx": LAContext(), "r_Data": true,
    ])
    #expect(SecItemCall.find(allowed).status == errSecSuccess)
    let skipping = Misuse.there(["u_AuthUI": kSecUseAuthenticationUISkip, "r_Data": true])
    #expect(SecItemCall.find(skipping).status == errSecItemNotFound)
    KeychainSettings.current.allowsInteraction = false
    #expect(SecItemCall.find(allowed).status == errSecInteractionNotAllowed)
  }

  @Test(arguments: SecItemCall.allCases)
  func `a missing store is not available`(call: SecItemCall) throws {
    let world = try StandInWorld(hasStore: false)
    defer { world.close() }
    let answer = call(Misuse.there(["v_Data": Data()]))
    #expect(answer.status == errSecNotAvailable && answer.result == nil)
  }
}
