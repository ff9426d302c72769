import Foundation
import KeyringModel
import TestSupport
import Testing

/// Cuts the power after system calls of the command and of the git that it starts, in a model of the disk that loses
/// what is not flushed.
///
/// The test samples the system calls; `KEYTREE_EVERY_FAULT=1` tests every one.
@Suite(
  "A power cut while a store with a history is changed",
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct HistoryPowerCutTests {
  /// A change to a store that has the item a with the secret `old a`.
  enum Change: CaseIterable {
    case add, set, label, move, remove, undelete, importFile, person, sync

    /// The arguments of the command, and its standard input.
    ///
    /// - Parameter folder: The folder with the files that the command reads.
    func command(in folder: String) -> (arguments: [String], input: String) {
      switch self {
      case .add: (["add", "b.example/me"], "new b")
      case .set: (["set", "a.example/me", "--secret"], "new a")
      case .label: (["set", "a.example/me", "--label", "labelled"], "")
      case .move: (["mv", "a.example/me", "b.example/me"], "")
      case .remove: (["rm", "a.example/me"], "")
      case .undelete: (["undelete", "b.example/me"], "")
      case .importFile: (["import", "csv", "\(folder)/logins.csv"], "")
      case .person:
        (
          [
            "group", "add", "default", "\(folder)/bob.asc", "--fingerprint", GnuPGKey.bob.fingerprint.text,
            "--no-input",
          ], ""
        )
      case .sync: (["sync"], "")
      }
    }

    /// The secrets of a.example and b.example after the change; nil for an item that does not exist.
    var secrets: [String?] {
      switch self {
      case .add, .importFile: ["old a", "new b"]
      case .set: ["new a", nil]
      case .label, .person: ["old a", nil]
      case .move: [nil, "old a"]
      case .remove: [nil, nil]
      case .undelete: ["old a", "old b"]
      case .sync: ["old a", "their b"]
      }
    }
  }

  /// A store, and for `sync` a second clone with a change.
  private struct World {
    let program: ProcessesProgram
    private let change: Change

    init(_ change: Change) throws {
      (program, self.change) = (try ProcessesProgram(), change)
      try program.succeed(["init"])
      try program.succeed(["add", "a.example/me"], input: "old a")
      switch change {
      case .importFile:
        try write("name,url,username,password\nb,https://b.example,me,new b\n", to: "logins.csv")
      case .person: try write(String(decoding: GnuPGKey.bob.publicKey, as: UTF8.self), to: "bob.asc")
      case .undelete:
        try program.succeed(["add", "b.example/me"], input: "old b")
        try program.succeed(["rm", "b.example/me"])
      case .sync:
        let (hub, other) = ("\(program.folder)/hub.git", "\(program.folder)/other")
        try program.git(["init", "-q", "--bare", "-b", "main", hub])
        try program.git(["remote", "add", "origin", hub])
        try program.succeed(["sync"])
        try program.succeed(["clone", hub, other, "--no-input"])
        try program.succeed(["--store", other, "add", "b.example/me"], input: "their b")
        try program.succeed(["--store", other, "sync"])
        try program.succeed(["add", "c.example/me"], input: "our c")
      default: break
      }
    }

    private func write(_ text: String, to name: String) throws {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(program.folder)/\(name)"))
    }

    /// The secrets of a.example and b.example.
    func secrets() throws -> [String?] {
      try ["a.example/me", "b.example/me"].map { item in
        let outcome = try program.run(["get", item])
        guard [0, 4].contains(outcome.status) else { throw ProcessesFailure(description: outcome.errors) }
        return outcome.status == 0 ? outcome.text : nil
      }
    }

    /// Expects that the next commands find the old or the new state, and that nothing is damaged.
    func expect(before: [String?], isDone: Bool, _ comment: String) throws {
      // An unrelated change, so that recovery runs.
      try program.succeed(["add", "next.example/me"], input: "next")
      let after = try secrets()
      #expect(after == change.secrets || (after == before && !isDone), "\(comment)")
      try program.succeed(["check", "--decrypt"])
      if change == .person && isDone {
        let members = try program.succeed(["group", "show", "default"])
        #expect(members.contains(GnuPGKey.bob.fingerprint.text), "\(comment)")
      }
      if change == .label && isDone {
        #expect(try program.succeed(["find", "a.example"]).contains("labelled"), "\(comment)")
      }
      #expect(try program.git(["status", "--porcelain"]) == "", "\(comment)")
      // Git does not flush its reflogs, so their last lines can name a commit that was lost.
      let objects = try program.outcome(
        ofGit: ["fsck", "--full", "--strict", "--no-reflogs"], in: program.store)
      #expect(objects.status == 0, "\(comment): \(objects.text)\(objects.errors)")
      try program.succeed(["verify"])
      guard change == .sync else { return }
      try program.succeed(["sync"])
      #expect(try secrets() == change.secrets, "\(comment)")
      #expect(try program.succeed(["get", "c.example/me"]) == "our c", "\(comment)")
      #expect(try program.git(["status", "--porcelain"]) == "", "\(comment)")
    }
  }

  @Test(arguments: Change.allCases)
  func `after a power cut the next commands find the old or the new state, and the history is complete`(
    change: Change
  ) throws {
    let everyPoint = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"] != nil
    let world = try World(change)
    let program = world.program
    let before = try world.secrets()
    let state = try SavedFolder("\(program.folder)/state")
    var power = TracedPowerCut(of: program.store, log: "\(program.folder)/strace.log")
    let strace = try #require(ProcessesTracer.strace)
    let (arguments, input) = change.command(in: program.folder)
    try program.succeed(arguments, input: input, tracer: [strace] + power.options)
    let changedState = try SavedFolder(state.path)
    // The remote repository is on another machine and keeps what was pushed. Cuts before the push are tested with it,
    // too.
    let hub = try SavedFolder("\(program.folder)/hub.git")
    let (operations, all) = try power.finish { everyPoint || $0 % 17 == 0 }
    #expect(operations > 60)
    let lock = try #require(all.firstIndex { $0.hasGitLock })
    // What was reported as done must not be lost. Of the other states, which take a second each, a sample is tried.
    let disks = all.enumerated().filter { number, disk in
      everyPoint || disk.isDone || number == lock || number % 29 == 0
    }.map(\.element)
    #expect(disks.count > 6)
    #expect(!disks.filter(\.isDone).isEmpty)
    for disk in disks {
      do {
        try disk.restore(at: program.store)
        try hub.restore()
        try (disk.isDone ? changedState : state).restore()
        try world.expect(before: before, isDone: disk.isDone, "\(change), \(disk)")
      } catch {
        Issue.record("\(change), \(disk): \(error)")
      }
    }
    print("power cuts with git: \(change): \(operations) operations, \(disks.count) states")
  }
}
