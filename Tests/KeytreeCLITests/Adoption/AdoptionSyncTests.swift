import CommandSupport
import Foundation
import TestSupport
import Testing

/// Tests the report of `sync` about files that another program has committed, with real git.
@Suite struct AdoptionSyncTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines([.alice, .bob]) }

  @Test func `a file of a group that the user is not in does not stop the others`() throws {
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "add", "ops.example/root", "-g", "ops", input: "one")
    try team.welcome(.bob)
    let bob = try #require(team.worlds[.bob])
    let reference = try team.succeed(.bob, "find", "ops.example", "--json").text
    let item = try #require(reference.firstMatch(of: #/internet-password/ops\.example/[^"]*/#)).0
    try FileManager.default.createDirectory(
      atPath: "\(bob.store)/items/web", withIntermediateDirectories: true)
    for path in ["items/\(item).gpg", "items/web/new.gpg"] {
      let message = try bob.gnupg.encrypt(Array("new".utf8), to: [.bob])
      try Data(message).write(to: URL(fileURLWithPath: "\(bob.store)/\(path)"))
    }
    let result = team.run(.bob, ["adopt"], answers: ["y"])
    #expect(result.code == .recipientUnusable, "\(result.talk)")
    #expect(result.talk.contains("you are not a member of group \"ops\""), "\(result.talk)")
    #expect(result.talk.contains("Adopted items/web/new.gpg"), "\(result.talk)")
  }

  @Test func `sync names the files of another program once, and says what to do`() throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.succeed(.alice, "sync")
    let phone = "\(team.hub).phone"
    func git(_ words: String...) throws {
      try GnuPGTool.run(
        "git", ["-C", phone, "-c", "user.name=Phone", "-c", "user.email=phone@keytree.example"] + words)
    }
    try GnuPGTool.run("git", ["clone", "--quiet", team.hub, phone])
    let item = "\(phone)/items/internet-password/a.example/me.gpg"
    try FileManager.default.createDirectory(atPath: "\(phone)/items/web", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: item, toPath: "\(phone)/items/web/new.gpg")
    try git("add", "--all")
    try git("commit", "--quiet", "--message", "Add a password")
    try git("push", "--quiet", "origin", "HEAD")

    let sync = try team.succeed(.alice, "sync", "--quiet")
    #expect(
      sync.talk == """
        keytree: warning: another program has added items/web/new.gpg (committed by Phone <phone@keytree.example>)
        hint: `keytree adopt` lists these files, and takes them in or undoes them

        """)
    #expect(try team.succeed(.alice, "sync", "--quiet").talk == "")
  }
}
