import Foundation
import TestSupport
import Testing

/// Tests the report of `sync` about files that another program has committed, with real git.
@Suite struct AdoptionSyncTests {
  private let team: TeamMachines

  init() throws { team = try TeamMachines([.alice]) }

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
