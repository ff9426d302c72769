import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Tests people who clone a store before an admin has added them, with real GnuPG and git.
@Suite(.serialized, .slow) struct NewcomerTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines([.alice, .bob, .carol]) }

  /// Clones the store for a person who is not in its policy.
  private func cloneEarly(_ person: GnuPGKey) throws {
    let clone = team.run(person, ["clone", team.hub, "--fingerprint", GnuPGKey.alice.fingerprint.text])
    #expect(clone.code == .cannotDecrypt, "\(clone.talk)")
    #expect(clone.talk.contains("`gpg --armor --export \(person.mail)`"), "\(clone.talk)")
  }

  /// Adds a person with the key that the hint makes them send.
  private func letIn(_ person: GnuPGKey) throws {
    let world = try #require(team.worlds[person])
    let path = "\(world.scratch.path)/sent.asc"
    try Data(world.gnupg.run(["--armor", "--export", person.mail])).write(to: URL(fileURLWithPath: path))
    try team.succeed(.alice, "group", "add", "default", path, "--fingerprint", person.fingerprint.text)
    try team.succeed(.alice, "sync")
  }

  /// Returns true if a machine has accepted a policy.
  private func hasPin(_ person: GnuPGKey) throws -> Bool {
    let folder = try #require(team.worlds[person]).scratch.path + "/.local/state/keytree"
    let files = FileManager.default.subpaths(atPath: folder) ?? []
    return files.contains { $0.hasSuffix("pin.json") }
  }

  /// Gives a person a new key instead of the old one.
  ///
  /// - Returns: Its fingerprint.
  private func loseKey(of person: GnuPGKey, for name: String) throws -> String {
    try team.gnupg(person).run(["--yes", "--delete-secret-and-public-key", person.fingerprint.text])
    try team.change(person, ["--quick-gen-key", name, "future-default", "default", "never"])
    let listing = String(
      decoding: try team.gnupg(person).run(["--with-colons", "--list-secret-keys"]), as: UTF8.self)
    let line = try #require(listing.split(separator: "\n").first { $0.hasPrefix("fpr:") })
    return line.split(separator: ":").last.map(String.init) ?? ""
  }

  @Test func `a member with another key on a new machine learns how an admin replaces or keeps the old one`()
    throws
  {
    let file = try team.keyFile(.bob)
    let old = GnuPGKey.bob.fingerprint.text
    try team.succeed(.alice, "group", "add", "default", file, "--fingerprint", old)
    try team.succeed(.alice, "sync")
    let new = try loseKey(of: .bob, for: "Bob <bob@keytree.example>")
    for words in [
      ["clone", team.hub, "--fingerprint", GnuPGKey.alice.fingerprint.text], ["trust"], ["sync"],
    ] {
      let answer = team.run(.bob, words)
      #expect(answer.code == (words == ["sync"] ? .policyNotTrusted : .cannotDecrypt), "\(answer.talk)")
      let hint =
        "`gpg --armor --export \(new)`; they run `keytree group replace \(old) FILE` if your other key is lost, or "
        + "`keytree group add default FILE` to keep both"
      #expect(answer.talk.contains(hint), "\(words): \(answer.talk)")
    }
  }

  @Test
  func `a member whose only key is a new one learns from trust and get that an admin replaces the old one`()
    throws
  {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.welcome(.bob)
    let old = GnuPGKey.bob.fingerprint.text
    let new = try loseKey(of: .bob, for: "Robert <robert@keytree.example>")
    for words in [["trust"], ["get", "a.example/me"]] {
      let answer = team.run(.bob, words)
      #expect(answer.code == .cannotDecrypt, "\(answer.talk)")
      let hint = "`gpg --armor --export \(new)`; they run `keytree group replace \(old) FILE`"
      #expect(answer.talk.contains(hint), "\(words): \(answer.talk)")
    }
  }

  @Test(arguments: [["sync"], ["trust"]])
  func `a newcomer learns what to send, and is let in by the next sync or trust`(first: [String]) throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.succeed(.alice, "sync")
    try cloneEarly(.bob)
    let refused = team.run(.bob, ["sync"])
    #expect(refused.code == .policyNotTrusted, "\(refused.talk)")
    #expect(refused.talk.contains("`gpg --armor --export bob@keytree.example`"), "\(refused.talk)")
    #expect(refused.talk.contains("none of your secret keys belongs to a person in it"), "\(refused.talk)")

    try letIn(.bob)
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    try team.succeed(.alice, "sync")
    if first == ["sync"] {
      let received = team.run(.bob, first)
      #expect(received.code == .policyNotTrusted, "\(received.talk)")
      #expect(received.talk.contains("Received "), "\(received.talk)")
      #expect(received.talk.contains("`keytree trust`") && !received.talk.contains("gpg"), "\(received.talk)")
    }
    // Nothing is trusted before the user has accepted it.
    #expect(try !hasPin(.bob))
    #expect(team.run(.bob, ["get", "a.example/me"]).code == .policyNotTrusted)
    let silent = team.run(.bob, ["trust"])
    #expect(silent.code == .cancelled, "\(silent.talk)")
    #expect(try !hasPin(.bob))
    let wrong = team.run(.bob, ["trust", "--fingerprint", GnuPGKey.carol.fingerprint.text])
    #expect(wrong.code == .policyNotTrusted, "\(wrong.talk)")
    #expect(try !hasPin(.bob))

    let trust = try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    #expect(trust.text.contains("generation 2"))
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
    #expect(try team.succeed(.bob, "get", "b.example/me").text == "two")
    #expect(try team.succeed(.bob, "check", "--decrypt").lines.isEmpty)
    try team.succeed(.bob, "add", "c.example/me", input: "three")
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "get", "c.example/me").text == "three")
  }

  @Test func `trust without the remote warns and shows what the clone has`() throws {
    try cloneEarly(.bob)
    try letIn(.bob)
    try FileManager.default.moveItem(atPath: team.hub, toPath: team.hub + ".away")
    let offline = team.run(.bob, ["trust"])
    #expect(offline.code == .cannotDecrypt, "\(offline.talk)")
    #expect(
      offline.talk.contains("keytree: warning: nothing was received from the remote"), "\(offline.talk)")
    #expect(offline.talk.contains("does not appear to be a git repository"), "\(offline.talk)")
    #expect(offline.text.contains("generation 1"))
    let sync = team.run(.bob, ["sync"])
    #expect(sync.code == .gitFailed, "\(sync.talk)")
    try FileManager.default.moveItem(atPath: team.hub + ".away", toPath: team.hub)
    try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
  }

  /// A person who can push could otherwise make a newcomer accept them as an admin.
  @Test func `a policy that was received from a stranger is shown and never accepted silently`() throws {
    try cloneEarly(.bob)
    try letIn(.bob)
    try cloneEarly(.carol)
    // Carol replaces the policy with one without a valid signature.
    let store = try #require(team.worlds[.carol]).store
    let policy = URL(fileURLWithPath: "\(store)/policy.json")
    let text = try String(contentsOf: policy, encoding: .utf8).replacing("\"member\"", with: "\"admin\"")
    try Data(text.utf8).write(to: policy)
    let git = ["-C", store, "-c", "user.name=W", "-c", "user.email=w@example.org"]
    try GnuPGTool.run("git", git + ["commit", "-qam", "x"])
    try GnuPGTool.run("git", git + ["push", "-q"])
    let sync = team.run(.bob, ["sync"])
    #expect(sync.code == .policyNotTrusted, "\(sync.talk)")
    for words in [["trust"], ["trust", "--fingerprint", GnuPGKey.alice.fingerprint.text]] {
      let trust = team.run(.bob, words, answers: ["y"])
      #expect(trust.code == .policyNotTrusted, "\(trust.talk)")
      #expect(trust.talk.contains("it is not signed by an admin"), "\(trust.talk)")
    }
    #expect(try !hasPin(.bob))
  }

  @Test func `a rewritten history is not received before it is accepted`() throws {
    try cloneEarly(.bob)
    try letIn(.bob)
    #expect(team.run(.bob, ["sync"]).code == .policyNotTrusted)
    let store = try #require(team.worlds[.alice]).store
    try GnuPGTool.run("git", ["-C", store, "push", "-qf", "origin", "HEAD~1:main"])
    let sync = team.run(.bob, ["sync"])
    #expect(sync.code == .gitFailed && sync.talk.contains("has lost commits"), "\(sync.talk)")
    let trust = try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    #expect(trust.talk.contains("has lost commits") && trust.text.contains("generation 2"), "\(trust.talk)")
  }

  @Test func `files beside the store are withheld until the policy is accepted`() throws {
    try cloneEarly(.bob)
    let alice = try #require(team.worlds[.alice]).store
    try team.succeed(.alice, "policy", "allow", "README.md")
    try Data("hello".utf8).write(to: URL(fileURLWithPath: "\(alice)/README.md"))
    let git = ["-C", alice, "-c", "user.name=W", "-c", "user.email=w@example.org"]
    try GnuPGTool.run("git", git + ["add", "README.md"])
    try GnuPGTool.run("git", git + ["commit", "-qm", "readme"])
    try letIn(.bob)
    #expect(team.run(.bob, ["sync"]).code == .policyNotTrusted)
    let readme = try #require(team.worlds[.bob]).store + "/README.md"
    #expect(!FileManager.default.fileExists(atPath: readme))
    try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    #expect(FileManager.default.fileExists(atPath: readme))
    let status = try GnuPGTool.run(
      "git", ["-C", try #require(team.worlds[.bob]).store, "status", "--porcelain"])
    #expect(status.isEmpty, "\(String(decoding: status, as: UTF8.self))")
  }

  /// A machine that has lost its record of the accepted policy may have commits that are not on the remote.
  @Test func `commits of this clone are kept when the pin was lost`() throws {
    try team.welcome(.bob)
    try team.succeed(.bob, "add", "b.example/me", input: "two")
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.succeed(.alice, "sync")
    let state = try #require(team.worlds[.bob]).scratch.path + "/.local/state/keytree"
    try FileManager.default.removeItem(atPath: state)
    let sync = team.run(.bob, ["sync"])
    #expect(sync.code == .policyNotTrusted && sync.talk.contains("`keytree trust`"), "\(sync.talk)")
    let trust = try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    #expect(trust.talk.contains("this clone has commits of its own"), "\(trust.talk)")
    try team.succeed(.bob, "sync")
    #expect(try team.succeed(.bob, "get", "b.example/me").text == "two")
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
  }

  /// Without the policy of the remote, such a clone could never be used: its own policy does not have the newcomer.
  @Test(arguments: [["sync"], ["trust"]])
  func `a newcomer with a commit of their own accepts the policy of the remote`(first: [String]) throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.succeed(.alice, "sync")
    try cloneEarly(.bob)
    let store = try #require(team.worlds[.bob]).store
    try GnuPGTool.run(
      "git",
      [
        "-C", store, "-c", "user.name=W", "-c", "user.email=w@example.org", "commit", "-qm", "x",
        "--allow-empty",
      ])
    try letIn(.bob)
    if first == ["sync"] {
      let received = team.run(.bob, first)
      #expect(received.code == .policyNotTrusted, "\(received.talk)")
      #expect(received.talk.contains("this clone has commits of its own"), "\(received.talk)")
      #expect(received.talk.contains("`keytree trust`") && !received.talk.contains("gpg"), "\(received.talk)")
    }
    let asked = team.run(.bob, ["trust"])
    #expect(asked.code == .cancelled && asked.text.contains("generation 2"), "\(asked.talk)")
    #expect(try !hasPin(.bob))
    let wrong = team.run(.bob, ["trust", "--fingerprint", GnuPGKey.carol.fingerprint.text])
    #expect(wrong.code == .policyNotTrusted, "\(wrong.talk)")
    #expect(try !hasPin(.bob))
    let trust = try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    #expect(trust.text.contains("generation 2"), "\(trust.talk)")
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
    try team.succeed(.bob, "add", "b.example/me", input: "two")
    try team.succeed(.bob, "sync")
    #expect(try team.subjects(.bob).contains("x"))
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "two")
    #expect(try team.succeed(.bob, "check", "--decrypt").lines.isEmpty)
  }

  @Test func `a sync before the policy is accepted makes no commit`() throws {
    try cloneEarly(.bob)
    let store = try #require(team.worlds[.bob]).store
    let folder = "\(store)/items/web"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data("x".utf8).write(to: URL(fileURLWithPath: "\(folder)/a.example.gpg"))
    let before = try team.subjects(.bob)
    #expect(team.run(.bob, ["sync"]).code == .policyNotTrusted)
    #expect(try team.subjects(.bob) == before)
    let status = try GnuPGTool.run("git", ["-C", store, "status", "--porcelain"])
    #expect(String(decoding: status, as: UTF8.self) == "?? items/web/\n")
    try letIn(.bob)
    let received = team.run(.bob, ["sync"])
    #expect(
      received.talk.contains("Received ") && !received.talk.contains("commits of its own"), "\(received.talk)"
    )
    try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    // The file is committed with the first change after that.
    try team.succeed(.bob, "add", "b.example/me", input: "two")
    #expect(try GnuPGTool.run("git", ["-C", store, "status", "--porcelain"]).isEmpty)
  }

  @Test func `a clone to another folder names it in the commands to run`() throws {
    let folder = try #require(team.worlds[.bob]).scratch.path + "/my store"
    let clone = team.run(
      .bob, ["clone", team.hub, folder, "--fingerprint", GnuPGKey.alice.fingerprint.text])
    #expect(clone.code == .cannotDecrypt, "\(clone.talk)")
    #expect(clone.talk.contains("then run `keytree --store '\(folder)' trust`"), "\(clone.talk)")
    try letIn(.bob)
    let other = folder + "2"
    let silent = team.run(.bob, ["clone", team.hub, other])
    #expect(silent.code == .cancelled, "\(silent.talk)")
    #expect(silent.talk.contains("run `keytree --store '\(other)' trust`"), "\(silent.talk)")
  }

  @Test func `a member's trust receives the policy of the remote`() throws {
    try team.welcome(.bob)
    try letIn(.carol)
    let trust = try team.succeed(.bob, "trust")
    #expect(trust.text.contains("generation 3") && trust.talk.contains("Already accepted."), "\(trust.talk)")
    #expect(trust.talk.contains("+ Carol Example"), "\(trust.talk)")
  }
}
