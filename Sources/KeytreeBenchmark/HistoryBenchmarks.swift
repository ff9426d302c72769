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

  /// The growth of a repository.
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
      let text = "keytree \(ours.bytes), pass \(theirs.bytes), ratio \(Report.number(ratio, 2))"
      if ours.isLimited {
        report.amount(ours.name, text, value: ratio, limit: 1.5, limitText: "1.50")
      } else {
        report.note(ours.name, text)
      }
    }
  }

  /// The number of items of a store whose history is measured.
  private static let historyCount = 10_000
}

/// The number of bytes by which a repository grows with each item.
private struct Growth {
  /// The bytes per added item at one point in time.
  struct Stage {
    let name: String
    let bytes: Int
    /// A Boolean value that indicates whether a limit applies to it.
    var isLimited = true
  }

  private static let counts = [100, 1000]
  private(set) var stages: [Stage] = []

  init(
    of folder: String, _ bench: Workbench, add: (Int) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    // Start with the smallest repository that git can make, because additions also get that small in the long run:
    // Keytree itself repacks everything after a few hundred commits.
    let repack = try bench.git(["repack", "-a", "-d", "-f", "--quiet"], in: folder)
    try bench.output(of: repack)
    try bench.output(of: bench.git(["prune", "--expire=now"], in: folder))
    let before = Files.size(of: "\(folder)/.git")
    var added = 0
    func bytesPerItem(in folder: String) -> Int { (Files.size(of: "\(folder)/.git") - before) / added }
    for count in Self.counts {
      for number in added..<count { try add(number) }
      added = count
      stages.append(Stage(name: "\(count) added, bytes per item", bytes: bytesPerItem(in: folder)))
    }
    // The size after git has packed everything. git keeps the deltas that it found before, even those against another
    // index shard, and finds better ones only in a full repack.
    let copy = "\(folder)-collected"
    try bench.copy(folder, to: copy)
    try bench.output(of: bench.git(["gc", "--quiet", "--prune=now"], in: copy))
    stages.append(Stage(name: "  after `git gc`", bytes: bytesPerItem(in: copy), isLimited: false))
    try bench.output(of: repack)
    try bench.output(of: bench.git(["prune", "--expire=now"], in: folder))
    stages.append(
      Stage(name: "  after `git repack -a -d -f`", bytes: bytesPerItem(in: folder), isLimited: false))
  }
}

extension Workbench {
  /// Makes a store of `pass` with a history.
  ///
  /// - Parameters:
  ///   - name: The name of its folder.
  ///   - count: The number of entries, which are copies of one message, each with a different end.
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
