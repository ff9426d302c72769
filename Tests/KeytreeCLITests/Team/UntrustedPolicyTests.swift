import CommandSupport
import Encoding
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests what happens if a person who can push commits a policy that no admin wants.
@Suite(.serialized, .slow) struct UntrustedPolicyTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines.ofThree() }

  private func head(_ person: GnuPGKey) throws -> [UInt8] {
    try GnuPGTool.run("git", ["-C", try #require(team.worlds[person]).store, "rev-parse", "HEAD"])
  }

  /// Removes Carol, and pushes the policy from before, with its valid signature.
  private func restoreCarol() throws {
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
    try team.restorePolicy()
  }

  /// Expects that a person's next synchronization accepts the removal of Carol, and takes the policy of the remote back.
  private func expectRepair(by person: GnuPGKey, _ refusal: String) throws {
    let repaired = try team.succeed(person, "sync")
    #expect(repaired.talk.contains(refusal), "\(repaired.talk)")
    #expect(repaired.talk.contains("an admin changed the policy"), "\(repaired.talk)")
    try team.succeed(person, "add", "b.example/me", input: "new")
    let readers = try team.succeed(person, "who", "b.example/me").text
    #expect(readers.contains("Bob") && !readers.contains("Carol"), "\(readers)")
    try team.succeed(person, "sync")
    let other = try team.succeed(.alice, "sync")
    #expect(!other.talk.contains("refused"), "\(other.talk)")
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "new")
    let members = try team.succeed(.alice, "group", "show", "default").text
    #expect(!members.contains("Carol"), "\(members)")
  }

  @Test func `a machine that has not seen the removal of a person takes the policy from before back`() throws
  {
    try restoreCarol()
    try expectRepair(by: .bob, "refused policy.json: generation 3 is older")
    #expect(team.run(.bob, ["verify"]).text.contains("generation 3 follows generation 4"))
  }

  /// What a person pushes in place of the newest policy: the policy some changes before it, or a file that is no policy.
  @Test(arguments: [2, nil])
  func `a machine between the two policies does not take its own one for the newest`(distance: Int?) throws {
    try team.succeed(.alice, "group", "create", "ops")
    for person in [GnuPGKey.alice, .bob] { try team.succeed(person, "sync") }
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
    if let distance { try team.restorePolicy(distance) } else { try team.push("x", to: "policy.json") }
    try expectRepair(by: .bob, "refused policy.json")
  }

  @Test func `a machine that has accepted the removal of a person takes the policy from before back`() throws
  {
    try restoreCarol()
    let repaired = try team.succeed(.alice, "sync")
    #expect(repaired.talk.contains("refused policy.json: generation 3 is older"), "\(repaired.talk)")
    let received = try team.succeed(.bob, "sync")
    #expect(!received.talk.contains("refused"), "\(received.talk)")
    #expect(try !team.succeed(.bob, "group", "show", "default").text.contains("Carol"))
  }

  @Test func `a removed admin does not come back with a policy beside that of their removal`() throws {
    let team = try TeamMachines.ofThree("--admin")
    let carol = GnuPGKey.carol.fingerprint.text
    try team.welcome(.dave)
    for person in [GnuPGKey.bob, .carol] { try team.succeed(person, "sync") }
    try team.succeed(.alice, "group", "remove", "default", carol, "--all")
    try team.succeed(.alice, "sync")
    // Carol's machine has not received that.
    try team.succeed(.carol, "group", "create", "carols")
    try team.pushMerge(with: .carol)
    // Nothing is accepted if plain git brings it, and the user is told.
    let store = try #require(team.worlds[.dave]).store
    try GnuPGTool.run("git", ["-C", store, "pull", "-q", "--ff-only", "origin", "main"])
    let reason = "taken the right to sign"
    let refused = team.run(.dave, ["add", "c.example/me"], input: "new")
    #expect(refused.code == .policyNotTrusted && refused.talk.contains(reason), "\(refused.talk)")
    for words in [["trust", "--fingerprint", carol], ["trust"], ["sync", "--reapply"]] {
      let answer = team.run(.dave, words, answers: ["y"])
      #expect(answer.code == .policyNotTrusted, "\(words) \(answer.talk)")
    }
    #expect(try team.succeed(.dave, "get", "a.example/me").text == "one")

    let repaired = try team.succeed(.bob, "sync")
    #expect(repaired.talk.contains("refused policy.json"), "\(repaired.talk)")
    for person in [GnuPGKey.alice, .dave, .bob] {
      try team.succeed(person, "sync")
      let members = try team.succeed(person, "group", "show", "default").text
      #expect(!members.contains("Carol"), "\(members)")
      #expect(try !team.succeed(person, "group", "list").text.contains("carols"))
    }
    try team.succeed(.dave, "add", "c.example/me", input: "new")
    #expect(try !team.succeed(.dave, "who", "c.example/me").text.contains("Carol"))
  }

  @Test func `only the user decides between two admins who have removed each other`() throws {
    let (alice, bob) = (GnuPGKey.alice.fingerprint.text, GnuPGKey.bob.fingerprint.text)
    try team.succeed(.bob, "group", "remove", "default", alice, "--all")
    try team.succeed(.alice, "group", "remove", "default", bob, "--all")
    try team.succeed(.alice, "sync")
    try team.pushMerge(with: .bob)
    let reason = "two sides of its history, up to generation 4 and 4, contradict each other"
    for words in [["sync"], ["trust", "--fingerprint", bob]] {
      let refused = team.run(.carol, words)
      #expect(refused.code == .policyNotTrusted && refused.talk.contains(reason), "\(refused.talk)")
    }
    #expect(try team.succeed(.carol, "group", "show", "default").lines.count == 3)
    let accepted = team.run(.carol, ["trust"], answers: ["y"])
    #expect(accepted.code == .done && accepted.talk.unwrapped.contains(reason), "\(accepted.talk)")
    #expect(try !team.succeed(.carol, "group", "show", "default").text.contains("Alice"))
  }

  @Test func `the user may decide for the side whose last policy a new admin has signed`() throws {
    let dave = GnuPGKey.dave.fingerprint.text
    try team.succeed(.bob, "group", "remove", "default", GnuPGKey.alice.fingerprint.text, "--all")
    try team.succeed(
      .bob, "group", "add", "default", try team.keyFile(.dave), "--admin", "--fingerprint", dave)
    let store = try #require(team.worlds[.bob]).store
    try team.succeed(.dave, "clone", store, "--fingerprint", GnuPGKey.bob.fingerprint.text)
    try team.succeed(.dave, "group", "create", "ops")
    try team.succeed(
      .alice, "group", "remove", "default", GnuPGKey.bob.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
    try team.pushMerge(with: .dave)
    for words in [["sync"], ["trust", "--fingerprint", dave]] {
      let refused = team.run(.carol, words)
      #expect(
        refused.code == .policyNotTrusted && refused.talk.contains("contradict each other"), "\(refused.talk)"
      )
    }
    let accepted = team.run(.carol, ["trust"], answers: ["y"])
    #expect(
      accepted.code == .done && accepted.text.contains("\(dave)  Dave"), "\(accepted.text) \(accepted.talk)")
    #expect(try team.succeed(.carol, "group", "list").text.contains("ops"))
  }

  @Test func `a policy that a merge has dropped does not come back`() throws {
    try team.welcome(.dave)
    for person in [GnuPGKey.bob, .dave] { try team.succeed(person, "sync") }
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "group", "create", "ops")
    let dropped = String(decoding: try head(.bob).dropLast(), as: UTF8.self)
    try team.succeed(.bob, "sync", "--reapply")
    try team.pushPolicy(of: dropped)
    let repaired = try team.succeed(.dave, "sync")
    #expect(repaired.talk.contains("refused policy.json: generation 5 is older"), "\(repaired.talk)")
    try team.succeed(.dave, "add", "b.example/me", input: "new")
    #expect(try !team.succeed(.dave, "who", "b.example/me").text.contains("Carol"))
    try team.succeed(.dave, "sync")
    for person in [GnuPGKey.alice, .bob] {
      try team.succeed(person, "sync")
      #expect(try !team.succeed(person, "group", "show", "default").text.contains("Carol"))
      #expect(try team.succeed(person, "group", "list").text.contains("ops"))
    }
  }

  @Test func `a new clone does not accept a policy that a merge has dropped, and an admin takes it back`()
    throws
  {
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "group", "create", "ops")
    let dropped = String(decoding: try head(.bob).dropLast(), as: UTF8.self)
    try team.succeed(.bob, "sync", "--reapply")
    try team.succeed(.alice, "sync")
    try team.pushPolicy(of: dropped)
    let world = try #require(team.worlds[.bob])
    try FileManager.default.removeItem(atPath: world.store)
    try FileManager.default.removeItem(atPath: "\(world.scratch.path)/.local/state/keytree")
    let cloned = team.run(.bob, ["clone", team.hub, "--fingerprint", GnuPGKey.bob.fingerprint.text])
    #expect(cloned.code == .policyNotTrusted && cloned.talk.contains("that was restored"), "\(cloned.talk)")
    let repaired = try team.succeed(.alice, "sync")
    #expect(repaired.talk.contains("refused policy.json: generation 4 is older"), "\(repaired.talk)")
    try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.bob.fingerprint.text)
    #expect(try !team.succeed(.bob, "group", "show", "default").text.contains("Carol"))
  }

  @Test func `a policy that a stopped merge has brought is compared with the history of both sides`() throws {
    let team = try TeamMachines.ofThree("--admin")
    try team.succeed(.alice, "policy", "allow", "NOTES")
    for person in [GnuPGKey.alice, .bob, .carol] { try team.succeed(person, "sync") }
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.carol.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
    try team.succeed(.carol, "group", "create", "carols")
    try team.pushMerge(with: .carol)
    try team.push("theirs", to: "NOTES")
    // The same file is in a commit of Bob's machine, so that the merge stops.
    let store = try #require(team.worlds[.bob]).store
    let words = ["-C", store, "-c", "user.name=B", "-c", "user.email=b@example.org"]
    try Data("ours".utf8).write(to: URL(fileURLWithPath: "\(store)/NOTES"))
    try GnuPGTool.run("git", words + ["add", "NOTES"])
    try GnuPGTool.run("git", words + ["commit", "-q", "-m", "x"])
    #expect(throws: (any Error).self) {
      try GnuPGTool.run("git", words + ["pull", "-q", "--no-rebase", "--no-edit", "origin", "main"])
    }
    let refused = team.run(.bob, ["add", "b.example/me"], input: "new")
    #expect(
      refused.code == .policyNotTrusted && refused.talk.contains("taken the right to sign"),
      "\(refused.talk)")
    #expect(try !team.succeed(.bob, "group", "list").text.contains("carols"))
  }

  @Test func `a policy that was restored is not accepted when plain git brings it`() throws {
    try team.succeed(.alice, "group", "create", "ops")
    try restoreCarol()
    let store = try #require(team.worlds[.bob]).store
    try GnuPGTool.run("git", ["-C", store, "pull", "-q", "--ff-only", "origin", "main"])
    let refused = team.run(.bob, ["add", "b.example/me"], input: "new")
    #expect(refused.code == .policyNotTrusted, "\(refused.talk)")
    #expect(
      refused.talk.contains("(generation 4) that was restored; its history has generation 5"),
      "\(refused.talk)")
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")
    try team.succeed(.bob, "add", "b.example/me", input: "new")
    let readers = try team.succeed(.bob, "who", "b.example/me").text
    #expect(readers.contains("Bob") && !readers.contains("Carol"), "\(readers)")
  }

  @Test func `a new clone does not accept a policy that its history replaces`() throws {
    try restoreCarol()
    let world = try #require(team.worlds[.bob])
    try FileManager.default.removeItem(atPath: world.store)
    try FileManager.default.removeItem(atPath: "\(world.scratch.path)/.local/state/keytree")
    let cloned = team.run(.bob, ["clone", team.hub, "--fingerprint", GnuPGKey.alice.fingerprint.text])
    #expect(cloned.code == .policyNotTrusted && cloned.talk.contains("that was restored"), "\(cloned.talk)")
    let trusted = team.run(.bob, ["trust", "--fingerprint", GnuPGKey.alice.fingerprint.text])
    #expect(trusted.code == .policyNotTrusted, "\(trusted.talk)")
    #expect(team.run(.bob, ["add", "b.example/me"], input: "new").code == .policyNotTrusted)
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
  }

  /// Edits of the policy that no admin has signed.
  static let edits: [(name: String, make: @Sendable (inout Policy) throws -> Void)] = [
    ("the same generation", { $0.groups["ops"] = [] }),
    (
      "the next generation",
      { policy in
        policy = try policy.successor(
          by: [.create(group: "ops")], previous: ContentDigest(of: policy.encode()),
          at: Timestamp(microseconds: 1))
      }
    ),
    (
      "a person without a key file",
      { policy in
        let dora = try #require(Fingerprint(String(repeating: "D", count: 40)))
        policy = try policy.successor(
          by: [
            .add(dora, name: "Dora", role: .admin, key: ContentDigest(of: []), encryptTo: [dora]),
            .join(dora, group: GroupName.default),
          ], previous: ContentDigest(of: policy.encode()), at: Timestamp(microseconds: 1))
      }
    ),
  ]

  @Test(arguments: edits.indices)
  func `a policy that no admin has signed stops only sync, and changes no item`(index: Int) throws {
    let clone = "\(team.hub).clone"
    try GnuPGTool.run("git", ["clone", "-q", team.hub, clone])
    let file = URL(fileURLWithPath: "\(clone)/policy.json")
    var policy = try Policy.parse(Array(try Data(contentsOf: file)))
    try Self.edits[index].make(&policy)
    try Data(policy.encode()).write(to: file)
    let person = ["-c", "user.name=Eve", "-c", "user.email=eve@example.org"]
    try GnuPGTool.run("git", ["-C", clone] + person + ["commit", "-q", "-a", "-m", "x"])
    try GnuPGTool.run("git", ["-C", clone, "push", "-q", "origin", "main"])
    let commit = String(
      decoding: try GnuPGTool.run("git", ["-C", clone, "rev-parse", "HEAD"]).prefix(12), as: UTF8.self)
    let before = try head(.bob)
    for _ in 0..<2 {
      let refused = team.run(.bob, ["sync"])
      #expect(refused.code == .policyNotTrusted, "\(refused.talk)")
      #expect(refused.talk.contains("nothing was merged: the policy of the remote"), "\(refused.talk)")
      #expect(refused.talk.contains("`keytree git log -1 \(commit)`"), "\(refused.talk)")
      #expect(!refused.talk.contains("not available"), "\(refused.talk)")
      #expect(try head(.bob) == before)
    }
    #expect(try team.succeed(.bob, "get", "a.example/me").text == "one")
    try team.succeed(.bob, "add", "b.example/me", input: "new")
    let kept = team.run(.alice, ["sync", "--keep-policy"], answers: ["y"])
    #expect(kept.code == .done, "\(kept.talk)")
    for person in [GnuPGKey.bob, .alice, .carol] { try team.succeed(person, "sync") }
    #expect(try team.succeed(.alice, "get", "b.example/me").text == "new")
  }
}
