internal import Glibc
internal import Keyring
internal import KeyringModel

extension Benchmark {
  /// A process that runs many queries on an open store.
  static let queries = Benchmark(
    name: "queries",
    summary: "queries on one open store of \(StoreQueries.count) generic passwords, index in memory"
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("queries")
    try bench.fill(store, count: StoreQueries.count, kind: .generic)
    let arguments = [BenchmarkCommandLine.ask, store]
    let numbers = Report.numbers(in: try bench.output(of: bench.command(bench.programs.benchmark, arguments)))
    for question in StoreQueries.all {
      guard let time = numbers[question.name] else { throw .unexpected("no number for \(question.name)") }
      let text = "\(Report.number(time, 1)) us"
      if let limit = question.limit {
        report.amount(
          question.name, text, value: time, limit: limit, limitText: "\(Report.number(limit, 0)) us")
      } else {
        report.note(question.name, text)
      }
    }
    report.count("processes started", numbers["processes started"].map { Int($0) }, wanted: 0)
    let notes = [
      "service and account, from files", "label prefix, from files", "reading all",
      "after a change of one shard", "memory",
    ]
    for name in notes {
      let number = numbers[name] ?? 0
      report.note(name, name == "memory" ? Report.memory(Int(number)) : "\(Report.number(number, 0)) us")
    }
  }
}

/// The queries, in a child of this program.
enum StoreQueries {
  /// The number of items of the store.
  static let count = 20_000

  struct Question: Sendable {
    let name: String
    let calls: Int
    /// The limit for a call in microseconds; nil for a query that reads all items.
    let limit: Double?
    let query: @Sendable (_ number: Int) -> Query
  }

  static let all = [
    Question(name: "service and account", calls: 10_000, limit: 100) { number in
      let (service, account) = SampleIndex.generic(number)
      return Query(
        itemClass: .genericPassword,
        predicates: [.equal(.service, .string(service)), .equal(.account, .string(account))], limit: .one)
    },
    Question(name: "nothing found", calls: 1_000, limit: 100) { number in
      Query(
        itemClass: .genericPassword,
        predicates: [
          .equal(.service, "example.mail.accounts"), .equal(.account, .string("nobody \(number)")),
        ])
    },
    Question(name: "label prefix", calls: 200, limit: nil) { number in
      let label = AttributeValue.string(SampleIndex.label(number))
      return Query(
        itemClass: .genericPassword,
        predicates: [Predicate(subject: .attribute(.label), comparison: .prefix(label))])
    },
  ]

  /// Runs all queries and prints the microseconds per call.
  static func run(_ arguments: [String], _ report: Report) throws(BenchmarkError) -> Int32 {
    guard arguments.count == 1 else { return 2 }
    do throws(KeyringError) {
      try ask(store: arguments[0], report)
    } catch {
      throw .unexpected("\(error)")
    }
    return 0
  }

  private static func ask(store: String, _ report: Report) throws(KeyringError) {
    var host = HostContext.scratch
    let direct = try Keyring.open(at: store, host: host)
    let exact = all[0]
    for question in [exact, all[2]] {
      report.line("\(question.name), from files: \(try time(question, 20, direct))")
    }
    host.keepsIndex = true
    let keyring = try Keyring.open(at: store, host: host)
    let memory = residentMemory()
    report.line("reading all: \(try timeOfReading(exact, keyring))")
    report.line("memory: \(residentMemory() - memory)")
    // Wait until the timestamps of the files, which were just written, are old enough to be relied on.
    usleep(100_000)
    _ = try keyring.find(exact.query(0))
    for question in all { report.line("\(question.name): \(try time(question, question.calls, keyring))") }
    // Act like another program that has rewritten a file.
    try rewrite(store)
    report.line("after a change of one shard: \(try time(exact, 1, keyring))")
    report.line("processes started: \(keyring.engineStatistics.processes)")
  }

  /// Returns the microseconds per call. Every query has to find the expected number of items.
  private static func time(
    _ question: Question, _ calls: Int, _ keyring: Keyring
  ) throws(KeyringError) -> Double {
    let queries = (0..<calls).map { question.query($0 &* 7919 % count) }
    var found = 0
    let start = ContinuousClock.now
    for query in queries { found += try keyring.find(query).items.count }
    let time = start.duration(to: .now)
    precondition(question.name == "nothing found" ? found == 0 : found >= calls, "unexpected number of items")
    return Double(time.components.attoseconds) / 1e12 / Double(calls)
      + Double(time.components.seconds) * 1e6 / Double(calls)
  }

  /// Returns the microseconds of the query that reads the whole index into memory. The first queries are answered from
  /// the files.
  private static func timeOfReading(
    _ question: Question, _ keyring: Keyring
  ) throws(KeyringError) -> Double {
    for _ in 0...Index.patience {
      let start = ContinuousClock.now
      let cost = try keyring.find(question.query(0)).statistics
      let time = start.duration(to: .now)
      if cost.linesParsed == count { return Double(time.components.attoseconds) / 1e12 }
    }
    preconditionFailure("the index is kept after a few questions")
  }

  private static func rewrite(_ store: String) throws(KeyringError) {
    let path = "\(store)/index/00.jsonl"
    // Errors do not matter: the benchmark would then measure an unchanged store, and its number would show it.
    guard let bytes = try? Files.read(path) else { return }
    _ = try? Files.write(bytes, to: "\(path).new")
    unsafe rename("\(path).new", path)
  }

  private static func residentMemory() -> Int {
    guard let bytes = try? Files.read("/proc/self/statm") else { return 0 }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
  }
}
