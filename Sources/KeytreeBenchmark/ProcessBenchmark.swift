extension Benchmark {
  /// Many processes that use one store.
  static let processes = Benchmark(
    name: "processes", summary: "8 processes add and update at once; nothing is lost or torn"
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("processes")
    try adds(bench, &report, store: store)
    try updates(bench, &report, store: store)
    let work = Files.names(in: "\(store)/.keytree").filter { $0 != "lock" }
    report.fact("left over in .keytree", "\(work)", isRight: work.isEmpty)
    try bench.output(of: bench.keytree(["check", "--decrypt"], store: store))
    report.fact("check --decrypt", "clean", isRight: true)
  }

  private static func adds(
    _ bench: Workbench, _ report: inout Report, store: String
  ) throws(BenchmarkError) {
    let (secret, started) = ("\(bench.folder)/secret", Clock.now)
    try Files.write(Array("secret".utf8), to: secret)
    let statuses = try ConcurrentProcesses(8, rounds: 50).run { member, round in
      bench.keytree(["add", "host-\(member)-\(round).example/alice"], store: store).reading(from: secret)
    }
    let seconds = Report.number(Clock.now - started, 1)
    let items = try bench.output(of: bench.keytree(["find"], store: store)).split(separator: "\n").count
    report.fact("8 x 50 adds, \(seconds) s", "\(items) items", isRight: items == 400)
    report.fact("exit statuses", "\(statuses)", isRight: statuses == [0: 400])
  }

  private static func updates(
    _ bench: Workbench, _ report: inout Report, store: String
  ) throws(BenchmarkError) {
    let started = Clock.now
    try bench.add("shared.example/alice", secret: "first", to: store)
    for member in 0..<8 {
      for round in 0..<25 {
        try Files.write(Array("\(member)-\(round)".utf8), to: "\(bench.folder)/secret-\(member)-\(round)")
      }
    }
    let statuses = try ConcurrentProcesses(8, rounds: 25).run { member, round in
      bench.keytree(["set", "shared.example/alice", "--secret"], store: store)
        .reading(from: "\(bench.folder)/secret-\(member)-\(round)")
    }
    let seconds = Report.number(Clock.now - started, 1)
    let last = try bench.output(of: bench.keytree(["get", "shared.example/alice"], store: store))
    // The last writer has written nothing since, so this is the secret of its last round.
    report.fact("8 x 25 updates, \(seconds) s", "the secret is `\(last)`", isRight: last.hasSuffix("-24"))
    let isRight = statuses[0, default: 0] == 200
    report.fact("exit statuses", "\(statuses)", isRight: isRight)
  }
}

/// Several members that run at the same time, each of which runs one process after another.
private struct ConcurrentProcesses {
  private let members: Int
  private let rounds: Int

  init(_ members: Int, rounds: Int) {
    self.members = members
    self.rounds = rounds
  }

  /// Runs all rounds of all members.
  ///
  /// - Parameter command: The command of a member in a round.
  /// - Returns: The number of processes for each exit status; -1 means a signal.
  func run(_ command: (Int, Int) -> Command) throws(BenchmarkError) -> [Int32: Int] {
    var statuses: [Int32: Int] = [:]
    var running: [ChildProcess] = []
    var turns: [(member: Int, round: Int)] = []
    for member in 0..<members {
      running.append(try ChildProcess(command(member, 0).silent))
      turns.append((member, 0))
    }
    while !running.isEmpty {
      let (place, outcome) = ChildProcess.waitForAny(of: &running)
      let (member, round) = turns.remove(at: place)
      statuses[outcome.status ?? -1, default: 0] += 1
      if round + 1 == rounds { continue }
      running.append(try ChildProcess(command(member, round + 1).silent))
      turns.append((member, round + 1))
    }
    return statuses
  }
}

extension Command {
  /// The same command with its errors discarded, because several processes cannot share the file.
  fileprivate var silent: Command {
    var command = self
    command.errors = "/dev/null"
    return command
  }
}
