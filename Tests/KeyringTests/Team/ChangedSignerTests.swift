import Encoding
import Foundation
import Keyring
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// Tests who may sign the next policy when the key of an admin changes in it.
@Suite(.serialized, .waits) struct ChangedSignerTests {
  private static let dave = GnuPGKey.dave.fingerprint
  private let home: GnuPGHome
  private let room: VerificationWorkspace

  init() throws {
    home = try GnuPGHome()
    try home.run(["--import"], input: GnuPGKey.file("dave.renewed.secret"))
    let locations = home.locations
    room = try VerificationWorkspace(
      host: HostContext(
        gnupgHome: locations.userHome, engineBase: locations.runtimeBase, stateBase: "\(home.folder)/state",
        searchPath: locations.searchPath))
  }

  /// Returns a policy whose only admin is dave, with a key file.
  private func policy(_ file: String) throws -> Policy {
    let person = Person(
      name: "Dave", role: .admin, added: Timestamp(microseconds: 0),
      key: ContentDigest(of: GnuPGKey.file(file)),
      encryptTo: [GnuPGKey.dave.encryptionSubkey])
    return Policy(
      keyring: try #require(KeyringID(hex: String(repeating: "a", count: 32))), generation: 1, previous: nil,
      people: [Self.dave: person], groups: ["default": [Self.dave]])
  }

  /// Returns the result of a policy that names another key file, signed by a subkey of dave at a time.
  private func follow(
    _ accepted: String, with file: String, named: String? = nil, signedBy subkey: Fingerprint, at time: String
  ) throws -> ChainProblem? {
    let first = try PolicyState(bytes: try policy(accepted).encode(), signature: nil)
    let edits = [PolicyEdit.key(Self.dave, ContentDigest(of: GnuPGKey.file(named ?? file)))]
    let bytes = try first.policy.successor(
      by: edits, previous: first.digest, at: Timestamp(microseconds: 1)
    ).encode()
    let signature = try home.run(
      ["--faked-system-time", time, "--local-user", "\(subkey.text)!", "--armor", "--detach-sign"],
      input: bytes)
    let link = PolicyRule.link(first, keys: [Self.dave: GnuPGKey.file(accepted)])
    let next = try PolicyState(bytes: bytes, signature: signature)
    let result = try PolicyRule(in: room).follow(next, keys: [Self.dave: GnuPGKey.file(file)], after: link)
    switch result {
    case .success(let followed):
      #expect(followed.link.keys == [Self.dave: GnuPGKey.file(file)])
      return nil
    case .failure(let problem): return problem
    }
  }

  @Test func `an only admin with another signing subkey can sign the policy that brings it`() throws {
    defer { room.remove() }
    let (first, second) = GnuPGKey.davesSubkeys
    let (before, after) = ("20240515T000000", "20240701T000000")
    #expect(try follow("dave.public", with: "dave.renewed", signedBy: second, at: after) == nil)
    #expect(try follow("dave.public", with: "dave.superseded", signedBy: second, at: after) == nil)
    #expect(try follow("dave.public", with: "dave.compromised", signedBy: second, at: after) == nil)
    #expect(try follow("dave.lapsed", with: "dave.lapsed", signedBy: second, at: after) == nil)
    // The old one signs, too, until its end.
    #expect(try follow("dave.public", with: "dave.superseded", signedBy: first, at: before) == nil)
    #expect(try follow("dave.lapsed", with: "dave.renewed", signedBy: first, at: before) == nil)
  }

  @Test func `a subkey that either key file revokes, or that had expired, cannot sign a policy`() throws {
    defer { room.remove() }
    let (first, second) = GnuPGKey.davesSubkeys
    let (before, after) = ("20240515T000000", "20240701T000000")
    let revoked = ChainProblem.signedByRevoked(Self.dave)
    #expect(try follow("dave.public", with: "dave.superseded", signedBy: first, at: after) == revoked)
    #expect(try follow("dave.public", with: "dave.compromised", signedBy: first, at: before) == revoked)
    #expect(try follow("dave.compromised", with: "dave.renewed", signedBy: first, at: before) == revoked)
    #expect(try follow("dave.withdrawn", with: "dave.renewed", signedBy: second, at: after) == revoked)
    let end = Timestamp(microseconds: 1_717_243_200_000_000)
    #expect(
      try follow("dave.public", with: "dave.lapsed", signedBy: first, at: after)
        == .signedByExpired(Self.dave, end))
    // A file that the policy does not name brings no subkey.
    #expect(
      try follow("dave.public", with: "dave.renewed", named: "dave.public", signedBy: second, at: after)
        == .signedByStranger(second))
  }

  // MARK: Subkeys of other people

  static let borrowed: [(file: String, subkey: String)] = [
    ("carol.borrowed.authenticating", "266961E31D666F3E513B9ECD3C8B0158E47CE2C1"),
    ("carol.borrowed.unused", "266961E31D666F3E513B9ECD3C8B0158E47CE2C1"),
    ("carol.borrowed.flagless", "266961E31D666F3E513B9ECD3C8B0158E47CE2C1"),
    ("carol.borrowed.signing", "E7470E5E47A329BE6B7D6EA94703363FA801F728"),
    ("carol.borrowed.copied", "E7470E5E47A329BE6B7D6EA94703363FA801F728"),
    ("carol.borrowed.primary", "A90E209E6F84F2E8302A0B036A57921C426A1710"),
  ]

  @Test(arguments: borrowed)
  func `a policy step that brings a key file with a subkey of another person is refused`(
    file: String, subkey: String
  ) throws {
    defer { room.remove() }
    let carol = GnuPGKey.carol.fingerprint
    let first = try PolicyState(bytes: try policy("dave.public").encode(), signature: nil)
    let key = GnuPGKey.file(file)
    let bytes = try first.policy.successor(
      by: [
        .add(
          carol, name: "Carol", role: .member, key: ContentDigest(of: key),
          encryptTo: [GnuPGKey.carol.encryptionSubkey]),
        .join(carol, group: "default"),
      ], previous: first.digest, at: Timestamp(microseconds: 1)
    ).encode()
    let signer = "\(GnuPGKey.davesSubkeys.first.text)!"
    let signature = try home.run(["--local-user", signer, "--armor", "--detach-sign"], input: bytes)
    let link = PolicyRule.link(first, keys: [Self.dave: GnuPGKey.dave.publicKey])
    let next = try PolicyState(bytes: bytes, signature: signature)
    let files = [Self.dave: GnuPGKey.dave.publicKey, carol: key]
    let result = try PolicyRule(in: room).follow(next, keys: files, after: link)
    let expected = ForeignSubkey(person: carol, owner: Self.dave, subkey: try #require(Fingerprint(subkey)))
    #expect(result == .failure(.foreignSubkey(expected)))
  }

  @Test
  func
    `a policy step that brings a member's key file with the primary key of another person names the member`()
    throws
  {
    defer { room.remove() }
    let carol = GnuPGKey.carol.fingerprint
    func added(_ file: [UInt8]) -> [PolicyEdit] {
      [
        .add(
          carol, name: "Carol", role: .member, key: ContentDigest(of: file),
          encryptTo: [GnuPGKey.carol.encryptionSubkey]),
        .join(carol, group: "default"),
      ]
    }
    let start = try policy("dave.public")
    let before = try start.successor(
      by: added(GnuPGKey.carol.publicKey), previous: ContentDigest(of: start.encode()),
      at: Timestamp(microseconds: 1))
    let first = try PolicyState(bytes: before.encode(), signature: nil)
    let key = GnuPGKey.file("carol.borrowed.primary")
    let bytes = try before.successor(
      by: [.key(carol, ContentDigest(of: key))], previous: first.digest, at: Timestamp(microseconds: 2)
    ).encode()
    let signer = "\(GnuPGKey.davesSubkeys.first.text)!"
    let signature = try home.run(["--local-user", signer, "--armor", "--detach-sign"], input: bytes)
    let link = PolicyRule.link(
      first, keys: [Self.dave: GnuPGKey.dave.publicKey, carol: GnuPGKey.carol.publicKey])
    let next = try PolicyState(bytes: bytes, signature: signature)
    let files = [Self.dave: GnuPGKey.dave.publicKey, carol: key]
    let result = try PolicyRule(in: room).follow(next, keys: files, after: link)
    let expected = ForeignSubkey(person: carol, owner: Self.dave, subkey: Self.dave)
    #expect(result == .failure(.foreignSubkey(expected)))
  }

  /// A subkey without flags can be used to encrypt, and needs no signature of its owner.
  @Test func `a person is told who has added their encryption subkey first`() throws {
    defer { room.remove() }
    let world = try TeamWorld([.alice, .dave, .carol])
    let carol = GnuPGKey.carol.fingerprint
    let file = try KeyFile(
      reading: [GnuPGKey.file("carol.borrowed.flagless")], locations: world.gnupg(.alice).locations)
    let subkey = try #require(
      file.key.subkeys.map(\.fingerprint).first { KeyID(of: $0) == KeyID("3C8B0158E47CE2C1") })
    func adding(_ person: Fingerprint, _ file: [UInt8], _ group: String) -> [PolicyEdit] {
      [
        .add(person, name: "New", role: .member, key: ContentDigest(of: file), encryptTo: [subkey]),
        .create(group: group), .join(person, group: group),
      ]
    }
    let alice = try world.open(.alice)
    let change = try alice.plan(adding(carol, file.bytes, "guests"), newKeys: [carol: file.bytes])
    _ = try alice.make(change)
    let dave = try KeyFile(
      reading: [GnuPGKey.dave.publicKey], locations: world.gnupg(.alice).locations
    ).bytes
    let expected = ForeignSubkey(person: Self.dave, owner: carol, subkey: subkey)
    #expect(throws: KeyringError.team(.foreignSubkey(expected))) {
      try world.open(.alice).plan(adding(Self.dave, dave, "ops"), newKeys: [Self.dave: dave])
    }
  }

  @Test func `a new key file with a subkey of another person is refused, and names the newcomer`() throws {
    defer { room.remove() }
    let world = try TeamWorld([.alice, .dave, .carol])
    try world.add([.dave])
    let carol = GnuPGKey.carol.fingerprint
    func expectRefused(_ edits: (ContentDigest) -> [PolicyEdit]) throws {
      for (name, subkey) in Self.borrowed {
        let file = try KeyFile(reading: [GnuPGKey.file(name)], locations: world.gnupg(.alice).locations)
        let expected = ForeignSubkey(
          person: carol, owner: Self.dave, subkey: try #require(Fingerprint(subkey)))
        #expect(throws: KeyringError.team(.foreignSubkey(expected)), "\(name)") {
          try world.open(.alice).plan(edits(ContentDigest(of: file.bytes)), newKeys: [carol: file.bytes])
        }
      }
    }
    func adding(_ key: ContentDigest) -> [PolicyEdit] {
      [
        .add(carol, name: "Carol", role: .member, key: key, encryptTo: [GnuPGKey.carol.encryptionSubkey]),
        .create(group: "guests"),
        .join(carol, group: "guests"),
      ]
    }
    try expectRefused(adding)
    try world.remove(.dave)
    // Dave's signatures in the history stay valid.
    try expectRefused(adding)
    try world.add([.carol])
    try expectRefused { [.key(carol, $0)] }
  }
}
