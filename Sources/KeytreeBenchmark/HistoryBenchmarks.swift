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
    summary: "bytes of .git for each item added to \(historyCount), against one index file and pass",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeHistory("growth", count: historyCount)
    let pass = try bench.makePassHistory("growth-pass", count: historyCount)
    let base = "\(bench.folder)/growth-base"
    try bench.copy(store, to: base)
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
    let single = try SingleIndex(bench, base: base, grown: store)
    let whole = try Growth(of: single.folder, bench) { number throws(BenchmarkError) in
      try single.add(number)
    }
    report.note("one index.json", whole.text)
  }

  /// How many items a store has whose history is looked at.
  private static let historyCount = 10_000
}

/// How many bytes a repository grows by with each item.
private struct Growth {
  private static let count = 100
  private let loose: Int
  private let packed: Int

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

/// The same items with all their lines in one file, as other programs keep them.
private struct SingleIndex {
  let folder: String
  private let bench: Workbench
  private let grown: String
  private let added: [(line: [UInt8], file: String)]

  /// Makes the repository.
  ///
  /// - Parameters:
  ///   - base: A store.
  ///   - grown: The same store with items added to it, which this repository gets later.
  init(_ bench: Workbench, base: String, grown: String) throws(BenchmarkError) {
    (self.bench, self.grown) = (bench, grown)
    folder = "\(bench.folder)/growth-single"
    try bench.copy(base, to: folder)
    Files.remove("\(folder)/.git")
    Files.remove("\(folder)/index")
    let old = try Self.lines(base)
    try Files.write(Array(old.joined(separator: [UInt8(ascii: "\n")])), to: "\(folder)/index.json")
    for words in [["init", "-q"], ["add", "items", "index.json"], ["commit", "-q", "-m", "begin"]] {
      try bench.output(of: bench.git(words, in: folder))
    }
    let known = Set(old.map { $0.map(\.self) })
    added = try Self.lines(grown).filter { !known.contains($0) }.enumerated().map { number, line in
      (line, "items/internet-password/added-\(number).test/alice.gpg")
    }
  }

  private static func lines(_ store: String) throws(BenchmarkError) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for name in Files.names(in: "\(store)/index") {
      lines += (try Files.read("\(store)/index/\(name)") ?? []).split(separator: UInt8(ascii: "\n")).map {
        Array($0)
      }
    }
    return lines.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Adds one of the new items, and commits it.
  func add(_ number: Int) throws(BenchmarkError) {
    let (line, file) = added[number]
    var lines = (try Files.read("\(folder)/index.json") ?? []).split(separator: UInt8(ascii: "\n"))
    let place = lines.firstIndex { line.lexicographicallyPrecedes($0) } ?? lines.endIndex
    lines.insert(line[...], at: place)
    try Files.write(Array(lines.joined(separator: [UInt8(ascii: "\n")])), to: "\(folder)/index.json")
    try Files.makeFolder("\(folder)/\(file.split(separator: "/").dropLast().joined(separator: "/"))")
    try bench.copy("\(grown)/\(file)", to: "\(folder)/\(file)")
    try bench.output(of: bench.git(["add", "index.json", file], in: folder))
    try bench.output(of: bench.git(["commit", "-q", "-m", "add"], in: folder))
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
