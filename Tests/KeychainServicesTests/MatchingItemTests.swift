import Foundation
import Keyring
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

@testable import KeychainServices

/// Tests that a call affects exactly the item that it specifies.
@Suite(.serialized) struct MatchingItemTests {
  private let world: StandInWorld

  init() throws { world = try StandInWorld() }

  private func find(_ query: [AnyHashable: Any]) -> (status: OSStatus, result: CFTypeRef?) {
    SecItemCall.find(query)
  }

  private func items() throws -> [ItemRecord] { try world.store.open().find(Query()).items }

  // MARK: A forged index

  @Test func `a line that claims another item's id releases nothing`() throws {
    defer { world.close() }
    let real: [AnyHashable: Any] = [
      "class": "inet", "srvr": "github.com", "acct": "alice", "v_Data": Data("s".utf8),
    ]
    #expect(SecItemCall.add(real).status == errSecSuccess)
    var forged = try #require(try items().first)
    forged.attributes[.server] = "evil.example"
    forged.sealed = ContentDigest(of: [1])
    let tree = try world.store.tree()
    let shard = StoreLayout.shardFile(forged.path.shard, isLocal: false)
    try tree.createFile(shard, try IndexLine.encode(forged) + [10])
    for more in [[:], ["r_Attributes": true]] as [[AnyHashable: Any]] {
      let query: [AnyHashable: Any] = ["class": "inet", "srvr": "evil.example", "r_Data": true]
      #expect(find(query.merging(more) { $1 }).status == errSecDecode)
    }
    #expect(find(["class": "inet", "srvr": "github.com", "r_Data": true]).result as? Data == Data("s".utf8))
  }

  @Test func `an item that cannot be read is not reported as missing`() throws {
    defer { world.close() }
    let item: [AnyHashable: Any] = ["class": "genp", "acct": "bot", "v_Data": Data("s".utf8)]
    #expect(SecItemCall.add(item).status == errSecSuccess)
    let record = try #require(try items().first)
    let tree = try world.store.tree()
    let shard = StoreLayout.shardFile(record.path.shard, isLocal: false)
    let good = try #require(try tree.read(shard, limit: 1 << 20))
    try tree.replaceFile(shard, with: Array("{".utf8) + good, temporary: "new")
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "bot"]
    #expect(find(query.merging(["r_Data": true]) { $1 }).status == errSecDecode)
    #expect(SecItemCall.delete(query).status == errSecDecode)
    #expect(SecItemCall.update(query, changes: ["labl": "x"]).status == errSecDecode)
    try tree.remove(shard)
    #expect(find(query.merging(["r_Data": true]) { $1 }).status == errSecDecode)
    #expect(SecItemCall.delete(query).status == errSecDecode)
    let local = NewItem(itemClass: .genericPassword, attributes: [.account: "here"], isLocal: true)
    try world.store.open().add(local, secret: SecretBytes(text: "s"))
    #expect(find(["class": "genp", "labl": "x"]).status == errSecDecode, "the other index is still lost")
    try tree.replaceFile(shard, with: good, temporary: "new")
    #expect(SecItemCall.delete(query).status == errSecSuccess)
  }

  // MARK: References

  private func addSymmetricKeys() throws -> [SecKey] {
    for number in 0..<3 {
      let item: [AnyHashable: Any] = [
        "class": "keys", "kcls": 2, "type": kSecAttrKeyTypeAES, "bsiz": 256, "esiz": 256,
        "atag": Data([UInt8(number)]), "v_Data": Data(repeating: UInt8(number), count: 32),
      ]
      #expect(SecItemCall.add(item).status == errSecSuccess)
    }
    return try #require(
      find(["class": "keys", "r_Ref": true, "m_Limit": kSecMatchLimitAll]).result as? [SecKey])
  }

  @Test func `a symmetric key represents only its own item`() throws {
    defer { world.close() }
    let keys = try addSymmetricKeys()
    let mine: [AnyHashable: Any] = ["v_Ref": keys[1], "r_Data": true]
    #expect(find(mine).result as? Data == Data(repeating: 1, count: 32))
    #expect(SecItemCall.update(["v_Ref": keys[1]], changes: ["labl": "mine"]).status == errSecSuccess)
    let all: [AnyHashable: Any] = ["class": "keys", "m_Limit": kSecMatchLimitAll, "r_Data": true]
    let listed = find(["class": "keys", "m_ItemList": [keys[2]], "m_Limit": 5, "r_Data": true]).result
    #expect(listed as? [Data] == [Data(repeating: 2, count: 32)])
    #expect(SecItemCall.delete(["v_Ref": keys[0]]).status == errSecSuccess)
    #expect(find(all).status == errSecParam)
    #expect(try items().count == 2)
  }

  @Test func `a symmetric key that was never stored represents no item`() throws {
    defer { world.close() }
    _ = try addSymmetricKeys()
    let kind: NSDictionary = [
      kSecAttrKeyType: kSecAttrKeyTypeAES, kSecAttrKeyClass: kSecAttrKeyClassSymmetric,
    ]
    let made = SecKeyCreateWithData(Data(count: 32) as CFData, kind, nil)
    let key = try #require(made)
    #expect(SecItemCall.delete(["v_Ref": key]).status == errSecParam)
    #expect(find(["class": "keys", "m_ItemList": [key]]).status == errSecParam)
    #expect(try items().count == 3)
  }

  @Test(arguments: ["cert", "keys", "genp"])
  func `an identity does not match an item of another class`(itemClass: String) throws {
    defer { world.close() }
    let identity = try ItemFixture().identity
    #expect(SecItemCall.add(["v_Ref": identity]).status == errSecSuccess)
    let query: [AnyHashable: Any] = ["class": itemClass, "v_Ref": identity]
    for call in [SecItemCall.find, .update, .delete, .add] {
      #expect(call(query, changes: ["labl": "x"]).status == errSecParam, "\(call)")
    }
    #expect(try items().count == 2)
    #expect(SecItemCall.delete(["class": "idnt", "v_Ref": identity]).status == errSecSuccess)
    #expect(try items().isEmpty)
  }

  @Test func `an identity whose certificate is already stored is added with its key`() throws {
    defer { world.close() }
    let fixture = try ItemFixture()
    #expect(SecItemCall.add(["v_Ref": fixture.certificate]).status == errSecSuccess)
    let added = SecItemCall.add(["v_Ref": fixture.identity, "r_Ref": true])
    #expect(added.status == errSecSuccess && added.result as? SecIdentity == fixture.identity)
    #expect(SecItemCall.add(["v_Ref": fixture.identity]).status == errSecDuplicateItem)
    #expect(try items().count == 2)
  }

  @Test func `references to all identities lead to each of them`() throws {
    defer { world.close() }
    let identity = try ItemFixture().identity
    #expect(SecItemCall.add(["v_Ref": identity]).status == errSecSuccess)
    let all = find(["class": "idnt", "m_Limit": kSecMatchLimitAll, "r_PersistentRef": true])
    let reference = try #require((all.result as? [Data])?.first)
    for itemClass in [[:], ["class": "idnt"]] as [[AnyHashable: Any]] {
      let one = find(itemClass.merging(["v_PersistentRef": reference, "r_Ref": true]) { $1 })
      #expect(one.result as? SecIdentity == identity)
    }
    #expect(find(["class": "cert", "v_PersistentRef": reference]).status == errSecItemNotFound)
    #expect(SecItemCall.delete(["v_PersistentRef": reference]).status == errSecSuccess)
    #expect(try items().isEmpty)
  }

  @Test(arguments: [kSecAttrKeyTypeAES as String, kSecAttrKeyTypeECSECPrimeRandom as String])
  func `a key that was read represents its item, whatever the item's attributes say`(type: String) throws {
    defer { world.close() }
    let isSymmetric = type == kSecAttrKeyTypeAES as String
    let bytes = isSymmetric ? Data(count: 32) : try CertificateFixture.bytes("ec-p256-private.x963")
    for tag in ["a", "b"] {
      let item: [AnyHashable: Any] = [
        "class": "keys", "kcls": isSymmetric ? 2 : 1, "type": type, "atag": Data(tag.utf8), "v_Data": bytes,
      ]
      #expect(SecItemCall.add(item).status == errSecSuccess)
    }
    let second = find(["class": "keys", "atag": Data("b".utf8), "r_Ref": true]).result
    let key = try #require(second as? SecKey)
    #expect(SecItemCall.update(["v_Ref": key], changes: ["labl": "second"]).status == errSecSuccess)
    #expect(try items().map { $0.attributes[.label] } == [nil, "second"])
    #expect(SecItemCall.delete(["class": "keys", "m_ItemList": [key]]).status == errSecSuccess)
    #expect(try items().count == 1)
    #expect(SecItemCall.delete(["v_Ref": key]).status == errSecItemNotFound)
  }

  @Test func `a key is not deleted while an unreadable certificate may need it`() throws {
    defer { world.close() }
    let identity = try ItemFixture().identity
    #expect(SecItemCall.add(["v_Ref": identity, "labl": "mine"]).status == errSecSuccess)
    let tree = try world.store.tree()
    let free = try #require(
      (0...255).map { StoreLayout.shardFile(UInt8($0), isLocal: false) }
        .first { (try? tree.status($0)) == .some(nil) })
    try tree.createFile(free, Array("{\"class\":\"certificate\",broken}\n".utf8))
    #expect(SecItemCall.delete(["class": "idnt", "labl": "mine"]).status == errSecDecode)
    #expect(try items().count == 2)
  }

  @Test func `a certificate and a key that do not match are not an identity`() throws {
    defer { world.close() }
    #expect(SecItemCall.add(["v_Ref": try ItemFixture().key]).status == errSecSuccess)
    let other = try CertificateFixture.bytes("rsa-2048.der")
    #expect(SecItemCall.add(["class": "cert", "v_Data": other]).status == errSecSuccess)
    let hash = try #require(try items().first { $0.itemClass == .key }?.attributes[.applicationLabel])
    let certificate = try #require(try items().first { $0.itemClass == .certificate })
    try world.store.open().update(certificate, AttributeChanges(set: [.publicKeyHash: hash]))
    #expect(find(["class": "idnt", "r_Ref": true]).status == errSecDecode)
  }

  // MARK: Content

  @Test func `the result of an add needs no decryption`() throws {
    defer { world.close() }
    world.store.engine.refusal = .cancelled
    let item: [AnyHashable: Any] = [
      "class": "genp", "acct": "bot", "v_Data": Data("s".utf8), "r_Data": true, "r_Attributes": true,
    ]
    let added = SecItemCall.add(item)
    #expect(added.status == errSecSuccess)
    #expect((added.result as? [String: Any])?["v_Data"] as? Data == Data("s".utf8))
    let identity = try ItemFixture().identity
    #expect(SecItemCall.add(["v_Ref": identity, "r_Ref": true]).result as? SecIdentity == identity)
    #expect(world.store.engine.statistics.decryptions == 0)
  }

  @Test func `content that is added to an item later is found`() throws {
    defer { world.close() }
    #expect(SecItemCall.add(["class": "genp", "acct": "bot"]).status == errSecSuccess)
    let query: [AnyHashable: Any] = ["class": "genp", "acct": "bot", "r_Data": true]
    #expect(find(query).status == errSecSuccess && find(query).result == nil)
    let record = try #require(try items().first)
    try world.store.open().update(record, secret: SecretBytes(text: "later"))
    #expect(find(query).result as? Data == Data("later".utf8))
  }

  @Test func `the attributes of a certificate come from its content`() throws {
    defer { world.close() }
    let fixture = try ItemFixture()
    let junk = Data("junk".utf8)
    for reference in [fixture.certificate, fixture.key] as [AnyObject] {
      #expect(SecItemCall.add(["v_Ref": reference, "v_Data": junk]).status == errSecParam)
    }
    #expect(SecItemCall.add(["v_Ref": fixture.certificate]).status == errSecSuccess)
    #expect(SecItemCall.update(["class": "cert"], changes: ["v_Data": junk]).status == errSecParam)
    let other = try CertificateFixture.bytes("rsa-2048.der")
    #expect(SecItemCall.update(["class": "cert"], changes: ["v_Data": other]).status == errSecSuccess)
    let found = find(["class": "cert", "slnr": Data([1]), "r_Ref": true]).result as? SecCertificate
    #expect(found.map { SecCertificateCopyData($0) as Data } == other)
    #expect(SecItemCall.update(["class": "cert"], changes: ["labl": "CA"]).status == errSecSuccess)
    let bare = try CertificateFixture.bytes("version-1.der")
    #expect(SecItemCall.update(["class": "cert"], changes: ["v_Data": bare]).status == errSecSuccess)
    let record = try #require(try items().first)
    #expect(record.attributes[.label] == "CA" && record.attributes[.subjectKeyID] == nil)
    let key: [AnyHashable: Any] = ["class": "keys", "kcls": 1, "type": 42, "v_Data": junk]
    #expect(SecItemCall.add(key).status == errSecSuccess)
    #expect(find(["class": "keys", "r_Ref": true]).status == errSecDecode)
    #expect(find(["class": "keys", "r_Data": true]).result as? Data == junk)
  }

  // MARK: Concurrent calls

  @Test func `all items are deleted even if another thread deletes some of them`() throws {
    defer { world.close() }
    for _ in 0..<3 {
      for number in 0..<60 {
        #expect(SecItemCall.add(["class": "genp", "acct": "\(number)"]).status == errSecSuccess)
      }
      try ThreadGroup.run(2) { member in
        if member == 0 {
          // Every item that exists when the call begins is gone afterwards.
          let status = SecItemCall.delete(["class": "genp"]).status
          #expect([errSecSuccess, errSecItemNotFound].contains(status))
          #expect(SecItemCall.find(["class": "genp"]).status == errSecItemNotFound)
        } else {
          for number in 0..<60 { _ = SecItemCall.delete(["class": "genp", "acct": "\(number)"]) }
        }
      }
      #expect(try items().isEmpty)
    }
  }

  @Test func `an index that is empty for a moment is not reported as lost`() throws {
    defer { world.close() }
    let isDone = Atomic(false)
    try ThreadGroup.run(3) { member in
      guard member == 0 else {
        while !isDone.load(ordering: .relaxed) {
          for call in [SecItemCall.find, .delete] {
            let status = call(["class": "genp", "acct": "nobody"]).status
            #expect(status == errSecItemNotFound)
          }
        }
        return
      }
      defer { isDone.store(true, ordering: .relaxed) }
      for _ in 0..<60 {
        #expect(SecItemCall.add(["class": "genp", "acct": "bot"]).status == errSecSuccess)
        #expect(SecItemCall.delete(["class": "genp", "acct": "bot"]).status == errSecSuccess)
      }
    }
  }

  @Test func `a store that was moved away and replaced is no longer used`() throws {
    defer { world.close() }
    let item: [AnyHashable: Any] = ["class": "genp", "acct": "bot", "v_Data": Data("s".utf8)]
    #expect(SecItemCall.add(item).status == errSecSuccess)
    let files = FileManager.default
    let path = world.store.path
    try files.moveItem(atPath: path, toPath: path + ".old")
    #expect(find(["class": "genp"]).status == errSecNotAvailable)
    try files.copyItem(atPath: path + ".old", toPath: path)
    #expect(SecItemCall.delete(["class": "genp"]).status == errSecSuccess)
    #expect(try items().isEmpty)
    #expect(try Index.open(at: path + ".old", host: world.store.host).find(Query()).items.count == 1)
  }

  @Test func `a new policy applies from the moment that it is accepted`() throws {
    defer { world.close() }
    #expect(
      SecItemCall.add(["class": "genp", "acct": "bot", "v_Data": Data("s".utf8)]).status == errSecSuccess)
    #expect(find(["class": "genp", "agrp": "ops"]).status == errSecMissingEntitlement)
    try world.accept { $0.groups["ops"] = [world.store.owner] }
    #expect(find(["class": "genp", "agrp": "ops"]).status == errSecItemNotFound)
    #expect(SecItemCall.add(["class": "genp", "acct": "new", "agrp": "ops"]).status == errSecSuccess)
    #expect(find(["class": "genp", "agrp": "ops"]).status == errSecSuccess)
    try world.accept { $0.groups["ops"] = nil }
    #expect(find(["class": "genp", "agrp": "ops"]).status == errSecMissingEntitlement)
    #expect(find(["class": "genp", "acct": "new"]).status == errSecItemNotFound)
    #expect(find(["class": "genp", "acct": "bot", "r_Data": true]).result as? Data == Data("s".utf8))
  }
}
