import Foundation
import Keyring
import OpenPGP
import Secrets
import TestSupport
import Testing

@testable import KeychainServices

/// Tests conditions for the release of items: which of them apply, and how they are removed.
@Suite(.serialized) struct ConditionTests {
  private let world: StandInWorld

  init() throws { world = try StandInWorld() }

  private static func control(_ flags: SecAccessControlCreateFlags) throws -> SecAccessControl {
    let made = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil)
    return try #require(made)
  }

  /// Adds an item that requires a prompt, and one that does not.
  private func addBoth() throws {
    for (account, flags) in [("guarded", .userPresence), ("plain", [])]
      as [(String, SecAccessControlCreateFlags)]
    {
      let item: [AnyHashable: Any] = [
        "class": "genp", "acct": account, "accc": try Self.control(flags), "v_Data": Data("s".utf8),
      ]
      #expect(SecItemCall.add(item).status == errSecSuccess)
    }
  }

  private func read(_ account: String) -> OSStatus {
    SecItemCall.find(["class": "genp", "acct": account, "r_Data": true]).status
  }

  private func isAsked(_ account: String) -> Bool {
    let before = world.store.engine.forgetting
    #expect(read(account) == errSecSuccess)
    return world.store.engine.forgetting > before
  }

  @Test func `the strictest of several settings about prompts applies, in any order`() throws {
    defer { world.close() }
    try addBoth()
    world.silentEngine.refusal = .noPromptPossible
    let context = LAContext()
    context.interactionNotAllowed = true
    let wishes: [[AnyHashable: Any]] = [
      ["u_AuthCtx": context, "u_AuthUI": kSecUseAuthenticationUIAllow],
      ["u_NoAuthUI": true, "u_AuthUI": kSecUseAuthenticationUIAllow],
      ["u_NoAuthUI": true, "u_AuthUI": kSecUseAuthenticationUISkip],
      ["u_AuthCtx": context, "u_NoAuthUI": false, "u_AuthUI": kSecUseAuthenticationUIAllow],
    ]
    for wish in wishes {
      for _ in 0..<8 {
        let query: [AnyHashable: Any] = ["class": "genp", "acct": "plain", "r_Data": true]
        #expect(SecItemCall.find(query.merging(wish) { $1 }).status == errSecInteractionNotAllowed)
      }
    }
  }

  @Test func `an invalidated context releases nothing`() throws {
    defer { world.close() }
    try addBoth()
    let context = LAContext()
    context.invalidate()
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "plain", "r_Data": true, "u_AuthCtx": context]
    #expect(SecItemCall.find(query).status == errSecAuthFailed)
  }

  @Test func `items whose prompt is not allowed are skipped before the limit applies`() throws {
    defer { world.close() }
    try addBoth()
    let all: [AnyHashable: Any] = [
      "class": "genp", "r_Data": true, "u_AuthUI": kSecUseAuthenticationUISkip,
    ]
    world.silentEngine.refusesPrompt = true
    #expect(
      SecItemCall.find(all).result as? Data == Data("s".utf8), "the plain item, although it is not the first")
    #expect((SecItemCall.find(all.merging(["m_Limit": 2]) { $1 }).result as? [Data])?.count == 1)
    world.silentEngine.refusal = .noPromptPossible
    for limit in [1, 2] {
      #expect(SecItemCall.find(all.merging(["m_Limit": limit]) { $1 }).status == errSecItemNotFound)
    }
  }

  @Test func `certificates whose prompt is not allowed are skipped in a search by subject`() throws {
    defer { world.close() }
    #expect(SecItemCall.add(["v_Ref": try ItemFixture().certificate]).status == errSecSuccess)
    world.silentEngine.refusal = .noPromptPossible
    var query: [AnyHashable: Any] = ["class": "cert", "m_SubjectContains": "example", "r_Attributes": true]
    query["u_AuthUI"] = kSecUseAuthenticationUISkip
    #expect(SecItemCall.find(query).status == errSecItemNotFound)
    query["u_AuthUI"] = kSecUseAuthenticationUIFail
    #expect(SecItemCall.find(query).status == errSecInteractionNotAllowed)
  }

  @Test func `unknown conditions are treated as the strictest`() throws {
    defer { world.close() }
    try addBoth()
    let record = try #require(
      try world.store.open().find(Query(predicates: [.equal(.account, "plain")])).items.first)
    let newer = #"{"flags":1024,"format":1,"protection":"ak"}"#
    let changes = AttributeChanges(set: [.accessControl: .bytes(Array(newer.utf8))])
    try world.store.open().update(record, changes)
    #expect(isAsked("plain"))
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "plain"]
    #expect(SecItemCall.update(query, changes: ["pdmn": "ck"]).status == errSecUnimplemented)
    let shown = SecItemCall.find(query.merging(["r_Attributes": true]) { $1 }).result as? [String: Any]
    #expect(shown?["accc"] as? SecAccessControl == (try Self.control(.userPresence)))
    #expect(SecItemCall.update(query, changes: ["accc": try Self.control([])]).status == errSecSuccess)
    #expect(!isAsked("plain"))
  }

  @Test func `setting only an accessibility removes no condition`() throws {
    defer { world.close() }
    try addBoth()
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "guarded"]
    for protection in ["ak", "ck", "aku", "dk"] {
      #expect(SecItemCall.update(query, changes: ["pdmn": protection]).status == errSecSuccess)
      #expect(isAsked("guarded"), "\(protection)")
      let shown = SecItemCall.find(query.merging(["r_Attributes": true]) { $1 }).result as? [String: Any]
      #expect(shown?["pdmn"] as? String == protection)
    }
    #expect(SecItemCall.update(query, changes: ["accc": try Self.control([])]).status == errSecSuccess)
    #expect(!isAsked("guarded"))
  }

  @Test func `a condition that is set concurrently is not overwritten`() throws {
    defer { world.close() }
    try addBoth()
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "plain"]
    let keyring = try world.store.open()
    let request = try SecItemRequest(query as NSDictionary, for: .update)
    let found = try SecItemSearch(request: request, keyring: keyring).matches().found.map(\.record)
    let changes = try SecItemChanges(["pdmn": "ck"] as NSDictionary, of: request)
    #expect(
      SecItemCall.update(query, changes: ["accc": try Self.control(.userPresence)]).status == errSecSuccess)
    #expect { try changes.apply(to: found, in: keyring) } throws: { error in
      SecItemFailure(error).isItemMissing
    }
    #expect(isAsked("plain"))
    #expect(SecItemCall.update(query, changes: ["pdmn": "ck"]).status == errSecSuccess)
    #expect(isAsked("plain"))
  }

  @Test func `the user is not asked twice because another item was removed`() throws {
    defer { world.close() }
    try addBoth()
    let query: [AnyHashable: Any] = ["class": "genp", "r_Data": true, "m_Limit": 5]
    let keyring = try world.store.open()
    let request = try SecItemRequest(query as NSDictionary, for: .find)
    let search = SecItemSearch(request: request, keyring: keyring)
    let matches = try search.matches()
    #expect(SecItemCall.delete(["class": "genp", "acct": "plain"]).status == errSecSuccess)
    let before = world.store.engine.forgetting
    let result = try SecItemResults(search: search).object(matches.found)
    #expect((result as? [Data])?.count == 1 && world.store.engine.forgetting == before + 1)
  }

  @Test func `a certificate is decrypted once for its subject and its content`() throws {
    defer { world.close() }
    let item: [AnyHashable: Any] = [
      "v_Ref": try ItemFixture().certificate, "accc": try Self.control(.userPresence),
    ]
    #expect(SecItemCall.add(item).status == errSecSuccess)
    let before = world.store.engine.forgetting
    let query: [AnyHashable: Any] = [
      "class": "cert", "m_SubjectContains": "example", "r_Data": true, "r_Ref": true,
    ]
    #expect(SecItemCall.find(query).status == errSecSuccess)
    #expect(world.store.engine.forgetting == before + 1)
  }

  @Test func `an update of other attributes does not check conditions`() throws {
    defer { world.close() }
    #expect(SecItemCall.add(["class": "genp", "acct": "synced", "sync": true]).status == errSecSuccess)
    let record = try #require(try world.store.open().find(Query()).items.first)
    for control in [try Self.control(.userPresence).serialized, [1]] {
      let changes = AttributeChanges(set: [.accessControl: .bytes(control)])
      try world.store.open().update(record, changes)
      let query: [AnyHashable: Any] = ["class": "genp", "sync": true]
      #expect(SecItemCall.update(query, changes: ["labl": "x", "v_Data": Data()]).status == errSecSuccess)
    }
  }

  @Test func `an item that requires a prompt is not synchronised, not even by an update`() throws {
    defer { world.close() }
    try addBoth()
    let synced: [AnyHashable: Any] = ["class": "genp", "acct": "synced", "sync": true]
    #expect(SecItemCall.add(synced).status == errSecSuccess)
    let guarded = try Self.control(.userPresence)
    #expect(SecItemCall.update(synced, changes: ["accc": guarded]).status == errSecParam)
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "guarded"]
    #expect(SecItemCall.update(query, changes: ["sync": true]).status == errSecParam)
    #expect(SecItemCall.update(synced, changes: ["sync": false, "accc": guarded]).status == errSecSuccess)
  }

  @Test func `items without conditions are found by the access control that is returned for them`() throws {
    defer { world.close() }
    try addBoth()
    #expect(SecItemCall.add(["class": "genp", "acct": "bare"]).status == errSecSuccess)
    let shown = SecItemCall.find(["class": "genp", "acct": "bare", "r_Attributes": true]).result
    let control = try #require((shown as? [String: Any])?["accc"])
    let found = SecItemCall.find([
      "class": "genp", "accc": control, "r_Attributes": true, "m_Limit": kSecMatchLimitAll,
    ])
    let accounts = (found.result as? [[String: Any]] ?? []).compactMap { $0["acct"] as? String }
    #expect(accounts == ["plain", "bare"])
  }

  @Test func `an item that the command keeps on this machine has the matching accessibility`() throws {
    defer { world.close() }
    let item = NewItem(itemClass: .genericPassword, attributes: [.account: "here"], isLocal: true)
    try world.store.open().add(item, secret: SecretBytes(text: "s"))
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "here", "r_Attributes": true]
    #expect((SecItemCall.find(query).result as? [String: Any])?["pdmn"] as? String == "aku")
    let record = try #require(try world.store.open().find(Query()).items.first)
    try world.store.open().update(record, AttributeChanges(set: [.accessible: "when-unlocked"]))
    #expect((SecItemCall.find(query).result as? [String: Any])?["pdmn"] as? String == "aku")
  }
}
