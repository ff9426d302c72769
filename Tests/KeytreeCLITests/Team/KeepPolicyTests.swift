import CommandSupport
import Encoding
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

@Suite("keytree sync --keep-policy", .serialized, .slow)
struct KeepPolicyTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines.ofThree() }

  private func get(_ person: GnuPGKey, _ item: String) throws -> String {
    try team.succeed(person, "get", item).text
  }

  @Test func `an admin drops the changes of a person whom they have removed`() throws {
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.bob.mail)
    for group in ["ops", "web", "dev"] { try team.succeed(.bob, "group", "create", group) }
    try team.succeed(.bob, "add", "b.example/bob", input: "two")
    try team.succeed(.bob, "add", "ops.example/bob", "-g", "ops", input: "three")
    try team.succeed(.bob, "sync")
    try team.succeed(.carol, "sync")
    try team.succeed(.carol, "add", "c.example/carol", input: "four")
    try team.succeed(.carol, "sync")

    #expect(team.run(.alice, ["sync"]).code == .gitFailed)
    let refused = team.run(.alice, ["sync", "--reapply"])
    #expect(refused.code == .policyNotTrusted && refused.talk.contains("--keep-policy"), "\(refused.talk)")
    // Nothing was merged, so this clone can still be used.
    try team.succeed(.alice, "add", "d.example/alice", input: "five")
    let before = try team.subjects(.alice)
    for answers in [[], ["n"]] {
      #expect(team.run(.alice, ["sync", "--keep-policy"], answers: answers).code == .cancelled)
    }
    #expect(try team.subjects(.alice) == before)
    let kept = team.run(.alice, ["sync", "--keep-policy"], answers: ["y"])
    #expect(kept.code == .done, "\(kept.talk)")
    #expect(kept.talk.contains("- group ops") && kept.talk.contains("- Bob Example"), "\(kept.talk)")
    // Nobody who is a member has this group.
    #expect(kept.talk.contains("ops.example/bob"), "\(kept.talk)")
    #expect(team.run(.alice, ["get", "ops.example/bob"]).code == .notFound)
    for (item, secret) in [
      ("a.example/me", "one"), ("b.example/bob", "two"), ("c.example/carol", "four"),
      ("d.example/alice", "five"),
    ] {
      #expect(try get(.alice, item) == secret)
      #expect(try team.succeed(.alice, "who", item).lines.count == 2)
    }
    #expect(try team.succeed(.alice, "check", "--decrypt").lines.isEmpty)

    // A machine that had accepted the dropped policy asks once.
    let stopped = team.run(.carol, ["sync"])
    #expect(stopped.code == .policyNotTrusted && stopped.talk.contains("keytree trust"), "\(stopped.talk)")
    // It is newer than the dropped one, so a script may accept it, too.
    let admin = GnuPGKey.alice.fingerprint.text
    #expect(try team.succeed(.carol, "trust", "--fingerprint", admin).text.contains("- Bob Example"))
    try team.succeed(.carol, "sync")
    #expect(try get(.carol, "b.example/bob") == "two" && get(.carol, "c.example/carol") == "four")
    for person in [GnuPGKey.alice, .carol] {
      let verify = team.run(person, ["verify"])
      #expect(verify.code == .done, "\(verify.text) \(verify.talk)")
    }
    let removed = team.run(.bob, ["sync", "--reapply"])
    #expect(removed.code == .done && removed.talk.contains("removed you"), "\(removed.talk)")
    #expect(team.run(.bob, ["get", "d.example/alice"]).code == .cannotDecrypt)
  }

  @Test func `a policy that is trusted is not dropped`() throws {
    try team.succeed(.bob, "group", "remove", "default", GnuPGKey.carol.mail)
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "group", "create", "ops")
    let before = try team.subjects(.alice)
    let refused = team.run(.alice, ["sync", "--keep-policy"], answers: ["y"])
    #expect(refused.code == .failure && refused.talk.contains("--reapply"), "\(refused.talk)")
    #expect(try team.subjects(.alice) == before)
    for other in ["--reapply", "--pull-only"] {
      #expect(team.run(.alice, ["sync", "--keep-policy", other]).code == .usage)
    }
    try team.succeed(.alice, "sync", "--reapply")
    #expect(try team.succeed(.alice, "sync", "--keep-policy").talk.contains("Already up to date"))
    #expect(try team.succeed(.alice, "who", "a.example/me").lines.count == 2)
  }

  @Test func `a policy that was replaced by an old one is kept`() throws {
    try team.restorePolicy()

    try team.succeed(.alice, "group", "create", "ops")
    #expect(team.run(.alice, ["sync", "--reapply"]).code == .policyNotTrusted)
    let kept = team.run(.alice, ["sync", "--keep-policy"], answers: ["y"])
    #expect(kept.code == .done && kept.talk.contains("is an older one"), "\(kept.talk)")
    try team.succeed(.carol, "sync")
    #expect(try team.succeed(.carol, "group", "list").lines.count == 2)
    #expect(try get(.carol, "a.example/me") == "one")
  }

  /// The options of `sync` that decide between two changes of the people.
  enum Choice: String, CaseIterable { case reapply = "--reapply", keep = "--keep-policy" }

  @Test(arguments: Choice.allCases)
  func `a change of another admin that was replaced by an old policy is neither lost nor dropped`(
    choice: Choice
  ) throws {
    try team.succeed(.bob, "group", "remove", "default", GnuPGKey.carol.fingerprint.text, "--all")
    try team.succeed(.bob, "sync")
    try team.restorePolicy()
    try team.succeed(.alice, "group", "create", "ops")
    #expect(team.run(.alice, ["sync"]).code == .gitFailed)
    if choice == .keep {
      let before = try team.subjects(.alice)
      let refused = team.run(.alice, ["sync", choice.rawValue], answers: ["y"])
      #expect(
        refused.code == .failure && refused.talk.contains("`keytree sync --reapply`"), "\(refused.talk)")
      #expect(try team.subjects(.alice) == before)
    }
    let merged = try team.succeed(.alice, "sync", "--reapply")
    #expect(merged.talk.contains("- Carol Example") && merged.talk.contains("+ group ops"), "\(merged.talk)")
    #expect(merged.talk.contains("refused policy.json: generation 3 is older"), "\(merged.talk)")
    try team.succeed(.bob, "sync")
    for person in [GnuPGKey.alice, .bob] {
      #expect(try team.succeed(person, "group", "list").lines.count == 2)
      #expect(try !team.succeed(person, "group", "show", "default").text.contains("Carol"))
      #expect(try team.succeed(person, "who", "a.example/me").lines.count == 2)
    }
  }

  @Test func `each policy that keep-policy drops is shown`() throws {
    let team = try TeamMachines.ofThree("--admin")
    // Alice and Bob remove each other, and a push restores the policy from before both.
    try team.succeed(.bob, "group", "remove", "default", GnuPGKey.alice.fingerprint.text, "--all")
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.bob.fingerprint.text, "--all")
    try team.succeed(.alice, "sync")
    try team.pushMerge(with: .bob, isRestoring: true)
    try team.succeed(.carol, "group", "create", "ops")
    let refused = team.run(.carol, ["sync", "--reapply"])
    #expect(refused.code == .policyNotTrusted, "\(refused.talk)")
    let kept = team.run(.carol, ["sync", "--keep-policy"], answers: ["n"])
    #expect(kept.code == .cancelled, "\(kept.talk)")
    #expect(kept.talk.contains("+ Alice Example") && kept.talk.contains("+ Bob Example"), "\(kept.talk)")
    #expect(kept.talk.contains("(policy 2 of 2)"), "\(kept.talk)")
  }

  @Test func `a removed admin does not drop the removal`() throws {
    try team.succeed(.alice, "group", "remove", "default", GnuPGKey.bob.mail)
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "group", "create", "ops")
    let refused = team.run(.bob, ["sync", "--keep-policy"], answers: ["y"])
    #expect(refused.code == .failure && refused.talk.contains("--reapply"), "\(refused.talk)")
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "who", "a.example/me").lines.count == 2)
  }

  @Test func `an item of a person whom the remote has removed is not signed again with reapplied changes`()
    throws
  {
    try team.succeed(.bob, "group", "remove", "default", GnuPGKey.carol.mail)
    try team.succeed(.bob, "sync")
    // Carol can still push, and does so without `keytree sync`, which would receive her removal.
    try team.succeed(.carol, "add", "c.example/carol", input: "evil")
    let clone = "\(team.hub).clone"
    try GnuPGTool.run("git", ["clone", "-q", team.hub, clone])
    let store = try #require(team.worlds[.carol]).store
    let folder = "items/internet-password/c.example"
    try FileManager.default.copyItem(atPath: "\(store)/\(folder)", toPath: "\(clone)/\(folder)")
    try GnuPGTool.run("git", ["-C", clone, "add", "-A"])
    try GnuPGTool.run(
      "git", ["-C", clone, "-c", "user.name=C", "-c", "user.email=c@example.org", "commit", "-q", "-m", "x"])
    try GnuPGTool.run("git", ["-C", clone, "push", "-q", "origin", "main"])

    try team.succeed(.alice, "group", "create", "ops")
    let settled = team.run(.alice, ["sync", "--reapply"])
    #expect(settled.code == .done && settled.talk.contains("c.example/carol"), "\(settled.talk)")
    #expect(team.run(.alice, ["get", "c.example/carol"]).code == .notFound)
    #expect(try team.succeed(.alice, "check", "--decrypt").lines.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a policy of a stranger that breaks the key file of an admin is dropped`(hasOwnChange: Bool) throws {
    let clone = "\(team.hub).clone"
    try GnuPGTool.run("git", ["clone", "-q", team.hub, clone])
    let admin = GnuPGKey.alice.fingerprint
    // User ids of one byte (RFC 9580, 5.11). Only an option makes GnuPG accept those without a signature.
    let users = (0..<65).flatMap { [0xCD, 1, UInt8(ascii: "0") + $0] }
    let home = try GnuPGHome()
    try home.run(
      ["--allow-non-selfsigned-uid", "--import"],
      input: Armor.binary(GnuPGKey.alice.publicKey, .publicKey) + users)
    let file = try home.run(["--armor", "--export"])
    // Carol is not an admin.
    let forge = PolicyForge(try #require(team.worlds[.carol]).gnupg, store: clone)
    try forge.write(file, to: "keys/\(admin.text).asc")
    try forge.succeed([], by: .carol) { $0.people[admin]?.key = ContentDigest(of: file) }
    let words = ["-C", clone, "-c", "user.name=C", "-c", "user.email=c@example.org"]
    try GnuPGTool.run("git", words + ["commit", "-q", "-a", "-m", "x"])
    try GnuPGTool.run("git", words + ["push", "-q", "origin", "main"])

    // Plain git brings the policy to Bob's machine, which does not accept it.
    let store = try #require(team.worlds[.bob]).store
    try GnuPGTool.run("git", ["-C", store, "pull", "-q"])
    #expect(try get(.bob, "a.example/me") == "one")
    if hasOwnChange {
      try team.succeed(.alice, "group", "create", "ops")
    } else {
      let refused = team.run(.alice, ["sync"])
      #expect(refused.code == .policyNotTrusted && refused.talk.contains("user ids"), "\(refused.talk)")
    }
    let kept = team.run(.alice, ["sync", "--keep-policy"], answers: ["y"])
    #expect(kept.code == .done, "\(kept.talk)")
    try team.succeed(.bob, "sync")
    #expect(try get(.bob, "a.example/me") == "one" && get(.alice, "a.example/me") == "one")
  }
}
