import Foundation
import Testing
import TestSupport

/// Several programs that store credentials concurrently.
@Suite(.serialized, .slow) struct ProgramsAtOnceTests {
  @Test func `all of twelve credentials that docker stores concurrently exist`() throws {
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

  @Test func `with -U, twelve concurrent additions succeed and only the first adds the item`() throws {
    let home = try ProgramsHome()
    let kinds = ["generic", "internet"]
    try ThreadGroup.run(12) { member in
      let kind = kinds[member % 2]
      let line = "add-\(kind)-password -U -s one -a me -w s\(member)\n"
      let outcome = try home.succeed(["security", "-i"], input: line)
      guard outcome.errors.isEmpty else { throw ProcessesFailure(description: outcome.errors) }
    }
    for (index, kind) in kinds.enumerated() {
      let found = try home.succeed(["security", "find-\(kind)-password", "-s", "one", "-w"]).text
      #expect((0..<12).contains { $0 % 2 == index && found == "s\($0)\n" }, "\(found)")
    }
    try expectCommits(2...12, items: 2, home)
  }

  @Test func `of twelve concurrent credentials for one registry, one complete credential is left`() throws {
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

  @Test func `a credential that git stores twelve times concurrently is one item and one commit`() throws {
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

  private func expectCommits(_ count: Int, _ home: ProgramsHome) throws {
    try expectCommits(1...count, items: count, home)
  }

  /// Expects that every item was committed, completely and once. The number of commits is not fixed: a process commits
  /// all pending changes, so two changes may share a commit. No commit is empty, and no change is left uncommitted.
  ///
  /// - Parameters:
  ///   - counts: The possible numbers of commits, not counting the one that made the store.
  ///   - items: The number of items that were added.
  private func expectCommits(_ counts: ClosedRange<Int>, items: Int, _ home: ProgramsHome) throws {
    let folder = ["--", ":(glob)items/**/*.gpg"]
    let commits = try home.program.git(["log", "--format=%H"]).split(separator: "\n")
    let changes = try home.program.git(["log", "--format=%H"] + folder).split(separator: "\n")
    #expect(counts.contains(commits.count - 1), "\(commits)")
    #expect(changes == commits.dropLast(), "each commit after the first changes items")
    let added = try home.program.git(["log", "--format=", "--name-only", "--diff-filter=A"] + folder)
      .split(separator: "\n")
    #expect(added.count == items && Set(added).count == items, "\(added)")
    let kept = try home.program.git(["ls-tree", "-r", "--name-only", "HEAD", "--", "items"]).split(
      separator: "\n"
    )
    .filter { $0.hasSuffix(".gpg") }
    #expect(Set(kept) == Set(added))
    #expect(try home.program.succeed(["find"]).split(separator: "\n").count == items)
    #expect(try home.program.git(["status", "--porcelain"]) == "")
    let check = try home.program.run(["check", "--decrypt"])
    #expect(check.status == 0, "\(check.text)\(check.errors)")
  }
}
