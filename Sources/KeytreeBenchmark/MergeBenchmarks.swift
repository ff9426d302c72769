extension Benchmark {
  /// Parallel additions merged by git.
  static let merging = Benchmark(
    name: "merging",
    summary:
      "2 x 20 parallel adds merged by git without keytree's drivers; with them, and 5 items changed twice",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    for count in [10, 1000, 20_000] {
      let merge = try ParallelAdds(bench, count: count)
      report.line("\(count) items")
      try merge.withoutDrivers(&report)
      try merge.changeSameItems()
      try merge.withDrivers(&report)
    }
  }
}

/// Two clones of a store that have added twenty items each.
private struct ParallelAdds {
  private let bench: Workbench
  private let count: Int
  private let left: String
  private let right: String

  init(_ bench: Workbench, count: Int) throws(BenchmarkError) {
    (self.bench, self.count) = (bench, count)
    left = try bench.makeHistory("merging-\(count)-left", count: count)
    right = "\(bench.folder)/merging-\(count)-right"
    try bench.copy(left, to: right)
    for (side, store) in [("left", left), ("right", right)] {
      for number in 0..<20 { try bench.add("\(side)-\(number).test/alice", secret: "secret", to: store) }
    }
  }

  /// Measures a colleague's clone that was made and merged by git alone.
  func withoutDrivers(_ report: inout Report) throws(BenchmarkError) {
    let clone = "\(bench.folder)/merging-\(count)-plain"
    try bench.output(of: bench.git(["clone", "-q", left, clone], in: bench.folder))
    try bench.output(of: bench.command(try bench.programs.find("chmod"), ["700", clone]))
    try bench.output(of: bench.git(["fetch", "-q", right, "HEAD"], in: clone))
    // A merge with conflicts fails. The conflicts are counted below.
    _ = try ChildProcess.run(bench.git(["merge", "-q", "--no-edit", "FETCH_HEAD"], in: clone))
    let names = ["diff", "--name-only", "--diff-filter=U"]
    let conflicts = try bench.output(of: bench.git(names, in: clone)).split(separator: "\n").count
    report.note("without drivers", "\(conflicts) conflicts")
    // Commit the files as git has left them.
    try bench.output(of: bench.git(["add", "--all"], in: clone))
    try bench.output(of: bench.git(["commit", "-q", "--allow-empty", "-m", "merge"], in: clone))
    report.note("find", try found(clone))
    let repair = try ChildProcess.run(bench.keytree(["check", "--repair"], store: clone))
    report.note("check --repair", repair.ending)
    report.note("find after the repair", try found(clone))
    let check = try ChildProcess.run(bench.keytree(["check"], store: clone))
    report.fact("check", check.ending, isRight: check.status == 0)
  }

  /// Changes the label of some items in one clone, and their comment in the other.
  func changeSameItems() throws(BenchmarkError) {
    for (option, store) in [("--label", left), ("--comment", right)] {
      for number in 0..<Self.changed {
        let item = "\(SampleIndex.server(number))/\(SampleIndex.account(number))"
        try bench.output(of: bench.keytree(["set", item, option, "changed"], store: store))
      }
    }
  }

  private static let changed = 5

  /// Measures a clone that keytree has made and git has merged. The next command completes the merge.
  func withDrivers(_ report: inout Report) throws(BenchmarkError) {
    let clone = "\(bench.folder)/merging-\(count)-drivers"
    try bench.output(of: bench.keytree(["clone", left, clone], store: clone))
    try bench.output(of: bench.git(["fetch", "-q", right, "HEAD"], in: clone))
    let started = Clock.now
    try bench.output(of: bench.git(["merge", "-q", "--no-edit", "FETCH_HEAD"], in: clone))
    let merged = Clock.now
    let cost = try bench.cost(of: ["set", "left-0.test/alice", "--label", "next"], store: clone)
    let (merging, next) = (Report.number(merged - started, 2), Report.number(Clock.now - merged, 2))
    let items = try items(clone)
    report.fact(
      "with drivers", "0 conflicts, \(items) items found, \(merging) s", isRight: items == count + 40)
    report.note("the next command", "\(next) s, \(cost["signatures made"] ?? -1) signatures")
    for way in ["--label", "--comment"] {
      let found = try bench.output(of: bench.keytree(["find", way, "changed"], store: clone))
      let count = found.split(separator: "\n").count
      report.fact("items with the changed \(way.dropFirst(2))", "\(count)", isRight: count == Self.changed)
    }
    let check = try ChildProcess.run(bench.keytree(["check"], store: clone))
    report.fact("check", check.ending, isRight: check.status == 0)
  }

  private func found(_ clone: String) throws(BenchmarkError) -> String {
    "\(try items(clone)) of \(count + 40) items"
  }

  private func items(_ clone: String) throws(BenchmarkError) -> Int {
    var command = bench.keytree(["find"], store: clone)
    command.output = "\(bench.folder)/output"
    // A command that finds damage prints the items, too, but fails.
    _ = try ChildProcess.run(command)
    return (try Files.read(command.output) ?? []).split(separator: UInt8(ascii: "\n")).count
  }
}
