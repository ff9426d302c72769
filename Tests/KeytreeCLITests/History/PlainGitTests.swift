import Foundation
import TestSupport
import Testing

/// Two clones that are merged by plain git: merge, rebase, cherry-pick, revert and stash call keytree's drivers.
@Suite("Plain git", .serialized, .slow)
struct PlainGitTests {
  /// Alice's store, a bare repository, and a second clone.
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
      // This machine has the pin already, so nothing is asked.
      try program.succeed(["clone", hub, other])
    }

    func here(_ arguments: String..., input: String = "") throws {
      try program.succeed(arguments, input: input)
    }

    func there(_ arguments: String..., input: String = "") throws -> String {
      try program.succeed(["--store", other] + arguments, input: input)
    }

    /// Runs git in the other clone. Each time git stops, the files of the work tree are added and the operation is
    /// continued.
    func merge(_ words: [String]) throws {
      var words = words
      for _ in 0..<20 {
        if try program.outcome(ofGit: Self.person + words, in: other).status == 0 { return }
        try program.git(["add", "--", "index", "items"], in: other)
        let isThere = { [other] (name: String) in
          FileManager.default.fileExists(atPath: "\(other)/.git/\(name)")
        }
        if isThere("rebase-merge") {
          words = ["-c", "core.editor=true", "rebase", "--continue"]
        } else if isThere("CHERRY_PICK_HEAD") {
          words = ["-c", "core.editor=true", "cherry-pick", "--continue"]
        } else {
          words = ["commit", "-q", "--no-edit"]
        }
      }
      Issue.record("git does not finish: \(words)")
    }

    private static let person = ["-c", "user.name=P", "-c", "user.email=p@example.org"]

    /// A conflict copy, read from its two files.
    struct Copy {
      let name: String
      let record: [String: Any]
      let secret: String

      var label: String? { record["label"] as? String }
      var server: String? { record["server"] as? String }
    }

    /// Returns the conflict copies of a store, in the order of `resolve`.
    func copies(in store: String) throws -> [Copy] {
      try program.succeed(["--store", store, "resolve", "--json"]).split(separator: "\n").map { line in
        let conflict = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let (id, name) = (conflict["id"] as? String ?? "", conflict["copy"] as? String ?? "")
        let file = "\(store)/conflicts/\(id)/\(name)"
        let text = try String(contentsOfFile: "\(file).json", encoding: .utf8)
        let first = try #require(text.split(separator: "\n").first)
        let record = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
        let secret = try program.run(words: [
          "/usr/bin/gpg", "--batch", "--quiet", "--decrypt", "\(file).gpg",
        ])
        #expect(secret.status == 0, "\(secret.errors)")
        return Copy(name: name, record: try #require(record), secret: secret.text)
      }
    }

    /// Expects that both clones are identical and valid after synchronization.
    func expectSame(_ comment: Comment) throws {
      _ = try there("sync")
      try here("sync")
      for store in [program.store, other] {
        #expect(try program.succeed(["--store", store, "check", "--decrypt"]) == "", comment)
        #expect(try program.git(["status", "--porcelain"], in: store) == "", comment)
      }
      let trees = try [program.store, other].map { try program.git(["rev-parse", "HEAD^{tree}"], in: $0) }
      #expect(trees[0] == trees[1], comment)
    }

    /// Changes the same items in both clones.
    func diverge() throws {
      try here("set", "h0.example/me", "--secret", input: "mine")
      try here("set", "h1.example/me", "-l", "mine")
      try here("add", "h8.example/me", input: "mine")
      _ = try there("set", "h0.example/me", "--secret", input: "theirs")
      _ = try there("set", "h1.example/me", "-j", "theirs")
      _ = try there("add", "h8.example/me", input: "theirs")
      // Git stops for these: one side deletes or renames the item, the other changes its attributes.
      try here("rm", "h2.example/me")
      _ = try there("set", "h2.example/me", "-l", "kept")
      try here("mv", "h3.example/me", "n3.example/me")
      _ = try there("set", "h3.example/me", "-l", "renamed")
      try here("set", "h4.example/me", "-l", "kept")
      _ = try there("rm", "h4.example/me")
      try here("sync")
      try program.git(["fetch", "-q"], in: other)
    }

    /// Expects that the versions of both sides are kept, and that the store is valid.
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
      #expect(try copies(in: other).map(\.secret) == ["mine", "mine"], comment)
      #expect(try there("check", "--decrypt") == "", comment)
      #expect(try program.git(["status", "--porcelain"], in: other) == "", comment)
      #expect(try program.git(["fsck", "--strict", "--no-dangling"], in: other) == "", comment)
      #expect(try there("sync", "--json").contains("\"conflictCopies\":0"), comment)
      try expectSame(comment)
    }
  }

  /// The commands that integrate the commits of the other side.
  static let ways: [[[String]]] = [
    [["merge", "-q", "origin/main"]], [["rebase", "-q", "origin/main"]],
    [
      ["checkout", "-q", "-b", "topic", "origin/main"], ["cherry-pick", "main~6..main"],
      ["branch", "-q", "-f", "main", "topic"], ["checkout", "-q", "main"],
    ],
    [["pull", "-q", "--rebase"]], [["pull", "-q", "--no-rebase"]],
  ]

  @Test(arguments: ways)
  func `integrating the other side loses nothing, even if git stops`(commands: [[String]]) throws {
    let clones = try Clones()
    try clones.diverge()
    for words in commands { try clones.merge(words) }
    try clones.expectMerged("\(commands)")
  }

  @Test(arguments: [["status"], ["check", "--repair"], ["sync"]])
  func `a conflict in git loses nothing, and the next command resolves it`(command: [String]) throws {
    let clones = try Clones()
    try clones.here("rm", "h0.example/me")
    try clones.here("mv", "h1.example/me", "n1.example/me")
    try clones.here("mv", "h2.example/me", "n2.example/me")
    try clones.here("rm", "h3.example/me")
    try clones.here("sync")
    for number in 0..<2 { _ = try clones.there("set", "h\(number).example/me", "--secret", input: "new") }
    for number in 2..<4 { _ = try clones.there("set", "h\(number).example/me", "-l", "new") }
    let (program, other) = (clones.program, clones.other)
    try program.git(["fetch", "-q"], in: other)
    try program.git(["merge", "-q", "--no-edit", "origin/main"], in: other, status: 1)
    try program.git(["add", "--", "index", "items"], in: other)
    try program.git(["commit", "-q", "--no-edit"], in: other)
    try program.succeed(["--store", other] + command)
    for (name, secret) in [("h0", "new"), ("n1", "new"), ("n2", "old2"), ("h3", "old3")] {
      #expect(try clones.there("get", "\(name).example/me") == secret)
    }
    for name in ["n2", "h3"] {
      let attributes = try clones.there("get", "\(name).example/me", "--attributes", "--json")
      #expect(attributes.contains("\"label\":\"new\""))
    }
    #expect(try clones.there("find", "--json").split(separator: "\n").count == 5)
    #expect(try clones.copies(in: other).isEmpty)
    try clones.expectSame("\(command)")
    #expect(try program.succeed(["get", "n1.example/me"]) == "new")
  }

  @Test func `without drivers, a repair restores what git has removed`() throws {
    let clones = try Clones()
    let (program, other) = (clones.program, clones.other)
    try clones.here("rm", "h0.example/me")
    try clones.here("mv", "h1.example/me", "n1.example/me")
    try clones.here("sync")
    for number in 0..<2 { _ = try clones.there("set", "h\(number).example/me", "-l", "theirs") }
    for kind in ["index", "item", "record"] {
      try program.git(["config", "merge.keytree-\(kind).driver", "false"], in: other)
    }
    try program.git(["fetch", "-q"], in: other)
    try program.git(["merge", "-q", "--no-edit", "origin/main"], in: other, status: 1)
    try program.git(["checkout", "-q", "--ours", "--", "index"], in: other)
    try program.git(["add", "--", "index", "items"], in: other)
    try program.git(["commit", "-q", "--no-edit"], in: other)
    let report = try clones.there("check", "--repair")
    #expect(report.contains("restored items/internet-password/h0.example/me.gpg from the history"))
    #expect(report.contains("kept items/internet-password/n1.example/me.gpg as a conflict copy"))
    #expect(
      try clones.there("get", "h0.example/me") == "old0" && clones.there("get", "h1.example/me") == "old1")
    for name in ["h0", "h1"] {
      let attributes = try clones.there("get", "\(name).example/me", "--attributes", "--json")
      #expect(attributes.contains("\"label\":\"theirs\""))
    }
    let copies = try clones.copies(in: other)
    #expect(copies.map(\.server) == ["n1.example"] && copies.map(\.secret) == ["old1"])
    try clones.expectSame("without drivers")
    #expect(try clones.copies(in: program.store).map(\.server) == ["n1.example"])
  }

  @Test func `a stash is merged with later changes`() throws {
    let clones = try Clones()
    let other = clones.other
    let lock = "\(other)/.git/index.lock"
    // In a new clone, the stored version would have to be committed first.
    _ = try clones.there("check")
    // The change is stored but not committed, so it can be stashed.
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
    let versions = try [clones.there("get", "h0.example/me")] + clones.copies(in: other).map(\.secret)
    #expect(versions.sorted() == ["mine", "theirs"])
    #expect(try clones.there("check", "--decrypt") == "")
    #expect(try clones.program.git(["status", "--porcelain"], in: other) == "")
    _ = try clones.there("sync")
    try clones.here("sync")
    #expect(try clones.program.succeed(["check", "--decrypt"]) == "")
    #expect(try clones.program.succeed(["resolve", "--json"]).split(separator: "\n").count == 1)
  }

  @Test func `a revert keeps the later change of the same item`() throws {
    let clones = try Clones()
    try clones.here("set", "h0.example/me", "-l", "wrong")
    try clones.here("set", "h0.example/me", "-j", "right")
    try clones.program.git(["revert", "--no-edit", "HEAD~1"])
    try clones.here("status")
    let attributes = try clones.program.succeed(["get", "h0.example/me", "--attributes", "--json"])
    #expect(!attributes.contains("wrong") && attributes.contains("right"))
    #expect(try clones.program.succeed(["check", "--decrypt"]) == "")
  }

  @Test func `an item container may have the name of a store folder`() throws {
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
    _ = try clones.there("status")
    for item in items { #expect(try clones.there("get", item) == "theirs") }
    #expect(try clones.there("resolve", "--json").split(separator: "\n").count == items.count)
    #expect(try clones.there("check", "--decrypt") == "")
  }

  @Test(arguments: ["label", "secret"])
  func `both versions are kept if both sides change the same value`(what: String) throws {
    let clones = try Clones()
    try clones.here("set", "h0.example/me", "-l", "mine")
    _ = try clones.there("set", "h0.example/me", "-l", "theirs")
    if what == "secret" { _ = try clones.there("set", "h0.example/me", "--secret", input: "theirs") }
    // Both sides rename the item: git calls no driver, and there are two items until `check --repair`.
    try clones.here("mv", "h1.example/me", "n1.example/me")
    _ = try clones.there("mv", "h1.example/me", "n2.example/me")
    try clones.here("sync")
    try clones.merge(["pull", "-q", "--no-rebase"])
    _ = try clones.there("status")
    #expect(try clones.there("resolve", "--json").split(separator: "\n").count == 1)
    _ = try clones.there("check", "--repair")
    #expect(try clones.there("get", "h0.example/me") == (what == "secret" ? "theirs" : "old0"))
    #expect(try clones.there("get", "n2.example/me") == "old1")
    #expect(try clones.copies(in: clones.other).map(\.secret) == ["old0", "old1"])
    #expect(try clones.copies(in: clones.other).first?.label == "mine")
    #expect(try clones.there("check", "--decrypt") == "")
    _ = try clones.there("sync")
    try clones.here("sync")
    #expect(try clones.program.succeed(["check", "--decrypt"]) == "")
    #expect(try clones.program.git(["status", "--porcelain"], in: clones.other) == "")
  }

  @Test func `a repair is refused until a pending merge is committed`() throws {
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

  @Test func `an aborted merge leaves nothing behind`() throws {
    let clones = try Clones()
    try clones.diverge()
    let before = try clones.there("find", "--json")
    try clones.program.git(["merge", "-q", "--no-commit", "origin/main"], in: clones.other, status: 1)
    try clones.program.git(["merge", "--abort"], in: clones.other)
    _ = try clones.there("status")
    #expect(try clones.there("find", "--json") == before)
    #expect(try clones.there("resolve", "--json") == "")
    #expect(try clones.program.git(["status", "--porcelain"], in: clones.other) == "")
    _ = try clones.there("sync")
    try clones.expectMerged("by sync")
  }

  @Test func `an aborted rebase leaves nothing behind`() throws {
    let clones = try Clones()
    let (program, other) = (clones.program, clones.other)
    try clones.diverge()
    let before = try clones.there("find", "--json")
    try program.git(["rebase", "-q", "origin/main"], in: other, status: 1)
    try program.git(["rebase", "--abort"], in: other)
    _ = try clones.there("status")
    #expect(try clones.there("find", "--json") == before)
    #expect(try clones.there("resolve", "--json") == "")
    #expect(try program.git(["status", "--porcelain"], in: other) == "")
    #expect(try FileManager.default.contentsOfDirectory(atPath: "\(other)/.keytree/merged").isEmpty)
    _ = try clones.there("sync")
    try clones.expectMerged("by sync")
  }

  @Test func `rebasing several changes of an item loses no change of the other side`() throws {
    let clones = try Clones()
    try clones.here("set", "h0.example/me", "-l", "mine")
    try clones.here("set", "h1.example/me", "--secret", input: "mine")
    try clones.here("mv", "h2.example/me", "n2.example/me")
    try clones.here("sync")
    for comment in ["1", "2", "3"] {
      for number in 0..<3 { _ = try clones.there("set", "h\(number).example/me", "-j", comment) }
    }
    _ = try clones.there("mv", "h1.example/me", "m1.example/me")
    try clones.program.git(["fetch", "-q"], in: clones.other)
    try clones.merge(["rebase", "-q", "origin/main"])
    _ = try clones.there("status")
    for (name, label, secret) in [("h0", "\"mine\"", "old0"), ("m1", nil, "mine"), ("n2", nil, "old2")] {
      let attributes = try clones.there("get", "\(name).example/me", "--attributes", "--json")
      #expect(attributes.contains("\"comment\":\"3\""), "\(name)")
      #expect(attributes.contains("\"label\"") == (label != nil), "\(name)")
      if let label { #expect(attributes.contains("\"label\":\(label)"), "\(name)") }
      #expect(try clones.there("get", "\(name).example/me") == secret, "\(name)")
    }
    #expect(try clones.copies(in: clones.other).isEmpty)
    try clones.expectSame("rebase of several changes")
  }

  @Test func `repeating a rebase before the next command loses no change of the other side`() throws {
    let clones = try Clones()
    try clones.here("set", "h0.example/me", "-l", "mine")
    try clones.here("sync")
    // This is the first of two commits, so that the commit that merged the item is itself rebased later.
    _ = try clones.there("set", "h1.example/me", "-j", "first")
    _ = try clones.there("set", "h0.example/me", "-j", "theirs")
    try clones.program.git(["fetch", "-q"], in: clones.other)
    try clones.merge(["rebase", "-q", "origin/main"])
    try clones.here("set", "h2.example/me", "-l", "more")
    try clones.here("sync")
    try clones.program.git(["fetch", "-q"], in: clones.other)
    try clones.merge(["rebase", "-q", "origin/main"])
    _ = try clones.there("status")
    let attributes = try clones.there("get", "h0.example/me", "--attributes", "--json")
    #expect(attributes.contains("\"label\":\"mine\"") && attributes.contains("\"comment\":\"theirs\""))
    #expect(try clones.copies(in: clones.other).isEmpty)
    try clones.expectSame("rebase of a rebase")
  }

  @Test func `a change of an item during its merge keeps the version of our side`() throws {
    let clones = try Clones()
    let (program, other) = (clones.program, clones.other)
    try clones.here("set", "h0.example/me", "-l", "mine")
    try clones.here("sync")
    _ = try clones.there("set", "h0.example/me", "-j", "theirs")
    try program.git(["fetch", "-q"], in: other)
    try program.git(["merge", "-q", "--no-commit", "origin/main"], in: other)
    // The change is stored, but cannot be committed during the merge.
    let change = try program.run(["--store", other, "set", "h0.example/me", "-l", "while"])
    #expect(change.status == 11, "\(change)")
    try program.git(["add", "--", "index", "items"], in: other)
    try program.git(["commit", "-q", "--no-edit"], in: other)
    _ = try clones.there("status")
    #expect(
      try clones.there("get", "h0.example/me", "--attributes", "--json").contains("\"label\":\"while\""))
    let copies = try clones.copies(in: other)
    #expect(copies.map { $0.record["comment"] as? String } == ["theirs"])
    try clones.expectSame("change while git merges")
  }

  /// Commits and pushes a change with plain git, as a user without a key can.
  private func push(_ clones: Clones, _ change: (inout String) -> Void) throws {
    let file = "\(clones.program.store)/items/internet-password/h0.example/me.json"
    var text = try String(contentsOfFile: file, encoding: .utf8)
    change(&text)
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    try clones.program.git(["commit", "-q", "-am", "forged"])
    try clones.program.git(["push", "-q", "origin", "main"])
    try clones.program.git(["fetch", "-q"], in: clones.other)
  }

  @Test(arguments: [["merge", "-q", "--no-edit", "origin/main"], ["rebase", "-q", "origin/main"]])
  func `an unsigned change is undone and reported`(way: [String]) throws {
    let clones = try Clones()
    _ = try clones.there("set", "h0.example/me", "-j", "theirs")
    try push(clones) { $0.replace("\"group\":\"default\"", with: "\"group\":\"default\",\"label\":\"evil\"") }
    try clones.merge(way)
    let status = try clones.program.run(["--store", clones.other, "status"])
    let attributes = try clones.there("get", "h0.example/me", "--attributes", "--json")
    #expect(attributes.contains("\"comment\":\"theirs\"") && !attributes.contains("evil"))
    if way[0] == "merge" {
      #expect(
        status.errors.contains("undid a change of h0.example/me"), "\(status)")
    }
    #expect(try clones.there("get", "h0.example/me") == "old0")
  }

  @Test func `a record that is too large does not stop a merge`() throws {
    let clones = try Clones()
    _ = try clones.there("set", "h0.example/me", "-j", "theirs")
    try push(clones) { $0 += String(repeating: "x", count: 500_000) }
    try clones.merge(["merge", "-q", "--no-edit", "origin/main"])
    _ = try clones.there("status")
    #expect(
      try clones.there("get", "h0.example/me", "--attributes", "--json").contains("\"comment\":\"theirs\""))
    #expect(try clones.there("get", "h0.example/me") == "old0")
  }

  @Test func `a merge on another branch is completed by the first command after switching back`() throws {
    let clones = try Clones()
    let (program, other) = (clones.program, clones.other)
    try clones.here("set", "h0.example/me", "-l", "mine")
    try clones.here("sync")
    try program.git(["checkout", "-q", "-b", "topic"], in: other)
    _ = try clones.there("set", "h0.example/me", "-j", "theirs")
    try program.git(["fetch", "-q"], in: other)
    try program.git(["merge", "-q", "--no-edit", "origin/main"], in: other)
    try program.git(["checkout", "-q", "main"], in: other)
    _ = try clones.there("status")
    try program.git(["checkout", "-q", "topic"], in: other)
    _ = try clones.there("status")
    let attributes = try clones.there("get", "h0.example/me", "--attributes", "--json")
    #expect(attributes.contains("\"label\":\"mine\"") && attributes.contains("\"comment\":\"theirs\""))
    #expect(try clones.there("check", "--decrypt") == "")
  }

  @Test(arguments: [["merge", "-q", "--no-edit"], ["rebase", "-q"]])
  func `an older version from the remote does not replace a newer one`(way: [String]) throws {
    let clones = try Clones()
    let (program, other) = (clones.program, clones.other)
    try clones.here("set", "h0.example/me", "-l", "new")
    try clones.here("sync")
    _ = try clones.there("sync")
    try program.git(["revert", "--no-edit", "HEAD"])
    try program.git(["push", "-q", "origin", "main"])
    _ = try clones.there("set", "h0.example/me", "-j", "theirs")
    try program.git(["fetch", "-q"], in: other)
    try program.git(way + ["origin/main"], in: other)
    _ = try clones.there("status")
    let attributes = try clones.there("get", "h0.example/me", "--attributes", "--json")
    #expect(attributes.contains("\"label\":\"new\"") && attributes.contains("\"comment\":\"theirs\""))
    #expect(try clones.copies(in: other).count == 1)
  }

  @Test func `an octopus merge of the same item stops and can be undone`() throws {
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

  @Test func `an octopus merge of different items works`() throws {
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
