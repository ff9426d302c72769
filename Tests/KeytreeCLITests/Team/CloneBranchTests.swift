import CommandSupport
import Foundation
import KeyringModel
import TestSupport
import Testing

/// Tests clones of repositories whose `HEAD` refers to a branch that does not exist, with real git.
@Suite struct CloneBranchTests {
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
    #expect(answer.talk.contains("main, old") && answer.talk.contains("--branch NAME"), "\(answer.talk)")
    #expect(!FileManager.default.fileExists(atPath: folder))
    let (chosen, _) = clone("--branch", "main")
    #expect(chosen.code == .done, "\(chosen.talk)")
    #expect(team.run(.alice, ["--store", folder, "sync"]).talk.contains("Already up to date."))
  }

  @Test(arguments: ["nowhere", "--upload-pack=touch x", ""])
  func `a branch that does not exist is an error`(name: String) throws {
    let (answer, folder) = clone("--branch", name)
    #expect(answer.code == .gitFailed, "\(answer.talk)")
    #expect(!FileManager.default.fileExists(atPath: folder))
  }
}
