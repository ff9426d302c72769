/// The number of items of a large store.
let largeCount = 100_000

extension Benchmark {
  /// Searching a large index.
  static let find = Benchmark(
    name: "find", summary: "one server among \(largeCount) items, against `grep -rF` over the same folder"
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("find")
    try bench.fill(store, count: largeCount)
    let grep = try bench.programs.find("grep")
    let number = largeCount / 2
    let server = SampleIndex.server(number)
    let pairs = bench.wantedPairs ?? 60
    let ways: [(title: String, words: [String], limit: Double)] = [
      ("by attribute", ["find", "--server", server], 1), ("in any attribute", ["find", server], 0.8),
    ]
    for way in ways {
      let found = try bench.output(of: bench.keytree(way.words, store: store)).split(separator: "\n").count
      report.fact("items found \(way.title)", "\(found)", isRight: found == 3)
      let comparison = try Comparison(pairs: pairs) { _ in
        bench.keytree(way.words, store: store).writing(to: "\(bench.folder)/output")
      } theirs: { _ in
        // Into a file: grep stops at the first match when its output is /dev/null.
        bench.command(grep, ["-rF", server, "\(store)/index"]).writing(to: "\(bench.folder)/output")
      }
      report.comparison(
        "find, \(way.title)", comparison,
        ours: "keytree \(way.words.dropLast().joined(separator: " ")) SERVER",
        theirs: "grep -rF SERVER index/", limit: way.limit)
      report.amount(
        "find, \(way.title): peak memory", Report.memory(comparison.peakMemory),
        value: Double(comparison.peakMemory),
        limit: 40_000_000, limitText: "40 MB")
      let cost = try bench.cost(of: way.words, store: store)
      report.count("items decrypted", cost["items decrypted"], wanted: 0)
      report.count("processes started", cost["processes started"], wanted: 0)
    }
    try oneShard(bench, &report, store: store, number: number)
  }

  /// Checks that a query for an exact primary key reads one shard.
  private static func oneShard(
    _ bench: Workbench, _ report: inout Report, store: String, number: Int
  ) throws(BenchmarkError) {
    let words = [
      "find", "--json", "--server", SampleIndex.server(number), "--account", SampleIndex.account(number),
    ]
    let line = try bench.output(of: bench.keytree(words, store: store))
    guard let start = line.range(of: "\"reference\":\""), let end = line[start...].firstIndex(of: "\"") else {
      throw .unexpected("`find --json` prints no reference: \(line)")
    }
    let reference = String(line[start..<end])
    let cost = try bench.cost(of: ["get", "--attributes", reference], store: store)
    report.count("shards read for a primary key", cost["shards read"], wanted: 1)
  }

  /// Printing all items.
  static let listing = Benchmark(
    name: "listing", summary: "all of \(largeCount) items in a pipe, without a limit"
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("listing")
    try bench.fill(store, count: largeCount)
    for words in [["find"], ["find", "--json"]] {
      var times: [Double] = []
      var memory = 0
      for _ in 0..<5 {
        let command = bench.keytree(words, store: store).writing(to: "\(bench.folder)/output")
        let outcome = try ChildProcess.run(command)
        times.append(outcome.seconds)
        memory = max(memory, outcome.peakMemory)
      }
      let text = "\(Report.time(Samples(times))), peak memory \(Report.memory(memory))"
      report.note("keytree \(words.joined(separator: " "))", text)
    }
  }
}

extension Command {
  /// Returns the same command with its output in a file.
  func writing(to path: String) -> Command {
    var command = self
    command.output = path
    return command
  }

  /// Returns the same command with its input from a file.
  func reading(from path: String) -> Command {
    var command = self
    command.input = path
    return command
  }
}

extension String {
  /// Returns the position after the first occurrence of a text; nil without one.
  fileprivate func range(of text: String) -> String.Index? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
