import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests changes of people and groups, with real GnuPG.
@Suite(.serialized, .waits) struct TeamTests {
  @Test func `a person who is added can read and write, and other machines know them`() throws {
    let world = try TeamWorld()
    let items = try world.addItems(3)
    try world.add([.bob])
    try world.trust(.bob)
    let bob = try world.open(.bob)
    #expect(try bob.text(of: bob.find(Query()).items[0]) == "secret 0")
    let mine = try bob.add(.login("bob.example", "bob"), secret: SecretBytes(text: "bob's"))
    let alice = try world.open(.alice)
    #expect(try alice.text(of: mine) == "bob's")
    #expect(alice.policy.generation == 2 && alice.distrust == nil)
    #expect(try alice.find(Query()).items.count == items.count + 1)
    #expect(try alice.check(decrypts: true).findings.isEmpty)
    // The secret is the same, and so is the revision.
    let now = try alice.find(Query(predicates: [.id(items[0].id)])).items[0]
    #expect(now.revision == items[0].revision && now.modified == items[0].modified)
    #expect(now.sealed != items[0].sealed)
  }

  @Test func `after a removal no item has the removed key in its packets`() throws {
    let world = try TeamWorld()
    try world.add([.bob, .carol])
    _ = try world.addItems(5)
    try world.trust(.bob)
    let own = try world.open(.bob).add(.login("bob.example", "bob"), secret: SecretBytes(text: "bob's"))
    let bobs = try world.keyIDs(.bob)
    #expect(try world.recipients().values.allSatisfy { !bobs.isDisjoint(with: $0) })
    try world.remove(.bob)
    #expect(try world.recipients().values.allSatisfy { bobs.isDisjoint(with: $0) && $0.count == 2 })
    // An item that he had signed is now signed by a current member.
    #expect(try world.open(.alice).text(of: own) == "bob's")
    #expect(try world.open(.alice).check(decrypts: true).findings.isEmpty)
    let bob = try world.open(.bob)
    #expect(bob.policy.people[GnuPGKey.bob.fingerprint]?.removed != nil)
    let removed = try #require(bob.policy.people[GnuPGKey.bob.fingerprint]?.removed)
    #expect(throws: KeyringError.team(.removed(removed))) {
      try bob.add(.login("again.example", "bob"), secret: SecretBytes(text: "x"))
    }
    let record = try bob.find(Query()).items[0]
    #expect { try bob.text(of: record) } throws: { error in
      if case .engine(.notARecipient, _)? = error as? KeyringError { true } else { false }
    }
  }

  @Test func `a session key is never reused`() throws {
    let world = try TeamWorld()
    let record = try world.addItems(1)[0]
    let before = try sessionKey(of: record, in: world)
    try world.add([.bob])
    let after = try sessionKey(of: record, in: world)
    #expect(!before.isEmpty && before != after)
  }

  /// Returns the session key of an item as gpg reports it.
  private func sessionKey(of record: ItemRecord, in world: TeamWorld) throws -> String {
    let message = try #require(try world.tree().read("items/\(record.path.text).gpg", limit: 1 << 20))
    let output = try world.gnupg(.alice).run(
      [
        "--status-fd", "1", "--show-session-key", "--output", "\(world.gnupg(.alice).folder)/plain",
        "--decrypt",
      ], input: message)
    let line = String(decoding: output, as: UTF8.self).split(separator: "\n")
      .first { $0.contains("SESSION_KEY") }
    return String(line ?? "")
  }

  @Test func `items whose readers do not change are left unchanged`() throws {
    let world = try TeamWorld()
    try world.add([.carol], to: "ops")
    let other = try world.addItems(2)
    _ = try world.addItems(2, group: "ops")
    let keyring = try world.open(.alice)
    let change = try keyring.plan([.leave(GnuPGKey.carol.fingerprint, group: "ops")])
    #expect(change.items.count == 2 && change.items.allSatisfy { $0.group == "ops" })
    let now = try keyring.make(change)
    for record in other {
      #expect(try now.find(Query(predicates: [.id(record.id)])).items == [record])
    }
    // Nothing is pending.
    #expect(try now.outdatedItems().isEmpty && now.reencryptOutdated() == 0)
  }

  @Test func `an item is moved to a group together with its secret`() throws {
    let world = try TeamWorld()
    try world.add([.bob], to: "ops")
    let record = try world.addItems(1)[0]
    let moved = try world.open(.alice).update(record, AttributeChanges(group: "ops"))
    #expect(moved.id == record.id && moved.revision == record.revision && moved.group == "ops")
    try world.trust(.bob)
    #expect(try world.open(.bob).text(of: moved) == "secret 0")
  }

  @Test func `a user cannot write for a group without being a member`() throws {
    let world = try TeamWorld()
    try world.add([.carol])
    try world.add([.bob], to: "ops")
    try world.trust(.carol)
    var item = NewItem.login("a.example", "me")
    item.group = "ops"
    let carol = try world.open(.carol)
    #expect(throws: KeyringError.team(.notInGroup("ops"))) {
      try carol.add(item, secret: SecretBytes(text: "x"))
    }
    #expect(throws: KeyringError.team(.notAnAdmin)) { try carol.plan([.create(group: "mine")]) }
  }

  @Test func `an item that the user cannot decrypt stops a removal before anything is changed`() throws {
    let world = try TeamWorld()
    try world.add([.carol])
    try world.add([.bob], to: "ops", role: .admin)
    try world.trust(.bob)
    let bob = try world.open(.bob)
    _ = try bob.make(
      bob.plan([
        .join(GnuPGKey.carol.fingerprint, group: "ops"), .leave(GnuPGKey.alice.fingerprint, group: "ops"),
      ]))
    let items = try world.addItems(3, group: "ops", by: .bob)
    let before = StoreDigest(of: world.path)
    let alice = try world.open(.alice)
    let change = try alice.plan([.remove(GnuPGKey.carol.fingerprint)])
    #expect(
      throws: KeyringError.team(
        .cannotReencrypt(items.map(\.reference), count: 3, reason: .notARecipient))
    ) { try alice.make(change) }
    #expect(StoreDigest(of: world.path) == before)
  }

  @Test(arguments: [GnuPGKey.revoked, .signonly, .expired])
  func `a key that cannot be used stops an addition before anything is changed`(key: GnuPGKey) throws {
    let world = try TeamWorld([.alice])
    _ = try world.addItems(2)
    let before = StoreDigest(of: world.path)
    #expect { try world.add([key]) } throws: { error in
      switch error as? KeyringError {
      case .team(.unusableKey(key.fingerprint, _, "default", .cannotEncrypt)): key == .signonly
      case .team(.keyEnded(let obstacle))
      where obstacle.person == key.fingerprint && obstacle.group == "default":
        switch obstacle.state {
        case .expired: key == .expired
        case .revoked: key == .revoked
        }
      default: false
      }
    }
    #expect(StoreDigest(of: world.path) == before)
  }

  @Test func `an item that a member has encrypted for another keyring is refused`() throws {
    let world = try TeamWorld()
    try world.add([.bob])
    let item = try world.addItems(1)[0]
    let file = "items/\(item.path.text)"
    let path = world.path + "-other"
    let other = try Keyring.create(at: path, owner: GnuPGKey.alice.fingerprint, host: world.host(.alice))
    let secret = SecretBytes(text: "evil")
    try other.add(.login("default-0.example", "me"), secret: secret)
    for ending in [".gpg", ".json"] {
      let bytes = try #require(try FileTree(at: path).read(file + ending, limit: 1 << 20))
      try world.tree().replaceFile(file + ending, with: bytes, temporary: "new")
    }
    #expect(throws: KeyringError.bindingMismatch(item.reference, .keyring)) {
      try world.open(.alice).text(of: item)
    }
    // Nor is it re-encrypted, and so signed, for another person.
    #expect(throws: KeyringError.bindingMismatch(item.reference, .keyring)) { try world.add([.carol]) }
  }

  @Test func `a signature by a removed person is not valid`() throws {
    let world = try TeamWorld([.alice, .bob])
    try world.add([.bob])
    try world.trust(.bob)
    let secret = SecretBytes(text: "bob's")
    let item = try world.open(.bob).add(.login("b.example", "bob"), secret: secret)
    let file = "items/\(item.path.text).json"
    let signed = try #require(try world.tree().read(file, limit: 1 << 20))
    try world.remove(.bob)
    let now = try world.open(.alice).find(Query()).items[0]
    #expect(try world.open(.alice).text(of: now) == "bob's")
    try world.tree().replaceFile(file, with: signed, temporary: "new")
    #expect(throws: KeyringError.itemDamaged(item.reference, .badSignature)) {
      try world.open(.alice).text(of: now)
    }
  }

  @Test func `a change ignores damage in other groups`() throws {
    let world = try TeamWorld()
    try world.add([.bob])
    try world.add([.carol], to: "ops")
    _ = try world.addItems(2)
    let item = try world.addItems(1, group: "ops")[0]
    let file = "items/\(item.path.text).gpg"
    try world.tree().remove(file)
    let alice = try world.open(.alice)
    let now = try alice.make(alice.plan([.remove(GnuPGKey.bob.fingerprint)]))
    #expect(!now.policy.isMember(GnuPGKey.bob.fingerprint))
    #expect(throws: KeyringError.itemDamaged(item.reference, .missing)) {
      try now.plan([.remove(GnuPGKey.carol.fingerprint)])
    }
  }

  @Test func `records are signed again from the records, not from the index`() throws {
    let world = try TeamWorld([.alice, .bob])
    let old = try world.addItems(1)[0]
    let keyring = try world.open(.alice)
    let secret = SecretBytes(text: "newer")
    let new = try keyring.update(old, secret: secret)
    // A state that plain git may leave: the old line with the digest of the newer message.
    var line = old
    line.sealed = new.sealed
    let shard = "index/\(StoreLayout.shardName(old.path.shard))"
    try world.tree().replaceFile(shard, with: try IndexLine.encode(line) + [10], temporary: "new")
    try world.add([.bob])
    let now = try world.open(.alice).find(Query()).items[0]
    #expect(now.revision == new.revision && now.secretModified == new.secretModified)
    #expect(try world.open(.alice).text(of: now) == "newer")
    #expect(try world.open(.alice).check(decrypts: true).findings.isEmpty)
  }

  static var alice: Fingerprint { GnuPGKey.alice.fingerprint }

  static let refused: [([PolicyEdit], TeamError)] = [
    ([.remove(alice)], .lastAdmin),
    ([.role(alice, .member)], .lastAdmin),
    ([.leave(alice, group: "ops")], .lastReader(group: "ops", items: 1)),
    ([.leave(alice, group: "default")], .losesOwnAccess(groups: ["default"])),
    ([.role(GnuPGKey.bob.fingerprint, .admin), .role(alice, .member)], .losesOwnAccess(groups: [])),
    ([.delete(group: "ops")], .groupInUse("ops", items: 1)),
    (
      [.leave(alice, group: "default"), .leave(GnuPGKey.bob.fingerprint, group: "default")],
      .invalid(.emptyDefaultGroup)
    ),
    (
      [.join(GnuPGKey.carol.fingerprint, group: "ops")],
      .invalid(.unknownPerson(GnuPGKey.carol.fingerprint, group: "ops"))
    ),
    (
      [
        .add(
          GnuPGKey.carol.fingerprint, name: "Carol", role: .member, key: ContentDigest(of: []),
          encryptTo: [GnuPGKey.carol.encryptionSubkey])
      ],
      .keyFileMissing(GnuPGKey.carol.fingerprint)
    ),
  ]

  @Test func `a change that would break a keyring is refused`() throws {
    let world = try TeamWorld([.alice, .bob])
    try world.add([.bob])
    let keyring = try world.open(.alice)
    _ = try keyring.make(keyring.plan([.create(group: "ops"), .join(Self.alice, group: "ops")]))
    _ = try world.addItems(1, group: "ops")
    _ = try world.addItems(1)
    let now = try world.open(.alice)
    for (edits, error) in Self.refused {
      #expect(throws: KeyringError.team(error)) { try now.plan(edits) }
    }
    // An admin can give up their role with force.
    let forced = try now.plan(Self.refused[4].0, force: true)
    #expect(forced.after.admins == [GnuPGKey.bob.fingerprint])
  }

  @Test func `a renewed key is imported, and an older key file reverts nothing`() throws {
    let world = try TeamWorld([.alice, .bob])
    try world.add([.bob])
    _ = try world.addItems(2)
    let old = try world.keyFile(.bob)
    // Bob gets a newer subkey for encryption.
    let home = world.gnupg(.bob)
    try home.run(
      [
        "--pinentry-mode", "loopback", "--passphrase", "", "--quick-add-key", GnuPGKey.bob.fingerprint.text,
        "cv25519", "encr",
      ])
    let exported = try home.run(["--armor", "--export", GnuPGKey.bob.fingerprint.text])
    let locations = world.gnupg(.alice).locations
    let new = try KeyFile(
      reading: [old.bytes, exported], expecting: old.key.fingerprint, locations: locations)
    #expect(new.key.subkeys.count == old.key.subkeys.count + 1)
    let back = try KeyFile(reading: [new.bytes, old.bytes], locations: locations)
    #expect(back.key == new.key)
    let alice = try world.open(.alice)
    let change = try alice.plan(
      [
        .key(old.key.fingerprint, ContentDigest(of: new.bytes)),
        .encrypt(old.key.fingerprint, to: [try #require(new.key.subkeys.last?.fingerprint)]),
      ],
      newKeys: [old.key.fingerprint: new.bytes])
    #expect(change.items.count == 2)
    _ = try alice.make(change)
    let subkey = try #require(new.key.subkeys.last?.keyID)
    #expect(try world.recipients().values.allSatisfy { $0.contains(subkey) })
    try world.trust(.bob)
    #expect(try world.open(.bob).check(decrypts: true).findings.isEmpty)
  }
}
