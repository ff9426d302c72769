import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests key files that claim keys of other people, and key files that were damaged or replaced.
@Suite(.serialized, .waits) struct ReplacedKeyFileTests {
  private static let carol = GnuPGKey.carol.fingerprint
  private static let borrowed = CareTranscriptTests.fixtures.appendingPathComponent(
    "gnupg/carol.borrowed.primary.asc"
  ).path
  private static let claim =
    "the key file of \(carol.text) has the subkey \(GnuPGKey.dave.fingerprint.text), which also belongs to the key of "
    + "another person, \(GnuPGKey.dave.fingerprint.text)"

  private let team: TeamMachines

  init() throws {
    team = try TeamMachines([.alice, .dave, .carol])
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.welcome(.dave)
  }

  /// Returns the path of Carol's key file in the store of a person.
  private func path(_ person: GnuPGKey) throws -> String {
    "\(try #require(team.worlds[person]).store)/keys/\(Self.carol.text).asc"
  }

  private func content(_ person: GnuPGKey) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: path(person)))
  }

  /// Replaces Carol's key file in the store of a person.
  private func replace(_ person: GnuPGKey, by bytes: Data) throws {
    try bytes.write(to: URL(fileURLWithPath: path(person)))
  }

  /// Replaces Carol's key file in the remote, as everyone who can push can do.
  private func push(_ bytes: Data) throws {
    let clone = "\(team.hub).clone"
    try GnuPGTool.run("git", ["clone", "-q", team.hub, clone])
    try bytes.write(to: URL(fileURLWithPath: "\(clone)/keys/\(Self.carol.text).asc"))
    try GnuPGTool.run(
      "git",
      ["-C", clone, "-c", "user.name=M", "-c", "user.email=m@example.org", "commit", "-q", "-a", "-m", "x"])
    try GnuPGTool.run("git", ["-C", clone, "push", "-q", "origin", "HEAD"])
  }

  // MARK: Claims

  @Test func `a newcomer whose key file has the primary key of a member is refused and named`() throws {
    let add = ["group", "add", "default", Self.borrowed, "--fingerprint", Self.carol.text]
    let added = team.run(.alice, add)
    #expect(added.code == .recipientUnusable && added.talk.contains(Self.claim), "\(added.talk)")
    let replaced = team.run(
      .alice,
      ["group", "replace", GnuPGKey.dave.fingerprint.text, Self.borrowed, "--fingerprint", Self.carol.text])
    #expect(replaced.code == .recipientUnusable && replaced.talk.contains(Self.claim), "\(replaced.talk)")
    try team.welcome(.carol)
    let refreshed = team.run(.alice, ["group", "refresh", Self.borrowed])
    #expect(refreshed.code == .recipientUnusable && refreshed.talk.contains(Self.claim), "\(refreshed.talk)")
    try team.succeed(.alice, "add", "b.example/me", input: "two")
  }

  // MARK: Replaced files

  @Test func `a key file in a push that the policy does not name is refused, and everyone continues`() throws
  {
    try team.welcome(.carol)
    let good = try content(.alice)
    try push(Data(contentsOf: URL(fileURLWithPath: Self.borrowed)))
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    let received = try team.succeed(.alice, "sync")
    let line = "keytree: warning: refused keys/\(Self.carol.text).asc"
    #expect(received.talk.contains(line), "\(received.talk)")
    #expect(received.talk.contains("this is not the key file that the policy names"), "\(received.talk)")
    for person in [GnuPGKey.dave, .carol] {
      let synchronized = try team.succeed(person, "sync")
      #expect(!synchronized.talk.contains("refused"), "\(synchronized.talk)")
      #expect(try team.succeed(person, "get", "b.example/me").text == "two")
      #expect(try content(person) == good)
      try team.succeed(person, "verify")
    }
    #expect(try content(.alice) == good)
  }

  @Test func `a policy is accepted with the key file that it names, if a later push has replaced that file`()
    throws
  {
    try team.welcome(.carol)
    try team.succeed(.dave, "sync")
    try team.change(.carol, ["--quick-add-key", Self.carol.text, "ed25519", "sign"])
    try team.succeed(.alice, "group", "refresh", try team.export(.carol))
    try team.succeed(.alice, "sync")
    let good = try content(.alice)
    try push(Data(contentsOf: URL(fileURLWithPath: Self.borrowed)))
    let received = try team.succeed(.dave, "sync")
    #expect(received.talk.contains("this is not the key file that the policy names"), "\(received.talk)")
    #expect(try content(.dave) == good)
    try team.succeed(.dave, "check")
    try team.succeed(.alice, "sync")
    #expect(try content(.alice) == good)
  }

  enum Loss: CaseIterable {
    case changed, removed, changedWithoutCopy
  }

  @Test(arguments: Loss.allCases)
  func `check --repair restores a key file that was changed or removed, and sync sends it`(loss: Loss) throws
  {
    try team.welcome(.carol)
    let good = try content(.alice)
    let world = try #require(team.worlds[.alice])
    if loss == .removed {
      try FileManager.default.removeItem(atPath: path(.alice))
    } else {
      try replace(.alice, by: Data(contentsOf: URL(fileURLWithPath: Self.borrowed)))
    }
    let git = ["-C", world.store, "-c", "user.name=M", "-c", "user.email=m@example.org"]
    try GnuPGTool.run("git", git + ["commit", "-q", "-a", "-m", "x"])
    try GnuPGTool.run("git", git + ["push", "-q", "origin", "HEAD"])
    if loss == .changedWithoutCopy { try removeCopies(of: world) }
    let refused = team.run(.alice, ["add", "b.example/me"], input: "two")
    #expect(refused.code == .policyNotTrusted, "\(refused.talk)")
    #expect(refused.talk.contains("hint: `keytree check --repair` restores the file"), "\(refused.talk)")
    let repaired = try team.succeed(.alice, "check", "--repair")
    #expect(repaired.text.contains("restored keys/\(Self.carol.text).asc"), "\(repaired.text)")
    #expect(repaired.text.contains("quarantined keys/") == (loss != .removed), "\(repaired.text)")
    #expect(try content(.alice) == good)
    try team.succeed(.alice, "add", "b.example/me", input: "two")
    try team.succeed(.alice, "sync")
    let clone = "\(team.hub).clone"
    try GnuPGTool.run("git", ["clone", "-q", team.hub, clone])
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(clone)/keys/\(Self.carol.text).asc")) == good)
    try team.succeed(.dave, "sync")
    #expect(try content(.dave) == good)
  }

  /// Removes the copies of accepted key files from a person's machine.
  private func removeCopies(of world: MaintenanceFixture) throws {
    let state = "\(world.scratch.path)/.local/state/keytree"
    let copies = try FileManager.default.subpathsOfDirectory(atPath: state).filter { $0.contains("/key-") }
    #expect(!copies.isEmpty)
    for copy in copies { try FileManager.default.removeItem(atPath: "\(state)/\(copy)") }
  }

  @Test func `group refresh writes the good key file although the key has not changed`() throws {
    try team.welcome(.carol)
    let good = try content(.alice)
    try replace(.alice, by: Data(contentsOf: URL(fileURLWithPath: Self.borrowed)))
    let refreshed = try team.succeed(.alice, "group", "refresh", try team.keyFile(.carol))
    #expect(refreshed.talk.contains("keys/\(Self.carol.text).asc"), "\(refreshed.talk)")
    #expect(try content(.alice) == good)
    try team.succeed(.alice, "check")
  }

  // MARK: Verifying

  @Test(arguments: ["replaced", "damaged"])
  func `verify of an older commit with a bad key file has a finding about the file`(kind: String) throws {
    try team.welcome(.carol)
    let good = try content(.alice)
    let store = try #require(team.worlds[.alice]).store
    let git = ["-C", store, "-c", "user.name=M", "-c", "user.email=m@example.org"]
    // Alice has signed the policy and the item.
    let person = kind == "replaced" ? Self.carol : GnuPGKey.alice.fingerprint
    let path = "\(store)/keys/\(person.text).asc"
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let bad =
      kind == "replaced" ? try Data(contentsOf: URL(fileURLWithPath: Self.borrowed)) : good.prefix(300)
    try bad.write(to: URL(fileURLWithPath: path))
    try GnuPGTool.run("git", git + ["commit", "-q", "-a", "-m", "x"])
    try before.write(to: URL(fileURLWithPath: path))
    try GnuPGTool.run("git", git + ["commit", "-q", "-a", "-m", "y"])
    for words in [["verify"], ["verify", "--at", "HEAD"]] {
      let result = team.run(.alice, words)
      #expect(result.code == .done, "\(words): \(result.code) \(result.text) \(result.talk)")
    }
    let result = team.run(.alice, ["verify", "--at", "HEAD~1"])
    #expect(result.code == .failedChecks, "\(result.code) \(result.text) \(result.talk)")
    let line = "keys/\(person.text).asc: this is not the key file that the policy names"
    #expect(result.text.contains(line), "\(result.text) \(result.talk)")
  }
}
