import Foundation
import Glibc
import Keyring
import Sync
import TestSupport
import Testing

@Suite("Hostile repositories", .serialized)
struct HostileTests {
  /// Settings that make plain git run a program, and a plain command that triggers it.
  static let settings: [(key: String, value: String, command: [String])] = [
    ("core.fsmonitor", "sh -c 'touch PWNED; false' #", ["status"]),
    ("core.hooksPath", "evil-hooks", ["commit", "-q", "--allow-empty", "-m", "x"]),
    ("filter.evil.clean", "sh -c 'touch PWNED; cat'", ["add", "bait"]),
    ("diff.external", "touch PWNED #", ["diff", "HEAD~1", "HEAD", "--ext-diff"]),
    ("diff.evil.textconv", "touch PWNED; cat", ["diff", "HEAD~1", "HEAD"]),
    ("diff.evil.command", "touch PWNED; true", ["diff", "HEAD~1", "HEAD"]),
    ("core.editor", "touch PWNED; true", ["commit", "-q", "--allow-empty"]),
    ("gpg.program", "/EVIL", ["commit", "-q", "--allow-empty", "-S", "-m", "x"]),
    ("alias.bait", "!touch PWNED", ["bait"]),
  ]

  /// Names of remotes and branches that git would take for options.
  static let options: [(key: String, value: String)] = [
    ("remote.--upload-pack=touch PWNED; git-upload-pack.url", "x"), ("branch.-x.remote", "origin"),
    ("branch.main.remote", "--upload-pack=touch PWNED"), ("branch.main.pushremote", "-x"),
    ("branch.main.merge", "-x"), ("remote.pushdefault", "-x"),
  ]

  @Test(arguments: options.indices)
  func `the name of a remote or branch that is an option of git is refused`(index: Int) throws {
    let (key, value) = Self.options[index]
    let world = try HostileWorld()
    try world.sync.git(["config", "--local", "--", key, value])
    #expect(throws: GitError.unsafeConfiguration(keys: [key])) { try world.sync.repository() }
  }

  @Test(arguments: settings.indices)
  func `settings that run programs have no effect on a commit, and the error names them`(index: Int) throws {
    let setting = Self.settings[index]
    let world = try HostileWorld()
    try world.sync.git(["config", setting.key, setting.value.replacing("/EVIL", with: "\(world.path)/evil")])
    // Checks that the trap works; otherwise the test would prove nothing. Some commands fail because of the trap.
    try world.spring(setting.command)
    #expect(world.isTriggered, "\(setting.key) has no effect in plain git")
    world.clear()
    // The options of our own git are sufficient, even if a setting was not refused.
    try world.everything()
    #expect(!world.isTriggered)
    #expect(throws: GitError.unsafeConfiguration(keys: [setting.key.lowercased()])) {
      try world.sync.repository()
    }
  }

  /// Settings whose value is the path of a file that git reads or a folder that it writes.
  static let files = [
    "core.excludesFile", "core.attributesFile", "commit.template", "format.signatureFile",
    "format.outputDirectory", "blame.ignoreRevsFile", "mailmap.file", "diff.orderFile", "include.path",
    "gpg.ssh.allowedSignersFile", "gpg.ssh.revocationFile", "http.cookieFile", "init.templateDir",
  ]

  @Test(arguments: files)
  func `a setting that names a file is refused, because the file can be a pipe`(key: String) throws {
    let world = try HostileWorld()
    try world.sync.git(["config", key, "/dev/null"])
    #expect(throws: GitError.unsafeConfiguration(keys: [key.lowercased()])) { try world.sync.repository() }
  }

  @Test func `hooks of the repository do not run`() throws {
    let world = try HostileWorld()
    for name in [
      "pre-commit", "post-commit", "reference-transaction", "post-index-change", "commit-msg",
      "prepare-commit-msg",
      "pre-auto-gc", "post-rewrite", "fsmonitor-watchman",
    ] {
      try world.writeProgram(".git/hooks/\(name)")
    }
    try world.spring(["commit", "-q", "--allow-empty", "-m", "x"])
    #expect(world.isTriggered)
    world.clear()
    try world.everything()
    #expect(!world.isTriggered)
  }

  @Test func `a missing object is not fetched`() throws {
    let world = try HostileWorld()
    for (key, value) in [
      ("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "evil"),
      ("remote.evil.promisor", "true"),
      ("remote.evil.url", "ssh://evil.invalid/x"), ("core.sshCommand", "touch \(world.path)/PWNED #"),
      ("protocol.ssh.allow", "always"),
    ] {
      try world.sync.git(["config", "--local", "--", key, value])
    }
    let tree = try world.sync.git(["rev-parse", "HEAD:index"]).dropLast()
    try world.sync.removeObject(tree)
    try world.spring(["ls-tree", "-r", "HEAD"])
    #expect(world.isTriggered)
    world.clear()
    try world.sync.add("new.example", "x")
    #expect(throws: GitError.self) { try world.sync.commit(in: world.repository) }
    #expect(!world.isTriggered)
    #expect(
      throws: GitError.unsafeConfiguration(keys: [
        // Git itself wrote the filter when it tried to fetch.
        "core.sshcommand", "extensions.partialclone", "protocol.ssh.allow",
        "remote.evil.partialclonefilter", "remote.evil.promisor",
      ])
    ) { try world.sync.repository() }
  }

  @Test func `links, submodules and repositories inside the store are not followed, and are reported`() throws
  {
    let world = try HostileWorld()
    let path = world.path
    try Data("outside".utf8).write(to: URL(fileURLWithPath: "\(path)/../outside.gpg"))
    let folder = "\(path)/items/internet-password/evil.example"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/link.gpg", withDestinationPath: "../../../../outside.gpg")
    try world.sync.git(["init", "-q", "inner"], in: folder)
    try world.sync.git(["commit", "-q", "--allow-empty", "-m", "x"], in: "\(folder)/inner")
    try Data("[submodule \"x\"]\n".utf8).write(to: URL(fileURLWithPath: "\(path)/.gitmodules"))
    try Data("* filter=evil\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/.gitattributes"))
    try world.writeProgram("items/run.gpg")
    try world.sync.git(["-c", "advice.addEmbeddedRepo=false", "add", "-f", "items", ".gitmodules"])
    let repository = try #require(try world.sync.repository())
    let found = try repository.strangers(outside: AllowedFiles(beside: nil)).map { "\($0.path) \($0.reason)" }
    #expect(
      found == [
        ".gitmodules name", "items/internet-password/evil.example/.gitattributes name",
        "items/internet-password/evil.example/inner repository",
        "items/internet-password/evil.example/link.gpg link", "items/run.gpg executable",
      ])
    try world.sync.git(["rm", "-r", "-q", "-f", "--cached", "items"])
    try FileManager.default.removeItem(atPath: "\(path)/.keytree/committed")
    try world.everything()
    let (head, _) = try world.sync.compare()
    #expect(
      head.keys.allSatisfy { !$0.contains("link") && !$0.contains("inner") && !$0.contains("attributes/") })
    #expect(!world.isTriggered)
  }

  @Test func `attributes and line end settings of a push change no byte`() throws {
    let world = try HostileWorld()
    try Data("* text=auto eol=crlf ident working-tree-encoding=UTF-16\n".utf8).write(
      to: URL(fileURLWithPath: "\(world.path)/.gitattributes"))
    try world.sync.git(["config", "core.autocrlf", "true"])
    try FileManager.default.removeItem(atPath: "\(world.path)/.keytree/committed")
    try world.everything()
    let (head, files) = try world.sync.compare()
    #expect(head == files)
  }

  @Test func `a repository that points to another one is refused`() throws {
    let world = try SyncWorld.withHistory()
    try world.git(["init", "-q", "--bare", "../other.git"])
    try Data("../../other.git\n".utf8).write(to: URL(fileURLWithPath: "\(world.path)/.git/commondir"))
    #expect(throws: GitError.unsafeFiles(paths: [".git/commondir"])) { try world.repository() }
  }

  @Test func `a work tree that the configuration puts elsewhere is refused`() throws {
    let world = try HostileWorld()
    let other = "\(world.path)/../other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    try world.sync.git(["config", "core.worktree", other], in: world.path)
    #expect(throws: GitError.unsafeConfiguration(keys: ["core.worktree"])) { try world.sync.repository() }
    try world.sync.add("new.example", "x")
    try world.sync.commit(in: world.repository)
    try world.sync.git(
      ["config", "--file", "\(world.path)/.git/config", "--unset", "core.worktree"], in: "/")
    let (head, files) = try world.sync.compare()
    #expect(head == files)
    #expect(try FileManager.default.contentsOfDirectory(atPath: other).isEmpty)
  }
}

/// A store with a history and traps in its repository.
final class HostileWorld: Sendable {
  let sync: SyncWorld
  /// The repository as it was found before the traps were set, because git refuses some of them. This tests what git
  /// runs if they are not refused.
  let repository: Repository
  var path: String { sync.path }

  init() throws {
    sync = try SyncWorld.withHistory()
    try sync.add("bait.example", "x")
    try sync.commit()
    repository = try #require(try sync.repository())
    try Data("bait".utf8).write(to: URL(fileURLWithPath: "\(path)/bait"))
    try FileManager.default.createDirectory(
      atPath: "\(path)/.git/info", withIntermediateDirectories: true)
    try Data("* filter=evil diff=evil merge=evil\n".utf8).write(
      to: URL(fileURLWithPath: "\(path)/.git/info/attributes"))
    try writeProgram("evil")
    try writeProgram("evil-hooks/pre-commit")
    try writeProgram("evil-hooks/reference-transaction")
  }

  func writeProgram(_ name: String) throws {
    let url = URL(fileURLWithPath: "\(path)/\(name)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try ExecutableFile.write("#!/bin/sh\ntouch '\(path)/PWNED'\nexit 1\n", to: url.path)
  }

  var isTriggered: Bool { FileManager.default.fileExists(atPath: "\(path)/PWNED") }

  func clear() { _ = unsafe unlink("\(path)/PWNED") }

  /// Runs git as a user would who does not know of the traps; the result does not matter.
  func spring(_ words: [String]) throws {
    do { try sync.git(words) } catch is SyncWorld.GitFailed {}
  }

  /// Uses git in every way in which keytree does.
  func everything() throws {
    try sync.add("new.example", "one")
    try sync.commit(in: repository)
    try sync.add("new.example", "two")
    try sync.add("new.example", "three")
    try sync.commit(in: repository)
    try FileManager.default.removeItem(atPath: "\(path)/.keytree/committed")
    try sync.add("new.example", "four")
    try sync.commit(in: repository)
    _ = try repository.branch()
    _ = try repository.strangers(outside: AllowedFiles(beside: nil))
    _ = try repository.ignoresStore()
    try RepositorySetup(program: "/opt/keytree", searchPath: "/usr/bin").apply(to: repository)
  }
}
