import CommandSupport
import KeyringModel
import TestSupport
import Testing

/// Tests that a conflict names the people whose versions are kept and set aside.
@Suite(.slow) struct ConflictNameTests {
  @Test func `sync and resolve name whose version is kept and whose became a copy`() throws {
    let team = try TeamMachines.ofThree()
    try team.succeed(.bob, "set", "a.example/me", "--secret", input: "of bob")
    try team.succeed(.bob, "sync")
    try team.succeed(.alice, "set", "a.example/me", "--secret", input: "of alice")
    let merged = try team.succeed(.alice, "sync")
    let line = try #require(merged.talk.split(separator: "\n").first { $0.hasPrefix("Conflict:") })
    let (kept, copied) = ("kept the version of Alice Example", "the version of Bob Example <bob@")
    #expect(line.contains(kept) && line.contains(copied) && line.contains("became conflict copy"), "\(line)")
    let list = try team.succeed(.alice, "resolve")
    #expect(list.text.contains("Alice Example") && list.text.contains("Bob Example"), "\(list.text)")
    #expect(try team.succeed(.alice, "get", "a.example/me").text == "of alice")
  }
}
