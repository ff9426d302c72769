extension Benchmark {
  /// Apple's functions in a long-running process.
  static let secItem = Benchmark(
    name: "secitem", summary: "SecItemAdd and SecItemCopyMatching in one process"
  ) { bench, report throws(BenchmarkError) in
    let pairs = bench.count(2000, withPassphrase: 40)
    let small = try numbers(bench, ["pairs", "\(pairs)"], store: try bench.makeStore("secitem"))
    report.note("\(pairs) items added and read", "\(Report.number(small["all, s"] ?? 0, 1)) s")
    limit(&report, "one durable SecItemAdd", small["one add, ms"], 12, "ms", digits: 1)
    report.note("one read of the data", "\(Report.number(small["one read, ms"] ?? 0, 1)) ms")
    report.note("processes started", Report.number(small["processes started"] ?? 0, 0))
    let recorded = try numbers(
      bench, ["pairs", "\(pairs)"], store: try bench.makeHistory("secitem-git", count: 0))
    compare(
      &report, "one SecItemAdd in a store with git, against one without", recorded, small, "one add, ms")

    let large = try bench.makeStore("secitem-large")
    try bench.fill(large, count: StoreQueries.count, kind: .generic)
    let file = "\(bench.folder)/secitem-queries"
    let lines = (0..<10_000).map { number in
      let (service, account) = SampleIndex.generic(number &* 7919 % StoreQueries.count)
      return "\(service)\t\(account)\n"
    }
    try Files.write(Array(lines.joined().utf8), to: file)
    let asked = try numbers(bench, ["queries", file], store: large)
    limit(&report, "attributes by service and account", asked["one query, us"], 80, "us", digits: 1)
    report.note(
      "with its dictionaries in Swift", "\(Report.number(asked["with its dictionaries, us"] ?? 0, 1)) us")
    report.count("processes started", asked["processes started"].map { Int($0) }, wanted: 0)
    report.note("the first 20 queries", "\(Report.number(asked["the first 20, ms"] ?? 0, 1)) ms")
    try measureThreads(bench, &report)
    try measureKeptSecrets(bench, &report)
  }

  /// Eight threads against one.
  private static func measureThreads(_ bench: Workbench, _ report: inout Report) throws(BenchmarkError) {
    let count = bench.count(400, withPassphrase: 80)
    let numbers = try numbers(bench, ["threads", "\(count)"], store: try bench.makeStore("secitem-threads"))
    guard let one = numbers["one thread, adds per second"],
      let eight = numbers["eight threads, adds per second"], one > 0
    else { return report.fact("adds by eight threads", "missing", isRight: false) }
    report.rate(
      "adds by eight threads and by one, per second",
      "\(Report.number(eight, 0)) and \(Report.number(one, 0)): \(Report.number(eight / one, 2)) times as many",
      value: eight / one, least: 2.5)
    report.note("signatures for \(2 * count) adds", Report.number(numbers["signatures made"] ?? 0, 0))
    let recorded = try self.numbers(
      bench, ["threads", "\(count)"], store: try bench.makeHistory("secitem-threads-git", count: 0))
    for threads in ["one thread", "eight threads"] {
      compare(
        &report, "time of an add by \(threads) in a store with git, against one without", numbers, recorded,
        "\(threads), adds per second")
    }
  }

  /// Reads with kept secrets, and a storm of replacements and reads by eight threads.
  private static func measureKeptSecrets(_ bench: Workbench, _ report: inout Report) throws(BenchmarkError) {
    let keeping = ["KEYTREE_KEEP_SECRETS=600"]
    let reads = try numbers(bench, ["kept", "100"], store: try bench.makeStore("secitem-kept"), keeping)
    report.note("first read of the data", "\(Report.number(reads["first read, us"] ?? 0, 0)) us")
    limit(&report, "second read, with kept secrets", reads["second read, us"], 150, "us", digits: 1)
    report.count("decryptions for it", reads["second decryptions"].map { Int($0) }, wanted: 0)
    let count = bench.count(1000, withPassphrase: 200)
    let storm = try numbers(
      bench, ["storm", "\(count)"], store: try bench.makeStore("secitem-storm"), keeping)
    limit(
      &report, "\(count) replacements and \(2 * count) reads by 8 threads", storm["all, s"], 30, "s",
      digits: 1)
    report.note("signatures made", Report.number(storm["signatures made"] ?? 0, 0))
  }

  private static func limit(
    _ report: inout Report, _ name: String, _ number: Double?, _ limit: Double, _ unit: String, digits: Int
  ) {
    guard let number else { return report.fact(name, "missing", isRight: false) }
    report.amount(
      name, "\(Report.number(number, digits)) \(unit)", value: number, limit: limit,
      limitText: "\(Report.number(limit, 0)) \(unit)")
  }

  /// Reports the quotient of two runs' numbers with the same name.
  private static func compare(
    _ report: inout Report, _ name: String, _ first: [String: Double], _ second: [String: Double],
    _ number: String
  ) {
    guard let dividend = first[number], let divisor = second[number], divisor > 0 else {
      return report.fact(name, "missing", isRight: false)
    }
    report.note(name, "\(Report.number(dividend / divisor, 2)) times")
  }

  private static func numbers(
    _ bench: Workbench, _ arguments: [String], store: String, _ environment: [String] = []
  ) throws(BenchmarkError) -> [String: Double] {
    let program = try bench.programs.built("secitem-benchmark")
    let text = try bench.output(
      of: bench.command(program, arguments, ["KEYTREE_STORE=\(store)"] + environment))
    return Report.numbers(in: text)
  }
}
