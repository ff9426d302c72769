import Foundation
import Keyring
import KeyringModel
import Secrets
import Subprocess
import Sync
import TestSupport
import Testing

/// Tests where a store can be, and how its repository can be set up.
@Suite(.serialized) struct SyncPlacesTests {
  private func sync(_ world: SyncWorld, _ path: String) throws -> Synchronization.Report {
    let repository = try #require(try Repository.find(store: path, git: world.makeGit))
    return try Synchronization(
      try world.open(at: path), tree: try FileTree(at: path), repository: repository, timeout: 30,
      options: .init(), author: { "Alice <alice@example.org>" }
    ).run()
  }

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  /// Creates a larger repository with a store in `team/keys`, a bare repository, and a clone of it.
  private func larger() throws -> (world: SyncWorld, tops: [String], stores: [String]) {
    let world = try SyncWorld()
    let folder = world.store.folder.path
    let tops = ["\(folder)/large", "\(folder)/other"]
    try FileManager.default.createDirectory(
      atPath: "\(tops[0])/team", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.moveItem(atPath: world.path, toPath: "\(tops[0])/team/keys")
    try ExecutableFile.write("#!/bin/sh\necho one\n", to: "\(tops[0])/run.sh")
    for words in [
      ["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "begin"],
      ["init", "-q", "--bare", "-b", "main", "\(folder)/hub.git"],
      ["remote", "add", "origin", "\(folder)/hub.git"], ["push", "-q", "-u", "origin", "main"],
    ] { try world.git(words, in: tops[0]) }
    try world.git(["clone", "-q", "\(folder)/hub.git", tops[1]], in: folder)
    for path in [tops[1], "\(tops[1])/team", "\(tops[1])/team/keys"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    }
    return (world, tops, tops.map { "\($0)/team/keys" })
  }

  private func add(_ world: SyncWorld, _ store: String, _ server: String) throws {
    let secret = SecretBytes(text: server)
    try world.open(at: store).add(.login(server, "me"), secret: secret)
  }

  @Test func `a store in a larger repository is merged together with the files around it`() throws {
    let (world, tops, stores) = try larger()
    for (store, server) in zip(stores, ["a.example", "b.example"]) { try add(world, store, server) }
    try write("#!/bin/sh\necho two\n", "\(tops[1])/run.sh")
    try write("new\n", "\(tops[1])/NEWS")
    try write("staged\n", "\(tops[0])/mine")
    // A link beside the store is the user's own, unlike a link in the store.
    try FileManager.default.createSymbolicLink(atPath: "\(tops[1])/link", withDestinationPath: "NEWS")
    try world.git(["add", "-A", "run.sh", "NEWS", "link"], in: tops[1])
    try world.git(["commit", "-q", "-m", "work"], in: tops[1])
    try world.git(["add", "mine"], in: tops[0])
    _ = try sync(world, stores[1])
    #expect(try sync(world, stores[0]).hasMerged)
    _ = try sync(world, stores[1])
    for store in stores { #expect(try world.open(at: store).find(Query()).items.count == 2) }
    for store in stores { #expect(try world.open(at: store).check(decrypts: true).isClean) }
    #expect(try String(contentsOfFile: "\(tops[0])/run.sh", encoding: .utf8) == "#!/bin/sh\necho two\n")
    #expect(FileManager.default.isExecutableFile(atPath: "\(tops[0])/run.sh"))
    #expect(try String(contentsOfFile: "\(tops[0])/NEWS", encoding: .utf8) == "new\n")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(tops[0])/link") == "NEWS")
    // A staged file beside the store stays staged and is in no commit.
    #expect(try world.git(["status", "--porcelain"], in: tops[0]) == "A  mine\n")
    #expect(try world.git(["status", "--porcelain"], in: tops[1]) == "")
    #expect(try world.git(["ls-files", "-s", "run.sh"], in: tops[0]).hasPrefix("100755"))
  }

  @Test func `files beside the store that both sides changed, or that are not committed, stop a merge`()
    throws
  {
    let (world, tops, stores) = try larger()
    for (top, text) in zip(tops, ["three", "four"]) {
      try write(text, "\(top)/run.sh")
      try world.git(["commit", "-qam", "work"], in: top)
    }
    try add(world, stores[0], "a.example")
    _ = try sync(world, stores[1])
    #expect(throws: SyncError.bothChanged(["run.sh"])) { try sync(world, stores[0]) }
    #expect(try String(contentsOfFile: "\(tops[0])/run.sh", encoding: .utf8) == "three")
    try world.git(["reset", "-q", "--hard", "HEAD~2"], in: tops[0])
    try write("not committed", "\(tops[0])/run.sh")
    #expect(throws: SyncError.uncommitted(["run.sh"])) { try sync(world, stores[0]) }
    #expect(try String(contentsOfFile: "\(tops[0])/run.sh", encoding: .utf8) == "not committed")
  }

  /// Git removes the old file and writes the new one from the beginning. The state between them after a kill is not the
  /// work of a user.
  @Test(arguments: [nil, "", "#!/bin/sh\necho t"] as [String?])
  func `a file beside the store that a killed git left unfinished is completed`(left: String?) throws {
    let (world, tops, stores) = try larger()
    try write("#!/bin/sh\necho two\n", "\(tops[1])/run.sh")
    try write("new\n", "\(tops[1])/NEWS")
    try world.git(["add", "."], in: tops[1])
    try world.git(["commit", "-q", "-m", "work"], in: tops[1])
    _ = try sync(world, stores[1])
    try add(world, stores[0], "a.example")
    if let left {
      try write(left, "\(tops[0])/run.sh")
      try write("ne", "\(tops[0])/NEWS")
    } else {
      try FileManager.default.removeItem(atPath: "\(tops[0])/run.sh")
    }
    #expect(try sync(world, stores[0]).hasMerged)
    #expect(try String(contentsOfFile: "\(tops[0])/run.sh", encoding: .utf8) == "#!/bin/sh\necho two\n")
    #expect(try String(contentsOfFile: "\(tops[0])/NEWS", encoding: .utf8) == "new\n")
    #expect(try world.git(["status", "--porcelain"], in: tops[0]) == "")
  }

  @Test(arguments: [false, true])
  func `a file that is not in the history is not replaced by a folder from the remote`(isLink: Bool) throws {
    let clones = try SyncClones()
    let keyring = try clones.open(0)
    _ = try keyring.make(keyring.plan([.allow(file: "notes/")]))
    let path = "\(clones.paths[1])/notes"
    if isLink {
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/tmp")
    } else {
      try write("mine", path)
    }
    try FileManager.default.createDirectory(
      atPath: "\(clones.paths[0])/notes", withIntermediateDirectories: true)
    try write("theirs", "\(clones.paths[0])/notes/x-\(UUID())")
    _ = try clones.git(0, "add", "notes")
    _ = try clones.git(0, "commit", "-q", "-m", "notes")
    try clones.sync(0)
    #expect {
      try clones.sync(1)
    } throws: { error in
      if case SyncError.uncommitted = error { true } else { false }
    }
    let kept =
      isLink
      ? try FileManager.default.destinationOfSymbolicLink(atPath: path)
      : try String(contentsOfFile: path, encoding: .utf8)
    #expect(kept == (isLink ? "/tmp" : "mine"))
  }

  @Test func `hooks in a repository of the remote do not run`() throws {
    let world = try SyncWorld.withHistory()
    let hub = "\(world.path)/.git/evil"
    try world.git(["init", "-q", "--bare", "-b", "main", hub])
    for hook in ["pre-receive", "update", "post-receive", "post-update", "reference-transaction"] {
      let script = "#!/bin/sh\ntouch \(world.store.folder.path)/PWNED\n"
      try ExecutableFile.write(script, to: "\(hub)/hooks/\(hook)")
    }
    try world.git(["remote", "add", "origin", ".git/evil"])
    #expect(try sync(world, world.path).sent == 1)
    #expect(!FileManager.default.fileExists(atPath: "\(world.store.folder.path)/PWNED"))
    // The same push without keytree runs them.
    try world.git(["push", "-q", "origin", "main:other"])
    #expect(FileManager.default.fileExists(atPath: "\(world.store.folder.path)/PWNED"))
  }

  @Test func `a store in a second work tree is merged`() throws {
    let clones = try SyncClones()
    let path = "\(clones.world.store.folder.path)/tree"
    _ = try clones.git(0, "worktree", "add", "-q", "-b", "side", path)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    _ = try clones.git(0, "push", "-q", "-u", "origin", "side")
    try clones.add(1, "b.example", "me")
    try clones.sync(1)
    try add(clones.world, path, "a.example")
    _ = try clones.world.git(["branch", "-q", "--set-upstream-to=origin/main"], in: path)
    #expect(try sync(clones.world, path).hasMerged)
    #expect(try clones.world.open(at: path).find(Query()).items.count == 2)
    #expect(try clones.world.open(at: path).check(decrypts: true).isClean)
    // The branch of the first work tree is unchanged.
    #expect(try clones.find(0).isEmpty)
    try clones.expectSound(0)
  }

  @Test func `an empty repository receives the store, and another branch name is kept`() throws {
    let world = try SyncWorld.withHistory()
    let hub = "\(world.store.folder.path)/empty.git"
    try world.git(["init", "-q", "--bare", hub])
    try world.git(["branch", "-q", "-m", "keys"])
    #expect(throws: SyncError.noRemote(branch: "keys", among: [])) { try sync(world, world.path) }
    try world.git(["remote", "add", "origin", hub])
    #expect(try sync(world, world.path).sent == 1)
    #expect(try sync(world, world.path) == Synchronization.Report())
    #expect(try world.git(["rev-parse", "--abbrev-ref", "@{upstream}"]) == "origin/keys\n")
  }

  @Test func `signing in the configuration and a missing name do not prevent a merge`() throws {
    let clones = try SyncClones()
    for clone in 0..<2 {
      _ = try clones.git(clone, "config", "commit.gpgSign", "true")
      _ = try clones.git(clone, "config", "user.signingKey", "nobody")
    }
    for clone in 0..<2 { try clones.add(clone, "\(clone).example", "me") }
    try clones.sync(0)
    #expect(try clones.sync(1).hasMerged)
    #expect(try clones.git(1, "log", "-1", "--format=%cn <%ce>") == "Alice <alice@example.org>\n")
    try clones.expectSound(1)
  }

  @Test func `a push of another keyring over this one is refused`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    let stranger = try SyncWorld.withHistory()
    let policy = try String(contentsOfFile: "\(stranger.path)/policy.json", encoding: .utf8)
    try write(policy, "\(clones.paths[0])/policy.json")
    _ = try clones.git(0, "commit", "-qam", "x")
    _ = try clones.git(0, "push", "-q", "origin", "main")
    #expect(throws: SyncError.foreignPolicy) { try clones.sync(1) }
    #expect(try clones.find(1).isEmpty)
    try clones.expectSound(1)
  }
}
