extension Benchmark {
  /// Apple's functions in a long-running process.
  static let secItem = Benchmark(
    name: "secitem", summary: "SecItemAdd and SecItemCopyMatching in one process; a key without a passphrase"
  ) { bench, report throws(BenchmarkError) in
    let pairs = bench.wantedPairs ?? 2000
    let small = try numbers(bench, ["pairs", "\(pairs)"], store: try bench.makeStore("secitem"))
    report.note("\(pairs) items added and read", "\(Report.number(small["all, s"] ?? 0, 1)) s")
    limit(&report, "one durable SecItemAdd", small["one add, ms"], 25, "ms", digits: 1)
    report.note("one read of the data", "\(Report.number(small["one read, ms"] ?? 0, 1)) ms")
    report.note("processes started", Report.number(small["processes started"] ?? 0, 0))

    let large = try bench.makeStore("secitem-large")
    try bench.fill(large, count: StoreQueries.count, kind: .generic)
    let file = "\(bench.folder)/secitem-queries"
    let lines = (0..<10_000).map { number in
      let (service, account) = SampleIndex.generic(number &* 7919 % StoreQueries.count)
      return "\(service)\t\(account)\n"
    }
    try Files.write(Array(lines.joined().utf8), to: file)
    let asked = try numbers(bench, ["queries", file], store: large)
    limit(&report, "attributes by service and account", asked["one query, us"], 100, "us", digits: 1)
    report.note(
      "with its dictionaries in Swift", "\(Report.number(asked["with its dictionaries, us"] ?? 0, 1)) us")
    report.count("processes started", asked["processes started"].map { Int($0) }, wanted: 0)
    report.note("the first 20 queries", "\(Report.number(asked["the first 20, ms"] ?? 0, 1)) ms")
  }

  private static func limit(
    _ report: inout Report, _ name: String, _ number: Double?, _ limit: Double, _ unit: String, digits: Int
  ) {
    guard let number else { return report.fact(name, "missing", isRight: false) }
    report.amount(
      name, "\(Report.number(number, digits)) \(unit)", value: number, limit: limit,
      limitText: "\(Report.number(limit, 0)) \(unit)")
  }

  private static func numbers(
    _ bench: Workbench, _ arguments: [String], store: String
  ) throws(BenchmarkError) -> [String: Double] {
    let program = try bench.programs.built("secitem-benchmark")
    let text = try bench.output(of: bench.command(program, arguments, ["KEYTREE_STORE=\(store)"]))
    return Report.numbers(in: text)
  }
}
