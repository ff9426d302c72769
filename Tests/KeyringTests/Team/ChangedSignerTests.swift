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
    case .success(let link):
      #expect(link.keys == [Self.dave: GnuPGKey.file(file)])
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
}
