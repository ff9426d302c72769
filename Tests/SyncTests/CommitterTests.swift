import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Secrets
import Sync
import TestSupport
import Testing

@Suite("Commits", .serialized)
struct CommitterTests {
  /// The change of one transaction, and the subject of its commit.
  static let changes: [(@Sendable (SyncWorld, ItemRecord) throws -> Void, String)] = [
    ({ world, _ in try world.add("new.example", "bob") }, "add internet-password/new.example/bob"),
    (
      { world, item in
        let changes = AttributeChanges(set: [.label: "L"])
        try world.store.open().update(item, changes)
      }, "change internet-password/old.example/alice"
    ),
    (
      { world, item in try world.store.open().update(item, secret: SecretBytes(text: "other")) },
      "change internet-password/old.example/alice"
    ),
    (
      { world, item in try world.store.open().update(item, AttributeChanges(set: [.account: "carol"])) },
      "rename internet-password/old.example/alice to internet-password/old.example/carol"
    ),
    ({ world, item in try world.store.open().delete([item]) }, "remove internet-password/old.example/alice"),
    (
      { world, _ in
        _ = try world.store.open().addAll(
          [.login("a.example", "x"), .login("b.example", "x"), .login("c.example", "x")],
          secret: { _ in SecretBytes(text: "s") })
      }, "add 3 items"
    ),
    (
      { world, _ in
        _ = try world.store.open().addAll(
          [.login("a.example", "x")], updating: [], subject: "import 1 item",
          secret: { _ in SecretBytes(text: "s") }, progress: { _ in })
      }, "import 1 item"
    ),
    (
      { world, item in
        try world.store.open().transaction { changes throws(KeyringError) in
          try changes.delete(item)
          try changes.add(.login("a.example", "x"), secret: SecretBytes(text: "s"))
        }
      }, "change 2 items"
    ),
    (
      { world, item in try world.store.open().update(item, AttributeChanges(isLocal: true)) },
      "remove internet-password/old.example/alice"
    ),
  ]

  @Test(arguments: changes.indices)
  func `a change is one commit, whose subject has a verb and paths`(index: Int) throws {
    let (change, subject) = Self.changes[index]
    let world = try SyncWorld.withHistory()
    let item = try world.add("old.example", "alice")
    try world.commit()
    try change(world, item)
    #expect(try world.commit() == .committed(subject: subject))
    let expected = [subject, "add internet-password/old.example/alice", "make the keyring"]
    #expect(try world.subjects() == expected)
    let (head, files) = try world.compare()
    #expect(head == files)
    #expect(try world.git(["status", "--porcelain"]) == "")
    #expect(try world.commit() == .nothing)
    #expect(try world.subjects().count == 3)
    try world.git(["fsck", "--strict"])
  }

  @Test func `an item of this machine is in no commit, even if it was shared before or after`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("here.example", "alice", isLocal: true)
    #expect(try world.commit() == .nothing)
    let keyring = try world.store.open()
    let moved = try keyring.update(item, AttributeChanges(set: [.account: "bob"]))
    #expect(try world.commit() == .nothing)
    let shared = try keyring.update(moved, AttributeChanges(isLocal: false))
    #expect(try world.commit() == .committed(subject: "add internet-password/here.example/bob"))
    try keyring.update(shared, AttributeChanges(isLocal: true))
    #expect(try world.commit() == .committed(subject: "remove internet-password/here.example/bob"))
    let names = Set(try world.lines("log", "--format=", "--name-only", "--no-renames"))
    #expect(!names.contains { $0.hasPrefix("local/") || $0.hasPrefix(".keytree/") || $0.contains("alice") })
    #expect(try world.git(["log", "--format=%B"]).contains("alice") == false)
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  /// The damage to the journal after a crash, and the subject of the commit that repairs it.
  static let crashes: [(@Sendable (SyncWorld) throws -> Void, String)] = [
    ({ _ in }, "change 2 times"),
    ({ try FileManager.default.removeItem(atPath: "\($0.path)/.keytree/uncommitted") }, "change the keyring"),
    ({ try FileManager.default.removeItem(atPath: "\($0.path)/.keytree/committed") }, "change the keyring"),
    ({ try FileManager.default.removeItem(atPath: "\($0.path)/.keytree") }, "change the keyring"),
    ({ try Data().write(to: URL(fileURLWithPath: "\($0.path)/.keytree/committed")) }, "change the keyring"),
    (
      { world in
        let file = URL(fileURLWithPath: "\(world.path)/.keytree/uncommitted")
        let bytes = try Data(contentsOf: file)
        try bytes.dropLast(30).write(to: file)
      }, "change the keyring"
    ),
    (
      { world in
        let file = URL(fileURLWithPath: "\(world.path)/.keytree/uncommitted")
        let text = try String(contentsOf: file, encoding: .utf8)
        try text.replacingOccurrences(of: "\"index/", with: "\"../index/").write(
          to: file, atomically: true, encoding: .utf8)
      }, "change the keyring"
    ),
  ]

  @Test(arguments: crashes.indices)
  func `the next commit after a crash has everything`(index: Int) throws {
    let (damage, subject) = Self.crashes[index]
    let world = try SyncWorld.withHistory()
    let gone = try world.add("gone.example", "alice")
    try world.commit()
    try world.add("new.example", "bob")
    try world.store.open().delete([gone])
    try damage(world)
    #expect(try world.commit() == .committed(subject: subject))
    let (head, files) = try world.compare()
    #expect(head == files)
    #expect(try world.git(["status", "--porcelain"]) == "")
    #expect(try world.subjects().count == 3)
    #expect(try world.commit() == .nothing)
  }

  @Test func `a journal that cannot be written does not affect the change`() throws {
    let world = try SyncWorld.withHistory()
    let keyring = try world.store.open { _, path in
      path == ".keytree/uncommitted" ? .fail(28) : nil
    }
    try keyring.add(.login("new.example", "bob"), secret: SecretBytes(text: "s"))
    #expect(try world.commit() == .committed(subject: "change the keyring"))
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  @Test func `several changes are one commit that names each of them`() throws {
    let world = try SyncWorld.withHistory()
    for number in 0..<3 { try world.add("h\(number).example", "a") }
    try world.commit()
    let body = try world.git(["log", "-1", "--format=%b"])
    let words = (0..<3).map { "add internet-password/h\($0).example/a" }
    #expect(body.split(separator: "\n").map(String.init) == words)
  }

  @Test func `changes of local items are not in the message of a commit`() throws {
    let world = try SyncWorld.withHistory()
    let item = try world.add("here.example", "alice", isLocal: true)
    try world.add("shared.example", "alice")
    try world.store.open().delete([item])
    #expect(try world.commit() == .committed(subject: "add internet-password/shared.example/alice"))
    let message = try world.git(["log", "-1", "--format=%B"])
    #expect(message.trimmingCharacters(in: .newlines) == "add internet-password/shared.example/alice")
  }

  @Test func `a commit that was made but not recorded is not made twice`() throws {
    let world = try SyncWorld.withHistory()
    let marker = URL(fileURLWithPath: "\(world.path)/.keytree/committed")
    let journal = URL(fileURLWithPath: "\(world.path)/.keytree/uncommitted")
    let before = try String(contentsOf: marker, encoding: .utf8)
    try world.add("a.example", "a")
    let line = try Data(contentsOf: journal)
    try world.commit()
    // The state after a kill between git's commit and its record.
    try before.replacingOccurrences(of: "\"trying\":false", with: "\"trying\":true").write(
      to: marker, atomically: true, encoding: .utf8)
    try line.write(to: journal)
    #expect(try world.commit() == .nothing)
    #expect(try world.subjects().count == 2)
  }

  @Test(arguments: [true, false])
  func `the index and the branch agree after an interrupted commit`(hasCommit: Bool) throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "alice")
    if hasCommit {
      try world.commit()
      try world.git(["reset", "-q", "HEAD~1", "--", "items", "index"])
    } else {
      try world.git(["add", "items", "index"])
    }
    let journal = CommitJournal(of: try FileTree(at: world.path))
    let marker = try #require(try journal.readMarker())
    try journal.begin(in: marker.repository)
    try world.commit()
    #expect(try world.git(["status", "--porcelain"]) == "")
    #expect(try world.subjects().count == 2)
  }

  @Test func `a new repository in place of the old one gets everything`() throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "a")
    try world.commit()
    try FileManager.default.moveItem(atPath: "\(world.path)/.git", toPath: "\(world.path)/../old.git")
    try world.git(["init", "-q", "-b", "main"])
    #expect(try world.commit() == .committed(subject: "make the keyring"))
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  @Test func `a journal that was copied with the folder adds nothing but items to the history`() throws {
    let world = try SyncWorld.withHistory()
    let folder = "\(world.path)/items/internet-password/a.example"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["plain.txt", ".me.gpg.swp"] {
      try Data("secret".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    try world.add("a.example", "me")
    let journal = URL(fileURLWithPath: "\(world.path)/.keytree/uncommitted")
    let text = try String(contentsOf: journal, encoding: .utf8)
    let forged = text.replacing(
      #""items/internet-password/a.example/me.gpg""#,
      with: ["me.gpg", "plain.txt", ".me.gpg.swp"].map { "\"items/internet-password/a.example/\($0)\"" }
        .joined(separator: ","))
    #expect(forged != text)
    try Data(forged.utf8).write(to: journal)
    try world.commit()
    let names = try world.lines("ls-tree", "-r", "--name-only", "HEAD", "items")
    let item = "items/internet-password/a.example/me"
    #expect(names == ["items/.gpg-id", "\(item).gpg", "\(item).json"])
  }

  @Test func `files that the user has staged stay staged`() throws {
    let world = try SyncWorld.withHistory()
    try Data("mine\n".utf8).write(to: URL(fileURLWithPath: "\(world.path)/README.md"))
    try world.git(["add", "README.md"])
    try world.add("a.example", "a")
    try world.commit()
    #expect(try world.lines("status", "--porcelain") == ["A  README.md"])
    #expect(!(try world.lines("show", "--format=", "--name-only").contains("README.md")))
  }

  @Test(
    "repositories of every kind accept commits",
    arguments: ["sha256", "worktree", "folder", "detached", "reflogless"])
  func kinds(kind: String) throws {
    let world: SyncWorld
    switch kind {
    case "sha256": world = try SyncWorld.withHistory("--object-format=sha256")
    case "worktree":
      world = try SyncWorld()
      let main = "\(world.path)/../main"
      try FileManager.default.createDirectory(atPath: main, withIntermediateDirectories: false)
      try world.git(["init", "-q", "-b", "main"], in: main)
      try world.git(["commit", "-q", "--allow-empty", "-m", "first"], in: main)
      try world.git(["worktree", "add", "-q", "../tree"], in: main)
      try FileManager.default.moveItem(atPath: "\(world.path)/../tree/.git", toPath: "\(world.path)/.git")
      try world.git(["worktree", "repair", world.path], in: main)
      #expect(try world.commit() == .committed(subject: "make the keyring"))
    case "folder":
      world = try SyncWorld()
      let top = world.store.folder.path
      try world.git(["init", "-q", "-b", "main"], in: top)
      #expect(try world.repository() == nil)
      try world.git(["add", "store/policy.json"], in: top)
      #expect(try world.repository()?.prefix == "store/")
      #expect(try world.commit() == .committed(subject: "make the keyring"))
    case "detached":
      world = try SyncWorld.withHistory()
      try world.git(["checkout", "-q", "--detach"])
    default:
      world = try SyncWorld.withHistory()
      try world.git(["config", "core.logAllRefUpdates", "false"])
    }
    try world.add("a.example", "a")
    #expect(try world.commit() == .committed(subject: "add internet-password/a.example/a"))
    let (head, files) = try world.compare()
    #expect(head == files)
    let status = try world.git(["status", "--porcelain", "--", world.path])
    #expect(status == "")
    try world.git(["fsck", "--strict"])
  }

  @Test func `each of many concurrent changes is in the history`() throws {
    let world = try SyncWorld.withHistory()
    try ThreadGroup.run(8) { thread in
      for number in 0..<5 {
        try world.add("h\(thread).example", "a\(number)")
        try world.commit()
      }
    }
    let (head, files) = try world.compare()
    #expect(head == files)
    for ending in [".gpg", ".json"] {
      #expect(files.keys.count { $0.hasPrefix("items/") && $0.hasSuffix(ending) } == 40)
    }
    #expect(try world.git(["status", "--porcelain"]) == "")
    try world.git(["fsck", "--strict"])
  }

  @Test func `content of more than one piece is in one commit`() throws {
    let world = try SyncWorld()
    try world.git(["init", "-q"])
    let keyring = try world.store.open()
    let large = SecretBytes(copying: [UInt8](repeating: 7, count: 1 << 20))
    let items = (0..<40).map { NewItem.login("h\($0).example", "a") }
    _ = try keyring.addAll(items, secret: { _ in large.copy() })
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head == files)
    #expect(try world.subjects() == ["make the keyring"])
    try world.git(["fsck", "--strict"])
  }
}
