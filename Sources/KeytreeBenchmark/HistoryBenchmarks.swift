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
    let theirs = try Growth(of: pass, bench) { number throws(BenchmarkError) in
      try bench.output(
        of: bench.pass(["insert", "-m", "added-\(number).test/alice"], store: pass), input: "secret \(number)"
      )
    }
    for (ours, theirs) in zip(ours.stages, theirs.stages) {
      let ratio = Double(ours.bytes) / Double(theirs.bytes)
      report.amount(
        ours.name, "keytree \(ours.bytes), pass \(theirs.bytes), ratio \(Report.number(ratio, 2))",
        value: ratio, limit: 1.5, limitText: "1.50")
    }
  }

  /// How many items a store has whose history is looked at.
  private static let historyCount = 10_000
}

/// How many bytes a repository grows by with each item.
private struct Growth {
  /// The bytes for each item added so far, at one time.
  struct Stage {
    let name: String
    let bytes: Int
  }

  /// After `git gc` only a difference is kept of what is stored anew. An index shard is stored whole once again when it
  /// first changes, because git keeps the difference from another shard that it found for the shard as imported. So the
  /// first items cost more than those after them.
  private static let counts = [100, 1000]
  private(set) var stages: [Stage] = []

  init(
    of folder: String, _ bench: Workbench, add: (Int) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    let collect = try bench.git(["gc", "--quiet", "--prune=now"], in: folder)
    try bench.output(of: collect)
    let before = Files.size(of: "\(folder)/.git")
    func bytesAnItem(_ count: Int) -> Int {
      (Files.size(of: "\(folder)/.git") - before) / count
    }
    var added = 0
    for count in Self.counts {
      for number in added..<count { try add(number) }
      if added == 0 {
        stages.append(Stage(name: "bytes an item, \(count) added", bytes: bytesAnItem(count)))
      }
      added = count
      try bench.output(of: collect)
      stages.append(Stage(name: "the same after `git gc`, \(count) added", bytes: bytesAnItem(count)))
    }
  }
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
