import Foundation
import Glibc
import Keyring
import KeyringModel
import Sync
import TestSupport
import Testing

/// Tests remote repositories on this machine that came from an attacker together with the store, such as those of an
/// archive or a memory stick (threats T50 and T51).
@Suite("Hostile remotes", .serialized)
struct HostileRemoteTests {
  @Test func `a partial clone as the remote runs no program at sync`() throws {
    let remote = try HostileRemote()
    try remote.makePartialClone()
    // The changed files are sent as differences from files that the remote lacks.
    try remote.clones.replace(0, remote.item, "new")
    #expect(throws: GitError.self) { try remote.clones.sync(0) }
    #expect(!remote.isTriggered)
    // The same push without keytree runs the program.
    try remote.clones.open(0).update(remote.item, secret: .init(text: "newer"))
    _ = try remote.clones.git(0, "commit", "-qam", "x")
    try remote.spring(["push", "-q", remote.path, "HEAD:main"])
    #expect(remote.isTriggered)
  }

  @Test func `a partial clone as the remote runs no program at clone`() throws {
    let remote = try HostileRemote()
    try remote.makePartialClone()
    try remote.world.git(["config", "remote.origin.url", remote.path], in: remote.path)
    let path = "\(remote.folder)/new"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(throws: GitError.self) {
      try StoreClone(remote.path, branch: nil, to: path, git: remote.world.makeGit).fetch(asksPerson: false)
    }
    #expect(!remote.isTriggered)
  }

  @Test func `git does not enter a repository from which the store borrows objects at sync`() throws {
    let remote = try HostileRemote()
    try remote.world.git(["clone", "-q", "--bare", remote.clones.hub, remote.path], in: remote.folder)
    let alternates = "\(remote.clones.paths[0])/.git/objects/info/alternates"
    try Data("\(remote.path)/objects\n".utf8).write(to: URL(fileURLWithPath: alternates))
    // Git writes every program that it starts into this file.
    let trace = URL(fileURLWithPath: "\(remote.folder)/trace")
    try remote.world.git(["config", "--global", "trace2.eventTarget", trace.path])
    let entered = "--git-dir=\(remote.path)"
    try remote.clones.add(1, "b.example", "me")
    try remote.clones.sync(1)
    try FileManager.default.removeItem(at: trace)
    _ = try remote.clones.git(0, "fetch", "-q", remote.clones.hub)
    #expect(try String(contentsOf: trace, encoding: .utf8).contains(entered), "plain git enters it")
    try FileManager.default.removeItem(at: trace)
    _ = try remote.clones.git(0, "config", "remote.origin.url", remote.clones.hub)
    try remote.clones.add(1, "c.example", "me")
    try remote.clones.sync(1)
    #expect(try remote.clones.sync(0).received > 0)
    let started = try String(contentsOf: trace, encoding: .utf8)
    #expect(started.contains("\"fetch\"") && !started.contains(entered))
  }

  /// Files of a remote, and their content.
  static let files: [(name: String, content: String)] = [
    ("objects/info/alternates", "/EVIL/objects\n"),
    ("objects/info/http-alternates", "http://evil.example/\n"),
    ("commondir", "/EVIL\n"), ("config.worktree", "[core]\n\tbare = true\n"), ("branches/x", "/EVIL\n"),
    ("remotes/x", "URL: /EVIL\n"),
  ]

  @Test(arguments: files.indices)
  func `a remote that refers to other repositories is refused by name`(index: Int) throws {
    let (name, content) = Self.files[index]
    let remote = try HostileRemote()
    let url = URL(fileURLWithPath: "\(remote.clones.hub)/\(name)")
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(content.replacing("/EVIL", with: remote.path).utf8).write(to: url)
    #expect(throws: GitError.unsafeRemote(path: remote.clones.hub, entries: [name])) {
      try remote.clones.sync(0)
    }
  }

  @Test(arguments: [false, true])
  func `a link or a pipe in a remote is refused by name`(isLink: Bool) throws {
    let remote = try HostileRemote()
    let path = "\(remote.clones.hub)/refs/heads/x"
    #expect(unsafe (isLink ? symlink("/dev/null", path) : mkfifo(path, 0o600)) == 0)
    #expect(throws: GitError.unsafeRemote(path: remote.clones.hub, entries: ["refs/heads/x"])) {
      try remote.clones.sync(0)
    }
  }

  /// Settings of a remote with which git runs a program or leaves the repository.
  static let settings: [(key: String, value: String)] = [
    ("core.hooksPath", "/EVIL"), ("core.alternateRefsCommand", "touch PWNED"), ("core.worktree", "/EVIL"),
    ("core.fsmonitor", "touch PWNED"), ("extensions.partialClone", "x"), ("remote.x.promisor", "true"),
    ("remote.x.uploadpack", "touch PWNED"), ("include.path", "/EVIL"),
    ("gc.recentObjectsHook", "touch PWNED"),
    ("uploadpack.packObjectsHook", "touch PWNED"), ("extensions.worktreeConfig", "true"),
    ("receive.procReceiveRefs", "refs"), ("transfer.bundleURI", "true"), ("filter.x.smudge", "touch PWNED"),
  ]

  /// The ways to write the address of the remote, relative to the top of the work tree.
  static let addresses: [@Sendable (HostileRemote) -> String] = [
    { $0.clones.hub }, { String($0.clones.hub.dropLast(".git".count)) }, { "file://\($0.clones.hub)" },
    { "file://host\($0.clones.hub.dropLast(4))///" }, { "\($0.clones.hub.dropLast(4))//" },
    { "file://\($0.clones.hub.replacing("hub", with: "%68u%62"))" },
    { _ in "../hub.git" }, { _ in "../link" }, { _ in "~/../hub" }, { _ in "mapped:hub.git" },
  ]

  @Test func `a setting of a remote is refused however its address is written`() throws {
    let remote = try HostileRemote()
    let (clones, home) = (remote.clones, try #require(remote.world.variables["HOME"]))
    #expect(unsafe symlink(clones.hub, "\(remote.folder)/link") == 0)
    try remote.world.git(["config", "--global", "url.\(remote.folder)/.insteadOf", "mapped:"])
    #expect(FileManager.default.fileExists(atPath: "\(home)/.gitconfig"))
    let mirror = "\(remote.folder)/mirror.git"
    try remote.world.git(["clone", "-q", "--bare", clones.hub, mirror], in: remote.folder)
    for (index, address) in Self.addresses.enumerated() {
      for (key, value) in index == 0 ? Self.settings : [Self.settings[0]] {
        for setting in ["url", "pushurl"] {
          try remote.world.git(["push", "-q", mirror, "main"], in: clones.hub)
          _ = try clones.git(0, "config", "remote.origin.url", mirror)
          _ = try clones.git(0, "config", "remote.origin.\(setting)", address(remote))
          try clones.replace(0, try clones.item(0, "a.example"), "new")
          try remote.world.git(["config", "--file", "\(clones.hub)/config", key, value])
          let error = GitError.unsafeRemote(path: clones.hub, entries: [key.lowercased()])
          #expect(throws: error, "\(address(remote)), \(key)") { try clones.sync(0) }
          try remote.world.git(["config", "--file", "\(clones.hub)/config", "--unset", key])
          #expect(try clones.sync(0).sent > 0)
          _ = try clones.git(0, "config", "--unset", "remote.origin.\(setting)")
        }
      }
    }
    #expect(!remote.isTriggered)
  }

  @Test func `a slash after a character that would join it is removed from the address of a remote`() throws {
    let remote = try HostileRemote()
    // U+0600 and the slash are one character, but git removes a byte.
    let name = "\(remote.folder)/evil\u{600}"
    try remote.world.git(["clone", "-q", "--bare", remote.clones.hub, "\(name).git"], in: remote.folder)
    try remote.world.git(["config", "--file", "\(name).git/config", "core.hooksPath", remote.path])
    for address in ["\(name)/", "file://\(name)/"] {
      _ = try remote.clones.git(0, "config", "remote.origin.url", address)
      #expect(throws: GitError.unsafeRemote(path: "\(name).git", entries: ["core.hookspath"])) {
        try remote.clones.sync(0)
      }
    }
  }

  @Test func `a remote that is a file with the name of another repository is refused`() throws {
    let remote = try HostileRemote()
    // Git reads such a file of up to a mebibyte, and one with several names.
    let path = "\(remote.folder)/file"
    let padding = String(repeating: "\n", count: 200_000)
    try Data("gitdir: \(remote.clones.hub)\(padding)".utf8).write(to: URL(fileURLWithPath: path))
    #expect(unsafe link(path, "\(path)2") == 0)
    _ = try remote.clones.git(0, "config", "remote.origin.url", path)
    _ = try remote.clones.git(0, "fetch", "-q", "origin")
    #expect(throws: GitError.unsafeRemote(path: path, entries: ["gitdir"])) { try remote.clones.sync(0) }
  }

  @Test func `the usual remotes on this machine are accepted`() throws {
    let clones = try SyncClones()
    for (key, value) in [
      ("core.sharedRepository", "group"), ("receive.denyNonFastForwards", "true"), ("gc.auto", "0"),
      ("receive.fsckObjects", "true"), ("uploadpack.allowFilter", "true"), ("http.receivepack", "true"),
      ("remote.origin.url", "https://example.org/x"), ("receive.hideRefs", "refs/x"),
    ] {
      try clones.world.git(["config", key, value], in: clones.hub)
    }
    // Git's own template for a repository.
    #expect(FileManager.default.fileExists(atPath: "\(clones.hub)/hooks"))
    try clones.add(0, "a.example", "me")
    #expect(try clones.sync(0).sent == 1)
    // The work tree of another clone, and a bundle.
    _ = try clones.git(1, "config", "remote.origin.url", "../store/.git")
    #expect(try clones.sync(1).received == 1)
    try clones.add(0, "b.example", "me")
    try clones.sync(0)
    let bundle = "\(clones.world.store.folder.path)/b.bundle"
    _ = try clones.git(0, "bundle", "create", "-q", bundle, "main")
    _ = try clones.git(1, "config", "remote.origin.url", bundle)
    #expect(try clones.sync(1).received > 0)
  }

  /// Addresses for which git runs a program, and its name.
  static let helpers = [
    ("probe::x", "probe"), ("probe://host/x", "probe"), ("ext::touch PWNED", "ext"), ("fd::17/x", "fd"),
    ("FILE:///x", "FILE"), ("ftp://127.0.0.1:1/x", "ftp"),
  ]

  @Test(arguments: helpers, ["url", "pushurl"])
  func `sync runs no remote helper`(helper: (address: String, name: String), setting: String) throws {
    let remote = try HostileRemote(helper: helper.name)
    _ = try remote.clones.git(0, "config", "remote.origin.\(setting)", helper.address)
    try remote.clones.replace(0, remote.item, "new")
    #expect(throws: GitError.unsupportedTransport(name: helper.name, remote: "origin (\(helper.address))")) {
      try remote.clones.sync(0)
    }
    #expect(!remote.isTriggered)
    if setting == "url" {
      let path = "\(remote.folder)/new"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      #expect(throws: GitError.unsupportedTransport(name: helper.name, remote: helper.address)) {
        try StoreClone(helper.address, branch: nil, to: path, git: remote.world.makeGit)
          .fetch(asksPerson: false)
      }
      #expect(!remote.isTriggered)
    }
  }

  @Test func `an error about a remote helper names the remote, without a password`() throws {
    let clones = try HostileRemote(helper: "probe").clones
    _ = try clones.git(0, "config", "remote.backup.url", "probe::https://alice:hunter2@host/x?y=a@b")
    let repository = try #require(try Repository.find(store: clones.paths[0], git: clones.world.makeGit))
    #expect(
      throws: GitError.unsupportedTransport(name: "probe", remote: "backup (probe::https://host/x?y=a@b)")
    ) { try RemoteAccess.options(for: [Array("fetch".utf8), Array("--all".utf8)], in: "/", repository) }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
  func `the error about a remote of another owner names the remote's folder`() throws {
    let clones = try HostileRemote().clones
    _ = unsafe chown(clones.hub, 65534, 65534)
    #expect(throws: GitError.unsafeOwner(path: clones.hub)) { try clones.sync(0) }
  }

  @Test func `a commit with a message of megabytes is refused by name until the remote has removed it`()
    throws
  {
    let clones = try HostileRemote().clones
    let git = { (words: [String], input: String) in
      try clones.world.git(words, in: clones.hub, input: input).filter { !$0.isWhitespace }
    }
    let good = try git(["rev-parse", "main"], "")
    let message = String(repeating: "a", count: 3 << 20)
    let large = try git(["commit-tree", "-p", "main", "-F", "-", "main^{tree}"], message)
    // The commit is not the last one.
    let tip = try git(["commit-tree", "-p", large, "-m", "x", "main^{tree}"], "")
    _ = try git(["update-ref", "refs/heads/main", tip], "")
    // The second time, git has received the commit already.
    for _ in 0..<2 {
      #expect {
        try clones.sync(0)
      } throws: {
        "\($0)".hasPrefix("commitTooLarge") && "\($0)".contains(large)
      }
    }
    let path = "\(clones.world.store.folder.path)/new"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect {
      try StoreClone(clones.hub, branch: nil, to: path, git: clones.world.makeGit).fetch(asksPerson: false)
    } throws: {
      "\($0)".contains(large)
    }
    #expect(try clones.git(0, "log", "--all", "--format=%H").contains(large) == false)
    _ = try git(["update-ref", "refs/heads/main", good], "")
    try clones.add(0, "c.example", "me")
    #expect(try clones.sync(0).sent == 1)
  }

  @Test(arguments: ["HEAD", "tag"])
  func `a bundle without a branch is not reported as a detached branch`(reference: String) throws {
    let remote = try HostileRemote()
    let bundle = "\(remote.folder)/b.bundle"
    _ = try remote.clones.git(0, "tag", "tag")
    _ = try remote.clones.git(0, "bundle", "create", "-q", bundle, reference)
    let path = "\(remote.folder)/new"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(throws: SyncError.emptyRepository(url: bundle)) {
      try StoreClone(bundle, branch: nil, to: path, git: remote.world.makeGit).fetch(asksPerson: false)
    }
  }

  @Test func `the user's own configuration can allow a remote helper by name, and forbid any transport`()
    throws
  {
    let remote = try HostileRemote(helper: "probe")
    let clones = remote.clones
    _ = try clones.git(0, "config", "remote.origin.url", "probe::x")
    for (key, value) in [("protocol.allow", "always"), ("protocol.other.allow", "always")] {
      try remote.world.git(["config", "--global", key, value])
      #expect(throws: GitError.unsupportedTransport(name: "probe", remote: "origin (probe::x)")) {
        try clones.sync(0)
      }
    }
    #expect(!remote.isTriggered)
    try remote.world.git(["config", "--global", "protocol.probe.allow", "always"])
    // The program only leaves its trace.
    #expect(throws: GitError.self) { try clones.sync(0) }
    #expect(remote.isTriggered)
    _ = try clones.git(0, "config", "remote.origin.url", clones.hub)
    #expect(try clones.sync(0).sent == 0)
    try remote.world.git(["config", "--global", "protocol.file.allow", "never"])
    #expect(throws: GitError.unsupportedTransport(name: "file", remote: "origin (\(clones.hub))")) {
      try clones.sync(0)
    }
    try remote.world.git(["config", "--global", "--unset", "protocol.file.allow"])
    try remote.world.git(["config", "--global", "protocol.allow", "never"])
    #expect(throws: GitError.unsupportedTransport(name: "file", remote: "origin (\(clones.hub))")) {
      try clones.sync(0)
    }
    // The configuration of the repository itself allows nothing.
    _ = try clones.git(0, "config", "protocol.file.allow", "always")
    #expect(throws: GitError.unsafeConfiguration(keys: ["protocol.file.allow"])) { try clones.sync(0) }
  }
}

/// A store with a remote that an attacker can prepare.
final class HostileRemote: Sendable {
  let clones: SyncClones
  let item: ItemRecord
  var world: SyncWorld { clones.world }
  var folder: String { world.store.folder.path }
  /// The remote that the attacker prepares; the others are in `clones`.
  var path: String { "\(folder)/evil.git" }

  /// Creates the store with one item, which is in its remote.
  ///
  /// - Parameter helper: The name of a remote helper in `PATH` that leaves a trace.
  init(helper: String? = nil) throws {
    clones = try SyncClones()
    item = try clones.add(0, "a.example", "me")
    try clones.sync(0)
    if let helper {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/programs", withIntermediateDirectories: false)
      try ExecutableFile.write(
        "#!/bin/sh\ntouch '\(folder)/PWNED'\nexit 1\n", to: "\(folder)/programs/git-remote-\(helper)")
    }
  }

  /// Makes the store's remote a repository that lacks all files and runs a program to fetch them.
  func makePartialClone() throws {
    try world.git(["config", "uploadpack.allowFilter", "true"], in: clones.hub)
    try world.git(
      ["clone", "-q", "--bare", "--filter=blob:none", "--no-local", "file://\(clones.hub)", path],
      in: folder)
    try world.git(["config", "uploadpack.allowFilter", "false"], in: clones.hub)
    try world.git(
      ["config", "remote.origin.uploadpack", "touch '\(folder)/PWNED'; git-upload-pack"], in: path)
    _ = try clones.git(0, "config", "remote.origin.url", path)
  }

  var isTriggered: Bool { FileManager.default.fileExists(atPath: "\(folder)/PWNED") }

  func clear() { _ = unsafe unlink("\(folder)/PWNED") }

  /// Runs git as a user would who does not know of the traps; the result does not matter.
  func spring(_ words: [String]) throws {
    do { try world.git(words, in: clones.paths[0]) } catch is SyncWorld.GitFailed {}
  }
}
