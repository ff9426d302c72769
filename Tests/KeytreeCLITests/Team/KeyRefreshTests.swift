import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests `group refresh` with what owners do to their keys.
@Suite(.serialized, .slow) struct KeyRefreshTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines.ofThree() }

  /// Makes a member's key expire, on their machine and in the store.
  private func expire(_ person: GnuPGKey) throws {
    let dates = [["2024-03-01"], ["2024-03-01", "*"]]
    for words in dates {
      try team.change(
        person, ["--quick-set-expire", person.fingerprint.text] + words, at: "20240201T000000")
    }
    let file = try team.export(person)
    let refreshed = team.run(.alice, ["group", "refresh", file])
    #expect(refreshed.code == .done, "\(refreshed.talk)")
    #expect(refreshed.talk.contains("primary key valid until 2024-03-01"), "\(refreshed.talk)")
  }

  private func extend(_ person: GnuPGKey) throws {
    try team.change(person, ["--quick-set-expire", person.fingerprint.text, "10y"])
    try team.change(
      person, ["--quick-set-expire", person.fingerprint.text, "10y", person.encryptionSubkey.text])
  }

  @Test func `two expired members do not block each other's renewal`() throws {
    try expire(.bob)
    try expire(.carol)
    let refused = team.run(.alice, ["add", "b.example/me"], input: "two")
    #expect(refused.code == .recipientUnusable, "\(refused.talk)")
    #expect(
      refused.talk.contains("cannot encrypt for group \"default\": the key of"), "\(refused.talk)")
    #expect(refused.talk.contains("has expired (2024-03-01)"), "\(refused.talk)")
    #expect(refused.talk.contains("an admin to run `keytree group refresh`"), "\(refused.talk)")
    // Reading, attributes, checks and removal go on.
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
    try team.succeed(.alice, "set", "a.example/me", "-l", "label")
    let checked = team.run(.alice, ["check"])
    #expect(checked.lines.count == 2, "\(checked.text)")
    try team.succeed(.alice, "verify")
    #expect(team.run(.alice, ["verify", "--strict"]).code == .failedChecks)
    let synchronized = try team.succeed(.alice, "sync")
    #expect(
      synchronized.talk.contains("nothing can be added to group \"default\" until it is renewed"),
      "\(synchronized.talk)")
    // Bob also gets a new subkey, to which items cannot be encrypted as long as Carol's key has expired.
    try extend(.bob)
    try team.change(.bob, ["--quick-add-key", GnuPGKey.bob.fingerprint.text, "cv25519", "encr"])
    let bob = try team.export(.bob)
    let first = team.run(
      .alice, ["group", "refresh", bob, "--fingerprint", GnuPGKey.bob.fingerprint.text])
    #expect(first.code == .done, "\(first.talk)")
    #expect(first.talk.contains("new encryption subkey"), "\(first.talk)")
    #expect(first.talk.contains("1 item keeps its old recipients"), "\(first.talk)")
    try extend(.carol)
    let second = team.run(.alice, ["group", "refresh", try team.export(.carol)])
    #expect(second.code == .done, "\(second.talk)")
    #expect(second.talk.contains("Re-encrypted 1 item."), "\(second.talk)")
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    try team.succeed(.alice, "sync")
    for person in [GnuPGKey.bob, .carol] {
      try team.succeed(person, "sync")
      #expect(try team.succeed(person, "get", "b.example/me").text == "two")
      #expect(try team.succeed(person, "get", "a.example/me").text == "one")
    }
    #expect(team.run(.alice, ["group", "refresh", bob]).talk.contains("No key has changed."))
  }

  @Test func `a person is removed while another member's key has expired`() throws {
    try expire(.bob)
    let removed = team.run(.alice, ["group", "remove", "default", GnuPGKey.carol.fingerprint.text])
    #expect(removed.code == .done, "\(removed.talk)")
    #expect(removed.talk.contains("1 item keeps its old recipients"), "\(removed.talk)")
    let resealed = team.run(.alice, ["group", "reseal"])
    #expect(resealed.code == .recipientUnusable, "\(resealed.talk)")
    #expect(resealed.talk.contains("has expired (2024-03-01)"), "\(resealed.talk)")
    let verified = try team.succeed(.alice, "verify")
    #expect(verified.text.contains("warning: items/internet-password/a.example/me.gpg"), "\(verified.text)")
    #expect(team.run(.alice, ["check"]).code == .failedChecks)
    let synchronized = try team.succeed(.alice, "sync")
    #expect(
      synchronized.talk.contains("a person who is not a member of its group can read"), "\(synchronized.talk)"
    )
    try extend(.bob)
    let refreshed = team.run(.alice, ["group", "refresh", try team.export(.bob)])
    #expect(refreshed.code == .done && refreshed.talk.contains("Re-encrypted 1 item."), "\(refreshed.talk)")
    try team.succeed(.alice, "check", "--decrypt")
  }

  @Test func `an option for a subkey that no key has is an error`() throws {
    for words in [
      ["group", "refresh", "--encrypt-to", "0123456789ABCDEF"],
      [
        "group", "replace", GnuPGKey.bob.fingerprint.text, try team.keyFile(.rsa), "--encrypt-to",
        "0123456789ABCDEF", "--fingerprint", GnuPGKey.rsa.fingerprint.text,
      ],
    ] {
      let result = team.run(.alice, words)
      #expect(result.code == .notFound, "\(words): \(result.talk)")
      #expect(result.talk.contains("no key has the subkey 0123456789ABCDEF"), "\(result.talk)")
    }
    try team.succeed(.alice, "group", "create", "ops")
    for option in [["--encrypt-to", "7579F5211C2A9AC6"], ["--name", "X <x@x.example>"]] {
      let result = team.run(.alice, ["group", "add", "ops", "bob@keytree.example"] + option)
      #expect(result.code == .usage, "\(result.talk)")
    }
  }

  @Test func `two members do not bring the same new address`() throws {
    for person in [GnuPGKey.bob, .carol] {
      try team.change(person, ["--quick-add-uid", person.fingerprint.text, "Both <both@keytree.example>"])
      let name =
        person == .bob ? "Bob Example <bob@keytree.example>" : "Carol Example <carol@keytree.example>"
      try team.change(person, ["--quick-set-primary-uid", person.fingerprint.text, name])
      try team.give(person, to: .alice)
    }
    let result = team.run(
      .alice, ["group", "refresh", "--fingerprint", GnuPGKey.carol.fingerprint.text])
    #expect(result.code == .recipientUnusable, "\(result.talk)")
    #expect(
      result.talk.contains("has the address \"both@keytree.example\" of another person"), "\(result.talk)")
    #expect(result.talk.contains("Renewed the key of"), "\(result.talk)")
  }

  @Test func `items are signed again only after a question, with the true reason`() throws {
    let fingerprint = GnuPGKey.carol.fingerprint.text
    try team.change(.carol, ["--quick-add-key", fingerprint, "ed25519", "sign"], at: "20240110T000000")
    try team.succeed(.alice, "group", "refresh", try team.export(.carol))
    try team.succeed(.alice, "sync")
    try team.succeed(.carol, "sync")
    try team.succeed(.carol, "add", "c.example/carol", input: "three")
    try team.succeed(.carol, "sync")
    try team.succeed(.alice, "sync")
    // It counts as replaced since before it has signed the item.
    try team.edit(.carol, ["key 2", "revkey", "y", "2", "", "y"], at: "20240201T000000")
    let file = try team.export(.carol)
    let silent = team.run(.alice, ["group", "refresh", file])
    #expect(silent.code == .cancelled, "\(silent.talk)")
    let given = team.run(.alice, ["group", "refresh", file, "--fingerprint", fingerprint])
    #expect(given.code == .done, "\(given.talk)")
    #expect(
      given.talk.contains(
        "A changed key had ended before it signed some items. 1 item was last signed with it"),
      "\(given.talk)")
    #expect(given.talk.contains("  c.example/carol"), "\(given.talk)")
    try team.succeed(.alice, "check", "--decrypt")
  }

  @Test func `one revoked key does not block group refresh for all`() throws {
    try team.edit(.carol, ["revkey", "y", "1", "", "y"])
    try team.give(.carol, to: .alice)
    try team.change(.bob, ["--quick-add-key", GnuPGKey.bob.fingerprint.text, "ed25519", "sign"])
    try team.give(.bob, to: .alice)
    let result = team.run(.alice, ["group", "refresh"])
    #expect(result.code == .recipientUnusable, "\(result.talk)")
    #expect(result.talk.contains("the key of Carol Example <carol@keytree.example> is revoked (compromised"))
    #expect(
      result.talk.contains("`keytree group replace \(GnuPGKey.carol.fingerprint.text) NEWKEY`"),
      "\(result.talk)")
    #expect(
      result.talk.contains("Renewed the key of Bob Example <bob@keytree.example>: new signing subkey"),
      "\(result.talk)")
  }

  @Test func `one key file over the limit does not block group refresh for the others`() throws {
    try team.change(.bob, ["--quick-add-key", GnuPGKey.bob.fingerprint.text, "ed25519", "sign"])
    let large = try team.keyFile(.carol)
    try Data(GnuPGKey.carol.publicKey + Array(repeating: UInt8(ascii: "\n"), count: 300 << 10)).write(
      to: URL(fileURLWithPath: large))
    let result = team.run(.alice, ["group", "refresh", large, try team.export(.bob)])
    #expect(result.code != .done && result.talk.contains("carol.asc"), "\(result.talk)")
    #expect(
      result.talk.contains("Renewed the key of Bob Example <bob@keytree.example>: new signing subkey"),
      "\(result.talk)")
  }

  @Test func `a file without a user id renews a known key`() throws {
    try team.change(.bob, ["--quick-add-key", GnuPGKey.bob.fingerprint.text, "ed25519", "sign"])
    let file = try team.export(.bob, ["--export-filter", "keep-uid=uid = nobody"])
    let result = team.run(.alice, ["group", "refresh", file])
    #expect(result.code == .done, "\(result.talk)")
    #expect(result.talk.contains("new signing subkey"), "\(result.talk)")
  }

  @Test func `a changed user id is shown, confirmed and taken over`() throws {
    let fingerprint = GnuPGKey.bob.fingerprint.text
    try team.change(.bob, ["--quick-add-uid", fingerprint, "Robert <robert@keytree.example>"])
    try team.change(.bob, ["--quick-set-primary-uid", fingerprint, "Robert <robert@keytree.example>"])
    let file = try team.export(.bob)
    let silent = team.run(.alice, ["group", "refresh", file])
    #expect(silent.code == .cancelled, "\(silent.talk)")
    #expect(silent.talk.contains("new name \"Robert <robert@keytree.example>\""), "\(silent.talk)")
    #expect(silent.talk.contains("add `--fingerprint \(fingerprint)`"), "\(silent.talk)")
    let given = team.run(.alice, ["group", "refresh", file, "--fingerprint", fingerprint])
    #expect(given.code == .done, "\(given.talk)")
    #expect(try team.succeed(.alice, "group", "show", "default").text.contains("Robert <robert@"))
    // Each address in a valid user id selects the person.
    for mail in ["robert@keytree.example", "bob@keytree.example"] {
      #expect(team.run(.alice, ["group", "add", "default", mail]).code == .alreadyExists, "\(mail)")
    }
    // An address of another person is refused.
    try team.change(.bob, ["--quick-add-uid", fingerprint, "Carol <carol@keytree.example>"])
    let taken = team.run(
      .alice, ["group", "refresh", try team.export(.bob), "--fingerprint", fingerprint])
    #expect(taken.code == .recipientUnusable, "\(taken.talk)")
    #expect(
      taken.talk.contains("has the address \"carol@keytree.example\" of another person"), "\(taken.talk)")
  }

  @Test func `a compromised encryption subkey opens the rotation list`() throws {
    let fingerprint = GnuPGKey.bob.fingerprint.text
    try team.change(.bob, ["--quick-add-key", fingerprint, "cv25519", "encr"])
    try team.edit(.bob, ["key 1", "revkey", "y", "1", "", "y"])
    let refreshed = team.run(
      .alice, ["group", "refresh", try team.export(.bob), "--fingerprint", fingerprint])
    #expect(refreshed.code == .done, "\(refreshed.talk)")
    #expect(refreshed.talk.contains("revoked (compromised)"), "\(refreshed.talk)")
    #expect(refreshed.talk.contains("This secret has to be changed"), "\(refreshed.talk)")
    let status = try team.succeed(.alice, "rotate", "status")
    #expect(status.text.contains("who has revoked a subkey that it was encrypted to"), "\(status.text)")
    try team.succeed(.alice, "set", "a.example/me", "--secret", input: "new")
    #expect(!(try team.succeed(.alice, "rotate", "status").text.contains("open\t")))
  }

  @Test func `the reason why records are signed again is not that their signer has left`() throws {
    let fingerprint = GnuPGKey.bob.fingerprint.text
    try team.change(.bob, ["--quick-add-key", fingerprint, "ed25519", "sign"])
    try team.succeed(.alice, "group", "refresh", try team.export(.bob), "--fingerprint", fingerprint)
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")
    try team.succeed(.bob, "add", "b.example/me", input: "two")
    try team.succeed(.bob, "sync")
    // The second subkey of the list has signed the item.
    try team.edit(.bob, ["key 2", "revkey", "y", "1", "", "y"])
    let refreshed = team.run(
      .alice, ["group", "refresh", try team.export(.bob), "--fingerprint", fingerprint])
    #expect(refreshed.talk.contains("revoked (compromised)"), "\(refreshed.talk)")
    let received = try team.succeed(.alice, "sync")
    let reason = "Signed 1 record again, because the keys of their signers are no longer valid."
    #expect((received.text + received.talk).contains(reason), "\(received.text)\(received.talk)")
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "two")
  }

  @Test func `a member sees the changes of their key and what to send to an admin`() throws {
    try team.change(.carol, ["--quick-add-key", GnuPGKey.carol.fingerprint.text, "ed25519", "sign"])
    let result = team.run(.carol, ["group", "refresh"])
    #expect(result.code == .policyNotTrusted, "\(result.talk)")
    #expect(result.talk.contains("has changed: new signing subkey"), "\(result.talk)")
    #expect(
      result.talk.contains(
        "`gpg --armor --export \(GnuPGKey.carol.fingerprint.text)`; they run "
          + "`keytree group refresh FILE`"), "\(result.talk)")
  }

  @Test func `a newer encryption subkey whose secret is elsewhere is not used`() throws {
    let fingerprint = GnuPGKey.alice.fingerprint.text
    try team.change(.alice, ["--quick-add-key", fingerprint, "cv25519", "encr"])
    let listing = String(
      decoding: try team.gnupg(.alice).run(["--with-colons", "--with-keygrip", "--list-keys", fingerprint]),
      as: UTF8.self)
    let grip = try #require(listing.split(separator: "\n").last { $0.hasPrefix("grp:") })
      .split(separator: ":").last.map(String.init)
    let newest = try #require(listing.split(separator: "\n").last { $0.hasPrefix("sub:") })
      .split(separator: ":", omittingEmptySubsequences: false)[4]
    try FileManager.default.removeItem(
      atPath: "\(team.gnupg(.alice).home)/private-keys-v1.d/\(try #require(grip)).key")
    try team.gnupg(.alice).stopAgent()
    let result = team.run(.alice, ["group", "refresh"])
    #expect(result.code == .done, "\(result.talk)")
    #expect(
      result.talk.contains(
        "kept encryption subkey 7579F5211C2A9AC6: the secret of the newer \(newest) is not here; "
          + "--encrypt-to \(newest) uses it anyway"), "\(result.talk)")
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "two")
    // Both subkeys, one for each device.
    let both = team.run(
      .alice,
      ["group", "refresh", "--encrypt-to", String(newest), "--encrypt-to", "7579F5211C2A9AC6"])
    #expect(both.code == .done && both.talk.contains("Re-encrypted 2 items."), "\(both.talk)")
    #expect(try team.succeed(.alice, "who", "b.example/me").text.contains(newest))
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "two")
  }
}
