import Foundation
import Keyring
import KeyringModel
import Secrets
import Sync
import TestSupport
import Testing

@Suite(.serialized) struct SynchronizationTests {
  private static func set(_ name: AttributeName, _ value: String) -> AttributeChanges {
    var attributes = Attributes()
    attributes[name] = .string(value)
    return AttributeChanges(set: attributes)
  }

  @Test(arguments: ["sha1", "sha256"])
  func `items that clones add are merged, and a second synchronization changes nothing`(format: String) throws
  {
    let clones = try SyncClones(3, "--object-format=\(format)")
    for clone in 0..<3 {
      for number in 0..<5 { try clones.add(clone, "\(clone)-\(number).example", "me") }
    }
    #expect(try clones.sync(0).sent == 1)
    #expect(try clones.sync(1).hasMerged)
    #expect(try clones.sync(2).received == 3)
    for clone in [0, 1] { #expect(try !clones.sync(clone).hasMerged) }
    try clones.expectEqual()
    for clone in 0..<3 {
      #expect(try clones.find(clone).count == 15)
      try clones.expectSound(clone)
      #expect(try clones.sync(clone) == Synchronization.Report())
    }
  }

  @Test func `a rename on one side and a new secret on the other become one item`() throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me", "old")
    try clones.sync(0)
    try clones.sync(1)
    try clones.open(0).update(item, Self.set(.server, "b.example"))
    try clones.open(1).update(item, Self.set(.label, "L"), secret: SecretBytes(text: "new"))
    try clones.sync(1)
    let report = try clones.sync(0)
    #expect(report.signed == 1 && report.resealed == 0 && report.newCopies == 0)
    try clones.sync(1)
    try clones.expectEqual()
    for clone in 0..<2 {
      let merged = try clones.item(clone, "b.example")
      #expect(merged.id == item.id && merged.attributes[.label] == "L")
      #expect(try clones.open(clone).text(of: merged) == "new")
      #expect(try clones.find(clone).count == 1)
      try clones.expectSound(clone)
    }
  }

  @Test func `a merge that cannot be signed changes nothing, and is made when it can be signed`() throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me", "old")
    try clones.sync(0)
    try clones.sync(1)
    try clones.open(0).update(item, Self.set(.server, "b.example"))
    try clones.open(1).update(item, secret: SecretBytes(text: "new"))
    try clones.sync(1)
    try clones.world.commit(at: clones.paths[0])
    let before = try clones.git(0, "rev-parse", "HEAD")
    let engine = clones.world.store.engine
    engine.signingRefusal = .cancelled
    #expect(throws: KeyringError.engine(.cancelled, nil)) { try clones.sync(0) }
    engine.signingRefusal = nil
    #expect(try clones.git(0, "rev-parse", "HEAD") == before)
    #expect(try clones.git(0, "status", "--porcelain") == "")
    #expect(try clones.open(0).text(of: clones.item(0, "b.example")) == "old")
    #expect(try clones.sync(0).signed == 1)
    #expect(try clones.open(0).text(of: clones.item(0, "b.example")) == "new")
    try clones.expectSound(0)
  }

  @Test(arguments: ConflictChoice.allCases)
  func `two new secrets are both kept, and resolving the conflict applies to every clone`(
    choice: ConflictChoice
  ) throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me", "old")
    try clones.sync(0)
    try clones.sync(1)
    try clones.open(0).update(item, secret: SecretBytes(text: "first"))
    try clones.open(1).update(item, Self.set(.label, "L"), secret: SecretBytes(text: "second"))
    try clones.sync(0)
    #expect(try clones.sync(1).newCopies == 1)
    try clones.sync(0)
    try clones.expectEqual()
    let keyring = try clones.open(0)
    let winner = try clones.item(0, "a.example")
    #expect(try keyring.text(of: winner) == "second")
    let copy = try #require(try keyring.conflictCopies(of: winner).first)
    #expect(try keyring.text(of: copy) == "first")
    try clones.expectSound(0)
    try keyring.resolve(copy, keeping: choice)
    try clones.sync(0)
    try clones.sync(1)
    try clones.expectEqual()
    #expect(try clones.open(1).conflictCopies().isEmpty)
    let secrets = try clones.find(1).map { try clones.open(1).text(of: $0) }
    switch choice {
    case .item: #expect(secrets == ["second"])
    case .copy: #expect(secrets == ["first"])
    case .both: #expect(secrets.sorted() == ["first", "second"])
    }
    if choice == .copy {
      // The whole version was chosen, and it had no label.
      #expect(try clones.item(1, "a.example").attributes[.label] == nil)
    }
    try clones.expectSound(1)
  }

  @Test func `two items with the same name are both kept`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me", "first")
    try clones.add(1, "a.example", "me", "second")
    try clones.sync(0)
    let merged = try clones.sync(1)
    #expect(merged.newCopies == 1 && merged.deletions.isEmpty)
    let received = try clones.sync(0)
    // The item of this clone is now the conflict copy, and the other one has its name.
    #expect(received.copies == merged.copies && received.deletions.isEmpty)
    try clones.expectEqual()
    let keyring = try clones.open(0)
    #expect(try keyring.text(of: clones.item(0, "a.example")) == "second")
    #expect(try keyring.conflictCopies().map { try keyring.text(of: $0) } == ["first"])
    try clones.expectSound(0)
  }

  @Test func `an item that was deleted and added again is reported as replaced`() throws {
    let clones = try SyncClones()
    let items = [try clones.add(0, "a.example", "me", "old"), try clones.add(0, "b.example", "me")]
    try clones.sync(0)
    try clones.sync(1)
    try clones.open(0).delete(items)
    try clones.add(0, "a.example", "me", "new")
    try clones.sync(0)
    let deletions = try clones.sync(1).deletions
    #expect(deletions.map(\.record) == items && deletions.map(\.isReplaced) == [true, false])
    #expect(try clones.open(1).text(of: clones.item(1, "a.example")) == "new")
  }

  @Test(arguments: [true, false])
  func `a change wins over a deletion, and a deletion alone deletes`(isChanged: Bool) throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me", "old")
    try clones.sync(0)
    try clones.sync(1)
    try clones.open(0).delete([item])
    if isChanged { try clones.open(1).update(item, Self.set(.label, "L")) }
    try clones.add(1, "b.example", "me")
    try clones.sync(1)
    try clones.sync(0)
    try clones.sync(1)
    try clones.expectEqual()
    #expect(try clones.find(0, "a.example").count == (isChanged ? 1 : 0))
    try clones.expectSound(0)
  }

  @Test func `local items stay on this machine, even after they were renamed`() throws {
    let clones = try SyncClones()
    var item = NewItem.login("here.example", "me")
    item.isLocal = true
    let record = try clones.open(0).add(item, secret: SecretBytes(text: "s"))
    try clones.open(0).update(record, Self.set(.server, "there.example"))
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.sync(1)
    #expect(try clones.find(1).map { $0.attributes[.server] } == ["a.example"])
    let names = try clones.git(0, "log", "--all", "--format=", "--name-only")
    #expect(!names.contains("local/"))
    #expect(try clones.find(0).count == 2)
  }

  @Test func `a branch that lost commits stops synchronization until the user accepts it`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.sync(1)
    let seen = try clones.git(1, "rev-parse", "HEAD").trimmingCharacters(in: .whitespacesAndNewlines)
    _ = try clones.git(0, "reset", "-q", "--hard", "HEAD^")
    _ = try clones.git(0, "push", "-q", "--force", "origin", "main")
    let now = try clones.git(0, "rev-parse", "HEAD").trimmingCharacters(in: .whitespacesAndNewlines)
    try clones.add(1, "b.example", "me")
    #expect(throws: SyncError.rewritten(seen: seen, now: now)) { try clones.sync(1) }
    #expect(try clones.find(1).count == 2)
    var options = Synchronization.Options()
    options.acceptsRewritten = true
    try clones.sync(1, options)
    #expect(try clones.find(1).count == 2)
    try clones.expectSound(1)
  }

  @Test func `commits that plain git has seen on the remote must not disappear either`() throws {
    let clones = try SyncClones()
    try clones.sync(1)
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    _ = try clones.git(1, "pull", "-q", "--no-rebase")
    let seen = try clones.git(1, "rev-parse", "HEAD").trimmingCharacters(in: .whitespacesAndNewlines)
    let old = try clones.git(0, "rev-parse", "HEAD^").trimmingCharacters(in: .whitespacesAndNewlines)
    _ = try clones.git(0, "push", "-q", "--force", "origin", "\(old):main")
    // This also holds the second and the third time.
    for _ in 0..<3 { #expect(throws: SyncError.rewritten(seen: seen, now: old)) { try clones.sync(1) } }
    #expect(try clones.find(1).count == 1)
    var options = Synchronization.Options()
    options.acceptsRewritten = true
    try clones.sync(1, options)
    try clones.sync(1)
  }

  @Test func `none of several remotes is chosen at random`() throws {
    let clones = try SyncClones()
    for name in ["one", "two"] { _ = try clones.git(0, "remote", "add", name, clones.hub) }
    try clones.sync(0)
    _ = try clones.git(0, "remote", "remove", "origin")
    #expect(throws: SyncError.noRemote(branch: "main", among: ["one", "two"])) { try clones.sync(0) }
  }

  @Test func `a deleted item stays deleted after branches have crossed`() throws {
    let clones = try SyncClones()
    var items: [ItemRecord] = []
    for number in 0..<4 { items.append(try clones.add(0, "\(number).example", "me")) }
    try clones.sync(0)
    try clones.sync(1)
    for item in items { try clones.open(0).update(item, Self.set(.label, "L")) }
    try clones.open(1).delete(items)
    for clone in 0..<2 {
      try clones.world.commit(at: clones.paths[clone])
      _ = try clones.git(clone, "push", "-q", "origin", "main:c\(clone)")
    }
    // Each merges the earlier state of the other one, and not the merge of the other one.
    for clone in 0..<2 {
      _ = try clones.git(clone, "fetch", "-q")
      _ = try clones.git(clone, "config", "branch.main.merge", "refs/heads/c\(1 - clone)")
      var options = Synchronization.Options()
      options.pullsOnly = true
      #expect(try clones.sync(clone, options).hasMerged)
      #expect(try clones.find(clone).count == 4)
      _ = try clones.git(clone, "config", "branch.main.merge", "refs/heads/main")
    }
    try clones.open(0).delete(clones.find(0))
    try clones.sync(0)
    try clones.sync(1)
    #expect(try clones.find(1).isEmpty)
    try clones.expectSound(1)
  }

  @Test func `a file of the store that the user has changed is not overwritten`() throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.sync(1)
    try clones.open(0).update(item, Self.set(.label, "L"))
    try clones.sync(0)
    let shard = "index/" + StoreLayout.shardName(item.path.shard)
    let file = URL(fileURLWithPath: "\(clones.paths[1])/\(shard)")
    let bytes = try Data(contentsOf: file)
    try (bytes + Data("my own note\n".utf8)).write(to: file)
    #expect(throws: SyncError.uncommitted([shard])) { try clones.sync(1) }
    #expect(try Data(contentsOf: file) == bytes + Data("my own note\n".utf8))
    try bytes.write(to: file)
    #expect(try clones.sync(1).received == 1)
  }

  @Test(arguments: [true, false])
  func `files beside the store from an unfinished merge are completed by the next one`(
    isFastForward: Bool
  ) throws {
    let clones = try SyncClones()
    let keyring = try clones.open(0)
    _ = try keyring.make(keyring.plan([.allow(file: "README"), .allow(file: "gone")]))
    let files = ["README", "gone"].map { URL(fileURLWithPath: "\(clones.paths[0])/\($0)") }
    for file in files { try Data("old\n".utf8).write(to: file) }
    _ = try clones.git(0, "add", "--force", "README", "gone")
    _ = try clones.git(0, "commit", "-q", "-m", "files")
    try clones.sync(0)
    try clones.sync(1)
    try Data("new\n".utf8).write(to: files[0])
    _ = try clones.git(0, "rm", "-q", "gone")
    _ = try clones.git(0, "commit", "-q", "-a", "-m", "change")
    try clones.sync(0)
    // The state after an interruption before the commit.
    if !isFastForward { try clones.add(1, "a.example", "me") }
    try Data("new\n".utf8).write(to: URL(fileURLWithPath: "\(clones.paths[1])/README"))
    _ = try clones.git(1, "rm", "-q", "gone")
    try clones.sync(1)
    try clones.sync(0)
    try clones.expectEqual()
    for clone in 0..<2 { try clones.expectSound(clone) }
    #expect(try clones.git(1, "show", "HEAD:README") == "new\n")
  }

  /// Files that a push must not bring, with the reason for the refusal, or nil if git refuses the whole push.
  static let strays: [(mode: String, path: String, reason: StrayReason?)] = [
    ("100644", ".keytree/transaction-1/commit.json", .own), ("100644", "local/items/x.gpg", .own),
    ("100644", ".KEYTREE/lock", .own), ("100644", ".envrc", .notAllowed),
    ("100644", ".vscode/tasks.json", .notAllowed), ("100644", "README.md", .notAllowed),
    ("100755", "run.sh", .executable), ("100755", "items/run.sh", .executable),
    ("100644", "items/run.sh", .name), ("100644", ".gitmodules", .name),
    ("100644", "items/.gitattributes", .name), ("100644", "items/internet-password/.gpg-id", .name),
    ("100644", "items/evil.gpg/HEAD", .name), ("100644", "index/31.jsonl/x", .name),
    ("100644", "index/evil.jsonl", .name), ("100644", "keys/evil.asc", .name),
    ("100644", "conflicts/evil.gpg", .name), ("100644", "Items/x.gpg", .name),
    ("100644", "items/line\nfeed.gpg", .name), ("100644", "items/\u{202E}gpg.evil", .name),
    ("120000", "items/internet-password/a.example/link.gpg", .link), ("120000", "README", .link),
    ("160000", "items/internet-password/module", .repository), ("160000", "module", .repository),
    ("100644", "items/.git/config", nil), ("100644", "git~1/config", nil),
  ]

  @Test(arguments: strays.indices)
  func `a file that does not belong in a store is refused by name, and the rest is received`(index: Int)
    throws
  {
    let (mode, path, reason) = Self.strays[index]
    let clones = try SyncClones()
    try clones.sync(1)
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.push(mode, path, "/etc/passwd")
    guard let reason else {
      #expect { try clones.sync(1) } throws: { error in
        if case GitError.failed(command: "fetch", _, _) = error { true } else { false }
      }
      return
    }
    let report = try clones.sync(1)
    #expect(report.refused.map(\.path) == [path] && report.refused.map(\.reason) == [.file(reason)])
    #expect(report.refused.first?.committer == "X <x@example.org>")
    #expect(try clones.find(1, "a.example").count == 1)
    try clones.expectSound(1)
    // It is reverted for all clones.
    #expect(try clones.sync(0).refused.isEmpty)
    try clones.expectEqual()
    #expect(try clones.git(0, "ls-tree", "-r", "-z", "--name-only", "HEAD").contains("items/"))
    #expect(try !clones.git(0, "ls-tree", "-r", "-z", "--name-only", "HEAD").contains(path))
  }

  @Test func `a name that is not UTF-8 is refused, and the rest is received`() throws {
    let clones = try SyncClones()
    try clones.add(0, "a.example", "me")
    try clones.sync(0)
    try clones.push("100644", "items/internet-password/\\377.gpg", "x", isQuoted: true)
    let report = try clones.sync(1)
    #expect(report.refused.map(\.path) == ["items/internet-password/\u{FFFD}.gpg"])
    #expect(try clones.find(1, "a.example").count == 1)
    try clones.expectSound(1)
  }

  @Test func `an item with executable files is received as plain files, and they are reported`() throws {
    let clones = try SyncClones()
    let item = try clones.add(0, "a.example", "me")
    try clones.sync(0)
    let files = [".gpg", ".json"].map { "items/\(item.path.text)\($0)" }
    _ = try clones.git(0, "update-index", "--chmod=+x", "--", files[0], files[1])
    _ = try clones.git(0, "commit", "-q", "-m", "x")
    _ = try clones.git(0, "push", "-q", "origin", "main")
    let report = try clones.sync(1)
    #expect(Set(report.refused.map(\.path)) == Set(files))
    #expect(report.refused.allSatisfy { $0.reason == .executable && $0.committer != nil })
    #expect(try clones.find(1, "a.example").count == 1)
    try clones.expectSound(1)
    #expect(try !clones.git(1, "ls-tree", "-r", "HEAD").contains("100755"))
  }

  @Test func `a file that the signed policy allows is received, and others are not`() throws {
    let clones = try SyncClones()
    try clones.sync(1)
    let keyring = try clones.open(0)
    _ = try keyring.make(keyring.plan([.allow(file: "README.md"), .allow(file: "docs/")]))
    try clones.sync(0)
    for path in ["README.md", "docs/a/b.txt", "docs.txt", "docs/HEAD", "sub/README.md"] {
      try clones.push("100644", path, "hello")
    }
    let report = try clones.sync(1)
    #expect(Set(report.refused.map(\.path)) == ["docs.txt", "docs/HEAD", "sub/README.md"])
    for path in ["README.md", "docs/a/b.txt"] {
      #expect(try String(contentsOfFile: "\(clones.paths[1])/\(path)", encoding: .utf8) == "hello")
    }
    // A policy without a valid signature allows nothing.
    let policy = try String(contentsOfFile: "\(clones.paths[1])/policy.json", encoding: .utf8)
    try clones.push(
      "100644", "policy.json", policy.replacing("\"README.md\"", with: "\".envrc\",\"README.md\""))
    try clones.push("100644", ".envrc", "evil")
    #expect {
      try clones.sync(1)
    } throws: { error in
      if case SyncError.untrustedPolicy? = error as? SyncError { true } else { false }
    }
    #expect(!FileManager.default.fileExists(atPath: "\(clones.paths[1])/.envrc"))
  }

  @Test func `own files that do not belong in a store are not pushed`() throws {
    let clones = try SyncClones()
    try Data("hello".utf8).write(to: URL(fileURLWithPath: "\(clones.paths[0])/README.md"))
    _ = try clones.git(0, "add", "README.md")
    _ = try clones.git(0, "commit", "-q", "-m", "x")
    let refused = [RefusedChange(path: "README.md", reason: .file(.notAllowed))]
    #expect(throws: SyncError.notAllowed(refused)) { try clones.sync(0) }
    #expect(try !clones.world.git(["ls-tree", "main"], in: clones.hub).contains("README"))
    let keyring = try clones.open(0)
    _ = try keyring.make(keyring.plan([.allow(file: "README.md")]))
    #expect(try clones.sync(0).sent == 2)
    #expect(try clones.sync(1).refused.isEmpty)
    #expect(FileManager.default.fileExists(atPath: "\(clones.paths[1])/README.md"))
  }

  @Test func `four clones that synchronize at the same time all succeed`() async throws {
    let clones = try SyncClones(4)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for clone in 0..<4 {
        group.addTask {
          for number in 0..<3 {
            try clones.add(clone, "\(clone)-\(number).example", "me")
            try clones.sync(clone)
          }
        }
      }
      try await group.waitForAll()
    }
    for clone in 0..<4 { try clones.sync(clone) }
    for clone in 0..<4 { try clones.sync(clone) }
    try clones.expectEqual()
    for clone in 0..<4 {
      #expect(try clones.find(clone).count == 12)
      try clones.expectSound(clone)
    }
  }
}
