import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests `group add` with the mail address of a key in the user's own GnuPG keyring.
@Suite(.serialized, .slow) struct GroupMailTests {
  private let team: TeamMachines

  init() throws {
    team = try TeamMachines([.alice])
    try importKeys([.bob])
  }

  private func importKeys(_ keys: [GnuPGKey]) throws {
    let world = try #require(team.worlds[.alice])
    try world.gnupg.run(["--import"], input: Array(keys.map(\.publicKey).joined()))
  }

  private func members() throws -> Int { try team.succeed(.alice, "group", "show", "default").lines.count }

  @Test func `the key is shown and added after a question`() throws {
    let refused = team.run(.alice, ["group", "add", "default", GnuPGKey.bob.mail], answers: ["n"])
    #expect(refused.code == .cancelled, "\(refused.talk)")
    #expect(try members() == 1)
    let added = team.run(.alice, ["group", "add", "default", GnuPGKey.bob.mail], answers: ["y"])
    #expect(added.code == .done, "\(added.talk)")
    #expect(added.talk.contains("B5F2 8C0D CD5A 7456 9FA5 73FF B3B7 1ABC A803 B25F"), "\(added.talk)")
    #expect(added.talk.contains("Bob Example <bob@keytree.example>"), "\(added.talk)")
    #expect(added.talk.contains("not certified by anyone whom you trust, does not expire"), "\(added.talk)")
    #expect(try members() == 2)
  }

  @Test func `a script needs the full fingerprint`() throws {
    let silent = team.run(.alice, ["group", "add", "default", GnuPGKey.bob.mail])
    #expect(silent.code == .cancelled && silent.talk.contains("B5F2 8C0D"), "\(silent.talk)")
    #expect(silent.talk.contains("add `--fingerprint \(GnuPGKey.bob.fingerprint.text)`"), "\(silent.talk)")
    let wrong = team.run(
      .alice,
      ["group", "add", "default", GnuPGKey.bob.mail, "--fingerprint", GnuPGKey.carol.fingerprint.text])
    #expect(wrong.code == .recipientUnusable, "\(wrong.talk)")
    #expect(try members() == 1)
    try team.succeed(
      .alice, "group", "add", "default", GnuPGKey.bob.mail, "--fingerprint", GnuPGKey.bob.fingerprint.text)
    #expect(try members() == 2)
    // A member is found in the policy.
    try team.succeed(.alice, "group", "create", "ops")
    let asked = team.run(.alice, ["group", "add", "ops", GnuPGKey.bob.mail])
    #expect(asked.code == .cancelled, "\(asked.talk)")
    let joined = team.run(.alice, ["group", "add", "ops", GnuPGKey.bob.mail], answers: ["y"])
    #expect(joined.code == .done, "\(joined.talk)")
    #expect(try team.succeed(.alice, "group", "show", "ops").lines.count == 2)
  }

  /// Anyone can create a key with any mail address.
  @Test func `several keys with the address are listed`() throws {
    let world = try #require(team.worlds[.alice])
    try world.gnupg.run([
      "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key",
      "Robert <bob@keytree.example>",
      "future-default", "default", "never",
    ])
    let result = team.run(.alice, ["group", "add", "default", "BOB@keytree.example"], answers: ["y"])
    #expect(result.code == .ambiguous, "\(result.talk)")
    #expect(result.talk.contains("2 keys in your GnuPG keyring have the address"), "\(result.talk)")
    #expect(result.talk.contains(GnuPGKey.bob.fingerprint.text), "\(result.talk)")
    #expect(result.talk.contains("Robert <bob@keytree.example> (your own key)"), "\(result.talk)")
    #expect(try members() == 1)
  }

  /// Addresses that match no key, although gpg itself would find one for some of them.
  @Test(arguments: ["nobody@keytree.example", "b@keytree.example", "bob@keytree.exampl", "@keytree.example"])
  func `only a whole address matches`(mail: String) throws {
    let result = team.run(.alice, ["group", "add", "default", mail], answers: ["y"])
    #expect(result.code == .notFound, "\(result.talk)")
    #expect(try members() == 1)
  }

  @Test func `a key that cannot be used is refused with the way to extend it`() throws {
    try importKeys([.expired])
    let result = team.run(.alice, ["group", "add", "default", GnuPGKey.expired.mail], answers: ["y"])
    #expect(result.code == .recipientUnusable, "\(result.talk)")
    let fingerprint = GnuPGKey.expired.fingerprint.text
    for words in [
      "`gpg --quick-set-expire \(fingerprint) 1y", "`gpg --armor --export \(fingerprint)`",
      "`keytree group add default FILE`",
    ] {
      #expect(result.talk.contains(words), "\(result.talk)")
    }
    #expect(!result.talk.contains("group refresh"), "\(result.talk)")
  }

  @Test func `a second key that cannot be used does not stop the only usable one`() throws {
    let world = try #require(team.worlds[.alice])
    try world.gnupg.run([
      "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key",
      "Robert <bob@keytree.example>", "ed25519", "sign", "never",
    ])
    let added = team.run(.alice, ["group", "add", "default", GnuPGKey.bob.mail], answers: ["y"])
    #expect(added.code == .done, "\(added.talk)")
    #expect(added.talk.contains("B5F2 8C0D CD5A 7456 9FA5 73FF B3B7 1ABC A803 B25F"), "\(added.talk)")
  }

  @Test func `a revoked address is named`() throws {
    let world = try #require(team.worlds[.alice])
    let options = ["--pinentry-mode", "loopback", "--passphrase", ""]
    try world.gnupg.run(
      options + ["--quick-generate-key", "Eve <eve@keytree.example>", "default", "default"])
    try world.gnupg.run(options + ["--quick-add-uid", "eve@keytree.example", "Eve <new@keytree.example>"])
    try world.gnupg.run(options + ["--quick-revoke-uid", "eve@keytree.example", "Eve <eve@keytree.example>"])
    let result = team.run(.alice, ["group", "add", "default", "eve@keytree.example"], answers: ["y"])
    #expect(result.code == .notFound, "\(result.talk)")
    #expect(
      result.talk.contains("has the address only in a user id that is revoked"), "\(result.talk)")
  }

  @Test func `the question shows the key even with --quiet`() throws {
    let asked = team.run(.alice, ["--quiet", "group", "add", "default", GnuPGKey.bob.mail], answers: ["n"])
    #expect(asked.talk.contains("B5F2 8C0D CD5A 7456 9FA5 73FF B3B7 1ABC A803 B25F"), "\(asked.talk)")
    #expect(asked.talk.contains("will be able to read 0 items"), "\(asked.talk)")
  }

  @Test func `a file with the address of a member could be meant`() throws {
    // The tests share one current folder, so the address is used by this test alone.
    let mail = "zoe-file@keytree.example"
    try #require(team.worlds[.alice]).gnupg.run([
      "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", "Zoe <\(mail)>",
      "future-default", "default", "never",
    ])
    #expect(team.run(.alice, ["group", "add", "default", mail], answers: ["y"]).code == .done)
    try team.succeed(.alice, "group", "create", "ops")
    let file = "\(FileManager.default.currentDirectoryPath)/\(mail)"
    #expect(FileManager.default.createFile(atPath: file, contents: Data()))
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: file) } }
    let result = team.run(.alice, ["group", "add", "ops", mail], answers: ["y"])
    #expect(result.code == .ambiguous && result.talk.contains("./\(mail)"), "\(result.talk)")
  }
}
