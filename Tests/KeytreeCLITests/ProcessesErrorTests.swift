import Foundation
import KeyringModel
import TestSupport
import Testing

/// An I/O error at each system call of a command that changes a store.
///
/// The test samples the system calls; `KEYTREE_EVERY_FAULT=1` tests every one.
@Suite(
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct ProcessesErrorTests {
  /// A change, and the way to detect that it was made.
  enum Change: CaseIterable {
    case add, set, rm, mv, importCSV, groupAdd

    /// The arguments of the command. The key file is that of Bob.
    func arguments(keyFile: String) -> [String] {
      switch self {
      case .add: ["add", "new.example/alice"]
      case .set: ["set", "old.example/alice", "--secret"]
      case .rm: ["rm", "old.example/alice"]
      case .mv: ["mv", "old.example/alice", "new.example/alice"]
      case .importCSV: ["import", "csv", "-"]
      case .groupAdd:
        ["group", "add", "default", keyFile, "--fingerprint", GnuPGKey.bob.fingerprint.text]
      }
    }

    var input: String {
      switch self {
      case .add, .set: "new secret"
      case .rm, .mv, .groupAdd: ""
      case .importCSV: "name,url,username,password\na,https://new.example/,alice,new secret\n"
      }
    }

    /// Returns the state of a store after the change, from its state before.
    func applied(to before: State) -> State {
      var after = before
      switch self {
      case .add, .importCSV: after.new = "new secret"
      case .set: after.old = "new secret"
      case .rm: after.old = nil
      case .mv: (after.old, after.new) = (nil, before.old)
      case .groupAdd: after.isBobMember = true
      }
      return after
    }
  }

  /// The items of a store, and its members.
  struct State: Equatable {
    var old: String?
    var new: String?
    var isBobMember = false
  }

  /// A system call, and the step between the calls that are tested.
  static let calls: [(name: String, stride: Int)] = [
    ("fsync", 1), ("unlinkat", 1), ("renameat", 1), ("linkat", 1), ("mkdirat", 1), ("pwrite64", 1),
    ("openat", 13),
  ]

  @Test(
    "after an I/O error, a command has changed nothing, or says that the change is stored",
    arguments: Change.allCases)
  func fails(_ change: Change) throws {
    let template = try ProcessesProgram.withStore(["old.example/alice": "old secret"])
    let keyFile = "\(template.folder)/bob.asc"
    try Data(GnuPGKey.bob.publicKey).write(to: URL(fileURLWithPath: keyFile))
    let before = State(old: "old secret")
    let after = change.applied(to: before)
    let isThorough = ProcessInfo.processInfo.environment["KEYTREE_EVERY_FAULT"] != nil
    var counts: [String: Int] = [:]
    for (call, step) in Self.calls {
      for number in stride(from: 1, to: 10_000, by: isThorough ? 1 : step) {
        try restore(template)
        let (outcome, isInjected) = try run(template, change, keyFile, failing: number, of: call)
        guard isInjected else { break }
        let point = "\(change), \(call) \(number): exit \(outcome.status), \(outcome.errors)"
        let state = try state(of: template)
        #expect(!outcome.errors.contains(" :"), "\(point)")
        switch outcome.status {
        case 0:
          #expect(state == after, "\(point)")
          counts["done", default: 0] += 1
        case 14:
          #expect(state == after && outcome.errors.contains("keytree: stored, but "), "\(point)")
          counts["stored", default: 0] += 1
        default:
          #expect(state == before, "\(point)")
          counts["unchanged", default: 0] += 1
        }
        let check = try template.run(["check", "--decrypt"])
        #expect(check.status == 0, "\(point): \(check.text)\(check.errors)")
        guard outcome.status == 14 else { continue }
        // The next change removes what is left of an interrupted one.
        try template.succeed(["add", "next.example/alice"], input: "next")
        let folder = try FileManager.default.contentsOfDirectory(atPath: "\(template.store)/.keytree")
        #expect(folder.allSatisfy { !$0.hasPrefix("transaction-") }, "\(point)")
      }
    }
    print("I/O errors in \(change): \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
    #expect((counts["stored"] ?? 0) > 5 && (counts["unchanged"] ?? 0) > 5, "\(counts)")
  }

  /// Restores the store and the state of the machine to what they were at the first call of this function.
  private func restore(_ program: ProcessesProgram) throws {
    let manager = FileManager.default
    for (folder, copy) in [(program.store, "store-copy"), ("\(program.folder)/state", "state-copy")] {
      let copy = "\(program.folder)/\(copy)"
      if !manager.fileExists(atPath: copy) {
        try manager.copyItem(atPath: folder, toPath: copy)
      } else {
        try manager.removeItem(atPath: folder)
        try manager.copyItem(atPath: copy, toPath: folder)
      }
    }
  }

  /// Runs the command, and returns true if the call was made and therefore failed.
  private func run(
    _ program: ProcessesProgram, _ change: Change, _ keyFile: String, failing number: Int, of call: String
  ) throws -> (ProcessesProgram.Outcome, Bool) {
    let log = "\(program.folder)/strace.log"
    let strace = try #require(ProcessesTracer.strace)
    let outcome = try program.run(
      change.arguments(keyFile: keyFile), input: change.input,
      tracer: [
        strace, "-o", log, "-e", "trace=\(call)", "-e", "inject=\(call):error=EIO:when=\(number)",
      ])
    return (outcome, try String(contentsOfFile: log, encoding: .utf8).contains("(INJECTED)"))
  }

  private func state(of program: ProcessesProgram) throws -> State {
    func secret(_ item: String) throws -> String? {
      let outcome = try program.run(["get", item])
      #expect([0, 4].contains(outcome.status), "\(item): \(outcome.errors)")
      return outcome.status == 0 ? outcome.text : nil
    }
    var state = State(old: try secret("old.example/alice"), new: try secret("new.example/alice"))
    let policy = try String(contentsOfFile: "\(program.store)/policy.json", encoding: .utf8)
    state.isBobMember = policy.contains(GnuPGKey.bob.fingerprint.text)
    return state
  }
}
