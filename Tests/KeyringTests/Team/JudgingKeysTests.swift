import Encoding
import KeyringModel
import OpenPGP
import TestSupport
import Testing

@testable import Keyring

/// The keys that GnuPG gets before the signature of a received policy is verified.
@Suite struct JudgingKeysTests {
  private let admin = EngineDouble.fingerprint(1)
  private let member = EngineDouble.fingerprint(2)
  private let time = Timestamp(microseconds: 0)

  private func policy(_ files: KeyFiles) throws -> Policy {
    func person(_ person: Fingerprint, _ role: Person.Role) -> Person {
      Person(
        name: person.text, role: role, added: time,
        key: files[person].map { ContentDigest(of: $0) },
        encryptTo: [person])
    }
    let people = files.keys.map { ($0, person($0, $0 == admin ? .admin : .member)) }
    return Policy(
      keyring: try #require(KeyringID(hex: String(repeating: "0", count: 32))), generation: 1,
      previous: nil,
      people: Dictionary(people) { first, _ in first }, groups: ["default": files.keys.sorted()])
  }

  @Test func `only the key files of admins are imported to judge a received policy`() throws {
    let engine = EngineDouble(readers: [admin])
    let files = [admin: Array("admin".utf8), member: Array("member".utf8)]
    let old = try policy(files)
    let new = try old.successor(by: [], previous: ContentDigest(of: old.encode()), at: time)
    var imported: [Set<Fingerprint>] = []
    let chain = PolicyChain { keys in
      imported.append(Set(keys.keys))
      return engine
    }
    let step = PolicyStep(
      bytes: new.encode(), signature: try engine.signDetached(new.encode(), signer: admin),
      keys: files)
    let start = PolicyChain.Link(policy: old, digest: ContentDigest(of: old.encode()), keys: files)
    #expect(try chain.signedStep(step, after: start).link.keys == files)
    #expect(imported == [[admin]])
  }

  @Test func `a policy that brings a key with very many parts is refused`() throws {
    let engine = EngineDouble(readers: [admin])
    let key = GnuPGKey.carol
    let binary = Armor.binary(key.publicKey, .publicKey)
    // User ids of one byte (RFC 9580, 5.11), without signatures.
    let file = binary + (0..<65).flatMap { [0xCD, 1, UInt8(ascii: "0") + $0] }
    let files = [admin: Array("admin".utf8)]
    let old = try policy(files)
    let start = PolicyChain.Link(policy: old, digest: ContentDigest(of: old.encode()), keys: files)
    let new = try old.successor(
      by: [
        .add(
          key.fingerprint, name: "Carol", role: .member, key: ContentDigest(of: file),
          encryptTo: [key.encryptionSubkey])
      ], previous: start.digest, at: time)
    let step = PolicyStep(
      bytes: new.encode(), signature: try engine.signDetached(new.encode(), signer: admin),
      keys: files.merging([key.fingerprint: file]) { $1 })
    #expect(
      throws: KeyringError.policyNotTrusted(
        .unusableKeyFile(key.fingerprint, .tooManyParts(limit: 64)))
    ) {
      try PolicyChain { _ in engine }.signedStep(step, after: start)
    }
  }

  // MARK: Policies of strangers

  /// Returns a key file with 65 user ids more than a person has, which GnuPG does not get.
  private func overloaded(_ key: GnuPGKey) throws -> [UInt8] {
    let home = try GnuPGHome()
    // User ids of one byte (RFC 9580, 5.11). Only an option makes GnuPG accept those without a signature.
    let users = (0..<65).flatMap { [0xCD, 1, UInt8(ascii: "0") + $0] }
    try home.run(
      ["--allow-non-selfsigned-uid", "--import"],
      input: Armor.binary(key.publicKey, .publicKey) + users)
    return try home.run(["--armor", "--export"])
  }

  @Test func `a stranger who breaks the key file of an admin causes no error of GnuPG`() throws {
    let world = try TeamWorld([.alice, .carol])
    let admin = GnuPGKey.alice.fingerprint
    let before = try step(in: world)
    let forge = PolicyForge(world.gnupg(.carol), store: world.path)
    let key = try overloaded(.alice)
    try forge.write(key, to: StoreLayout.keyFile(admin))
    try forge.succeed([], by: .carol) { $0.people[admin]?.key = ContentDigest(of: key) }
    let received = try step(in: world)

    // The store can still be read with the accepted policy.
    let reason = PolicyDistrust.unusableKeyFile(admin, .tooManyParts(limit: 64))
    let keyring = try world.open(.alice)
    #expect(keyring.distrust == reason && keyring.policy.generation == 1)
    // `sync` refuses the policy, and `sync --keep-policy` can drop it.
    let past = HistoricalPolicies([before, received])
    #expect(throws: KeyringError.policyNotTrusted(reason)) {
      try keyring.judge(of: received, past: past)
    }
    #expect(throws: KeyringError.policyNotTrusted(reason)) {
      try keyring.rebase(onto: received, past: past)
    }
    #expect(try keyring.newestSigned(upTo: received, past: past).isEmpty)
    #expect(try Trust(at: world.path, host: world.host(.alice)).obstacle == reason)
  }

  private func step(in world: TeamWorld) throws -> PolicyStep {
    let forge = PolicyForge(world.gnupg(.alice), store: world.path)
    let admin = GnuPGKey.alice.fingerprint
    return PolicyStep(
      bytes: try forge.bytes(StoreLayout.policy), signature: try forge.bytes(StoreLayout.policySignature),
      keys: [admin: try forge.bytes(StoreLayout.keyFile(admin))])
  }

  @Test(arguments: [true, false])
  func `a key file that needs a newer GnuPG hides only the signature of an admin`(isByAdmin: Bool) throws {
    let engine = EngineDouble(readers: [admin])
    let older = EngineDouble(readers: [admin])
    let problem = KeyProblem.unreadable(needs: "2.5")
    older.verificationFailure = .unusableKey(admin, problem)
    let files = [admin: Array("admin".utf8)]
    let old = try policy(files)
    let start = PolicyChain.Link(policy: old, digest: ContentDigest(of: old.encode()), keys: files)
    let renewed = Array("renewed".utf8)
    let new = try old.successor(
      by: [.key(admin, ContentDigest(of: renewed))], previous: start.digest, at: time)
    let step = PolicyStep(
      bytes: new.encode(),
      signature: try engine.signDetached(new.encode(), signer: isByAdmin ? admin : member),
      keys: [admin: renewed])
    let error: KeyringError =
      isByAdmin
      ? .team(.unreadableKey(admin, name: admin.text, problem))
      : .policyNotTrusted(.unusableKeyFile(admin, problem))
    for left in [nil, start] {
      #expect(throws: error) {
        try PolicyChain { $0 == files ? engine : older }.follow([step], from: start, leavingOut: left)
      }
    }
  }

  // MARK: Members over a limit

  @Test(arguments: [false, true])
  func `a member whose accepted key is over a limit can be removed and replaced`(isReplaced: Bool) throws {
    let world = try TeamWorld([.alice, .bob])
    try world.add([.bob])
    _ = try world.addItems(1)
    // An earlier version without the limit has accepted the key.
    let bob = GnuPGKey.bob.fingerprint
    let key = try overloaded(.bob)
    let forge = PolicyForge(world.gnupg(.alice), store: world.path)
    let before = try world.open(.alice)
    try forge.write(key, to: StoreLayout.keyFile(bob))
    try forge.succeed([], by: .alice) { $0.people[bob]?.key = ContentDigest(of: key) }
    let policy = try forge.policy
    let pins = PinStore(base: world.host(.alice).stateBase, keyring: policy.keyring)
    var keys = [bob: key]
    keys[GnuPGKey.alice.fingerprint] = before.keyFile(of: GnuPGKey.alice.fingerprint)
    #expect(
      try pins.write(
        policy: policy, bytes: policy.encode(), keys: keys, signer: GnuPGKey.alice.fingerprint,
        replacing: pins.read()?.pin))

    let keyring = try world.open(.alice)
    #expect(keyring.distrust == nil)
    #expect(
      throws: KeyringError.team(
        .unreadableKey(bob, name: GnuPGKey.bob.mail, .tooManyParts(limit: 64)))
    ) { try keyring.requireReadableKeys() }
    var edits: [PolicyEdit] = [.remove(bob)]
    var files: KeyFiles = [:]
    if isReplaced {
      let carol = GnuPGKey.carol
      let file = try world.keyFile(carol)
      files[carol.fingerprint] = file.bytes
      edits = [
        .add(
          carol.fingerprint, name: carol.mail, role: .member, key: ContentDigest(of: file.bytes),
          encryptTo: [carol.encryptionSubkey]),
        .join(carol.fingerprint, group: GroupName.default), .replace(bob, by: carol.fingerprint),
      ]
    }
    _ = try keyring.make(try keyring.plan(edits, newKeys: files))
    try world.open(.alice).requireReadableKeys()
  }
}
