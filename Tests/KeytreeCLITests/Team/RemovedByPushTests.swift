import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

/// Tests a push that removes an item of a group, by a person who is not in the group. With real GnuPG and git.
@Suite(.serialized, .slow) struct RemovedByPushTests {
  @Test func `an item of a group that a push has removed is not stored for the person who removed it`() throws
  {
    let team = try TeamMachines()
    try team.welcome(.bob)
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "add", "git.example/deploy", "-r", "https", "-g", "ops", input: "old")
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")
    let store = try #require(team.worlds[.bob]).store
    let identity = ["-c", "user.name=B", "-c", "user.email=b@example.org"]
    try GnuPGTool.run("git", ["-C", store, "rm", "-q", "-r", "items/internet-password"])
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(store)/index") {
      try Data().write(to: URL(fileURLWithPath: "\(store)/index/\(name)"))
    }
    try GnuPGTool.run("git", ["-C", store] + identity + ["commit", "-q", "-a", "-m", "x"])
    try GnuPGTool.run("git", ["-C", store, "push", "-q", "origin", "HEAD:main"])

    try team.succeed(.alice, "sync")
    #expect(team.run(.alice, ["get", "git.example/deploy"]).code == .notFound)
    let request = "protocol=https\nhost=git.example\nusername=deploy\npassword=new\n"
    for words in [["credential", "git", "store"], ["add", "git.example/deploy", "-r", "http"]] {
      let answer = team.run(.alice, words, input: request)
      #expect(answer.code == .alreadyExists, "\(answer.talk)")
    }
    try team.succeed(.alice, "sync")
    try team.succeed(.alice, "add", "git.example/deploy", "-r", "https", "-g", "ops", input: "new")
    try team.succeed(.alice, "credential", "git", "store", input: request.replacing("=new", with: "=newer"))
    #expect(try team.succeed(.alice, "get", "git.example/deploy").text == "newer")
  }
}
