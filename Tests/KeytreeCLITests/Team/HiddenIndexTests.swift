import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Tests a push that hides items: the index is not signed, so anybody who can push can empty it. With real GnuPG and git.
@Suite(.serialized, .slow) struct HiddenIndexTests {
  private let team: TeamMachines

  init() throws {
    team = try TeamMachines([.alice, .bob, .carol])
    try team.succeed(.alice, "add", "git.example/deploy", "-r", "https", input: "secret")
    try team.welcome(.bob)
    try team.succeed(.bob, "sync")
    let store = try #require(team.worlds[.bob]).store
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(store)/index") {
      try Data().write(to: URL(fileURLWithPath: "\(store)/index/\(name)"))
    }
    let identity = ["-c", "user.name=B", "-c", "user.email=b@example.org"]
    try GnuPGTool.run("git", ["-C", store] + identity + ["commit", "-q", "-a", "-m", "x"])
    try GnuPGTool.run("git", ["-C", store, "push", "-q", "origin", "HEAD:main"])
  }

  /// Removes Alice's clone and what her machine knows about it.
  private func forget() throws {
    let world = try #require(team.worlds[.alice])
    for path in [world.store, world.scratch.path + "/.local/state/keytree"] {
      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test func `a new clone finds the items that a push has hidden from the index`() throws {
    try forget()
    try team.succeed(.alice, "clone", team.hub, "--fingerprint", GnuPGKey.alice.fingerprint.text)
    try team.succeed(.alice, "find", "deploy")
    #expect(try team.succeed(.alice, "get", "git.example/deploy").text == "secret")
    // The next synchronization repairs the remote, as that of an older clone does.
    try team.succeed(.alice, "sync")
    try GnuPGTool.run("git", ["-C", team.hub, "grep", "-q", "deploy", "main", "--", "index"])
  }

  @Test func `a clone that is accepted later finds the items that a push has hidden from the index`() throws {
    try forget()
    let clone = team.run(.alice, ["clone", team.hub], answers: ["n"])
    #expect(clone.code == .cancelled, "\(clone.talk)")
    try team.succeed(.alice, "trust", "--fingerprint", GnuPGKey.alice.fingerprint.text)
    try team.succeed(.alice, "find", "deploy")
  }

  @Test func `a new clone of an intact store changes nothing`() throws {
    try team.succeed(.alice, "sync")
    try forget()
    try team.succeed(.alice, "clone", team.hub, "--fingerprint", GnuPGKey.alice.fingerprint.text)
    let store = try #require(team.worlds[.alice]).store
    let output = try GnuPGTool.run("git", ["-C", store, "status", "--porcelain", "--branch"])
    #expect(String(decoding: output, as: UTF8.self) == "## main...origin/main\n")
  }
}
