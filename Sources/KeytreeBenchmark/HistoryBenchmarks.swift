extension Benchmark {
  /// Adding one item with its commit.
  static let history = Benchmark(
    name: "history", summary: "a new secret and its commit, against `pass insert` with git", onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let secret = "\(bench.folder)/secret"
    try Files.write(Array("correct horse battery staple\n".utf8), to: secret)
    for count in [0, historyCount] {
      let store = try bench.makeHistory("history-\(count)", count: count)
      let pass = try bench.makePassHistory("pass-\(count)", count: count)
      let comparison = try Comparison(pairs: bench.wantedPairs ?? 40) { number in
        bench.keytree(["add", "added-\(number).test/alice"], store: store).reading(from: secret)
      } theirs: { number throws(BenchmarkError) in
        try bench.pass(["insert", "-m", "added-\(number).test/alice"], store: pass).reading(from: secret)
      }
      report.comparison(
        "add with commit, \(count) items", comparison, ours: "keytree add", theirs: "pass insert -m", limit: 1
      )
      let waiting = try bench.output(of: bench.git(["status", "--porcelain"], in: store))
      report.fact("everything is committed", "", isRight: waiting.isEmpty)
    }
  }

  /// How much a repository grows.
  static let growth = Benchmark(
    name: "growth",
    summary: "bytes of .git for each item added to \(historyCount), against pass",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeHistory("growth", count: historyCount)
    let pass = try bench.makePassHistory("growth-pass", count: historyCount)
    let ours = try Growth(of: store, bench) { number throws(BenchmarkError) in
      try bench.output(
        of: bench.keytree(["add", "added-\(number).test/alice"], store: store), input: "secret \(number)")
    }
    report.note("keytree", ours.text)
    let theirs = try Growth(of: pass, bench) { number throws(BenchmarkError) in
      try bench.output(
        of: bench.pass(["insert", "-m", "added-\(number).test/alice"], store: pass), input: "secret \(number)"
      )
    }
    report.note("pass", theirs.text)
    let ratio = Double(ours.packed) / Double(theirs.packed)
    report.amount(
      "after `git gc`", "\(Report.number(ratio, 2)) of pass", value: ratio, limit: 1.5, limitText: "1.50")
  }

  /// How many items a store has whose history is looked at.
  private static let historyCount = 10_000
}

/// How many bytes a repository grows by with each item.
private struct Growth {
  private static let count = 100
  let loose: Int
  let packed: Int

  init(
    of folder: String, _ bench: Workbench, add: (Int) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    let collect = try bench.git(["gc", "--quiet", "--prune=now"], in: folder)
    try bench.output(of: collect)
    let before = Files.size(of: "\(folder)/.git")
    for number in 0..<Self.count { try add(number) }
    loose = (Files.size(of: "\(folder)/.git") - before) / Self.count
    try bench.output(of: collect)
    packed = (Files.size(of: "\(folder)/.git") - before) / Self.count
  }

  var text: String { "\(loose) bytes an item, \(packed) after `git gc`" }
}

extension Workbench {
  /// Makes a store of `pass` with a history.
  ///
  /// - Parameters:
  ///   - name: The name of its folder.
  ///   - count: How many entries it has: one message with a different end each time.
  /// - Returns: Its path.
  fileprivate func makePassHistory(_ name: String, count: Int) throws(BenchmarkError) -> String {
    let store = "\(folder)/\(name)"
    try makePassStore(store)
    try output(of: try pass(["git", "init"], store: store))
    try output(of: try pass(["insert", "-m", "first"], store: store), input: "secret\n")
    guard let message = try Files.read("\(store)/first.gpg") else { throw .unexpected("pass wrote no file") }
    for number in 0..<count {
      let place = "\(store)/\(SampleIndex.server(number))"
      try Files.makeFolder(place)
      try Files.write(message + Array("\(number)".utf8), to: "\(place)/\(SampleIndex.account(number)).gpg")
    }
    if count > 0 {
      try output(of: try git(["add", "--all"], in: store))
      try output(of: try git(["commit", "-q", "-m", "import"], in: store))
    }
    return store
  }
}
