internal import Glibc

extension Benchmark {
  /// An I/O error at every system call of a synchronization that changes something.
  static let syncFaults = Benchmark(
    name: "sync-faults", summary: "EIO at system calls of `keytree sync` and of git, then a second sync",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in try SyncFaultSweep(bench).run(&report) }
}

/// Makes the Nth system call of a kind fail in `keytree sync`, for every kind and every N, and checks that the next
/// sync recovers.
///
/// strace injects the error: the call returns `EIO` and is not executed. strace counts the calls of each process
/// separately, so with children the Nth call of every git process fails, including those that git starts for the
/// remote.
struct SyncFaultSweep {
  /// The system calls, and the stride between the points that are tried; calls that mostly read are only sampled.
  /// `close` is not among them: a failed `close` still closes the file, but an injected failure would not.
  private static let calls: [(name: String, stride: Int)] = [
    ("write", 1), ("pwrite64", 1), ("fsync", 1), ("rename", 1), ("renameat", 1), ("link", 1), ("linkat", 1),
    ("unlink", 1), ("unlinkat", 2), ("mkdir", 1), ("mkdirat", 1), ("ftruncate", 1), ("openat", 9),
    ("flock", 1), ("read", 9), ("execve", 1),
  ]

  private let bench: Workbench
  /// Two clones `a` and `b`, and the remote `hub.git`.
  private let world: String
  private let template: String
  /// True if every point is tried instead of a sample.
  private let isThorough = unsafe getenv("KEYTREE_EVERY_FAULT") != nil

  private var ours: String { "\(world)/a" }
  private var theirs: String { "\(world)/b" }
  private var hub: String { "\(world)/hub.git" }

  /// Makes two clones with several kinds of changes; one change in the first clone is not committed yet.
  init(_ bench: Workbench) throws(BenchmarkError) {
    self.bench = bench
    (world, template) = ("\(bench.folder)/world", "\(bench.folder)/template")
    try Files.makeFolder(world)
    _ = try bench.makeHistory("world/a", count: 0)
    for item in ["one", "two"] { try bench.add("\(item).example/alice", secret: "first", to: ours) }
    try bench.output(of: bench.git(["init", "-q", "--bare", "-b", "main", hub], in: world))
    try bench.output(of: bench.git(["remote", "add", "origin", hub], in: ours))
    try bench.output(of: bench.keytree(["sync"], store: ours))
    try bench.output(of: bench.keytree(["clone", hub, theirs, "--no-input"], store: theirs))
    try bench.output(of: bench.keytree(["set", "one.example/alice", "--label", "theirs"], store: theirs))
    try bench.add("theirs.example/bob", secret: "theirs", to: theirs)
    try bench.output(of: bench.keytree(["sync"], store: theirs))
    try bench.output(
      of: bench.keytree(["set", "one.example/alice", "--secret"], store: ours), input: "ours")
    try bench.add("ours.example/alice", secret: "ours", to: ours)
    // git cannot commit while another process holds the lock of its index.
    let lock = "\(ours)/.git/index.lock"
    try Files.write([], to: lock)
    _ = try ChildProcess.run(bench.keytree(["set", "two.example/alice", "--label", "ours"], store: ours))
    guard unsafe unlink(lock) == 0 else { throw .system(action: "remove", path: lock, errno: errno) }
    try bench.copy(world, to: template)
  }

  /// Tries the points, first in keytree alone, then also in its children.
  func run(_ report: inout Report) throws(BenchmarkError) {
    try bench.output(of: bench.keytree(["sync", "--no-input"], store: ours))
    let expected = try settle()
    guard expected.last == Self.clean else { throw .unexpected("a sync without faults gives \(expected)") }
    var (points, wrong) = (0, 0)
    for followsChildren in [false, true] {
      for call in Self.calls {
        for number in stride(from: 1, to: 5_000, by: isThorough ? 1 : call.stride) {
          try restore()
          guard let outcome = try fail(call.name, number, followsChildren) else { break }
          points += 1
          let problems = try problems(after: outcome, expected)
          if problems.isEmpty { continue }
          wrong += 1
          let point = "\(call.name) \(number)\(followsChildren ? " (with children)" : "")"
          report.fact(point, problems.joined(separator: "; "), isRight: false)
        }
      }
    }
    report.fact("\(points) points", "\(wrong) wrong", isRight: wrong == 0)
  }

  private func problems(
    after outcome: ProcessOutcome, _ expected: [String]
  ) throws(BenchmarkError) -> [String] {
    var problems: [String] = []
    let first = try said()
    if outcome.status == nil || outcome.status == 124 { problems.append("it ended with \(outcome.ending)") }
    if outcome.status == 0 {
      let (state, heads) = (try look(at: ours), [try head(ours), try head(hub)])
      let isDone = heads[0] == heads[1] && state == Array(expected.dropLast(2))
      if !isDone { problems.append("success was reported") }
    }
    let second = try ChildProcess.run(bench.keytree(["sync", "--no-input"], store: ours))
    if second.status != 0 {
      problems.append("first sync: \(outcome.ending) \(first); second sync: \(second.ending) \(try said())")
      return problems
    }
    let state = try settle()
    if state != expected { problems.append("first sync: \(outcome.ending) \(first); then \(state)") }
    return problems
  }

  /// Synchronizes both clones and returns their state.
  private func settle() throws(BenchmarkError) -> [String] {
    var state = try look(at: ours)
    for store in [theirs, ours] {
      let outcome = try ChildProcess.run(bench.keytree(["sync", "--no-input"], store: store))
      if outcome.status != 0 { state.append("sync of \(store): \(outcome.ending) \(try said())") }
    }
    let other = try look(at: theirs)
    if other != state { state += ["the other clone: "] + other }
    let heads = [try head(ours), try head(theirs), try head(hub)]
    state.append(Set(heads).count == 1 ? "one head" : "heads \(heads)")
    var findings: [String] = []
    for store in [ours, theirs] {
      let check = try ChildProcess.run(bench.keytree(["check", "--decrypt"], store: store))
      if check.status != 0 { findings.append("check of \(store): \(try said())") }
      let status = try bench.output(of: bench.git(["status", "--porcelain"], in: store))
      if !status.isEmpty { findings.append("git status of \(store): \(status)") }
    }
    for place in [ours, theirs, hub] {
      let check = try ChildProcess.run(bench.git(["fsck", "--no-dangling", "--no-progress"], in: place))
      if check.status != 0 { findings.append("git fsck of \(place): \(try said())") }
    }
    state.append(findings.isEmpty ? Self.clean : findings.joined(separator: "; "))
    return state
  }

  private static let clean = "clean"

  /// Returns the secrets that the two clones have changed and added, and the list of items without the time of their
  /// change.
  private func look(at store: String) throws(BenchmarkError) -> [String] {
    var state: [String] = []
    for item in ["one.example/alice", "theirs.example/bob"] {
      var command = bench.keytree(["get", item], store: store)
      command.output = "\(bench.folder)/output"
      let outcome = try ChildProcess.run(command)
      let secret = String(decoding: try Files.read(command.output) ?? [], as: UTF8.self)
      state.append("\(item) \(outcome.ending) \(secret)")
    }
    let listed = try bench.output(of: bench.keytree(["find", "--sort", "account"], store: store))
    let rows = listed.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false).dropLast().joined(separator: " ")
    }
    return state + rows.sorted()
  }

  private func head(_ place: String) throws(BenchmarkError) -> String {
    try bench.output(of: bench.git(["rev-parse", "refs/heads/main"], in: place))
  }

  /// Returns the standard error of the last command.
  private func said() throws(BenchmarkError) -> String {
    String(decoding: (try Files.read("\(bench.folder)/errors") ?? []).suffix(400), as: UTF8.self)
      .split(separator: "\n").joined(separator: " | ")
  }

  /// Restores the initial state. The `.git` folders stay, because keytree identifies a repository by its `.git` folder.
  private func restore() throws(BenchmarkError) {
    let script = """
      find "$1" -mindepth 2 ! -path "$1/a/.git" ! -path "$1/b/.git" -delete && cp -a "$2/." "$1/"
      """
    try bench.output(of: bench.command(bench.programs.find("sh"), ["-c", script, "sh", world, template]))
  }

  /// Synchronizes under strace.
  ///
  /// - Returns: nil if there are fewer calls than that.
  private func fail(
    _ call: String, _ number: Int, _ followsChildren: Bool
  ) throws(BenchmarkError) -> ProcessOutcome? {
    let log = "\(bench.folder)/strace"
    var command = bench.keytree(["sync", "--no-input"], store: ours)
    command.arguments =
      ["120", try bench.programs.find("strace")] + (followsChildren ? ["-f", "--seccomp-bpf"] : []) + [
        "-o", log, "-e", "trace=\(call)", "-e", "inject=\(call):error=EIO:when=\(number)", command.program,
      ] + command.arguments
    command.program = try bench.programs.find("timeout")
    let outcome = try ChildProcess.run(command)
    guard let lines = try Files.read(log) else { throw .unexpected("strace wrote no log") }
    return String(decoding: lines, as: UTF8.self).contains("(INJECTED)") ? outcome : nil
  }
}
