import Foundation
import Glibc
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests which policies a machine accepts automatically and which it refuses (threats T1 to T3).
@Suite(.serialized, .slow) struct PolicyChainTests {
  /// A store with alice and bob as admins and carol as a member. Bob's machine has accepted generation 2.
  private let world: TeamWorld
  private let items: [ItemRecord]
  private let before: PolicyStep

  init() throws {
    world = try TeamWorld()
    try world.add([.bob], role: .admin)
    try world.add([.carol])
    items = try world.addItems(2)
    for person in [GnuPGKey.bob, .carol] { try world.trust(person) }
    before = try Self.step(in: world)
  }

  // MARK: Creating policies

  static func step(in world: TeamWorld) throws -> PolicyStep {
    let tree = try world.tree()
    var keys: [Fingerprint: [UInt8]] = [:]
    for person in [GnuPGKey.alice, .bob, .carol] {
      keys[person.fingerprint] = try tree.read("keys/\(person.fingerprint.text).asc", limit: 1 << 20)
    }
    return PolicyStep(
      bytes: try #require(try tree.read("policy.json", limit: 1 << 20)),
      signature: try tree.read("policy.json.asc", limit: 1 << 20), keys: keys)
  }

  /// Puts a policy into the store, as a person who can push does.
  private func push(_ policy: Policy, signedBy signer: GnuPGKey?, in home: GnuPGHome? = nil) throws {
    try push(policy.encode(), signedBy: signer, in: home)
  }

  private func push(_ bytes: [UInt8], signedBy signer: GnuPGKey?, in home: GnuPGHome? = nil) throws {
    let tree = try world.tree()
    try tree.replaceFile("policy.json", with: bytes, temporary: "new")
    guard let signer else { return }
    let home = home ?? world.gnupg(signer)
    let words = ["--armor", "--local-user", signer.fingerprint.text, "--detach-sign"]
    let signature = try home.run(words, input: bytes)
    try tree.replaceFile("policy.json.asc", with: signature, temporary: "new")
  }

  private func policy() throws -> Policy { try Policy.parse(before.bytes) }

  private func next(_ edits: [PolicyEdit], after step: PolicyStep? = nil) throws -> Policy {
    let step = step ?? before
    return try Policy.parse(step.bytes).successor(
      by: edits, previous: step.digest, at: Timestamp(microseconds: 1_800_000_000_000_000))
  }

  private var mallory: GnuPGKey { .rsa }

  private func addMallory() throws -> [PolicyEdit] {
    let key = try KeyFile(reading: [mallory.publicKey], locations: world.gnupg(.alice).locations)
    try world.tree().replaceFile("keys/\(mallory.fingerprint.text).asc", with: key.bytes, temporary: "new")
    return [
      .add(
        mallory.fingerprint, name: "Alice (new)", role: .member, key: ContentDigest(of: key.bytes),
        encryptTo: [mallory.encryptionSubkey]),
      .join(mallory.fingerprint, group: "default"),
    ]
  }

  /// Expects that nothing can be written, for this reason, that existing items can be read, and that nothing is
  /// encrypted to another key.
  private func expectRefused(_ reason: PolicyDistrust, location: SourceLocation = #_sourceLocation) throws {
    let keyring = try world.open(.bob)
    #expect(keyring.distrust == reason, sourceLocation: location)
    let files = StoreDigest(of: world.path)
    let changes = AttributeChanges(group: "default")
    #expect(throws: KeyringError.policyNotTrusted(reason), sourceLocation: location) {
      try keyring.add(.login("new.example", "me"), secret: SecretBytes(text: "x"))
    }
    #expect(throws: KeyringError.policyNotTrusted(reason), sourceLocation: location) {
      try keyring.update(items[0], changes, secret: SecretBytes(text: "x"))
    }
    #expect(throws: KeyringError.policyNotTrusted(reason), sourceLocation: location) {
      try keyring.reencryptOutdated()
    }
    #expect(throws: KeyringError.policyNotTrusted(reason), sourceLocation: location) {
      try keyring.plan([.create(group: "x")])
    }
    #expect(try keyring.text(of: items[0]) == "secret 0", sourceLocation: location)
    #expect(StoreDigest(of: world.path) == files, sourceLocation: location)
    let tree = try world.tree()
    let strangers = Set(
      try KeyFile(reading: [mallory.publicKey], locations: world.gnupg(.alice).locations).key.subkeys.map(
        \.keyID))
    for record in items {
      let message = try #require(try tree.read("items/\(record.path.text).gpg", limit: 1 << 20))
      let found = try unsafe message.withUnsafeBytes {
        try unsafe MessageHeader.parse($0, limit: 1 << 20).recipients
      }
      #expect(strangers.isDisjoint(with: found), sourceLocation: location)
    }
  }

  // MARK: Accepting

  @Test func `a policy that an accepted admin has signed is accepted and reported`() throws {
    try world.remove(.carol)
    let bob = try world.open(.bob)
    #expect(bob.distrust == nil && bob.policy.generation == 4)
    #expect(bob.policyBefore == (try policy()))
    try bob.add(.login("new.example", "me"), secret: SecretBytes(text: "x"))
    // It is reported only once.
    #expect(try world.open(.bob).policyBefore == nil)
  }

  @Test func `several steps are accepted if the steps between are known`() throws {
    try world.remove(.carol)
    let between = try Self.step(in: world)
    let alice = try world.open(.alice)
    _ = try alice.make(alice.plan([.create(group: "ops"), .join(GnuPGKey.alice.fingerprint, group: "ops")]))
    try expectRefused(.stepsMissing(generation: 5, pinned: 3))
    var asked = 0
    let bob = try Keyring.open(at: world.path, host: world.host(.bob), faults: nil, engine: nil) {
      asked += 1
      return HistoricalPolicies([before, between])
    }
    #expect(bob.distrust == nil && bob.policy.generation == 5 && asked == 1)
  }

  @Test func `a step that was also committed with a false signature and another key file is accepted`() throws
  {
    try world.remove(.carol)
    let between = try Self.step(in: world)
    let alice = try world.open(.alice)
    _ = try alice.make(alice.plan([.create(group: "ops"), .join(GnuPGKey.alice.fingerprint, group: "ops")]))
    let forgeries = [
      PolicyStep(bytes: between.bytes, signature: nil, keys: [:]),
      PolicyStep(bytes: between.bytes, signature: Array("no\n".utf8), keys: between.keys),
      PolicyStep(bytes: between.bytes, signature: before.signature, keys: [GnuPGKey.bob.fingerprint: [1]]),
    ]
    func open(_ steps: [PolicyStep]) throws -> Keyring {
      try Keyring.open(at: world.path, host: world.host(.bob), faults: nil, engine: nil) {
        HistoricalPolicies(steps)
      }
    }
    #expect(try open(forgeries).distrust == .unsigned)
    let bob = try open(forgeries + [between])
    #expect(bob.distrust == nil && bob.policy.generation == 5)
  }

  @Test func `an admin who was added in a step between can sign the last step`() throws {
    let alice = try world.open(.alice)
    _ = try alice.make(alice.plan([.role(GnuPGKey.carol.fingerprint, .admin)]))
    let between = try Self.step(in: world)
    let carol = try world.open(.carol)
    _ = try carol.make(carol.plan([.create(group: "ops"), .join(GnuPGKey.carol.fingerprint, group: "ops")]))
    let bob = try Keyring.open(at: world.path, host: world.host(.bob), faults: nil, engine: nil) {
      HistoricalPolicies([between])
    }
    #expect(bob.distrust == nil && bob.policy.generation == 5)
  }

  // MARK: Attacks

  @Test func `another fingerprint in the policy is refused, unsigned or with the old signature`()
    throws
  {
    var policy = try policy()
    policy.people[mallory.fingerprint] = Person(
      name: "M", role: .member, added: .latest, encryptTo: [mallory.encryptionSubkey])
    policy.groups["default"]?.append(mallory.fingerprint)
    try world.tree().createFile("keys/\(mallory.fingerprint.text).asc", mallory.publicKey)
    try push(policy, signedBy: nil)
    try expectRefused(.changed(generation: 3, pinned: 3))
    try push(try next(try addMalloryEdits()), signedBy: nil)
    try expectRefused(.badSignature)
    try world.tree().remove("policy.json.asc")
    try expectRefused(.unsigned)
  }

  private func addMalloryEdits() throws -> [PolicyEdit] {
    [
      .add(
        mallory.fingerprint, name: "M", role: .member, key: ContentDigest(of: mallory.publicKey),
        encryptTo: [mallory.encryptionSubkey]),
      .join(mallory.fingerprint, group: "default"),
    ]
  }

  @Test func `an old policy is refused even with a valid signature`() throws {
    try world.remove(.carol)
    #expect(try world.open(.bob).policy.generation == 4)
    let tree = try world.tree()
    try tree.replaceFile("policy.json", with: before.bytes, temporary: "new")
    try tree.replaceFile("policy.json.asc", with: try #require(before.signature), temporary: "new")
    try expectRefused(.changed(generation: 3, pinned: 4))
  }

  @Test func `a policy of the same generation with another content is refused`() throws {
    let other = try next([.create(group: "other")])
    try world.remove(.carol)
    #expect(try world.open(.bob).policy.generation == 4)
    try push(other, signedBy: .alice)
    try expectRefused(.changed(generation: 4, pinned: 4))
  }

  @Test func `a policy that does not follow the accepted one is refused`() throws {
    let other = try next([.create(group: "other")])
    try push(other, signedBy: .alice)
    #expect(try world.open(.bob).policy.generation == 4)
    // A fork from an earlier policy, one generation ahead.
    let fork = try next([.create(group: "ops")])
    let step = PolicyStep(bytes: fork.encode(), signature: nil, keys: [:])
    try push(try next(try addMallory(), after: step), signedBy: .alice)
    try expectRefused(.notSuccessor(generation: 5))
  }

  @Test func `a policy that a member has signed who is not an admin is refused`() throws {
    try push(try next(try addMallory()), signedBy: .carol)
    try expectRefused(.badSignature)
  }

  @Test func `a policy that an unknown key has signed is refused, even if it makes the signer an admin`()
    throws
  {
    var edits = try addMallory()
    edits.append(.role(mallory.fingerprint, .admin))
    let home = try GnuPGHome(secret: [mallory])
    try push(try next(edits), signedBy: mallory, in: home)
    try expectRefused(.badSignature)
  }

  @Test func `a policy that a removed admin has signed is refused`() throws {
    let carol = GnuPGKey.carol.fingerprint
    let alice = try world.open(.alice)
    _ = try alice.make(alice.plan([.role(carol, .admin)]))
    _ = try world.open(.bob)
    try world.remove(.carol)
    #expect(try world.open(.bob).policy.generation == 5)
    try push(try next(try addMallory(), after: try Self.step(in: world)), signedBy: .carol)
    try expectRefused(.badSignature)
  }

  @Test func `a signature by a revoked admin is not valid`() throws {
    // The admin's key is revoked in what this machine has accepted.
    let revoked = GnuPGKey.revoked.fingerprint
    var policy = try policy()
    policy.people[revoked] = Person(
      name: "R", role: .admin, added: .latest, encryptTo: [GnuPGKey.revoked.encryptionSubkey])
    let chain = PolicyChain.Link(
      policy: policy, digest: ContentDigest(of: policy.encode()),
      keys: before.keys.merging([revoked: GnuPGKey.revoked.publicKey]) { $1 })
    #expect(chain.policy.admins.contains(revoked))
    let engine = Engine(
      locations: world.gnupg(.bob).locations, keyringID: "x", keys: chain.keys, interaction: .never)
    let facts = try engine.verifyDetached(
      signature: GnuPGKey.signature(by: .revoked), of: Array("policy\n".utf8))
    let revocation = KeyRevocation(
      created: Timestamp(microseconds: 1_704_412_800_000_000), reason: .unspecified)
    #expect(facts.map(\.status) == [.invalidKey(.revoked(revocation))])
  }

  @Test func `a key file that was exchanged under the same name is refused`() throws {
    let carol = GnuPGKey.carol.fingerprint
    let file = "keys/\(carol.text).asc"
    try world.tree().replaceFile(file, with: mallory.publicKey, temporary: "new")
    try expectRefused(.keyChanged(carol, name: GnuPGKey.carol.mail))
    // With a policy that an admin has signed for another change.
    try push(try next([.create(group: "ops")]), signedBy: .alice)
    let bob = try world.open(.bob)
    #expect(bob.distrust == .keyChanged(carol, name: GnuPGKey.carol.mail) || bob.distrust == nil)
    #expect(bob.keyFile(of: carol) == before.keys[carol])
    // With a policy that names another key of the same person.
    try push(try next([.key(carol, ContentDigest(of: GnuPGKey.carol.publicKey + [10]))]), signedBy: .alice)
    #expect(try world.open(.bob).policy.people[carol]?.key == ContentDigest(of: before.keys[carol] ?? []))
  }

  @Test func `the key file of a new person must be the signed one`() throws {
    let edits = try addMallory()
    let policy = try next(edits)
    try world.tree().replaceFile(
      "keys/\(mallory.fingerprint.text).asc", with: GnuPGKey.bob.publicKey, temporary: "new")
    try push(policy, signedBy: .alice)
    try expectRefused(.keyExchanged(mallory.fingerprint, name: "Alice (new)"))
    try world.tree().remove("keys/\(mallory.fingerprint.text).asc")
    try expectRefused(.keyMissing(mallory.fingerprint))
  }

  static let lines = [
    "--file", "--hidden", "-o/x", "0xC86E40475C0FBD627777428CC11945FA7D8856D8",
    "C86E40475C0FBD627777428CC11945FA7D8856D8!", "c86e40475c0fbd627777428cc11945fa7d8856d8",
    "C86E40475C0FBD627777428CC11945FA7D8856D", "C86E40475C0FBD627777428CC11945FA7D8856D88",
    "\u{a0}86E40475C0FBD627777428CC11945FA7D8856D8", "alice@keytree.example", "",
    "C86E40475C0FBD627777428CC11945FA7D8856D8\\n--file\\n/etc/passwd",
    "C86E40475C0FBD627777428CC11945FA7D8856D8\\u0000", "\u{ff21}86E40475C0FBD627777428CC11945FA7D8856D8",
  ]

  @Test(arguments: lines)
  func `options and partial fingerprints in any list are never recipients`(text: String) throws {
    let original = String(decoding: before.bytes, as: UTF8.self)
    let alice = "\"\(GnuPGKey.alice.fingerprint.text)\""
    let places = original.ranges(of: alice)
    try #require(places.count == 2)
    for place in places {
      let changed = original.replacingCharacters(in: place, with: "\"\(text)\"")
      try push(Array(changed.utf8), signedBy: .alice)
      #expect(throws: KeyringError.self) { try world.open(.bob) }
    }
  }

  // MARK: Reapplying changes

  private func reapply(_ person: GnuPGKey) throws -> PolicyRebase {
    try Keyring.reapply(at: world.path, host: world.host(person), past: HistoricalPolicies([before]))
  }

  private func expectNotReapplied(
    by people: [GnuPGKey] = [.alice, .carol], _ reason: PolicyDistrust,
    location: SourceLocation = #_sourceLocation
  ) {
    for person in people {
      #expect(throws: KeyringError.policyNotTrusted(reason), sourceLocation: location) {
        try reapply(person)
      }
      #expect(throws: Never.self, sourceLocation: location) {
        let keyring = try world.open(person)
        #expect(keyring.policy.people[mallory.fingerprint] == nil, sourceLocation: location)
      }
    }
  }

  @Test func `a removed admin does not return through a policy from before the removal`() throws {
    let evil = try next(try addMallory() + [.remove(GnuPGKey.carol.fingerprint)])
    try world.remove(.bob)
    for person in [GnuPGKey.alice, .carol] { #expect(try world.open(person).policy.generation == 4) }
    try push(evil, signedBy: .bob)
    expectNotReapplied(.badSignature)
    // Nor with a policy that removes him, so that none of my changes is left to reapply.
    try push(try next(try addMallory() + [.remove(GnuPGKey.bob.fingerprint)]), signedBy: .bob)
    expectNotReapplied(.badSignature)
  }

  @Test func `changes are not reapplied on top of an old policy, or one that no admin has signed`() throws {
    let evil = try addMallory()
    let alice = try world.open(.alice)
    _ = try alice.make(alice.plan([.create(group: "ops"), .join(GnuPGKey.alice.fingerprint, group: "ops")]))
    _ = try world.open(.carol)
    try push(try next(evil), signedBy: .carol)
    expectNotReapplied(.badSignature)
    try push(try next(evil), signedBy: mallory, in: try GnuPGHome(secret: [mallory]))
    expectNotReapplied(.badSignature)
    try world.tree().replaceFile("policy.json", with: before.bytes, temporary: "new")
    expectNotReapplied(.changed(generation: 3, pinned: 4))
    // A policy by another current admin is accepted, and my changes are reapplied on top of it.
    try push(
      try next([.create(group: "dev"), .join(GnuPGKey.bob.fingerprint, group: "dev")]), signedBy: .bob)
    let merge = try reapply(.alice)
    #expect(merge.edits.count == 2 && merge.accepted.groups["ops"] != nil)
    let now = try merge.keyring.make(merge.keyring.plan(merge.edits, newKeys: merge.keys))
    #expect(Set(now.policy.groups.keys) == ["default", "dev", "ops"] && now.policy.generation == 5)
    #expect(try world.open(.alice).distrust == nil)
  }
}
