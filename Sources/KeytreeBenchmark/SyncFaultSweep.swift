internal import Glibc

extension Benchmark {
  /// An I/O error at every system call of a synchronization that changes something.
  static let syncFaults = Benchmark(
    name: "sync-faults", summary: "EIO at system calls of `keytree sync` and its gits, then a second sync",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in try SyncFaultSweep(bench).run(&report) }
}

/// Lets the Nth call of a kind fail in `keytree sync`, for every kind and every N, and looks at what the next one
/// makes of it.
///
/// strace does the failing: the call returns `EIO` and is not made. It counts for each process by itself, so with
/// children the
/// Nth call of every git fails, and of what git starts for the remote.
struct SyncFaultSweep {
  /// A system call, and how many of its points lie between two that are tried: of those that mostly read, a sample. Not
  /// `close`, which closes even if it fails, and would not here.
  private static let calls: [(name: String, stride: Int)] = [
    ("write", 1), ("pwrite64", 1), ("fsync", 1), ("rename", 1), ("renameat", 1), ("link", 1), ("linkat", 1),
    ("unlink", 1), ("unlinkat", 2), ("mkdir", 1), ("mkdirat", 1), ("ftruncate", 1), ("openat", 9),
    ("flock", 1), ("read", 9), ("execve", 1),
  ]

  private let bench: Workbench
  /// Two clones `a` and `b`, and the remote `hub.git`.
  private let world: String
  private let template: String
  /// Every point, instead of a sample.
  private let isThorough = unsafe getenv("KEYTREE_EVERY_FAULT") != nil

  private var ours: String { "\(world)/a" }
  private var theirs: String { "\(world)/b" }
  private var hub: String { "\(world)/hub.git" }

  /// Makes two clones that have changed what they have in several ways; a change of the first one waits for its commit.
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
    // Git cannot make a commit while somebody has the lock of its index.
    let lock = "\(ours)/.git/index.lock"
    try Files.write([], to: lock)
    _ = try ChildProcess.run(bench.keytree(["set", "two.example/alice", "--label", "ours"], store: ours))
    guard unsafe unlink(lock) == 0 else { throw .system(action: "remove", path: lock, errno: errno) }
    try bench.copy(world, to: template)
  }

  /// Tries the points, in keytree alone and then in what it starts, too.
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

  /// Brings both clones to the same state, and looks at it.
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

  /// The secrets that the two clones have changed and added, and the list of items without the time of their change.
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

  /// Brings the world back to what it was. The folder of git stays, since keytree knows a repository by it.
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
