import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests `group replace`, and users with several keys in one policy.
@Suite(.serialized, .slow) struct KeyReplacementTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines.ofThree() }

  /// Gives a person a second key: that of `rsa`.
  private func addKey(to person: GnuPGKey) throws {
    try team.gnupg(person).run(
      ["--pinentry-mode", "loopback", "--import"], input: GnuPGKey.rsa.secretKey)
  }

  private func replace(_ person: GnuPGKey, by admin: GnuPGKey, _ more: String...) throws {
    let file = try team.keyFile(.rsa)
    let result = team.run(
      admin,
      ["group", "replace", person.fingerprint.text, file, "--fingerprint", GnuPGKey.rsa.fingerprint.text]
        + more)
    #expect(result.code == .done, "\(result.talk)")
    #expect(result.talk.contains("by \(GnuPGKey.rsa.fingerprint.text)."), "\(result.talk)")
    try team.succeed(admin, "sync")
  }

  @Test func `an admin replaces their own key on one machine`() throws {
    try team.succeed(.alice, "group", "create", "ops")
    try addKey(to: .alice)
    try replace(.alice, by: .alice)
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
    let added = try team.succeed(.alice, "add", "b.example/me", "-g", "ops", input: "two")
    #expect(!added.talk.contains("you were removed"), "\(added.talk)")
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "two")
    try team.succeed(.alice, "check", "--decrypt")
    try team.succeed(.alice, "sync")
    for person in [GnuPGKey.bob, .carol] {
      try team.succeed(person, "sync")
      #expect(try team.succeed(person, "get", "a.example/me").text == "one")
      try team.succeed(person, "verify")
    }
    // The person stays a reader.
    #expect(try team.succeed(.alice, "rotate", "status").text == "")
    // A newcomer accepts the policy, which the new key has signed.
    #expect(try team.succeed(.alice, "group", "show", "default").text.contains("(admin, you)"))
  }

  @Test func `the owner of a replaced key is not told that they were removed`() throws {
    try addKey(to: .bob)
    try replace(.bob, by: .alice)
    let synchronized = try team.succeed(.bob, "sync")
    #expect(!synchronized.talk.contains("you were removed"), "\(synchronized.talk)")
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
    let added = try team.succeed(.bob, "add", "b.example/me", input: "two")
    #expect(!added.talk.contains("removed"), "\(added.talk)")
    // Losing the old secret changes nothing.
    try team.gnupg(.bob).run(["--delete-secret-keys", GnuPGKey.bob.fingerprint.text])
    try team.succeed(.bob, "add", "c.example/me", input: "three")
    #expect(try team.succeed(.bob, "get", "c.example/me").text == "three")
  }

  @Test func `changes that meet a replacement are neither refused nor unreadable with the new key`() throws {
    try addKey(to: .alice)
    try team.succeed(.bob, "add", "b.example/bob", input: "two")
    try team.succeed(.bob, "sync")
    let file = try team.keyFile(.rsa)
    try team.succeed(
      .alice, "group", "replace", GnuPGKey.alice.fingerprint.text, file, "--fingerprint",
      GnuPGKey.rsa.fingerprint.text)
    let received = try team.succeed(.alice, "sync")
    #expect(!received.talk.contains("refused") && !received.talk.contains("warning"), "\(received.talk)")
    #expect(received.talk.contains("Re-encrypted 1 item."), "\(received.talk)")
    try team.succeed(.alice, "check", "--decrypt")
    // Another member encrypts to the new key what was added before they knew of it, also without its secret.
    try team.succeed(.carol, "add", "c.example/carol", input: "three")
    let sent = try team.succeed(.carol, "sync")
    #expect(!sent.talk.contains("warning"), "\(sent.talk)")
    try team.succeed(.alice, "sync")
    try team.gnupg(.alice).run(["--delete-secret-keys", GnuPGKey.alice.fingerprint.text])
    #expect(try team.succeed(.alice, "get", "b.example/bob").text == "two")
    #expect(try team.succeed(.alice, "get", "c.example/carol").text == "three")
    try team.succeed(.alice, "check", "--decrypt")
  }

  @Test func `the key of another member takes over no rights without a question`() throws {
    let bob = GnuPGKey.bob.fingerprint.text
    let before = try team.succeed(.alice, "group", "show", "default").text
    for new in [try team.keyFile(.carol), "carol@keytree.example", GnuPGKey.carol.fingerprint.text] {
      if !new.hasSuffix(".asc") { try team.give(.carol, to: .alice) }
      let result = team.run(.alice, ["group", "replace", bob, new])
      #expect(result.code == .cancelled, "\(result.talk)")
      #expect(result.talk.contains("is a member already: Carol"), "\(result.talk)")
    }
    #expect(try team.succeed(.alice, "group", "show", "default").text == before)
  }

  @Test func `the key file of a member gives no group and no role without a question`() throws {
    try team.succeed(.alice, "group", "create", "ops")
    let file = try team.keyFile(.carol)
    for words in [
      ["ops", file], ["default", file, "--admin"], ["default", "carol@keytree.example", "--admin"],
    ] {
      let result = team.run(.alice, ["group", "add"] + words)
      #expect(result.code == .cancelled, "\(words): \(result.talk)")
      #expect(result.talk.contains(GnuPGKey.carol.fingerprint.text), "\(result.talk)")
    }
    #expect(!(try team.succeed(.alice, "group", "show", "ops").text.contains("Carol")))
    #expect(!(try team.succeed(.alice, "status").text.contains("carol@keytree.example> (admin")))
    let given = team.run(
      .alice, ["group", "add", "default", file, "--admin", "--fingerprint", GnuPGKey.carol.fingerprint.text])
    #expect(given.code == .done && given.talk.contains("is an admin."), "\(given.talk)")
  }

  @Test func `an only admin leaves a key that they have revoked, in two policies`() throws {
    try addKey(to: .alice)
    try team.edit(.alice, ["revkey", "y", "2", "", "y"])
    let refused = team.run(.alice, ["add", "b.example/me"], input: "two")
    #expect(refused.code == .recipientUnusable, "\(refused.talk)")
    let old = GnuPGKey.alice.fingerprint.text
    #expect(refused.talk.contains("is revoked (superseded"), "\(refused.talk)")
    #expect(refused.talk.contains("`keytree group replace \(old) NEWKEY`"), "\(refused.talk)")
    try replace(.alice, by: .alice)
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    try team.succeed(.alice, "check", "--decrypt")
    try team.succeed(.alice, "verify")
    try team.succeed(.bob, "sync")
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
  }

  @Test func `an admin with two keys signs policies with the one whose secret is here`() throws {
    try addKey(to: .alice)
    try team.succeed(
      .alice, "group", "add", "default", try team.keyFile(.rsa), "--admin", "--fingerprint",
      GnuPGKey.rsa.fingerprint.text)
    try team.gnupg(.alice).run(["--delete-secret-keys", GnuPGKey.alice.fingerprint.text])
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "add", "b.example/me", "-g", "default", input: "two")
    try team.succeed(.alice, "verify")
  }

  @Test func `the only admin key is not replaced by a key that cannot sign here`() throws {
    let before = try team.succeed(.alice, "group", "show", "default").text
    let words = ["group", "replace", GnuPGKey.alice.fingerprint.text, try team.keyFile(.rsa)]
    let result = team.run(.alice, words + ["--fingerprint", GnuPGKey.rsa.fingerprint.text])
    #expect(result.code == .recipientUnusable, "\(result.talk)")
    #expect(result.talk.contains("the signing secret of the new key"), "\(result.talk)")
    #expect(try team.succeed(.alice, "group", "show", "default").text == before)
    // The same if nobody has the secret of the only admin key any more: no key can replace it.
    try addKey(to: .alice)
    try team.gnupg(.alice).run(["--delete-secret-keys", GnuPGKey.alice.fingerprint.text])
    let lost = team.run(.alice, words + ["--fingerprint", GnuPGKey.rsa.fingerprint.text])
    #expect(lost.code == .recipientUnusable, "\(lost.talk)")
    #expect(lost.talk.contains("they run `keytree group replace"), "\(lost.talk)")
    #expect(try team.succeed(.alice, "group", "show", "default").text.contains("Alice"))
  }

  @Test func `replacing a compromised key opens the rotation list`() throws {
    try replace(.carol, by: .alice, "--compromised")
    #expect(try team.succeed(.alice, "rotate", "status").text.contains("a.example/me"))
  }

  @Test func `what a compromised key has signed is listed when the key is replaced`() throws {
    try team.succeed(.carol, "set", "a.example/me", "--secret", input: "of a thief")
    try team.succeed(.carol, "sync")
    try team.succeed(.alice, "sync")
    let words = [
      "group", "replace", GnuPGKey.carol.fingerprint.text, try team.keyFile(.rsa), "--compromised",
      "--fingerprint", GnuPGKey.rsa.fingerprint.text,
    ]
    let result = team.run(.alice, words)
    #expect(result.code == .done, "\(result.talk)")
    let list = "1 item was last signed with it; your signature replaces it. Check them:\n  "
    #expect(result.talk.contains("The old key is compromised. \(list)"), "\(result.talk)")
  }

  @Test func `a user with two keys may remove one of them`() throws {
    try addKey(to: .alice)
    try team.succeed(
      .alice, "group", "add", "default", try team.keyFile(.rsa), "--admin", "--fingerprint",
      GnuPGKey.rsa.fingerprint.text)
    let removed = team.run(.alice, ["group", "remove", "default", GnuPGKey.alice.fingerprint.text])
    #expect(removed.code == .done, "\(removed.talk)")
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
    try team.succeed(.alice, "add", "b.example/me", input: "two")
  }

  @Test func `a member who is not an admin is told whom to ask`() throws {
    let result = team.run(
      .carol,
      [
        "group", "replace", GnuPGKey.carol.fingerprint.text, try team.keyFile(.rsa), "--fingerprint",
        GnuPGKey.rsa.fingerprint.text,
      ])
    #expect(result.code == .policyNotTrusted, "\(result.talk)")
    #expect(
      result.talk.contains("`keytree group replace \(GnuPGKey.carol.fingerprint.text) FILE`"),
      "\(result.talk)")
  }

  @Test func `a version of a former member is read, and restored with a new signature`() throws {
    try team.succeed(.bob, "add", "b.example/me", input: "of bob")
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "sync")
    let store = try #require(team.worlds[.alice]).store
    let commit = try GnuPGTool.run("git", ["-C", store, "rev-parse", "HEAD"])
    try team.succeed(.alice, "rm", "b.example/me")
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.bob.fingerprint.text, "--all")
    let name = String(decoding: commit.dropLast(), as: UTF8.self)
    #expect(try team.succeed(.alice, "get", "b.example/me", "--at", name).text == "of bob")
    try team.succeed(.alice, "undelete", "b.example/me")
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "of bob")
    try team.succeed(.alice, "check", "--decrypt")
    try team.succeed(.alice, "sync")
    try team.succeed(.carol, "sync")
    #expect(try team.succeed(.carol, "get", "b.example/me").text == "of bob")
    // Bob's signature is not valid for anything new.
    #expect(team.run(.carol, ["verify"]).code == .done)
  }

  @Test(arguments: ["0x%", "%", "0x&", "Alice Exam"])
  func `init takes any name of a secret key that gpg accepts`(form: String) throws {
    let world = try MaintenanceFixture([.alice, .bob])
    let id = String(GnuPGKey.alice.fingerprint.text.suffix(16))
    let name = form.replacing("%", with: id).replacing("&", with: GnuPGKey.alice.fingerprint.text)
    let result = world.run("init", "--key", name)
    #expect(result.code == .done, "\(result.talk)")
    #expect(result.talk.contains(GnuPGKey.alice.fingerprint.text), "\(result.talk)")
  }
}
