import Foundation
import Glibc
import Keyring
import Subprocess
import TestSupport
import Testing

@testable import Sync

@Suite("Git", .serialized)
struct GitTests {
  /// The version that a program called git prints, and the expected error.
  static let versions: [(String, GitError?)] = [
    ("git version 2.38.0", nil), ("git version 2.39.5 (Apple Git-154)", nil), ("git version 3.0.0-rc1", nil),
    ("git version 2.37.9", .tooOld(version: "2.37.9")), ("git version 1.9.1", .tooOld(version: "1.9.1")),
    ("git", .unexpectedOutput(command: "version")),
    ("git version new", .unexpectedOutput(command: "version")),
  ]

  @Test(arguments: versions)
  func `an old git is refused`(text: String, error: GitError?) throws {
    let folder = ScratchFolder()
    try ExecutableFile.write("#!/bin/sh\necho '\(text)'\n", to: "\(folder.path)/git")
    let git = Git(in: folder.path, searchPath: folder.path, environment: ProcessEnvironment([:]))
    if let error {
      #expect(throws: error) { try git.version() }
    } else {
      #expect(try git.version() == text.split(separator: " ")[2])
    }
  }

  @Test func `a missing git is an error when it is run`() {
    let git = Git(in: "/", searchPath: "/nowhere", environment: ProcessEnvironment([:]))
    #expect(throws: GitError.notInstalled) { try git.version() }
  }

  /// A program called git that ends in a way that says nothing.
  @Test(arguments: ["exit 128", "echo 'warning: ignoring broken ref refs/heads/x' >&2", "kill -KILL $$"])
  func `what git could not read does not count as missing`(end: String) throws {
    let folder = ScratchFolder()
    try ExecutableFile.write("#!/bin/sh\n\(end)\n", to: "\(folder.path)/git")
    let git = Git(in: folder.path, searchPath: folder.path, environment: ProcessEnvironment([:]))
    #expect(throws: GitError.self) { try git.records(["ls-tree", "-z", "HEAD"]) }
    #expect(throws: GitError.self) { try TopologicalCommits(to: "HEAD", in: git) }
    if end.contains("warning") { return }
    #expect(throws: GitError.self) { try git.commit("HEAD") }
    #expect(throws: GitError.self) { try git.setting("core.bare") }
    #expect(throws: GitError.self) { try git.isAncestor("a", of: "b") }
  }

  @Test func `an object that git cannot read is not one that does not exist`() throws {
    let world = try SyncWorld.withHistory()
    let git = try #require(try world.repository()).git
    let commit = try #require(try git.commit("HEAD"))
    let place = "\(commit):policy.json"
    let objects = ObjectReader(git: git)
    let name = try #require(try objects.names(of: [place])[place])
    #expect(try objects.names(of: ["\(commit):nothing", place]) == [place: name])
    #expect(try objects.contents(of: [name], limit: 1 << 20).count == 1)
    try world.removeObject(name)
    #expect(throws: GitError.self) { try objects.contents(of: [name], limit: 1 << 20) }
    #expect(throws: GitError.self) { try objects.names(of: [place]) }
  }

  @Test func `an object that git cannot read does not disappear among many commits`() throws {
    let world = try SyncWorld.withHistory()
    let git = try #require(try world.repository()).git
    let path = "keys/*[a] b"
    try Data("content".utf8).write(to: world.file(path))
    try world.git(["add", "--all"])
    try world.git(["commit", "-q", "-m", "x"])
    try FileManager.default.removeItem(at: world.file(path))
    try world.git(["commit", "-q", "-a", "-m", "x"])
    for _ in 0..<20 { try world.git(["commit", "-q", "--allow-empty", "-m", "x"]) }
    let commits = try world.lines("rev-list", "HEAD")
    let places = commits.map { "\($0):\(path)" }
    let objects = ObjectReader(git: git)
    let names = try objects.names(of: places + commits.map { "\($0):nothing" })
    #expect(names.count == 1)
    try world.removeObject(try #require(names.values.first))
    #expect(throws: GitError.self) { try objects.names(of: places) }
  }

  @Test func `no environment variable that controls git is passed on`() throws {
    let outer = ProcessEnvironment(
      [
        "GIT_DIR": "/x", "GIT_SSH_COMMAND": "evil", "GIT_CONFIG_COUNT": "1", "HOME": "/h",
        "SSH_AUTH_SOCK": "/s",
      ],
      locale: nil)
    let environment = GitOptions.environment(outer)
    #expect(environment.value("HOME") != nil && environment.value("SSH_AUTH_SOCK") != nil)
    let names = environment.entries.map {
      String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    }
    #expect(
      names.filter { $0.hasPrefix("GIT_") }.sorted() == [
        "GIT_ALLOW_PROTOCOL", "GIT_GRAFT_FILE", "GIT_NO_LAZY_FETCH", "GIT_TERMINAL_PROMPT",
      ])
  }

  /// An empty `PATH` would mean the current folder, and one that is not UTF-8 could not be filtered.
  @Test(arguments: [nil, "", ".", "relative:", "/nowhere/\u{FF}"] as [String?])
  func `git never looks for programs in the current folder`(path: String?) throws {
    var entries = ["HOME=/h"].map { Array($0.utf8) }
    if let path {
      entries.append(
        Array("PATH=".utf8) + path.unicodeScalars.map { $0 == "\u{FF}" ? 0xFF : UInt8($0.value) })
    }
    let environment = GitOptions.environment(ProcessEnvironment(entries: entries, locale: nil))
    #expect(environment.value("PATH").map { String(decoding: $0, as: UTF8.self) } == "/usr/bin:/bin")
  }

  /// The operations that prevent a commit, and the errors.
  static let obstacles: [(@Sendable (SyncWorld) throws -> Void, GitError)] =
    [
      ("MERGE_HEAD", RepositoryOperation.merge), ("rebase-merge", .rebase), ("rebase-apply", .rebase),
      ("CHERRY_PICK_HEAD", .cherryPick), ("REVERT_HEAD", .revert), ("BISECT_LOG", .bisect),
    ].map { name, operation in
      ({ try Data().write(to: URL(fileURLWithPath: "\($0.path)/.git/\(name)")) }, .inProgress(operation))
    }

  @Test(arguments: obstacles.indices)
  func `an operation in progress is not disturbed, and pending changes are committed later`(index: Int) throws
  {
    let (obstruct, error) = Self.obstacles[index]
    let world = try SyncWorld.withHistory()
    let before = Set(try FileManager.default.contentsOfDirectory(atPath: "\(world.path)/.git"))
    try obstruct(world)
    try world.add("a.example", "x")
    #expect(throws: error) { try world.commit() }
    #expect(try world.subjects().count == 1)
    for name in Set(try FileManager.default.contentsOfDirectory(atPath: "\(world.path)/.git")).subtracting(
      before)
    {
      try FileManager.default.removeItem(atPath: "\(world.path)/.git/\(name)")
    }
    #expect(try world.commit() == .committed(subject: "add internet-password/a.example/x"))
  }

  /// Locks that a killed git leaves, before and after the commit is made.
  @Test(arguments: [".git/index.lock", ".git/refs/heads/main.lock"])
  func `a change stays pending while git holds a lock`(name: String) throws {
    let world = try SyncWorld.withHistory()
    let lock = "\(world.path)/\(name)"
    try Data().write(to: URL(fileURLWithPath: lock))
    try world.add("a.example", "x")
    #expect(throws: GitError.self) { try world.commit() }
    try FileManager.default.removeItem(atPath: lock)
    try world.commit()
    #expect(try world.subjects().first == "add internet-password/a.example/x")
    let (head, files) = try world.compare()
    #expect(head == files)
    #expect(try world.git(["status", "--porcelain"]) == "")
  }

  /// User ids of keys, and the author if git has no identity.
  static let people: [(String?, String?)] = [
    ("Alice Example <alice@example.org>", "Alice Example <alice@example.org>"),
    ("Alice", "Alice <keytree@localhost>"), ("<a@b>", "keytree <a@b>"),
    ("E\nve <x>y> \u{1B}[1m <z>", "Eve <x>"), ("", "keytree <keytree@localhost>"), (nil, nil),
  ]

  @Test(arguments: people)
  func `the owner of the key is the author if git has no identity`(name: String?, author: String?) throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "x")
    guard let author else {
      #expect(throws: GitError.self) { try world.commit(author: nil) }
      #expect(try world.subjects().count == 1)
      return
    }
    try world.commit(author: name)
    #expect(try world.lines("log", "-1", "--format=%an <%ae>|%cn <%ce>") == ["\(author)|\(author)"])
  }

  @Test func `git's identity is the author, and nothing is signed`() throws {
    let world = try SyncWorld.withHistory()
    for (key, value) in [
      ("user.name", "Known"), ("user.email", "k@example.org"), ("commit.gpgSign", "true"),
      ("gpg.program", "/bin/false"),
    ] {
      try world.git(["config", "--file", "\(world.variables["HOME"] ?? "")/.gitconfig", key, value])
    }
    try world.add("a.example", "x")
    try world.commit()
    #expect(try world.lines("log", "-1", "--format=%an <%ae>") == ["Known <k@example.org>"])
    #expect(!(try world.git(["cat-file", "commit", "HEAD"]).contains("gpgsig")))
  }

  @Test func `a folder with the name of a repository is not one`() throws {
    let world = try SyncWorld()
    try FileManager.default.createDirectory(atPath: "\(world.path)/.git", withIntermediateDirectories: false)
    try world.git(["init", "-q"], in: world.store.folder.path)
    #expect(throws: GitError.notARepository(path: world.path)) { try world.commit() }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func `a repository of another owner is refused by git's own rule`() throws {
    let world = try SyncWorld.withHistory()
    _ = unsafe chown("\(world.path)/.git", 65534, 65534)
    try world.add("a.example", "x")
    #expect(throws: GitError.unsafeOwner(path: world.path)) { try world.commit() }
  }

  @Test func `a store without git inside another repository stays without git`() throws {
    let world = try SyncWorld()
    try world.git(["init", "-q"], in: world.store.folder.path)
    #expect(try world.repository() == nil)
  }
}
