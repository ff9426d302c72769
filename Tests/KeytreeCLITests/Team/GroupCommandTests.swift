import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

@Suite("keytree group, who and sync of a team", .serialized, .slow)
struct GroupCommandTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines([.alice, .bob, .carol]) }

  @Test func `a new member reads and writes, and is removed`() throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.welcome(.bob)
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
    try team.succeed(.bob, "add", "b.example/bob", input: "two")
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "get", "b.example/bob").text == "two")
    let list = try team.succeed(.alice, "group", "list")
    #expect(list.lines.count == 1 && list.lines[0].hasPrefix("default\t2 items\t"))
    #expect(try team.succeed(.alice, "group", "show", "default").lines.count == 2)
    let subjects = try team.subjects(.alice)

    let removal = try team.succeed(.alice, "group", "remove", "default", GnuPGKey.bob.mail)
    #expect(removal.talk.contains("Removed Bob Example <bob@keytree.example> from the keyring."))
    #expect(removal.talk.contains("Re-encrypted 2 items."))
    #expect(try team.subjects(.alice) == ["remove a person from group default"] + subjects)
    try team.succeed(.alice, "sync")
    let sync = team.run(.bob, ["sync"])
    #expect(sync.code == .done && sync.talk.contains("- Bob Example"), "\(sync.talk)")
    #expect(team.run(.bob, ["get", "a.example/me"]).code == .cannotDecrypt)
    let add = team.run(.bob, ["add", "c.example/x"], input: "x")
    #expect(add.code == .policyNotTrusted && add.talk.contains("you were removed from it on "))
    #expect(try team.succeed(.alice, "check", "--decrypt").lines.isEmpty)
  }

  @Test func `a changed file does not prevent the removal of a member`() throws {
    for name in ["a.example/me", "b.example/me"] { try team.succeed(.alice, "add", name, input: "one") }
    try team.welcome(.bob)
    let store = try #require(team.worlds[.alice]?.store)
    let path = "items/internet-password/a.example/me.gpg"
    let home = try GnuPGHome(secret: [.carol])
    let junk = try home.encrypt(Array("junk".utf8), to: [.carol])
    home.close()
    try Data(junk).write(to: URL(fileURLWithPath: "\(store)/\(path)"))

    let removal = try team.succeed(.alice, "group", "remove", "default", GnuPGKey.bob.mail)
    #expect(
      removal.talk.contains("another program has changed \"\(path)\"; the signed file was restored"),
      "\(removal.talk)")
    #expect(removal.talk.contains("Re-encrypted 2 items."))
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
    let list = team.run(.alice, ["adopt"])
    #expect(
      list.code == .failedChecks && list.text.contains("a change of a.example/me")
    )
    try team.succeed(.alice, "verify")
  }

  @Test func `a key from a file must be confirmed by the user or by its fingerprint`() throws {
    let file = try team.keyFile(.bob)
    let silent = team.run(.alice, ["group", "add", "default", file])
    #expect(silent.code == .cancelled && silent.talk.contains(GnuPGKey.bob.fingerprint.text))
    let wrong = team.run(
      .alice, ["group", "add", "default", file, "--fingerprint", GnuPGKey.carol.fingerprint.text])
    #expect(wrong.code == .recipientUnusable)
    let refused = team.run(.alice, ["group", "add", "default", file], answers: ["n"])
    #expect(refused.code == .cancelled)
    #expect(try team.succeed(.alice, "group", "show", "default").lines.count == 1)
    let accepted = team.run(.alice, ["group", "add", "default", file], answers: ["y"])
    #expect(accepted.code == .done, "\(accepted.talk)")
    #expect(try team.succeed(.alice, "group", "show", "default").lines.count == 2)
  }

  /// A person whose key contained another person's subkey would be listed as a reader of that person's items.
  @Test func `a key with the encryption subkey of another person is refused`() throws {
    try team.succeed(.alice, "group", "create", "empty")
    let file = CareTranscriptTests.fixtures.appendingPathComponent("gnupg/carol.borrowed.asc").path
    for group in ["default", "empty"] {
      let added = team.run(
        .alice, ["group", "add", group, file, "--fingerprint", GnuPGKey.carol.fingerprint.text])
      #expect(added.code == .recipientUnusable, "\(added.talk)")
      #expect(added.talk.contains("also belongs to the key of another person"), "\(added.talk)")
    }
    #expect(try team.succeed(.alice, "group", "show", "default").lines.count == 1)
    try team.welcome(.carol)
    let refreshed = team.run(.alice, ["group", "refresh", file])
    #expect(refreshed.code == .recipientUnusable, "\(refreshed.talk)")
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "two")
  }

  /// An item that is encrypted to fewer people than its group may be an old file that was put back.
  @Test func `a sync does not re-encrypt an item for people who could not read it before`() throws {
    try team.succeed(.alice, "add", "old.example/me", input: "before-bob")
    try team.succeed(.alice, "rm", "old.example/me")
    try team.welcome(.bob)
    try team.succeed(.bob, "sync")
    // Anyone with push access can do this with plain git.
    let store = try #require(team.worlds[.bob]).store
    let git = ["-C", store, "-c", "user.name=W", "-c", "user.email=w@example.org"]
    let commit = try GnuPGTool.run(
      "git", git + ["log", "--format=%H", "--diff-filter=A", "--", "items/internet-password/old.example"])
    let name = String(decoding: commit.dropLast(), as: UTF8.self)
    _ = try GnuPGTool.run("git", git + ["checkout", name, "--", "items/internet-password/old.example"])
    _ = try GnuPGTool.run("git", git + ["commit", "-qm", "put back"])
    _ = try GnuPGTool.run("git", git + ["push", "-q"])
    let sync = try team.succeed(.alice, "sync")
    #expect(!sync.talk.contains("Re-encrypted"), "\(sync.talk)")
    #expect(
      sync.talk.contains("not every member of its group can read old.example/me"),
      "\(sync.talk)")
    try team.succeed(.bob, "sync")
    let file = "\(store)/items/internet-password/old.example/me.gpg"
    #expect(throws: (any Error).self) { try #require(team.worlds[.bob]).gnupg.run(["--decrypt", file]) }
  }

  @Test func `a sync reports an item that a former member can read and a new one cannot`() throws {
    try team.welcome(.bob, "--admin")
    try team.welcome(.carol)
    let (bob, carol) = (GnuPGKey.bob.fingerprint.text, GnuPGKey.carol.fingerprint.text)
    try team.succeed(.alice, "group", "create", "web")
    try team.succeed(.alice, "group", "add", "web", carol, "--fingerprint", carol)
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    try team.succeed(.alice, "add", "a.example/me", "-g", "web", input: "one")
    try team.succeed(.bob, "group", "add", "web", bob, "--fingerprint", bob)
    try team.succeed(.bob, "group", "remove", "web", carol)
    try team.succeed(.bob, "sync")
    let sync = try team.succeed(.alice, "sync")
    #expect(
      sync.talk.contains("can read a.example/me")
        && sync.talk.contains(", and a person who is not a member can"), "\(sync.talk)")
    try team.succeed(.alice, "group", "reseal")
    #expect(try team.succeed(.alice, "who", "a.example/me").lines.count == 2)
  }

  static let bob = GnuPGKey.bob.fingerprint.text

  static let refused: [([String], ExitCode, String)] = [
    (["group", "show", "nobody"], .failure, "no group \"nobody\""),
    (["group", "create", "o/ps"], .usage, "a group name"),
    (["group", "create", "default"], .alreadyExists, "it already exists"),
    (["group", "delete", "default"], .failure, "every keyring has it"),
    (["group", "delete", "ops"], .failure, "no group \"ops\""),
    (["group", "add", "default", bob], .recipientUnusable, "it does not exist"),
    (["group", "add", "default", "/nonexistent"], .notFound, "/nonexistent"),
    (["group", "remove", "default", "nobody@x"], .notFound, "no person in this keyring matches"),
    (["group", "remove", "default", bob], .notFound, "no person in this keyring matches"),
    (
      ["group", "remove", "default", "alice@keytree.example"], .failure,
      "no admin would be left who can change"
    ),
    (["group", "refresh", "/dev/null"], .failure, "contains no public key"),
    (["set", "a.example/me", "-g", "ops"], .failure, "no group \"ops\""),
  ]

  @Test func `a change of a group that is not possible reports the reason`() throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    for (words, code, text) in Self.refused {
      let answer = team.run(.alice, words)
      #expect(answer.code == code && answer.talk.contains(text), "\(words): \(answer.code) \(answer.talk)")
      #expect(answer.talk.contains("hint: "), "\(words)")
    }
    let folder = try team.keyFile(.bob)
    try Data(GnuPGKey.bob.secretKey).write(to: URL(fileURLWithPath: folder))
    let secret = team.run(.alice, ["group", "add", "default", folder])
    #expect(secret.code == .failure && secret.talk.contains("contains a secret key"))
  }

  @Test func `a move to a group with more readers is confirmed by the user`() throws {
    try team.succeed(.alice, "group", "create", "mine")
    try team.succeed(.alice, "add", "a.example/me", "-g", "mine", input: "one")
    try team.welcome(.bob)
    let silent = team.run(.alice, ["set", "a.example/me", "-g", "default"])
    #expect(silent.code == .cancelled && silent.talk.contains("Bob Example"))
    #expect(try team.succeed(.alice, "who", "a.example/me").lines.count == 1)
    #expect(team.run(.alice, ["mv", "a.example/me", "b.example", "-g", "default"]).code == .cancelled)
    #expect(team.run(.alice, ["cp", "a.example/me", "b.example", "-g", "default"]).code == .cancelled)
    #expect(team.run(.alice, ["set", "a.example/me", "-g", "default"], answers: ["n"]).code == .cancelled)
    try team.succeed(.alice, "set", "a.example/me", "-g", "default", "--widen")
    #expect(try team.succeed(.alice, "who", "a.example/me").lines.count == 2)
    // A move to a group with fewer readers needs no confirmation.
    try team.succeed(.alice, "set", "a.example/me", "-g", "mine")
    #expect(try team.succeed(.alice, "who", "a.example/me").lines.count == 1)
  }

  @Test func `who reads the readers from the packets, and shows unexpected ones too`() throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.welcome(.bob)
    let lines = try team.succeed(.alice, "who", "a.example/me").lines
    #expect(lines.count == 2 && lines.allSatisfy { $0.contains("Example <") }, "\(lines)")
    let world = try #require(team.worlds[.alice])
    let file = "\(world.store)/items/internet-password/a.example/me.gpg"
    let foreign = try world.gnupg.encrypt([1], to: [.alice])
    try Data(foreign).write(to: URL(fileURLWithPath: file))
    let wrong = team.run(.alice, ["who", "a.example/me"])
    #expect(wrong.code == .failedChecks && wrong.text.contains("CANNOT READ IT"), "\(wrong.text)")
    let stranger = try GnuPGHome(public: [.alice, .carol]).encrypt([1], to: [.alice, .carol])
    try Data(stranger).write(to: URL(fileURLWithPath: file))
    let extra = team.run(.alice, ["who", "a.example/me"])
    #expect(extra.code == .failedChecks && extra.text.contains("no member has this key"), "\(extra.text)")
  }

  @Test func `changes of people on both sides are resolved by an admin`() throws {
    try team.welcome(.bob, "--admin")
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.succeed(.alice, "sync")
    let file = try team.keyFile(.carol)
    try team.succeed(
      .bob, "group", "add", "default", file, "--fingerprint", GnuPGKey.carol.fingerprint.text)
    try team.succeed(.bob, "add", "b.example/bob", input: "two")
    let stopped = team.run(.bob, ["sync"])
    #expect(stopped.code == .gitFailed && stopped.talk.contains("--reapply"), "\(stopped.talk)")
    let settled = team.run(.bob, ["sync", "--reapply"])
    #expect(settled.code == .done && settled.talk.contains("+ Carol"), "\(settled.talk)")
    #expect(try team.succeed(.bob, "group", "list").lines.count == 2)
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "group", "show", "default").lines.count == 3)
    #expect(try team.succeed(.alice, "get", "b.example/bob").text == "two")
    for item in ["a.example/me", "b.example/bob"] {
      #expect(try team.succeed(.alice, "who", item).lines.count == 3)
    }
    #expect(try team.succeed(.alice, "check", "--decrypt").lines.isEmpty)
    #expect(try team.succeed(.bob, "sync", "--reapply").talk.contains("Already up to date"))
  }

  @Test func `changes of people on the remote are shown and confirmed by the user`() throws {
    try team.welcome(.bob, "--admin")
    try team.succeed(.bob, "group", "create", "ops")
    try team.welcome(.carol)
    try team.succeed(.bob, "add", "b.example/bob", input: "two")
    #expect(team.run(.bob, ["sync"]).code == .gitFailed)
    let silent = team.run(.bob, ["sync", "--reapply"])
    #expect(silent.code == .cancelled && silent.talk.contains("+ Carol"), "\(silent.talk)")
    let refused = team.run(.bob, ["sync", "--reapply"], answers: ["n"])
    #expect(refused.code == .cancelled)
    // Nothing was merged, so this clone can still be used.
    try team.succeed(.bob, "add", "c.example/x", input: "x")
    let settled = team.run(.bob, ["sync", "--reapply"], answers: ["y"])
    #expect(settled.code == .done && settled.talk.contains("+ group ops"), "\(settled.talk)")
    #expect(try team.succeed(.bob, "who", "b.example/bob").lines.count == 3)
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "group", "list").lines.count == 2)
  }

  @Test func `an item that was added while a member was removed is re-encrypted`() throws {
    try team.welcome(.bob)
    try team.welcome(.carol)
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.mail)
    try team.succeed(.alice, "sync")
    // Bob's machine does not know of the removal yet.
    try team.succeed(.bob, "add", "b.example/bob", input: "two")
    // A sync that only pulls re-encrypts nothing, but `who` names the unexpected reader.
    let pull = try team.succeed(.bob, "sync", "--pull-only")
    #expect(!pull.talk.contains("Re-encrypted"), "\(pull.talk)")
    let who = team.run(.bob, ["who", "b.example/bob"])
    #expect(who.code == .failedChecks && who.text.contains("Carol Example <carol@keytree.example>, NOT IN"))
    let sync = try team.succeed(.bob, "sync")
    #expect(sync.talk.contains("Re-encrypted 1 item."), "\(sync.talk)")
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "who", "b.example/bob").lines.count == 2)
    #expect(try team.succeed(.alice, "check", "--decrypt").lines.isEmpty)
    // An item that cannot be re-encrypted is reported with its exit code, and the rest is synchronized.
    let world = try #require(team.worlds[.alice])
    let foreign = try GnuPGHome(public: [.alice, .bob, .carol]).encrypt([1], to: [.alice, .bob, .carol])
    let file = "\(world.store)/items/internet-password/b.example/bob.gpg"
    try Data(foreign).write(to: URL(fileURLWithPath: file))
    let failed = team.run(.alice, ["sync"])
    #expect(
      failed.code == .damaged && failed.talk.contains("1 item cannot be re-encrypted"), "\(failed.talk)")
    #expect(failed.talk.contains("Already up to date"))
  }

  @Test(arguments: [false, true])
  func `what a person has stored before their removal was published is kept`(isChange: Bool) throws {
    try team.welcome(.bob)
    try team.welcome(.carol)
    if isChange {
      try team.succeed(.alice, "add", "c.example/carol", input: "one")
      try team.succeed(.alice, "sync")
    }
    for person in [GnuPGKey.bob, .carol] { try team.succeed(person, "sync") }
    // Alice's machine has the removal, and does not know of Carol's item yet.
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.mail)
    try team.succeed(.carol, "add", "--update", "c.example/carol", input: "two")
    try team.succeed(.carol, "sync")
    let sync = try team.succeed(.alice, "sync")
    #expect(!sync.talk.contains("refused"), "\(sync.talk)")
    for person in [GnuPGKey.alice, .bob] {
      try team.succeed(person, "sync")
      #expect(try team.succeed(person, "get", "c.example/carol").lines == ["two"])
      #expect(try team.succeed(person, "check", "--decrypt").lines.isEmpty)
      #expect(try team.succeed(person, "who", "c.example/carol").lines.count == 2)
    }
  }

  @Test func `a machine that was offline accepts the policies that admins have signed since`() throws {
    try team.welcome(.bob)
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "group", "create", "more")
    try team.welcome(.carol)
    let sync = try team.succeed(.bob, "sync")
    #expect(sync.talk.contains("+ Carol") && sync.talk.contains("+ group ops"), "\(sync.talk)")
    try team.succeed(.bob, "add", "b.example/bob", input: "two")
    #expect(try team.succeed(.bob, "who", "b.example/bob").lines.count == 3)
  }
}
