extension Benchmark {
  /// The time of the commands that a user waits for, in a large store with a history.
  static let latency = Benchmark(
    name: "latency",
    summary: "commands that a user waits for, in a store of \(latencyCount) items with its history",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeHistory("latency", count: latencyCount)
    try bench.output(of: bench.keytree(["rm", itemName(1)], store: store))
    try bench.output(of: bench.keytree(["set", itemName(2), "--label", "changed"], store: store))
    for (words, limit) in [
      (["ls"], 0.1), (["complete-items", String(SampleIndex.server(77).prefix(4))], 0.05),
      (["complete-items", ""], 0.05), (["status"], 0.1), (["undelete"], 0.15),
      (["get", itemName(2), "--at", "HEAD~1"], 0.15), (["rotate", "status"], 0.5), (["check"], 1),
    ] as [([String], Double)] {
      let command = bench.keytree(words, store: store).writing(to: "\(bench.folder)/output")
      let cost = try Cost(of: command, runs: bench.wantedPairs ?? 5)
      report.amount(
        words.joined(separator: " "), cost.text, value: cost.least, limit: limit,
        limitText: "\(Report.number(limit * 1000, 0)) ms")
    }
    let comparison = try Comparison(pairs: bench.wantedPairs ?? 3) { number in
      bench.keytree(["--no-input", "clone", store, "\(bench.folder)/ours-\(number)"], store: store)
    } theirs: { number throws(BenchmarkError) in
      try bench.git(["clone", "--quiet", "--no-local", store, "\(bench.folder)/theirs-\(number)"], in: store)
    }
    report.comparison(
      "clone", comparison, ours: "keytree clone", theirs: "git clone --no-local", limit: nil)
  }

  /// The number of items.
  private static let latencyCount = 25_000

  private static func itemName(_ number: Int) -> String {
    "\(SampleIndex.server(number))/\(SampleIndex.account(number))"
  }
}

/// The time of a command. On a machine with other work only the shortest run, and the time of the processors, say
/// something about the command.
private struct Cost {
  let least: Double
  private let median: Double
  private let processors: Double

  init(of command: Command, runs: Int) throws(BenchmarkError) {
    var times: [Double] = []
    var processors = Double.infinity
    for _ in 0..<runs {
      let outcome = try ChildProcess.run(command)
      guard outcome.status == 0 else { throw .unexpected("\(command.text): \(outcome.ending)") }
      times.append(outcome.seconds)
      processors = min(processors, outcome.processorSeconds)
    }
    let samples = Samples(times)
    (least, median, self.processors) = (samples.least, samples.median, processors)
  }

  var text: String {
    "\(milliseconds(least)) ms (median \(milliseconds(median))), processors \(milliseconds(processors)) ms"
  }

  private func milliseconds(_ seconds: Double) -> String { Report.number(seconds * 1000, 0) }
}
