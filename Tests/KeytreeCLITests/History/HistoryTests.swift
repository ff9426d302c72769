import Arguments
import CommandSupport
import Foundation
import Glibc
import KeytreeCLI
import TestSupport
import Testing

@Suite("The history of a store", .serialized)
struct HistoryTests {
  @Test func `every command that changes the store makes one commit`() throws {
    let world = try CommandFixture()
    let csv = world.folder.path + "/passwords.csv"
    try Data("name,url,username,password\nx,https://x.example/,carol,s1\ny,https://y.example/,dave,s2\n".utf8)
      .write(to: URL(fileURLWithPath: csv))
    let steps: [([Word], String?)] = [
      (["add", "a.example/alice"], "add internet-password/a.example/alice"),
      (["set", "a.example/alice", "-l", "A"], "change internet-password/a.example/alice"),
      (["set", "a.example/alice", "--secret"], "change internet-password/a.example/alice"),
      (
        ["mv", "a.example/alice", "a.example/bob"],
        "rename internet-password/a.example/alice to internet-password/a.example/bob"
      ),
      (["cp", "a.example/bob", "b.example"], "add internet-password/b.example/bob"),
      (["generate", "c.example/eve"], "add internet-password/c.example/eve"),
      (["rm", "b.example", "c.example"], "remove 2 items"),
      (["import", "csv", Word(csv)], "import 2 items"),
      (["add", "here.example/alice", "--local"], nil), (["mv", "here.example", "there.example"], nil),
      (["find"], nil), (["get", "a.example/bob"], nil), (["status"], nil), (["check"], nil),
    ]
    var subjects = ["make the keyring"]
    for (words, subject) in steps {
      let result = world.run(words, input: Array("secret".utf8))
      #expect(result.code == .done, "\(words): \(result.diagnosticsText)")
      if let subject { subjects.append(subject) }
      #expect(try world.subjects() == subjects, "\(words)")
    }
    let paths = try world.git("log", "--format=", "--name-only").split(separator: "\n")
    #expect(paths.allSatisfy { !$0.hasPrefix("local/") && !$0.hasPrefix(".keytree/") })
    #expect(try world.git("log", "--format=%an <%ae>", "-1") == "Alice Example <alice@keytree.example>\n")
    #expect(try world.git("status", "--porcelain") == "")
    #expect(try world.git("fsck", "--strict") == "")
  }

  @Test func `a change that git fails to commit is stored, reported and committed later`() throws {
    let world = try CommandFixture()
    let lock = URL(fileURLWithPath: "\(world.store)/.git/index.lock")
    try Data().write(to: lock)
    let added = world.run("add", "a.example/alice", input: [1])
    #expect(added.code == .gitFailed)
    #expect(added.diagnosticsText.contains("Added a.example/alice"))
    #expect(
      added.diagnosticsText.contains("keytree: stored, but not committed: another git process is running"))
    #expect(world.run("get", "a.example/alice").output == [1])
    let status = world.run("status")
    #expect(status.code == .gitFailed)
    #expect(status.text.contains("on the branch main; 1 change is not committed\n"))
    try FileManager.default.removeItem(at: lock)
    #expect(world.run("status").text.contains("on the branch main\n"))
    #expect(try world.subjects() == ["make the keyring", "add internet-password/a.example/alice"])
  }

  @Test func `init creates a store without git and says so`() throws {
    let world = try CommandFixture()
    let made = world.run(
      ["init", "--store", Word(world.folder.path + "/other")], more: ["PATH": try world.pathWithoutGit()])
    #expect(made.code == .done, "\(made.diagnosticsText)")
    #expect(made.diagnosticsText.contains("It has no history: git is not installed.\nhint: "))
    let store = ["--store", Word(world.folder.path + "/other")] as [Word]
    #expect(world.run(store + ["add", "a.example/alice"], input: [1]).code == .done)
    #expect(world.run(store + ["git", "log"]).code == .gitFailed)
    #expect(world.run(store + ["git", "init"]).code == .done)
    #expect(try world.git("log", "--format=%s", in: "other") == "make the keyring\n")
  }

  @Test func `a store in a work tree uses its repository, unless git ignores the store or is declined`()
    throws
  {
    let world = try CommandFixture()
    let top = world.folder.path + "/top"
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    _ = unsafe chmod(top, 0o700)
    try world.git("init", "-q", "-b", "work", in: "top")
    try Data("/ignored/\n".utf8).write(to: URL(fileURLWithPath: top + "/.gitignore"))
    for (name, options, hasOwn) in [
      ("inside", [], false), ("declined", ["--no-git"], false), ("ignored", [], true),
    ]
      as [(String, [Word], Bool)]
    {
      let store = ["--store", Word("\(top)/\(name)")] as [Word]
      let result = world.run(store + ["init"] + options)
      #expect(result.code == .done, "\(result.diagnosticsText)")
      #expect(result.diagnosticsText.contains("the git repository \(top)") == (name == "inside"))
      #expect(FileManager.default.fileExists(atPath: "\(top)/\(name)/.git") == hasOwn)
      #expect(world.run(store + ["add", "a.example/alice"], input: [1]).code == .done)
    }
    let subjects = try world.git("log", "--format=%s", in: "top")
    #expect(subjects == "add internet-password/a.example/alice\nmake the keyring\n")
    #expect(try world.git("log", "--format=%s", in: "top/ignored") == subjects)
    #expect(
      try world.git("ls-files", in: "top").split(separator: "\n").allSatisfy { $0.hasPrefix("inside/") })
  }

  @Test func `doctor restores settings that a clone needs, and names unsafe content from a push`() throws {
    let world = try CommandFixture()
    try FileManager.default.removeItem(atPath: "\(world.store)/.git/info/attributes")
    try world.git("config", "--unset", "merge.keytree-item.driver")
    #expect(world.run("doctor").text.contains("were missing and have been added"))
    #expect(world.run("doctor").text.contains("attributes and settings of the repository are in place"))
    try world.git("config", "core.sshCommand", "evil")
    let link = "\(world.store)/items/e\u{1B}vil"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/etc")
    try world.git("add", "items")
    let refused = world.run("doctor")
    #expect(refused.code == .failedChecks)
    #expect(refused.text.contains("core.sshcommand"))
    // Git does not run in the repository until the setting is removed.
    #expect(!refused.text.contains("a link"))
    try world.git("config", "--unset", "core.sshCommand")
    let result = world.run("doctor")
    #expect(result.code == .failedChecks)
    #expect(result.text.contains("items/e\\x1bvil: a symbolic link"))
  }
}

extension CommandFixture {
  /// Returns the subjects of all commits, oldest first.
  func subjects() throws -> [String] {
    try git("log", "--reverse", "--format=%s").split(separator: "\n").map(String.init)
  }

  /// Runs git as the user would.
  @discardableResult
  func git(_ words: String..., in folder: String = "store") throws -> String { try git(words, in: folder) }

  /// Runs git with further variables.
  @discardableResult
  func git(_ words: [String], in folder: String = "store", more: [String: String] = [:]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/git")
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: "\(self.folder.path)/\(folder)")
    process.environment = variables.merging(more) { $1 }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw NoStore(reason: "git \(words)") }
    return String(decoding: output, as: UTF8.self)
  }

  /// Returns a search path that contains only the programs of GnuPG.
  func pathWithoutGit() throws -> String {
    let programs = folder.path + "/programs"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    for name in ["gpg", "gpgconf", "gpg-agent"] {
      try FileManager.default.createSymbolicLink(
        atPath: "\(programs)/\(name)", withDestinationPath: "/usr/bin/\(name)")
    }
    return programs
  }
}
