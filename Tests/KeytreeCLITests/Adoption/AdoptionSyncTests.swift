import CommandSupport
import Foundation
import Keyring
import KeyringModel
import TestSupport
import Testing

/// Tests the report of `sync` about files that another program has committed, with real git.
@Suite(.serialized) struct AdoptionSyncTests {
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
      let message = try bob.gnupg.encrypt(Array("new".utf8), to: [.bob], namesRecipients: false)
      try Data(message).write(to: URL(fileURLWithPath: "\(bob.store)/\(path)"))
    }
    let result = team.run(.bob, ["adopt"], answers: ["y"])
    #expect(result.code == .recipientUnusable, "\(result.talk)")
    #expect(result.talk.contains("you are not a member of group \"ops\""), "\(result.talk)")
    #expect(result.talk.contains("Adopted \"items/web/new.gpg\""), "\(result.talk)")
  }

  private var phone: String { "\(team.hub).phone" }

  private func git(_ words: String...) throws {
    try GnuPGTool.run(
      "git", ["-C", phone, "-c", "user.name=Phone", "-c", "user.email=phone@keytree.example"] + words)
  }

  private func push() throws {
    try git("add", "--all")
    try git("commit", "--quiet", "--message", "phone")
    try git("push", "--quiet", "origin", "HEAD")
  }

  /// Replaces the file of an item by another message that no member can read, and returns both paths.
  private func replace() throws -> (item: String, second: String) {
    try GnuPGTool.run("git", ["clone", "--quiet", team.hub, phone])
    let path = "items/internet-password/a.example/me.gpg"
    let home = try GnuPGHome(secret: [.carol])
    let junk = try home.encrypt(Array("junk".utf8), to: [.carol])
    home.close()
    try Data(junk).write(to: URL(fileURLWithPath: "\(phone)/\(path)"))
    try push()
    return (path, SecondPath.of(path, ContentDigest(of: junk)))
  }

  @Test func `a pushed file that no member can read does not lock a member out`() throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.succeed(.alice, "sync")
    let (item, second) = try replace()
    let sync = try team.succeed(.alice, "sync", "--quiet")
    #expect(
      sync.talk == """
        keytree: warning: another program has changed "\(item)"; the change is kept as "\(second)" (committed by "Phone <phone@keytree.example>")
        hint: `keytree adopt` lists these files, and takes them in or undoes them

        """, "\(sync.talk)")
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
    let list = team.run(.alice, ["adopt"])
    #expect(list.text.hasPrefix("\"\(second)\": a change of a.example/me on 20"))
    #expect(
      list.text.hasSuffix("committed by \"Phone <phone@keytree.example>\", not verified\n"), "\(list.text)")
    let adopted = team.run(.alice, ["adopt", second, "--yes"])
    #expect(adopted.code == .cannotDecrypt, "\(adopted.talk)")
    try team.succeed(.alice, "adopt", second, "--undo", "--yes")
    #expect(try team.succeed(.alice, "check", "--decrypt").text == "")
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "one")
  }

  @Test func `sync names the files of another program once, and says what to do`() throws {
    try team.succeed(.alice, "add", "a.example/me", input: "one")
    try team.succeed(.alice, "sync")
    try GnuPGTool.run("git", ["clone", "--quiet", team.hub, phone])
    let item = "\(phone)/items/internet-password/a.example/me.gpg"
    try FileManager.default.createDirectory(atPath: "\(phone)/items/web", withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: item, toPath: "\(phone)/items/web/new.gpg")
    try push()

    let sync = try team.succeed(.alice, "sync", "--quiet")
    #expect(
      sync.talk == """
        keytree: warning: another program has added "items/web/new.gpg" (committed by "Phone <phone@keytree.example>")
        hint: `keytree adopt` lists these files, and takes them in or undoes them

        """)
    #expect(try team.succeed(.alice, "sync", "--quiet").talk == "")
  }
}
