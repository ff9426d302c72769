extension Benchmark {
  /// The time to start the program.
  static let version = Benchmark(
    name: "version", summary: "`keytree version` against `git --version`"
  ) { bench, report throws(BenchmarkError) in
    let git = try bench.programs.find("git")
    let comparison = try Comparison(pairs: bench.wantedPairs ?? 200) { _ in
      bench.keytree(["version"], store: "/")
    } theirs: { _ in
      bench.command(git, ["--version"])
    }
    report.comparison(
      "start of the program", comparison, ours: "keytree version", theirs: "git --version", limit: 1.8)
  }

  /// The fault injection sweeps (DESIGN section 7), which are run in other ways.
  static let faults = Benchmark(
    name: "faults", summary: "every file operation fails and is killed in turn: done by tests"
  ) { _, report throws(BenchmarkError) in
    report.note("each operation of the library", "KEYTREE_EVERY_FAULT=1 swift test --filter FaultSweep")
    report.note("each system call of the command", "keytree-benchmark kill-sweep")
    report.note("each system call of sync and git", "keytree-benchmark sync-faults")
  }
}
