import Foundation
import Keyring
import KeyringModel
import Secrets
import Subprocess
import Sync
import TestSupport
import Testing

/// Tests which branch of which repository a store is synchronized with.
@Suite(.serialized) struct RemoteBranchTests {
  /// Returns the output of git in the bare repository.
  private func hub(_ clones: SyncClones, _ words: String...) throws -> String {
    try clones.world.git(words, in: clones.hub)
  }

  private static let rewriting: Synchronization.Options = {
    var options = Synchronization.Options()
    options.acceptsRewritten = true
    return options
  }()

  @Test(arguments: ["HUB", "file://HUB", "../hub.git"])
  func `a branch whose remote is a path or an address is synchronized`(address: String) throws {
    let clones = try SyncClones()
    let old = try hub(clones, "rev-parse", "main").trimmingCharacters(in: .newlines)
    let remote = address.replacing("HUB", with: clones.hub)
    _ = try clones.git(0, "remote", "remove", "origin")
    _ = try clones.git(0, "config", "branch.main.remote", remote)
    _ = try clones.git(0, "config", "branch.main.merge", "refs/heads/main")
    try clones.add(0, "a.example", "me")
    #expect(try clones.sync(0).sent == 1)
    #expect(try clones.sync(0) == Synchronization.Report())
    try clones.sync(1)
    try clones.add(1, "b.example", "me")
    try clones.sync(1)
    #expect(try clones.sync(0).received == 1)
    // Lost commits are noticed, although git has no remote-tracking reference.
    let seen = try clones.git(0, "rev-parse", "HEAD").trimmingCharacters(in: .newlines)
    _ = try hub(clones, "update-ref", "refs/heads/main", old)
    #expect(throws: SyncError.rewritten(seen: seen, now: old)) { try clones.sync(0) }
    #expect(try clones.find(0).count == 2)
  }

  @Test func `one of several remotes is chosen by its name alone`() throws {
    let clones = try SyncClones()
    let empty = "\(clones.world.store.folder.path)/empty.git"
    try clones.world.git(["init", "-q", "--bare", empty])
    _ = try clones.git(0, "remote", "rename", "origin", "one")
    _ = try clones.git(0, "config", "--remove-section", "branch.main", status: 128)
    _ = try clones.git(0, "remote", "add", "two", empty)
    #expect(throws: SyncError.noRemote(branch: "main", among: ["one", "two"])) { try clones.sync(0) }
    // This is the command of the hint. Nothing was pushed to the remote before.
    _ = try clones.git(0, "config", "branch.main.remote", "two")
    #expect(try clones.sync(0).sent > 0)
    #expect(try clones.git(0, "rev-parse", "--abbrev-ref", "@{upstream}") == "two/main\n")
    #expect(try clones.sync(0) == Synchronization.Report())
  }

  @Test func `a branch that was renamed on the remote is found by its new name`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    _ = try hub(clones, "branch", "-m", "main", "trunk")
    try clones.add(1, "b.example", "me")
    let report = try clones.sync(1)
    #expect(report.renamedBranch == "trunk" && report.received == 1 && report.sent == 2)
    #expect(try clones.git(1, "config", "branch.main.merge") == "refs/heads/trunk\n")
    #expect(try clones.sync(1) == Synchronization.Report())
    #expect(try clones.sync(0, Self.rewriting).renamedBranch == "trunk")
    #expect(try hub(clones, "for-each-ref", "--format=%(refname)") == "refs/heads/trunk\n")
    try clones.expectEqual()
    for clone in 0..<2 { try clones.expectSound(clone) }
  }

  @Test func `a renamed branch that has lost commits is not merged, and never created again`() throws {
    let clones = try SyncClones()
    let old = try hub(clones, "rev-parse", "main").trimmingCharacters(in: .newlines)
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    let seen = try hub(clones, "rev-parse", "main").trimmingCharacters(in: .newlines)
    _ = try hub(clones, "branch", "-m", "main", "trunk")
    _ = try hub(clones, "update-ref", "refs/heads/trunk", old)
    for _ in 0..<2 {
      #expect(throws: SyncError.rewritten(seen: seen, now: nil)) { try clones.sync(0) }
      #expect(try clones.git(0, "config", "branch.main.merge") == "refs/heads/main\n")
    }
    #expect(try clones.sync(0, Self.rewriting).renamedBranch == "trunk")
    #expect(try hub(clones, "for-each-ref", "--format=%(refname)") == "refs/heads/trunk\n")
    #expect(try clones.find(0).count == 1)
  }

  @Test func `a branch without a new name is created again only on request`() throws {
    let clones = try SyncClones()
    try clones.sync(0)
    let seen = try hub(clones, "rev-parse", "main").trimmingCharacters(in: .newlines)
    // The default branch has another history.
    let tree = try hub(clones, "mktree").trimmingCharacters(in: .newlines)
    let other = try hub(clones, "commit-tree", "-m", "x", tree).trimmingCharacters(in: .newlines)
    _ = try hub(clones, "update-ref", "refs/heads/docs", other)
    _ = try hub(clones, "symbolic-ref", "HEAD", "refs/heads/docs")
    _ = try hub(clones, "update-ref", "-d", "refs/heads/main")
    #expect(throws: SyncError.rewritten(seen: seen, now: nil)) { try clones.sync(0) }
    #expect(try clones.sync(0, Self.rewriting).renamedBranch == nil)
    #expect(try hub(clones, "rev-parse", "main") == "\(seen)\n")
  }

  @Test func `only the branch of the store is pushed to a mirror`() throws {
    let clones = try SyncClones()
    _ = try hub(clones, "branch", "other", "main")
    _ = try clones.git(0, "config", "remote.origin.mirror", "true")
    try clones.add(0, "a.example", "me")
    #expect(try clones.sync(0).sent == 1)
    #expect(
      try hub(clones, "for-each-ref", "--format=%(refname)") == "refs/heads/main\nrefs/heads/other\n")
    try clones.sync(1)
    try clones.expectEqual()
  }

  @Test func `a store in a submodule is synchronized, but no other work tree is accepted`() throws {
    let clones = try SyncClones()
    let top = "\(clones.world.store.folder.path)/super"
    let store = "\(top)/keys"
    try clones.world.git(["init", "-q", "-b", "main", top])
    try clones.world.git(
      ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", clones.hub, "keys"], in: top)
    for path in [top, store] {
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
    }
    #expect(try clones.world.git(["config", "core.worktree"], in: store) == "../../../keys\n")
    func sync() throws -> Synchronization.Report {
      let repository = try #require(try Repository.find(store: store, git: clones.world.makeGit))
      return try Synchronization(
        try clones.world.open(at: store), tree: try FileTree(at: store), repository: repository, timeout: 30,
        options: .init(), author: { "Alice <alice@example.org>" }
      ).run()
    }
    let secret = SecretBytes(text: "s")
    try clones.world.open(at: store).add(.login("a.example", "me"), secret: secret)
    #expect(try sync().sent == 1)
    try clones.sync(0)
    #expect(try clones.find(0).count == 1)
    for place in [top, "\(store)/items", "../../..", ""] {
      try clones.world.git(
        ["config", "--file", "\(top)/.git/modules/keys/config", "core.worktree", place], in: top)
      #expect(throws: GitError.unsafeConfiguration(keys: ["core.worktree"]), "\(place)") { try sync() }
    }
  }
}
