import Foundation
import Testing
import TestSupport

/// Several programs that hand over credentials at the same time.
@Suite struct ProgramsAtOnceTests {
  @Test func `twelve credentials that docker stores at once are all there`() throws {
    let home = try ProgramsHome()
    try ThreadGroup.run(12) { member in
      let message = "{\"ServerURL\":\"r\(member).example\",\"Username\":\"u\",\"Secret\":\"s\(member)\"}"
      try home.succeed(["docker-credential-keytree", "store"], input: message)
    }
    for member in 0..<12 {
      let answer = try home.succeed(["docker-credential-keytree", "get"], input: "r\(member).example").text
      #expect(answer.contains("\"Secret\":\"s\(member)\""), "\(answer)")
    }
    try expectCommits(12, home)
  }

  @Test func `of twelve credentials for one registry one is left, whole`() throws {
    let home = try ProgramsHome()
    try ThreadGroup.run(12) { member in
      let message = "{\"ServerURL\":\"one.example\",\"Username\":\"u\(member)\",\"Secret\":\"s\(member)\"}"
      try home.succeed(["docker-credential-keytree", "store"], input: message)
    }
    #expect(try home.program.succeed(["find"]).split(separator: "\n").count == 1)
    let answer = try home.succeed(["docker-credential-keytree", "get"], input: "one.example").text
    #expect(
      (0..<12).contains { answer.contains("\"Username\":\"u\($0)\",\"Secret\":\"s\($0)\"") }, "\(answer)")
  }

  @Test func `one credential that git stores twelve times at once is one item and one commit`() throws {
    let home = try ProgramsHome()
    try ThreadGroup.run(12) { _ in
      let message = "protocol=https\nhost=one.example\nusername=alice\npassword=secret\n"
      let outcome = try home.succeed(["git-credential-keytree", "store"], input: message)
      guard outcome.errors.isEmpty else { throw ProcessesFailure(description: outcome.errors) }
    }
    #expect(try home.program.succeed(["find"]).split(separator: "\n").count == 1)
    #expect(try home.program.succeed(["get", "one.example/alice"]) == "secret")
    try expectCommits(1, home)
  }

  /// What was stored is committed: one commit for each change, or fewer where one process committed for two.
  private func expectCommits(_ count: Int, _ home: ProgramsHome) throws {
    let subjects = try home.program.git(["log", "--format=%s"]).split(separator: "\n")
    #expect((2...count + 1).contains(subjects.count), "\(subjects)")
    #expect(try home.program.git(["status", "--porcelain"]) == "")
    let check = try home.program.run(["check", "--decrypt"])
    #expect(check.status == 0, "\(check.text)\(check.errors)")
  }
}
