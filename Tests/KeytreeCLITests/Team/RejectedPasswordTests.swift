import CommandSupport
import KeyringModel
import TestSupport
import Testing

/// Tests what git does with a password of a team that a server has rejected, with real GnuPG and git.
@Suite(.serialized) struct RejectedPasswordTests {
  private static let question = "protocol=https\nhost=git.example\nusername=deploy\n"

  @Test func `the new password of a group is not stored for the rest of the team`() throws {
    let team = try TeamMachines([.alice, .bob])
    try team.succeed(.alice, "group", "create", "ops")
    try team.succeed(.alice, "add", "git.example/deploy", "-g", "ops", input: "old")
    try team.succeed(.alice, "add", "own.example/alice", "-g", "ops", input: "mine")
    try team.welcome(.bob)
    let file = try team.keyFile(.bob)
    try team.succeed(.alice, "group", "create", "web")
    try team.succeed(.alice, "group", "add", "web", file, "--fingerprint", GnuPGKey.bob.fingerprint.text)
    try team.succeed(.alice, "add", "web.example/deploy", "-g", "web", input: "shared")
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")

    func git(_ person: GnuPGKey, _ action: String, _ message: String) -> MaintenanceFixture.Answer {
      team.run(person, ["credential", "git", action], input: message)
    }
    // The item of `web` has another reader, so that a rejection does not remove it.
    let web = "protocol=https\nhost=web.example\nusername=deploy\npassword=shared\n"
    let kept = git(.alice, "erase", web)
    #expect(kept.code == .failure, "\(kept.talk)")
    #expect(kept.talk.contains("was not removed: other members of group \"web\" use it, too"), "\(kept.talk)")
    #expect(try team.succeed(.alice, "get", "web.example/deploy").text == "shared")
    #expect(git(.alice, "store", web.replacing("shared", with: "newer")).code == .done)
    #expect(try team.succeed(.alice, "get", "web.example/deploy", "-g", "web").text == "newer")

    // The item of `ops` is replaced in its group.
    #expect(git(.alice, "get", Self.question).text.hasSuffix("password=old\n"))
    let again = git(.alice, "erase", Self.question + "password=old\n")
    #expect(again.code == .failure && again.talk.contains("which others can read"), "\(again.talk)")
    #expect(git(.alice, "store", Self.question + "password=new\n").code == .done)
    try team.succeed(.alice, "sync")
    try team.succeed(.bob, "sync")
    #expect(try team.succeed(.bob, "find", "git.example").lines.count == 1)
    #expect(try team.succeed(.bob, "who", "git.example/deploy").text.contains("Alice"))
    #expect(team.run(.bob, ["get", "git.example/deploy"]).code == .cannotDecrypt)

    // Bob can neither replace nor remove it, and stores no other one.
    let refused = git(.bob, "store", Self.question + "password=of bob\n")
    #expect(refused.code == .recipientUnusable, "\(refused.talk)")
    #expect(refused.talk.contains("you are not a member of group \"ops\""), "\(refused.talk)")
    let commands = [
      ["rm", "git.example/deploy"], ["mv", "git.example/deploy", "x.example/deploy"],
      ["set", "git.example/deploy", "-l", "x"], ["set", "git.example/deploy", "-g", "default", "--widen"],
      ["rm", "git.example/deploy", "--as-admin"],
    ]
    for words in commands {
      let answer = team.run(.bob, words)
      #expect(answer.code == .recipientUnusable, "\(words): \(answer.talk)")
      #expect(answer.talk.contains("you are not a member of group \"ops\""), "\(words): \(answer.talk)")
    }
    #expect(try team.succeed(.bob, "find", "git.example").lines.count == 1)
    #expect(try team.succeed(.alice, "get", "git.example/deploy").text == "new")
  }
}
