import Foundation
import TestSupport
import Testing

/// Two clones that come together by git itself: merge, rebase, cherry-pick, revert and stash call keytree's drivers.
@Suite("Plain git")
struct PlainGitTests {
  /// The store of Alice, a bare repository, and another clone.
  final class Clones {
    let program: ProcessesProgram
    var other: String { "\(program.folder)/other" }

    init(_ count: Int = 5) throws {
      program = try ProcessesProgram()
      try program.succeed(["init"])
      for number in 0..<count {
        try program.succeed(["add", "h\(number).example/me"], input: "old\(number)")
      }
      let hub = "\(program.folder)/hub.git"
      try program.git(["init", "-q", "--bare", "-b", "main", hub])
      try program.succeed(["git", "remote", "add", "origin", hub])
      try program.succeed(["sync"])
      // The pin is this machine's, so nothing is asked.
      try program.succeed(["clone", hub, other])
    }

    func here(_ arguments: String..., input: String = "") throws {
      try program.succeed(arguments, input: input)
    }

    func there(_ arguments: String..., input: String = "") throws -> String {
      try program.succeed(["--store", other] + arguments, input: input)
    }

    /// Both sides change what they have of the same items.
    func diverge() throws {
      try here("set", "h0.example/me", "--secret", input: "mine")
      try here("set", "h1.example/me", "-l", "mine")
      try here("add", "h8.example/me", input: "mine")
      _ = try there("set", "h0.example/me", "--secret", input: "theirs")
      _ = try there("set", "h1.example/me", "-j", "theirs")
      _ = try there("add", "h8.example/me", input: "theirs")
      // What git takes away without a driver: deleted or renamed on one side, other attributes on the other one.
      try here("rm", "h2.example/me")
      _ = try there("set", "h2.example/me", "-l", "kept")
      try here("mv", "h3.example/me", "n3.example/me")
      _ = try there("set", "h3.example/me", "-l", "renamed")
      try here("set", "h4.example/me", "-l", "kept")
      _ = try there("rm", "h4.example/me")
      try here("sync")
      try program.git(["fetch", "-q"], in: other)
    }

    /// Everything that both sides had is there, and nothing is wrong.
    func expectMerged(_ comment: Comment) throws {
      _ = try there("status")
      #expect(try there("get", "h0.example/me") == "theirs", comment)
      let attributes = try there("get", "h1.example/me", "--attributes", "--json")
      #expect(attributes.contains("\"label\":\"mine\""), comment)
      #expect(attributes.contains("\"comment\":\"theirs\""), comment)
      #expect(try there("get", "h8.example/me") == "theirs", comment)
      for (name, label, secret) in [
        ("h2", "kept", "old2"), ("n3", "renamed", "old3"), ("h4", "kept", "old4"),
      ] {
        let attributes = try there("get", "\(name).example/me", "--attributes", "--json")
        #expect(attributes.contains("\"label\":\"\(label)\""), comment)
        #expect(try there("get", "\(name).example/me") == secret, comment)
      }
      #expect(try there("find", "--json").split(separator: "\n").count == 6, comment)
      let conflicts = try there("resolve", "--json").split(separator: "\n")
      #expect(conflicts.count == 2, comment)
      for conflict in conflicts {
        let copy = try #require(conflict.split(separator: "\"").first { $0.contains("~~") })
        #expect(try there("get", String(copy)) == "mine", comment)
      }
      #expect(try there("check", "--decrypt") == "", comment)
      #expect(try program.git(["status", "--porcelain"], in: other) == "", comment)
      #expect(try program.git(["fsck", "--strict", "--no-dangling"], in: other) == "", comment)
      #expect(try there("sync", "--json").contains("\"conflictCopies\":0"), comment)
    }
  }

  /// Ways to bring the other side's commits in.
  static let ways: [[[String]]] = [
    [["merge", "-q", "origin/main"]], [["rebase", "-q", "origin/main"]],
    [
      ["checkout", "-q", "-b", "topic", "origin/main"], ["cherry-pick", "main~6..main"],
      ["branch", "-q", "-f", "main", "topic"], ["checkout", "-q", "main"],
    ],
    [["pull", "-q", "--rebase"]], [["pull", "-q", "--no-rebase"]],
  ]

  @Test(arguments: ways)
  func `loses nothing and shows no conflict`(commands: [[String]]) throws {
    let clones = try Clones()
    try clones.diverge()
    for words in commands { try clones.program.git(words, in: clones.other) }
    try clones.expectMerged("\(commands)")
  }

  @Test func `what git stops for is kept, and a repair settles it`() throws {
    let clones = try Clones()
    try clones.here("rm", "h0.example/me")
    try clones.here("mv", "h1.example/me", "n1.example/me")
    try clones.here("sync")
    for number in 0..<2 { _ = try clones.there("set", "h\(number).example/me", "--secret", input: "new") }
    let (program, other) = (clones.program, clones.other)
    try program.git(["fetch", "-q"], in: other)
    try program.git(["merge", "-q", "--no-edit", "origin/main"], in: other, status: 1)
    try program.git(["add", "--", "index", "items"], in: other)
    try program.git(["commit", "-q", "--no-edit"], in: other)
    _ = try clones.there("check", "--repair")
    for number in 0..<2 { #expect(try clones.there("get", "h\(number).example/me") == "new") }
    let conflicts = try clones.there("resolve", "--json").split(separator: "\n")
    #expect(conflicts.count == 1 && conflicts[0].contains("internet-password/n1.example/me~~"))
    #expect(try clones.there("check", "--decrypt") == "")
    #expect(try clones.there("sync", "--json").contains("\"conflictCopies\":0"))
  }

  @Test func `without drivers, a repair brings back what git took away`() throws {
    let clones = try Clones()
    let (program, other) = (clones.program, clones.other)
    try clones.here("rm", "h0.example/me")
    try clones.here("mv", "h1.example/me", "n1.example/me")
    try clones.here("sync")
    for number in 0..<2 { _ = try clones.there("set", "h\(number).example/me", "-l", "theirs") }
    for kind in ["index", "item"] {
      try program.git(["config", "merge.keytree-\(kind).driver", "false"], in: other)
    }
    try program.git(["fetch", "-q"], in: other)
    try program.git(["merge", "-q", "--no-edit", "origin/main"], in: other, status: 1)
    try program.git(["checkout", "-q", "--ours", "--", "index"], in: other)
    try program.git(["add", "--", "index", "items"], in: other)
    try program.git(["commit", "-q", "--no-edit"], in: other)
    let report = try clones.there("check", "--repair")
    #expect(report.contains("brought items/internet-password/h0.example/me.gpg back from the history"))
    #expect(
      try clones.there("get", "h0.example/me") == "old0" && clones.there("get", "n1.example/me") == "old1")
    let conflicts = try clones.there("resolve", "--json").split(separator: "\n")
    #expect(conflicts.count == 1 && conflicts[0].contains("internet-password/h1.example/me~~"))
    #expect(try clones.there("check", "--decrypt") == "")
    #expect(try program.git(["status", "--porcelain"], in: other) == "")
  }

  @Test func `a stash comes back on top of what changed meanwhile`() throws {
    let clones = try Clones()
    let other = clones.other
    let lock = "\(other)/.git/index.lock"
    // Stored and not committed: then it can be stashed.
    try Data().write(to: URL(fileURLWithPath: lock))
    let change = ["--store", other, "set", "h0.example/me", "--secret"]
    #expect(try clones.program.run(change, input: "theirs").status == 11)
    try FileManager.default.removeItem(atPath: lock)
    try clones.program.git(["stash", "-q"], in: other)
    try clones.here("set", "h0.example/me", "-l", "mine")
    try clones.here("set", "h0.example/me", "--secret", input: "mine")
    try clones.here("sync")
    try clones.program.git(["pull", "-q"], in: other)
    try clones.program.git(["stash", "pop", "-q"], in: other)
    try clones.program.git(["reset", "-q"], in: other)
    _ = try clones.there("check")
    let versions = try [
      clones.there("get", "h0.example/me"),
      clones.there(
        "get",
        String(
          try #require(clones.there("resolve", "--json").split(separator: "\"").first { $0.contains("~~") }))),
    ]
    #expect(versions.sorted() == ["mine", "theirs"])
    #expect(try clones.there("check", "--decrypt") == "")
    #expect(try clones.program.git(["status", "--porcelain"], in: other) == "")
    _ = try clones.there("sync")
    try clones.here("sync")
    #expect(try clones.program.succeed(["check", "--decrypt"]) == "")
    #expect(try clones.program.succeed(["resolve", "--json"]).split(separator: "\n").count == 1)
  }

  @Test func `a commit is taken back beneath one that came after it`() throws {
    let clones = try Clones()
    try clones.here("set", "h0.example/me", "-l", "wrong")
    try clones.here("set", "h0.example/me", "-j", "right")
    try clones.program.git(["revert", "--no-edit", "HEAD~1"])
    let attributes = try clones.program.succeed(["get", "h0.example/me", "--attributes", "--json"])
    #expect(!attributes.contains("wrong") && attributes.contains("right"))
    #expect(try clones.program.succeed(["check", "--decrypt"]) == "")
  }

  @Test func `a container that is called like a folder of the store is none`() throws {
    let clones = try Clones()
    let items = ["generic:items/x", "generic:index/x", "generic:policy.json/x"]
    for item in items { try clones.here("add", item, input: "old") }
    try clones.here("sync")
    _ = try clones.there("sync")
    for item in items {
      try clones.here("set", item, "--secret", input: "mine")
      _ = try clones.there("set", item, "--secret", input: "theirs")
    }
    try clones.here("sync")
    try clones.program.git(["pull", "-q", "--no-rebase"], in: clones.other)
    for item in items { #expect(try clones.there("get", item) == "theirs") }
    #expect(try clones.there("resolve", "--json").split(separator: "\n").count == items.count)
    #expect(try clones.there("check", "--decrypt") == "")
  }

  @Test(arguments: ["label", "secret"])
  func `both versions are kept where both sides change one thing`(what: String) throws {
    let clones = try Clones()
    try clones.here("set", "h0.example/me", "-l", "mine")
    _ = try clones.there("set", "h0.example/me", "-l", "theirs")
    if what == "secret" { _ = try clones.there("set", "h0.example/me", "--secret", input: "theirs") }
    // Renamed by both: git has nothing to ask, and two items are there until somebody looks.
    try clones.here("mv", "h1.example/me", "n1.example/me")
    _ = try clones.there("mv", "h1.example/me", "n2.example/me")
    try clones.here("sync")
    try clones.program.git(["pull", "-q", "--no-rebase"], in: clones.other)
    _ = try clones.there("status")
    #expect(try clones.there("resolve", "--json").split(separator: "\n").count == 1)
    _ = try clones.there("check", "--repair")
    #expect(try clones.there("get", "h0.example/me") == (what == "secret" ? "theirs" : "old0"))
    #expect(try clones.there("get", "n2.example/me") == "old1")
    let conflicts = try clones.there("resolve", "--json").split(separator: "\n")
    #expect(conflicts.count == 2, "\(conflicts)")
    for (conflict, secret) in zip(conflicts, ["old0", "old1"]) {
      let copy = try #require(conflict.split(separator: "\"").first { $0.contains("~~") })
      #expect(try clones.there("get", String(copy)) == secret)
    }
    #expect(try clones.there("check", "--decrypt") == "")
    _ = try clones.there("sync")
    try clones.here("sync")
    #expect(try clones.program.succeed(["check", "--decrypt"]) == "")
    #expect(try clones.program.git(["status", "--porcelain"], in: clones.other) == "")
  }

  @Test func `a repair waits for a merge that is not at its end`() throws {
    let clones = try Clones()
    let (program, other) = (clones.program, clones.other)
    try clones.here("rm", "h0.example/me")
    try clones.here("rm", "h1.example/me")
    try clones.here("sync")
    _ = try clones.there("set", "h0.example/me", "-l", "kept")
    _ = try clones.there("set", "h1.example/me", "--secret", input: "new")
    try program.git(["fetch", "-q"], in: other)
    try program.git(["merge", "-q", "--no-edit", "origin/main"], in: other, status: 1)
    let repair = ["--store", other, "check", "--repair"]
    #expect(try program.run(repair).status == 11)
    try program.git(["add", "--", "index", "items"], in: other)
    #expect(try program.run(repair).status == 11)
    try program.git(["commit", "-q", "--no-edit"], in: other)
    let lock = "\(other)/.git/index.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    #expect(try program.run(repair).status == 11)
    try FileManager.default.removeItem(atPath: lock)
    try program.succeed(repair)
    #expect(try clones.there("get", "h0.example/me") == "old0")
    #expect(try clones.there("get", "h1.example/me") == "new")
    #expect(try clones.there("check", "--decrypt") == "")
  }

  @Test func `a merge that was given up leaves nothing`() throws {
    let clones = try Clones()
    try clones.diverge()
    let before = try clones.there("find", "--json")
    try clones.program.git(["merge", "-q", "--no-commit", "origin/main"], in: clones.other)
    try clones.program.git(["merge", "--abort"], in: clones.other)
    _ = try clones.there("status")
    #expect(try clones.there("find", "--json") == before)
    #expect(try clones.there("resolve", "--json") == "")
    #expect(try clones.program.git(["status", "--porcelain"], in: clones.other) == "")
    _ = try clones.there("sync")
    try clones.expectMerged("by sync")
  }

  @Test func `an octopus merge of one item stops, and is taken back`() throws {
    let clones = try Clones()
    let program = clones.program
    for number in 1...2 {
      try program.git(["checkout", "-q", "-b", "b\(number)", "main"])
      try clones.here("set", "h0.example/me", "-l", "b\(number)")
    }
    try program.git(["checkout", "-q", "main"])
    try clones.here("set", "h1.example/me", "-l", "main")
    try program.git(["merge", "-q", "--no-edit", "b1", "b2"], status: 1)
    #expect(try program.run(["check", "--repair"]).status == 11)
    try program.git(["reset", "-q", "--merge"])
    for number in 1...2 { try program.git(["merge", "-q", "--no-edit", "b\(number)"]) }
    #expect(try program.succeed(["check", "--decrypt"]) == "")
    #expect(try program.succeed(["resolve", "--json"]).split(separator: "\n").count == 1)
  }

  @Test func `three branches that change different items come together at once`() throws {
    let clones = try Clones()
    let program = clones.program
    for number in 1...2 {
      try program.git(["checkout", "-q", "-b", "b\(number)", "main"])
      try clones.here("set", "h\(number).example/me", "-l", "b\(number)")
      try clones.here("add", "n\(number).example/me", input: "n\(number)")
    }
    try program.git(["checkout", "-q", "main"])
    try clones.here("set", "h0.example/me", "-l", "main")
    try program.git(["merge", "-q", "--no-edit", "b1", "b2"])
    for (name, label) in [("h0", "main"), ("h1", "b1"), ("h2", "b2")] {
      let attributes = try program.succeed(["get", "\(name).example/me", "--attributes", "--json"])
      #expect(attributes.contains("\"label\":\"\(label)\""))
    }
    #expect(try program.succeed(["get", "n1.example/me"]) == "n1")
    #expect(try program.succeed(["get", "n2.example/me"]) == "n2")
    #expect(try program.succeed(["check", "--decrypt"]) == "")
  }
}
