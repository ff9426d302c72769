import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Tests that the history has every generation of the policy, and that its last policy is the newest one.
@Suite(.serialized, .slow) struct PolicyGenerationTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines.ofThree() }

  /// Expects that some machines find nothing wrong in the history.
  private func expectNoFindings(_ people: [GnuPGKey]) throws {
    for person in people {
      try team.succeed(person, "sync")
      let verify = team.run(person, ["verify"])
      #expect(verify.code == .done, "\(verify.text) \(verify.talk)")
    }
  }

  @Test func `several policies that are reapplied to one of the remote are not older than it`() throws {
    for group in ["ops", "web", "dev"] { try team.succeed(.bob, "group", "create", group) }
    try team.succeed(.alice, "group", "create", "mail")
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.bob, "sync", "--reapply").talk.contains("Reapplied your changes"))
    try expectNoFindings([.bob, .alice, .carol])
    #expect(try team.succeed(.carol, "group", "list").lines.count == 5)
  }

  @Test func `an admin who cannot reapply their policies accepts that of the remote`() throws {
    try team.succeed(.alice, "group", "create", "web")
    let (bob, carol) = (GnuPGKey.bob.fingerprint.text, GnuPGKey.carol.fingerprint.text)
    try team.succeed(.alice, "group", "add", "web", carol, "--fingerprint", carol)
    for person in [GnuPGKey.alice, .bob, .carol] { try team.succeed(person, "sync") }
    try team.succeed(.bob, "group", "add", "web", bob, "--fingerprint", bob)
    try team.succeed(.bob, "group", "remove", "web", carol)
    try team.succeed(.carol, "add", "b.example/me", "-g", "web", input: "two")
    try team.succeed(.alice, "group", "create", "mail")
    for person in [GnuPGKey.carol, .alice] { try team.succeed(person, "sync") }

    // Bob cannot read the item that Carol has signed, so he cannot sign it himself.
    let refused = team.run(.bob, ["sync", "--reapply"], answers: ["y"])
    #expect(refused.code == .cannotDecrypt && refused.talk.contains("`keytree trust`"), "\(refused.talk)")
    // The next run completes one that could not commit the policy.
    let lock = "\(try #require(team.worlds[.bob]).store)/.git/index.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    let trust = team.run(.bob, ["trust"], answers: ["y"])
    #expect(trust.code == .gitFailed && trust.talk.contains("stored, but not committed"), "\(trust.talk)")
    try FileManager.default.removeItem(atPath: lock)
    try team.succeed(.bob, "trust")
    try expectNoFindings([.bob, .alice, .carol])
    #expect(try team.succeed(.alice, "group", "list").lines.count == 3)
    #expect(team.run(.bob, ["get", "b.example/me"]).code == .cannotDecrypt)
    #expect(try team.succeed(.carol, "get", "b.example/me").text == "two")
  }

  @Test func `a policy that could not be committed gets its own commit before the next one`() throws {
    let lock = "\(try #require(team.worlds[.alice]).store)/.git/index.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    let first = team.run(.alice, ["group", "create", "ops"])
    #expect(first.code == .gitFailed && first.talk.contains("stored, but not committed"), "\(first.talk)")
    let second = team.run(.alice, ["group", "create", "web"])
    #expect(second.code == .gitFailed && second.talk.contains("were not changed"), "\(second.talk)")
    try FileManager.default.removeItem(atPath: lock)
    #expect(try team.succeed(.alice, "group", "list").lines.count == 2)
    try team.succeed(.alice, "group", "create", "web")
    try expectNoFindings([.alice, .bob, .carol])
    #expect(try team.succeed(.bob, "group", "list").lines.count == 3)
  }

  @Test func `a policy that was restored is not signed again, and the hint takes it back`() throws {
    try team.restorePolicy()
    let store = try #require(team.worlds[.alice]).store
    try GnuPGTool.run("git", ["-C", store, "pull", "-q", "--ff-only", "origin", "main"])
    let synchronized = team.run(.alice, ["sync"])
    #expect(synchronized.code == .policyNotTrusted, "\(synchronized.talk)")
    let before = try team.subjects(.alice)
    let trust = team.run(.alice, ["trust"], answers: ["y"])
    #expect(trust.code == .policyNotTrusted && trust.text.contains("OLDER"), "\(trust.text) \(trust.talk)")
    #expect(trust.talk.contains("`keytree git revert COMMIT`"), "\(trust.talk)")
    #expect(try team.subjects(.alice) == before)
    for (name, value) in [("user.name", "A"), ("user.email", "a@example.org")] {
      try GnuPGTool.run("git", ["-C", store, "config", name, value])
    }
    try team.succeed(.alice, "git", "revert", "--no-edit", "HEAD")
    try team.succeed(.alice, "sync")
    try team.succeed(.alice, "add", "c.example/me", input: "three")
  }
}
