extension Benchmark {
  /// A real SIGKILL at every system call that matters, one after another.
  static let killSweep = Benchmark(
    name: "kill-sweep", summary: "SIGKILL at every system call of each change, then a check of the store",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let sweep = try KillSweep(bench)
    for change in KillSweep.changes { try sweep.run(change, &report) }
  }
}

/// Kills the command or one of its children at the Nth system call of a kind, for every kind and every N.
///
/// strace sends the signal when the call is entered, before the kernel executes it.
struct KillSweep {
  /// A command that changes a store.
  struct Change: Sendable {
    /// The name.
    let name: String
    /// The command's arguments.
    let words: [String]
    /// The standard input.
    var input = ""
    /// A Boolean value that indicates whether it repairs a damaged store.
    var isRepair = false
  }

  /// The commands that are killed.
  static let changes = [
    Change(name: "add", words: ["add", "new.example/alice"], input: "new secret"),
    Change(name: "set --secret", words: ["set", "old.example/alice", "--secret"], input: "changed secret"),
    Change(name: "set --label", words: ["set", "old.example/alice", "--label", "changed"]),
    Change(name: "mv", words: ["mv", "old.example/alice", "moved.example/alice"]),
    Change(name: "cp", words: ["cp", "old.example/alice", "new.example/alice"]),
    Change(name: "rm", words: ["rm", "old.example/alice"]),
    Change(name: "import csv", words: ["import", "csv", "/dev/stdin"], input: rows),
    Change(name: "check --repair", words: ["check", "--repair"], isRepair: true),
  ]

  private static let rows = """
    name,url,username,password
    one,https://new.example/,alice,new secret
    two,https://moved.example/,alice,moved secret

    """

  /// All system calls that change a disk or a lock, and some that only prepare such a change.
  static let calls = [
    "openat", "mkdirat", "write", "pwrite64", "fsync", "renameat", "renameat2", "unlinkat", "flock", "close",
  ]

  private let bench: Workbench
  private let strace: String
  private let copy: String
  private let template: String

  /// Makes the store that each round starts from.
  init(_ bench: Workbench) throws(BenchmarkError) {
    self.bench = bench
    strace = try bench.programs.find("strace")
    copy = try bench.programs.find("cp")
    template = try bench.makeStore("template")
    for item in ["old.example/alice", "other.example/bob"] {
      try bench.add(item, secret: "first secret", to: template)
    }
  }

  /// Removes the index line of an item from the template, and adds a stray file.
  private func damage() throws(BenchmarkError) {
    let line = Array("\"server\":\"old.example\"".utf8)
    for name in Files.names(in: "\(template)/index") {
      let shard = "\(template)/index/\(name)"
      guard let bytes = try Files.read(shard) else { continue }
      let isIts = bytes.indices.contains { bytes[$0...].starts(with: line) }
      if isIts { try Files.write([], to: shard) }
    }
    try Files.write(Array("stray".utf8), to: "\(template)/items/stray")
  }

  /// Kills a change at every point: first only the command itself, then also its children.
  func run(_ change: Change, _ report: inout Report) throws(BenchmarkError) {
    // The repair runs last, because the other changes need an undamaged store.
    if change.isRepair { try damage() }
    let before = try look(at: template)
    let store = try freshStore()
    try bench.output(of: bench.keytree(change.words, store: store), input: change.input)
    let after = try look(at: store)
    guard before != after, (before.last == Self.clean) != change.isRepair, after.last == Self.clean else {
      throw .unexpected("\(change.name) does not do what it should: \(before), \(after)")
    }
    var (points, old, new) = (0, 0, 0)
    for followsChildren in [false, true] {
      for call in Self.calls {
        var number = 1
        while true {
          let store = try freshStore()
          guard try kill(change, store: store, at: number, of: call, followsChildren) else { break }
          points += 1
          let state = try look(at: store)
          let point = "\(call) \(number)\(followsChildren ? " (with children)" : "")"
          if state == before {
            old += 1
          } else if state == after {
            new += 1
          } else {
            report.fact("\(change.name), killed at \(point)", "\(state)", isRight: false)
          }
          number += 1
        }
      }
    }
    report.fact("\(change.name): \(points) points", "\(old) old, \(new) new", isRight: old + new == points)
  }

  /// Runs the change under strace.
  ///
  /// - Returns: True if a process was killed; false if there are fewer calls than that.
  private func kill(
    _ change: Change, store: String, at number: Int, of call: String, _ followsChildren: Bool
  ) throws(BenchmarkError) -> Bool {
    let log = "\(bench.folder)/strace"
    var command = bench.keytree(change.words, store: store)
    command.arguments =
      (followsChildren ? ["-f", "--seccomp-bpf"] : []) + [
        "-o", log, "-e", "trace=\(call)", "-e", "inject=\(call):signal=KILL:when=\(number)", command.program,
      ] + command.arguments
    command.program = strace
    command.input = "\(bench.folder)/input"
    try Files.write(Array(change.input.utf8), to: command.input)
    _ = try ChildProcess.run(command)
    guard let lines = try Files.read(log) else { throw .unexpected("strace wrote no log") }
    return String(decoding: lines, as: UTF8.self).contains("killed by SIGKILL")
  }

  private func freshStore() throws(BenchmarkError) -> String {
    let store = "\(bench.folder)/victim"
    Files.remove(store)
    try bench.output(of: bench.command(copy, ["-a", template, store]))
    return store
  }

  /// Returns every item with its attributes and secret, then the output of `check`.
  ///
  /// The items come first, because they have to be right even before a check.
  private func look(at store: String) throws(BenchmarkError) -> [String] {
    var state: [String] = []
    let names = ["old.example/alice", "new.example/alice", "moved.example/alice", "other.example/bob"]
    for name in names {
      var command = bench.keytree(["get", name], store: store)
      command.output = "\(bench.folder)/output"
      let outcome = try ChildProcess.run(command)
      let secret = try Files.read(command.output) ?? []
      state.append("\(name) \(outcome.ending) \(String(decoding: secret, as: UTF8.self))")
    }
    let listed = try bench.output(of: bench.keytree(["find", "--sort", "account"], store: store))
    // Without the last column, the time of the change.
    let rows = listed.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).dropLast().joined(separator: " ")
    }
    state += rows.sorted()
    let check = try ChildProcess.run(bench.keytree(["check", "--decrypt"], store: store))
    state.append("check: \(check.ending)")
    return state
  }

  private static let clean = "check: exit status 0"
}
