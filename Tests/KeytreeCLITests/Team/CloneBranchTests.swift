import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests clones of repositories whose `HEAD` refers to a branch that does not exist, with real git.
@Suite(.serialized) struct CloneBranchTests {
  private let team: TeamMachines

  init() throws {
    team = try TeamMachines([.alice])
    // As `git init --bare` does where the default branch is `master`, as on Debian 12.
    try GnuPGTool.run("git", ["-C", team.hub, "symbolic-ref", "HEAD", "refs/heads/master"])
  }

  private func clone(_ words: String...) -> (MaintenanceFixture.Answer, String) {
    let folder = "\(team.hub).copy"
    let answer = team.run(
      .alice, ["clone", team.hub, folder, "--fingerprint", GnuPGKey.alice.fingerprint.text] + words)
    return (answer, folder)
  }

  @Test func `the only branch is used, and is synchronized afterwards`() throws {
    let (answer, folder) = clone()
    #expect(answer.code == .done, "\(answer.talk)")
    let add = team.run(.alice, ["--store", folder, "add", "a.example/me"], input: "one")
    #expect(add.code == .done, "\(add.talk)")
    let sync = team.run(.alice, ["--store", folder, "sync"])
    #expect(sync.code == .done && sync.talk.contains("Sent 1 change."), "\(sync.talk)")
    try team.succeed(.alice, "sync")
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
    let branches = try GnuPGTool.run("git", ["-C", team.hub, "for-each-ref", "--format=%(refname)"])
    #expect(String(decoding: branches, as: UTF8.self) == "refs/heads/main\n")
    let config = try GnuPGTool.run("git", ["-C", folder, "config", "--local", "--list"])
    #expect(!String(decoding: config, as: UTF8.self).contains("master"))
  }

  @Test func `of several branches the user chooses one`() throws {
    try GnuPGTool.run("git", ["-C", team.hub, "branch", "old", "main"])
    let (answer, folder) = clone()
    #expect(answer.code == .ambiguous, "\(answer.talk)")
    #expect(
      answer.talk.contains("its branches are main and old") && answer.talk.contains("--branch NAME"),
      "\(answer.talk)")
    #expect(!FileManager.default.fileExists(atPath: folder))
    let (chosen, _) = clone("--branch", "main")
    #expect(chosen.code == .done, "\(chosen.talk)")
    #expect(team.run(.alice, ["--store", folder, "sync"]).talk.contains("Already up to date."))
  }

  @Test(arguments: ["nowhere", "--upload-pack=touch x", ""])
  func `a branch that does not exist is an error`(name: String) throws {
    let (answer, folder) = clone("--branch", name)
    #expect(answer.code == .notFound, "\(answer.talk)")
    #expect(answer.talk.contains("it has only the branch main"), "\(answer.talk)")
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  /// Adds a branch without a store and makes it the default branch, as a hosted repository with a description has it.
  private func addDescription() throws {
    let tree = try GnuPGTool.run("git", ["-C", team.hub, "hash-object", "-t", "tree", "-w", "/dev/null"])
    let identity = ["-c", "user.name=W", "-c", "user.email=w@example.org"]
    let commit = try GnuPGTool.run(
      "git",
      ["-C", team.hub] + identity
        + [
          "commit-tree", "-m", "readme",
          String(decoding: tree, as: UTF8.self).trimmingCharacters(in: .newlines),
        ])
    try GnuPGTool.run(
      "git",
      [
        "-C", team.hub, "update-ref", "refs/heads/master",
        String(decoding: commit, as: UTF8.self).trimmingCharacters(in: .newlines),
      ])
  }

  @Test func `the only branch with a store is used if the default branch has none`() throws {
    try addDescription()
    let (answer, folder) = clone()
    #expect(answer.code == .done, "\(answer.talk)")
    #expect(team.run(.alice, ["--store", folder, "sync"]).talk.contains("Already up to date."))
    let branches = try GnuPGTool.run(
      "git", ["-C", folder, "for-each-ref", "--format=%(refname)", "refs/heads"])
    #expect(String(decoding: branches, as: UTF8.self) == "refs/heads/main\n")
    let config = try GnuPGTool.run("git", ["-C", folder, "config", "--local", "--list"])
    #expect(!String(decoding: config, as: UTF8.self).contains("master"))
  }

  @Test func `of several other branches with a store the user chooses one`() throws {
    try addDescription()
    try GnuPGTool.run("git", ["-C", team.hub, "branch", "old", "main"])
    let (answer, _) = clone()
    #expect(answer.code == .ambiguous, "\(answer.talk)")
    #expect(answer.talk.contains("other branches have one: main and old"), "\(answer.talk)")
    #expect(clone("--branch", "old").0.code == .done)
  }

  @Test func `an empty repository and one without a store have their own messages`() throws {
    try addDescription()
    try GnuPGTool.run("git", ["-C", team.hub, "update-ref", "-d", "refs/heads/main"])
    let (other, _) = clone()
    #expect(other.code == .notFound && other.talk.contains("is not a store"), "\(other.talk)")
    try GnuPGTool.run("git", ["-C", team.hub, "update-ref", "-d", "refs/heads/master"])
    let (empty, folder) = clone()
    #expect(empty.code == .notFound && empty.talk.contains("hub.git has no branch"), "\(empty.talk)")
    #expect(!FileManager.default.fileExists(atPath: folder))
  }
}
