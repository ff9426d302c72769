import Foundation
import Glibc
import TestSupport
import Testing

/// The built program in copied folders whose repository was prepared to run a program.
@Suite("Hostile repositories of copied stores", .serialized, .slow) struct HostileRepositoryTests {
  /// Commands that a user runs in a store that they have copied.
  private static let commands = [
    ["git", "status"], ["git", "log", "-p"], ["sync"], ["git", "diff", "HEAD~1", "HEAD"],
    ["git", "merge", "-m", "x", "side"], ["status"], ["check"], ["verify"], ["doctor"],
    ["history", "a.example/me"],
  ]

  /// The same commands with plain git, to prove that a trap works.
  private static let plainCommands = [
    ["merge", "-m", "x", "side"], ["add", "-A"], ["status"], ["log", "-p"], ["diff", "HEAD~1", "HEAD"],
    ["fetch", "origin"],
    ["push", "origin", "HEAD:refs/heads/new"], ["commit", "-S", "-m", "x"], ["commit", "--allow-empty"],
    ["fetch", "ssh://127.0.0.1:1/x"], ["fetch", "git://127.0.0.1:1/x"],
    ["interpret-trailers", "--trailer", "x=y"], ["checkout", "-q", "side"],
  ]

  /// Settings that run the program in their value or redirect git.
  private static let settings = [
    "core.fsmonitor", "core.hooksPath", "core.editor", "core.pager", "core.sshCommand", "core.askPass",
    "core.gitProxy", "core.alternateRefsCommand", "core.worktree", "core.attributesFile", "filter.evil.clean",
    "filter.evil.smudge", "filter.evil.process", "diff.external", "diff.evil.textconv", "diff.evil.command",
    "diff.keytree-index.textconv", "diff.keytree-item.textconv", "diff.keytree-record.textconv",
    "diff.keytree-index.command", "diff.keytree-record.command", "merge.keytree-index.driver",
    "merge.keytree-item.driver", "merge.keytree-record.driver", "merge.evil.driver", "gpg.program",
    "gpg.ssh.defaultKeyCommand", "credential.helper", "credential.https://example.org.helper", "pager.log",
    "pager.status", "alias.status", "alias.log", "remote.origin.uploadpack", "remote.origin.receivepack",
    "remote.origin.vcs", "remote.origin.proxy", "url./evil.insteadOf", "uploadpack.packObjectsHook",
    "sequence.editor", "interactive.diffFilter", "trailer.x.command", "hook.evil.command",
    "extensions.partialClone", "http.proxy", "fetch.bundleURI",
  ]

  /// The settings that plain git must honor here. They prove that the traps work.
  private static let provenTraps = [
    "core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.gitProxy", "diff.external",
    "diff.keytree-index.textconv", "diff.keytree-item.textconv", "diff.keytree-record.textconv",
    "diff.keytree-index.command", "merge.keytree-index.driver", "remote.origin.uploadpack",
    "remote.origin.receivepack", "trailer.x.command",
  ]

  /// The places in a copied folder where a setting can be.
  private enum Place: CaseIterable {
    case local
    case workTree
    case include
    case conditionalInclude
    case fileInPlaceOfFolder
  }

  @Test func `no setting of a copied repository runs a program, wherever it is`() throws {
    let world = try World()
    var (refused, attempts) = (0, 0)
    for setting in Self.settings {
      for place in Place.allCases {
        try world.restore()
        try world.put(setting, in: place)
        for command in place == .local ? Self.commands : Array(Self.commands.prefix(3)) {
          let outcome = try world.program.run(["--store", world.store] + command)
          attempts += 1
          if outcome.errors.contains("settings that can run programs") { refused += 1 }
        }
        #expect(!world.isTriggered, "\(setting), \(place)")
      }
    }
    #expect(attempts > 20 * Self.settings.count)
    #expect(refused > attempts / 2, "\(refused) of \(attempts)")
  }

  @Test func `the traps work with plain git`() throws {
    let world = try World()
    var sprung: [String] = []
    for setting in Self.settings {
      try world.restore()
      try world.put(setting, in: .local)
      for command in Self.plainCommands {
        _ = try world.program.outcome(ofGit: command, in: world.store)
      }
      if world.isTriggered { sprung.append(setting) }
    }
    for setting in Self.provenTraps { #expect(sprung.contains(setting), "\(setting)") }
  }

  @Test func `the filters of a repository within the store do not run`() throws {
    let world = try World()
    for sprung in [false, true] {
      try world.restore()
      let inner = "\(world.store)/inner"
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: false)
      try world.program.git(["init", "-q"], in: inner)
      try Data("x\n".utf8).write(to: URL(fileURLWithPath: "\(inner)/x"))
      try world.program.git(["add", "x"], in: inner)
      try world.program.git(["commit", "-q", "-m", "x"], in: inner)
      try world.program.git(["-c", "advice.addEmbeddedRepo=false", "add", "-f", "inner"], in: world.store)
      try Data("* filter=evil\n".utf8).write(to: URL(fileURLWithPath: "\(inner)/.gitattributes"))
      try world.program.git(["config", "filter.evil.clean", world.evil], in: inner)
      // The file has the same size and another time, so that git must read it again.
      try Data("y\n".utf8).write(to: URL(fileURLWithPath: "\(inner)/x"))
      if sprung {
        _ = try world.program.outcome(ofGit: ["status"], in: world.store)
        #expect(world.isTriggered, "plain git runs the filter")
        continue
      }
      for command in Self.commands + [["git", "diff", "--stat"], ["git", "diff", "--submodule=diff"]] {
        let outcome = try world.program.run(["--store", world.store] + command)
        if command[0] == "git" || command[0] == "sync" {
          #expect(outcome.status == 11 && outcome.errors.contains("inner"), "\(command): \(outcome.errors)")
        }
        #expect(!world.isTriggered, "\(command)")
      }
    }
  }

  @Test func `pipes and links in the folder of the repository are refused at once`() throws {
    let world = try World()
    try world.restore()
    let outside = "\(world.program.folder)/outside"
    for (name, isLink) in [
      ("HEAD", false), ("index", false), ("config", false), ("packed-refs", true), ("refs/heads/main", false),
      ("refs/heads/x", true), ("refs/remotes/origin/main", false), ("objects/info/alternates", false),
      ("objects/pack/multi-pack-index", false), ("info/exclude", false), ("logs/HEAD", true),
      ("worktrees/x/gitdir", false),
      ("../.gitattributes", false), ("../items/.gitignore", false),
    ] {
      let (path, kept) = ("\(world.store)/.git/\(name)", "\(world.program.folder)/kept")
      let hasOriginal = unsafe rename(path, kept) == 0
      try FileManager.default.createDirectory(
        at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
      #expect(unsafe (isLink ? symlink(outside, path) : mkfifo(path, 0o600)) == 0)
      let outcome = try world.program.run(
        ["--store", world.store, "git", "status"], tracer: ProcessesProgram.watchdog)
      #expect(
        outcome.status == 11 && outcome.errors.contains(name.trimmingPrefix("../")),
        "\(name): \(outcome.errors)")
      #expect(unsafe hasOriginal ? rename(kept, path) == 0 : unlink(path) == 0)
    }
    #expect(try world.program.run(["--store", world.store, "git", "status"]).status == 0)
    // Git would append to the file.
    #expect(!FileManager.default.fileExists(atPath: outside))
  }

  @Test func `a copied folder with other git attributes runs no filter of the user`() throws {
    let world = try World()
    for kind in ["clean", "smudge"] {
      try world.program.git(
        ["config", "--global", "filter.evil.\(kind)", world.evil], in: world.program.folder)
    }
    // No change is pending.
    try world.program.git(["checkout", "-q", "--", ".gitattributes"], in: world.program.store)
    let attributes = Data("* filter=evil\n".utf8)
    for command in Self.commands {
      try world.restore()
      try attributes.write(to: URL(fileURLWithPath: "\(world.store)/.git/info/attributes"))
      _ = try world.program.run(["--store", world.store] + command)
      #expect(!world.isTriggered, "\(command)")
    }
    try world.restore()
    try attributes.write(to: URL(fileURLWithPath: "\(world.store)/.git/info/attributes"))
    _ = try world.program.outcome(ofGit: ["status"], in: world.store)
    #expect(world.isTriggered, "plain git runs the filter")
  }

  @Test func `grafts and replacement refs do not change the history that is shown`() throws {
    let world = try World()
    try world.restore()
    let log = try world.program.run(["--store", world.store, "git", "log", "--format=%H"]).text
    let commits = log.split(separator: "\n").map(String.init)
    try FileManager.default.createDirectory(
      atPath: "\(world.store)/.git/info", withIntermediateDirectories: true)
    try Data("\(commits[0])\n".utf8).write(to: URL(fileURLWithPath: "\(world.store)/.git/info/grafts"))
    #expect(
      try world.program.git(["log", "--format=%H"], in: world.store).split(separator: "\n").count == 1,
      "plain git follows the graft")
    #expect(try world.program.run(["--store", world.store, "git", "log", "--format=%H"]).text == log)
    try FileManager.default.removeItem(atPath: "\(world.store)/.git/info/grafts")
    try world.program.git(["replace", commits[0], commits[1]], in: world.store)
    #expect(try world.program.run(["--store", world.store, "git", "log", "--format=%H"]).text == log)
  }

  @Test func `common settings of a repository are accepted`() throws {
    let world = try World()
    try world.restore()
    for (key, value) in [
      ("user.name", "Alice"), ("user.email", "alice@example.org"), ("pull.rebase", "true"),
      ("branch.main.vscode-merge-base", "origin/main"), ("core.fileMode", "false"),
      ("core.fsmonitor", "false"), ("color.ui", "never"), ("remote.hub.url", "/nowhere"),
      ("remote.hub.fetch", "+refs/heads/*:refs/remotes/hub/*"), ("diff.renames", "false"), ("gc.auto", "0"),
      ("commit.gpgSign", "false"), ("pager.log", "false"), ("push.default", "simple"),
    ] {
      try world.program.git(["config", key, value], in: world.store)
    }
    let outcome = try world.program.run(["--store", world.store, "git", "status"])
    #expect(outcome.status == 0, "\(outcome.errors)")
    try world.program.git(["config", "alias.st", "status"], in: world.store)
    let refused = try world.program.run(["--store", world.store, "git", "status"])
    #expect(refused.status == 11 && refused.errors.contains("alias.st"))
    // The change is stored anyway, and committed later.
    let added = try world.program.run(["--store", world.store, "add", "later.example/me"], input: "x")
    #expect(added.status == 11)
    try world.program.git(["config", "--unset", "alias.st"], in: world.store)
    #expect(try world.program.run(["--store", world.store, "git", "status"]).status == 0)
    #expect(
      try world.program.git(["log", "-1", "--format=%s"], in: world.store).contains("later.example"))
  }

  /// A copy of a store whose repository can be prepared repeatedly.
  private final class World {
    let program: ProcessesProgram
    let store: String
    let evil: String
    private let original: String
    private let trap: String

    init() throws {
      program = try ProcessesProgram()
      (store, original) = ("\(program.folder)/copy", program.store)
      (evil, trap) = ("\(program.folder)/evil", "\(program.folder)/PWNED")
      try ExecutableFile.write("#!/bin/sh\ntouch '\(trap)'\nexit 1\n", to: evil)
      try FileManager.default.createDirectory(
        atPath: "\(program.folder)/hooks", withIntermediateDirectories: false)
      for name in ["pre-commit", "reference-transaction", "post-index-change", "pre-merge-commit"] {
        try ExecutableFile.write("#!/bin/sh\ntouch '\(trap)'\n", to: "\(program.folder)/hooks/\(name)")
      }
      try Data("[user]\n\tname = P\n\temail = p@example.org\n".utf8).write(
        to: URL(fileURLWithPath: "\(program.folder)/.gitconfig"))
      let hub = "\(program.folder)/hub.git"
      try program.git(["init", "-q", "--bare", hub], in: program.folder)
      try program.succeed(["init"])
      try program.succeed(["add", "a.example/me"], input: "a")
      try program.git(["branch", "side"])
      try program.succeed(["add", "b.example/me"], input: "b")
      try program.git(["remote", "add", "origin", "file://\(hub)"])
      try program.succeed(["sync"])
      try FileManager.default.copyItem(atPath: hub, toPath: "\(program.folder)/hub")
      // Both sides change one item, so that git calls the merge drivers.
      try program.succeed(["set", "a.example/me", "-l", "main"])
      try program.git(["checkout", "-q", "side"])
      try program.succeed(["set", "a.example/me", "-l", "side"])
      try program.git(["checkout", "-q", "main"])
      try Data("* filter=evil diff=evil merge=evil\n".utf8).write(
        to: URL(fileURLWithPath: "\(original)/.gitattributes"))
    }

    var isTriggered: Bool { FileManager.default.fileExists(atPath: trap) }

    /// Restores the folder to its initial state.
    func restore() throws {
      _ = unsafe unlink(trap)
      for (copy, path) in [(store, original), ("\(program.folder)/hub.git", "\(program.folder)/hub")] {
        ScratchFolder.remove(copy)
        try FileManager.default.copyItem(atPath: path, toPath: copy)
      }
      // Git must read a file again if its times differ from those in git's index.
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: "\(store)/policy.json")
    }

    func put(_ setting: String, in place: Place) throws {
      let git = "\(store)/.git"
      let value = value(of: setting)
      switch place {
      case .local: try program.git(["config", setting, value], in: store)
      case .workTree:
        try program.git(["config", "extensions.worktreeConfig", "true"], in: store)
        try program.git(["config", "--file", "\(git)/config.worktree", setting, value], in: store)
      case .include:
        try program.git(["config", "--file", "\(git)/more", setting, value], in: store)
        try program.git(["config", "include.path", "more"], in: store)
      case .conditionalInclude:
        try program.git(["config", "--file", "\(git)/more", setting, value], in: store)
        try program.git(["config", "includeIf.gitdir:/.path", "more"], in: store)
      case .fileInPlaceOfFolder:
        try program.git(["config", setting, value], in: store)
        try FileManager.default.moveItem(atPath: git, toPath: "\(store)/items/data.gpg")
        try Data("gitdir: items/data.gpg\n".utf8).write(to: URL(fileURLWithPath: git))
      }
    }

    private func value(of setting: String) -> String {
      switch setting {
      case "core.hooksPath": "\(program.folder)/hooks"
      case "core.worktree": program.folder
      case "alias.status", "alias.log": "!\(evil)"
      case "core.attributesFile": "\(program.folder)/attributes"
      case "extensions.partialClone": "origin"
      case "url./evil.insteadOf": "file://"
      default: evil
      }
    }
  }
}
