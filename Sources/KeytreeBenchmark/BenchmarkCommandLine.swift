internal import Glibc

/// The parsed command line: names of benchmarks, and options.
enum BenchmarkCommandLine {
  /// The hidden verb that writes an index without items; for a child of this program.
  static let fill = "--fill"
  /// The hidden verb that writes items with their files; for a child of this program.
  static let seal = "--seal"
  /// The hidden verb that runs many queries on an open store; for a child of this program.
  static let ask = "--ask"
  /// The hidden verb that checks the records and recipients of all items; for a child of this program.
  static let audit = "--audit"

  /// The hidden verb that makes calls of the Secret Service API; for a child of this program.
  static let serve = "--serve"

  private static let usage = """
    usage: keytree-benchmark [--folder DIR] [--pairs N] [--key NAME] [NAME...]

      --folder DIR  a folder on the disk to measure, in which the scratch folder is created; default /tmp
      --pairs N     the number of pairs in a comparison
      --key NAME    a key of fixtures/gnupg: alice (Curve 25519, the default) or rsa (RSA 3072, as GnuPG 2.2
                    creates); the slower the key, the less the rest matters

    Without a name, runs all but table, browser, desktop-keyring, history, growth, merging, teams, protected, verify,
    latency, bombs, rotation, kill-sweep and sync-faults. Exit status 1: a limit was exceeded, 2: an error occurred.
    """

  /// Runs the benchmarks that the arguments name.
  ///
  /// - Parameter arguments: The arguments without the program's name.
  /// - Returns: The exit status.
  static func run(_ arguments: [String]) -> Int32 {
    var report = Report()
    do throws(BenchmarkError) {
      if arguments.first == fill { return try fill(Array(arguments.dropFirst())) }
      if arguments.first == seal { return try seal(Array(arguments.dropFirst())) }
      if arguments.first == ask { return try StoreQueries.run(Array(arguments.dropFirst()), report) }
      if arguments.first == serve {
        return try SecretServiceCalls.run(Array(arguments.dropFirst()), report)
      }
      if arguments.first == audit { return try RecipientAudit.run(Array(arguments.dropFirst()), report) }
      guard let wish = BenchmarkOptions(arguments) else {
        report.line(usage)
        for benchmark in Benchmark.all { report.note(benchmark.name, benchmark.summary) }
        return 2
      }
      if Files.isInMemory(wish.folder) {
        report.line("\(wish.folder) is in memory, where fsync costs nothing; use a --folder on a disk")
      }
      let bench = try Workbench(base: wish.folder, pairs: wish.pairs, key: wish.key)
      defer { bench.close() }
      for benchmark in wish.benchmarks {
        report.line("\(benchmark.name): \(benchmark.summary)")
        try benchmark.run(bench, &report)
      }
    } catch {
      report.line("keytree-benchmark: \(error.text)")
      return 2
    }
    report.line(report.over == 0 ? "all within their limits" : "over: \(report.over)")
    return report.over == 0 ? 0 : 1
  }

  private static func fill(_ arguments: [String]) throws(BenchmarkError) -> Int32 {
    guard arguments.count == 4, let count = Int(arguments[1]), let interval = Int(arguments[2]),
      let kind = SampleIndex.Kind(rawValue: arguments[3])
    else { return 2 }
    let index = SampleIndex(count: count, escapeInterval: interval, kind: kind)
    try index.writeIndex(to: arguments[0])
    return 0
  }

  private static func seal(_ arguments: [String]) throws(BenchmarkError) -> Int32 {
    guard arguments.count == 4, let count = Int(arguments[1]), let portion = Int(arguments[2]), portion > 0,
      let message = try Files.read(arguments[3])
    else { return 2 }
    try SampleIndex(count: count).writeItems(to: arguments[0], like: message, perSignature: portion)
    return 0
  }

  /// The parsed arguments.
  private struct BenchmarkOptions {
    var folder = "/tmp"
    var pairs: Int?
    var key = "alice"
    var benchmarks: [Benchmark] = []

    init?(_ arguments: [String]) {
      var rest = arguments[...]
      while let word = rest.popFirst() {
        switch word {
        case "--folder":
          guard let value = rest.popFirst(), value.hasPrefix("/") else { return nil }
          folder = value
        case "--pairs":
          guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else { return nil }
          pairs = value
        case "--key":
          guard let value = rest.popFirst(), ["alice", "rsa"].contains(value) else { return nil }
          key = value
        default:
          guard let benchmark = Benchmark.all.first(where: { $0.name == word }) else { return nil }
          benchmarks.append(benchmark)
        }
      }
      if benchmarks.isEmpty { benchmarks = Benchmark.all.filter { !$0.onlyByName } }
    }
  }
}
