extension Benchmark {
  /// The table of the times that users feel.
  static let table = Benchmark(
    name: "table",
    summary: "commands and functions with their peers in one table, first without and then with a passphrase",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    try measureTable(bench, &report)
    report.table("with a key without a passphrase", from: 0)
    let first = report.rows.count

    let second = try bench.another()
    defer { second.close() }
    let key = try ProtectedKey(second)
    // The targets are those of a key without a passphrase.
    report.appliesLimits = false
    defer { report.appliesLimits = true }
    try measureTable(second, &report)
    report.table(
      "with a key with a passphrase, of which one use (gpg --sign) takes \(Report.time(key.time))",
      from: first)
  }

  private static func measureTable(_ bench: Workbench, _ report: inout Report) throws(BenchmarkError) {
    for benchmark in [version, find, get, credentials, secItem, secondImport] {
      report.line("\(benchmark.name): \(benchmark.summary)")
      try benchmark.run(bench, &report)
    }
    let readers = TeamStores(try PairedStores(bench, count: bench.count(1000, withPassphrase: 200)))
    try readers.compareWithPass(&report, pairs: 1, limit: 0.4)
  }
}
