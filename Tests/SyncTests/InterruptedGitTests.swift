import Foundation
import Glibc
import Keyring
import KeyringModel
import Secrets
import Subprocess
import Sync
import TestSupport
import Testing

/// Tests the state of a commit or a synchronization after a kill of git or a power cut, and the recovery by the next
/// command.
@Suite(.serialized, .slow) struct InterruptedGitTests {
  // MARK: The first commit

  @Test(arguments: ["fast-import", "update-index"])
  func `after a kill in the first commit the policy and the keys are committed with the next change`(
    command: String
  ) throws {
    let world = try SyncWorld()
    try world.git(["init", "-q", "-b", "main"])
    #expect(throws: GitError.self) { try world.commit(killing: command) }
    try world.add("a.example", "alice")
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head[StoreLayout.policy] != nil)
    #expect(head == files)
    #expect(try world.git(["status", "--porcelain"]) == "")
    #expect(try world.commit() == .nothing)
  }

  @Test func `after a kill in the first commit to a new repository the next commit has everything`() throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "alice")
    try world.commit()
    try FileManager.default.moveItem(atPath: "\(world.path)/.git", toPath: "\(world.path)/../old.git")
    try world.git(["init", "-q", "-b", "main"])
    #expect(throws: GitError.self) { try world.commit(killing: "fast-import") }
    try world.add("b.example", "bob")
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  // MARK: Power cuts

  /// The content of the files that are not flushed to disk, at some time.
  private struct Unflushed {
    private let world: SyncWorld
    private let contents: [String: Data?]

    init(_ world: SyncWorld) {
      self.world = world
      contents = Dictionary(
        uniqueKeysWithValues: ["lock", "uncommitted", "committed"].map { name in
          (name, FileManager.default.contents(atPath: "\(world.path)/.keytree/\(name)"))
        })
    }

    /// Restores the old content of some files, as a power cut does.
    func restore(_ names: [String]) throws {
      for name in names {
        let path = "\(world.path)/.keytree/\(name)"
        if let data = contents[name] ?? nil {
          try data.write(to: URL(fileURLWithPath: path))
        } else if FileManager.default.fileExists(atPath: path) {
          try FileManager.default.removeItem(atPath: path)
        }
      }
    }
  }

  /// The files that lose their changes in a power cut.
  static let losses: [[String]] = [
    ["uncommitted"], ["lock"], ["lock", "uncommitted"], ["lock", "uncommitted", "committed"], ["committed"],
    ["lock", "committed"],
  ]

  @Test(arguments: losses, [false, true])
  func `a change with a pending commit is committed after a power cut`(
    lost: [String], hasNext: Bool
  ) throws {
    let world = try SyncWorld.withHistory()
    try world.add("first.example", "alice")
    try world.commit()
    let before = Unflushed(world)
    try world.add("waiting.example", "bob")
    try before.restore(lost)
    if hasNext { try world.add("next.example", "carol") }
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head == files)
    #expect(try world.commit() == .nothing)
  }

  @Test(arguments: losses)
  func `a change after a power cut is committed, whatever the previous change has lost`(lost: [String]) throws
  {
    let world = try SyncWorld.withHistory()
    let before = Unflushed(world)
    try world.add("first.example", "alice")
    try world.commit()
    try before.restore(lost)
    try world.add("next.example", "carol")
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head == files)
    #expect(try world.commit() == .nothing)
  }

  // MARK: Locks of git

  /// Git commands, and the locks that they leave when they are killed.
  static let commitLocks = [
    ("update-index", "index.lock"), ("fast-import", "HEAD.lock"), ("fast-import", "refs/heads/main.lock"),
  ]

  @Test(arguments: commitLocks)
  func `a lock that a killed git has left does not stop the next commit`(
    command: String, lock: String
  ) throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "alice")
    #expect(throws: GitError.self) { try world.commit(killing: command, leaving: lock) }
    #expect(FileManager.default.fileExists(atPath: "\(world.path)/.git/\(lock)"))
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head == files)
    #expect(try world.git(["status", "--porcelain"]) == "")
  }

  @Test func `a lock from before keytree ran git is kept, and the error names it`() throws {
    let world = try SyncWorld.withHistory()
    let lock = "\(world.path)/.git/refs/heads/main.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    try world.add("a.example", "alice")
    #expect(throws: GitError.self) { try world.commit(killing: "update-index") }
    #expect(throws: GitError.locked(path: lock)) { try world.commit() }
    #expect(FileManager.default.fileExists(atPath: lock))
  }

  @Test func `a lock of a running git is kept, and the error names it`() throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "alice")
    #expect(throws: GitError.self) { try world.commit(killing: "update-index") }
    let lock = "\(world.path)/.git/index.lock"
    // While a user writes a commit message, git holds the lock of its index.
    let end = "\(world.store.folder.path)/end"
    try Data("changed\n".utf8).write(to: URL(fileURLWithPath: "\(world.path)/README"))
    try world.git(["add", "README"])
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    let editor = "until [ -e '\(end)' ]; do sleep 0.05; done; false"
    process.arguments = [
      "-c",
      "/usr/bin/git -c user.name=P -c user.email=p@example.org -c core.editor=\"\(editor)\" commit -q README; true",
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: world.path)
    process.standardError = FileHandle.nullDevice
    try process.run()
    while !FileManager.default.fileExists(atPath: lock), process.isRunning { usleep(10_000) }
    #expect(throws: GitError.locked(path: lock)) { try world.commit() }
    #expect(FileManager.default.fileExists(atPath: lock))
    try Data().write(to: URL(fileURLWithPath: end))
    process.waitUntilExit()
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  @Test(arguments: [
    ("fetch", "refs/keytree/fetched/origin/main.lock"), ("fetch", "shallow.lock"),
    ("push", "refs/remotes/origin/main.lock"), ("update-ref", "refs/remotes/origin/main.lock"),
    ("update-ref", "refs/keytree/seen/origin/main.lock"), ("push", "packed-refs.lock"),
    ("--local", "config.lock"),
  ])
  func `a lock that a killed git has left does not stop the next synchronization`(
    command: String, lock: String
  ) throws {
    let clones = try SyncClones()
    try clones.add(1, "theirs.example", "bob")
    try clones.sync(1)
    try clones.add(0, "ours.example", "alice")
    let path = "\(clones.paths[0])/.git/\(lock)"
    // The first clone has no upstream branch yet, so it writes that to the configuration.
    #expect(throws: GitError.self) { try clones.sync(0, killing: command, leaving: lock) }
    #expect(FileManager.default.fileExists(atPath: path))
    try clones.sync(0)
    #expect(!FileManager.default.fileExists(atPath: path))
    try clones.sync(1)
    try clones.expectEqual()
    for clone in 0..<2 { try clones.expectSound(clone) }
  }

  @Test(arguments: [true, false])
  func `a lock that git could not remove does not stop the next commit`(fails: Bool) throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "alice")
    // Git exits normally. Its work is kept, whatever its exit status.
    let lock = "\(world.path)/.git/HEAD.lock"
    try? world.commit(with: "update-index", "/usr/bin/git \"$@\"; : >'\(lock)'; exit \(fails ? 1 : 0)")
    try world.add("b.example", "bob")
    try world.commit()
    #expect(!FileManager.default.fileExists(atPath: lock))
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  @Test(arguments: [true, false])
  func `a lock that another program makes while git fails is not removed`(isHeld: Bool) throws {
    let world = try SyncWorld.withHistory()
    let lock = "\(world.path)/.git/HEAD.lock"
    let number = "\(world.store.folder.path)/number"
    try world.add("a.example", "alice")
    // The other program is no git, as libgit2 in any program. It holds the lock open while it works, or takes a new one
    // after git has failed.
    let holds = "sleep 60 9>'\(lock)' >/dev/null 2>&1 </dev/null & echo $! >'\(number)'; exit 1"
    #expect(throws: GitError.self) {
      try world.commit(with: "update-index", isHeld ? holds : ": >'\(lock)'; exit 1")
    }
    #expect(FileManager.default.fileExists(atPath: lock))
    if !isHeld {
      try FileManager.default.removeItem(atPath: lock)
      usleep(20_000)
      try Data().write(to: URL(fileURLWithPath: lock))
    }
    #expect(throws: GitError.locked(path: lock)) { try world.commit() }
    #expect(FileManager.default.fileExists(atPath: lock))
    if isHeld { kill(try #require(pid_t(try world.text(of: number))), SIGKILL) }
    try FileManager.default.removeItem(atPath: lock)
    try world.commit()
    let (head, files) = try world.compare()
    #expect(head == files)
  }

  @Test func `files that a failed fast-import has left are removed by the next commit`() throws {
    let world = try SyncWorld.withHistory()
    try world.add("a.example", "alice")
    let packs = "\(world.path)/.git/objects/pack"
    let existing = try FileManager.default.contentsOfDirectory(atPath: packs)
    let pack = try #require(existing.first { $0.hasSuffix(".pack") })
    func name(_ digit: Character) -> String { "\(packs)/pack-\(String(repeating: digit, count: 40))" }
    let own = "\(packs)/\(pack.dropLast(4))keep"
    let kept = "\(name("c")).keep"
    try FileManager.default.copyItem(atPath: "\(packs)/\(pack)", toPath: "\(name("c")).pack")
    let files = [
      (own, "fast-import"), ("\(name("a")).keep", "fast-import"), ("\(name("b")).keep", ""), (kept, "mine"),
      ("\(world.path)/.git/fast_import_crash_12", "report"),
    ]
    for (path, content) in files { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }
    try world.commit()
    for (path, _) in files {
      #expect(FileManager.default.fileExists(atPath: path) == (path == kept), "\(path)")
    }
  }

  // MARK: Concurrency

  @Test func `concurrent synchronizations in one clone take turns`() throws {
    let clones = try SyncClones()
    for round in 0..<3 {
      try clones.add(1, "theirs\(round).example", "bob")
      try clones.sync(1)
      try clones.add(0, "ours\(round).example", "alice")
      try ThreadGroup.run(4) { _ in try clones.sync(0) }
    }
    try clones.sync(1)
    try clones.expectEqual()
    try clones.expectSound(0)
  }
}

/// A git that is killed when it runs with a given command.
private struct KilledGit {
  private let folder: String

  /// Creates the program.
  ///
  /// - Parameters:
  ///   - command: The git command, or another word of the arguments.
  ///   - lock: The path of the lock that it leaves, or nil.
  ///   - folder: The folder for the program.
  init(_ command: String, leaving lock: String?, in folder: String) throws {
    let leave = lock.map { "mkdir -p \"$(dirname '\($0)')\"; : >'\($0)'; " } ?? ""
    try self.init(command, script: "\(leave)kill -9 $$", in: folder)
  }

  /// Creates a program that runs a script instead of git for a given command.
  init(_ command: String, script: String, in folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let text = """
      #!/bin/sh
      for word; do
        if [ "$word" = '\(command)' ]; then \(script); fi
      done
      exec /usr/bin/git "$@"

      """
    try ExecutableFile.write(text, to: "\(folder)/git")
  }

  func git(in place: String, _ environment: ProcessEnvironment) -> Git {
    Git(in: place, searchPath: "\(folder):/usr/bin:/bin", environment: environment)
  }
}

extension SyncWorld {
  /// The first line of a file.
  fileprivate func text(of path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Commits with a git that is killed.
  fileprivate func commit(killing command: String, leaving lock: String? = nil) throws {
    let lock = lock.map { "\(path)/.git/\($0)" }
    try commit(with: try KilledGit(command, leaving: lock, in: "\(store.folder.path)/tools"))
  }

  /// Commits with a git that runs a script for a command.
  fileprivate func commit(with command: String, _ script: String) throws {
    try commit(with: try KilledGit(command, script: script, in: "\(store.folder.path)/tools"))
  }

  private func commit(with killed: KilledGit) throws {
    let repository = try #require(try Repository.find(store: path) { killed.git(in: $0, environment) })
    _ = try Committer(
      repository: repository, tree: try FileTree(at: path), timeout: 60,
      author: { "Alice Example <alice@example.org>" }
    ).commitPending()
  }
}

extension SyncClones {
  /// Synchronizes with a git that is killed.
  fileprivate func sync(_ clone: Int, killing command: String, leaving lock: String) throws {
    let lock = "\(paths[clone])/.git/\(lock)"
    let killed = try KilledGit(command, leaving: lock, in: "\(world.store.folder.path)/tools")
    let repository = try #require(
      try Repository.find(store: paths[clone]) { killed.git(in: $0, world.environment) })
    _ = try Synchronization(
      try open(clone), tree: try FileTree(at: paths[clone]), repository: repository, timeout: 30,
      options: .init(), author: { "Alice <alice@example.org>" }
    ).run()
  }
}
