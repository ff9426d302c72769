import Foundation

import Glibc
import Sync
import TestSupport
import Testing

@testable import Git

/// Tests copied folders in which git would enter another repository than the one that was checked (threat T42).
@Suite("Forms of repositories", .serialized)
struct RepositoryFormTests {
  private let world: SyncWorld

  init() throws { world = try SyncWorld.withHistory() }

  private var folder: String { "\(world.path)/.git" }

  /// Changes that make git take a folder for no repository.
  static let damages = [
    "rm HEAD", "echo x > HEAD", "rmdir refs/heads/* refs/heads refs/tags refs 2>/dev/null || mv refs x",
    "mv objects x", "mv objects x && touch objects",
  ]

  @Test(arguments: damages)
  func `git does not search for another repository if the checked one is damaged`(damage: String) throws {
    // The bare repository is in the same folder.
    let parts = ["HEAD", "config", "objects", "refs"].map { "\(folder)/\($0)" }
    try GnuPGTool.run("cp", ["-r"] + parts + [world.path])
    let marker = "\(world.path)/ran"
    try world.git(["config", "--file", "\(world.path)/config", "core.sshCommand", "touch \(marker); false"])
    try world.git(["config", "--file", "\(world.path)/config", "remote.origin.url", "ssh://h/x"])
    try world.git(["config", "--file", "\(world.path)/config", "core.bare", "true"])
    try GnuPGTool.run("/bin/sh", ["-ec", "cd '\(folder)' && \(damage)"])
    #expect(throws: GitError.notARepository(path: world.path)) { try world.repository() }
    _ = try? world.git(["fetch", "-q", "origin"])
    #expect(FileManager.default.fileExists(atPath: marker), "plain git runs the program")
  }

  @Test func `git does not take a folder of the work tree for a repository`() throws {
    let inner = "\(world.path)/inner"
    try GnuPGTool.run("cp", ["-r", folder, inner])
    try world.git(["config", "--file", "\(inner)/config", "core.bare", "true"])
    var git = world.makeGit(inner)
    git.isInWorkTree = false
    #expect(throws: GitError.self) { try git.run(["log", "-1"]) }
    #expect(
      try world.git(["rev-parse", "--is-bare-repository"], in: inner) == "true\n", "plain git enters it")
    git.isBare = true
    try git.run(["log", "-1"])
  }

  /// The contents of a file that refers to another folder; %s is its path. Git takes all bytes for the path.
  static let references: [(content: String, isAccepted: Bool)] = [
    ("%s\n", true), ("%s", true), ("%s\nx\n", false), ("%s\r\n", false), ("%s\n\n", false), ("\n%s\n", false),
    ("%s\t\n", false), ("", false), ("\n", false),
  ]

  @Test(arguments: references, ["gitdir", "commondir"])
  func `a file that git reads differently is refused`(
    reference: (content: String, isAccepted: Bool), kind: String
  ) throws {
    let moved = "\(world.path)-moved"
    try FileManager.default.moveItem(atPath: folder, toPath: moved)
    defer { try? FileManager.default.removeItem(atPath: moved) }
    let text = reference.content.replacing("%s", with: moved)
    let key: String
    if kind == "gitdir" {
      try Data("gitdir: \(text)".utf8).write(to: URL(fileURLWithPath: folder))
      key = ".git"
    } else {
      let tree = "\(moved)/worktrees/x"
      try GnuPGTool.run("mkdir", ["-p", tree])
      try GnuPGTool.run("cp", ["\(moved)/HEAD", "\(moved)/index", tree])
      try Data("gitdir: \(tree)\n".utf8).write(to: URL(fileURLWithPath: folder))
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(tree)/commondir"))
      key = ".git/commondir"
    }
    if reference.isAccepted {
      #expect(try world.repository()?.commonFolder == moved)
    } else {
      #expect(throws: GitError.unsafeFiles(paths: [key])) { try world.repository() }
    }
  }

  @Test func `a file that is not UTF-8 is refused`() throws {
    let moved = "\(world.path)-moved"
    try FileManager.default.moveItem(atPath: folder, toPath: moved)
    defer { try? FileManager.default.removeItem(atPath: moved) }
    try Data(Array("gitdir: \(moved)".utf8) + [0xFF]).write(to: URL(fileURLWithPath: folder))
    #expect(throws: GitError.unsafeFiles(paths: [".git"])) { try world.repository() }
  }

  /// Settings, and true if they are accepted. U+0600 joins the character after it, and U+0301 the one before it.
  static let settings: [(key: String, value: String, isAccepted: Bool)] = [
    ("submodule.x.update", "!touch ran", false), ("submodule.x\u{600}.update", "!touch ran", false),
    ("submodule.x.update", "!\u{301}touch ran", false), ("submodule.x.update", "rebase", true),
    ("submodule.x.url", "../x", true), ("submodule.x.command", "x", false), ("submodule.active", ".", true),
    ("remote.\u{600}.uploadpack", "x", false), ("filter.\u{600}.clean", "x", false),
    ("branch.main.remote", "-\u{301}x", false), ("remote.-\u{301}x.url", "x", false),
    ("include\u{301}.path", "x", false), ("diff.\u{600}.textconv", "x", false),
  ]

  @Test(arguments: settings)
  func `the names of settings are compared as bytes`(key: String, value: String, isAccepted: Bool) {
    #expect(RepositoryConfiguration.accepts(key, value) == isAccepted)
  }

  @Test(arguments: ["modules/x/config", "modules/\u{600}/config"])
  func `a command of the user does not enter the repository of a submodule`(name: String) throws {
    let repository = try #require(try world.repository())
    try repository.refuseSubmoduleRepositories()
    let file = URL(fileURLWithPath: "\(folder)/\(name)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("[filter \"x\"]\n\tsmudge = touch ran\n".utf8).write(to: file)
    #expect(throws: GitError.unsafeFiles(paths: [".git/modules"])) {
      try repository.refuseSubmoduleRepositories()
    }
  }
}
