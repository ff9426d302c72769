internal import Glibc

extension Benchmark {
  /// Adding a reader to every item, and removing the reader.
  static let teams = Benchmark(
    name: "teams", summary: "one more reader for \(PairedStores.usualCount) items, against `pass init`",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let team = TeamStores(try PairedStores(bench))
    try team.compareWithPass(&report, limit: 0.5)
    try team.compareWithPipelines(&report)
    try team.compareWorkers(&report)
  }
}

/// The same secrets in a Keytree store and in a pass store, both with git.
struct PairedStores {
  /// The number of items in each store, unless a benchmark needs another one.
  static let usualCount = 500

  let bench: Workbench
  /// The number of items in each store.
  let count: Int
  let store: String
  let pass: String

  /// Makes the stores.
  init(_ bench: Workbench, count: Int = usualCount) throws(BenchmarkError) {
    (self.bench, self.count) = (bench, count)
    store = try bench.makeHistory("paired", count: count)
    pass = "\(bench.folder)/paired-pass"
    try bench.makePassStore(pass)
    try bench.output(of: try bench.pass(["git", "init"], store: pass))
    let gpg = try bench.programs.find("gpg")
    let words = ["--batch", "--quiet", "--yes", "--recipient", bench.fingerprint, "--encrypt", "--output"]
    for number in 0..<count {
      try Files.makeFolder("\(pass)/\(SampleIndex.server(number))")
      try bench.output(
        of: bench.command(gpg, words + ["\(pass)/\(Self.entry(number)).gpg"]), input: "secret-\(number)\n")
    }
    try bench.output(of: try bench.git(["add", "--all"], in: pass))
    try bench.output(of: try bench.git(["commit", "-q", "-m", "import"], in: pass))
  }

  /// The name of an item in the store.
  static func item(_ number: Int) -> String {
    "\(SampleIndex.server(number))/\(SampleIndex.account(number))"
  }

  /// The name of an item in the store of pass.
  static func entry(_ number: Int) -> String { "\(SampleIndex.server(number))/\(number)" }
}

/// Two stores whose items get a second reader.
struct TeamStores {
  private let bench: Workbench
  private let stores: PairedStores
  private let keyFile = Workbench.fixture("bob.public.asc", in: "gnupg")
  /// Bob of `fixtures/gnupg`.
  private let person = "B5F28C0DCD5A74569FA573FFB3B71ABCA803B25F"

  init(_ stores: PairedStores) { (bench, self.stores) = (stores.bench, stores) }

  /// Returns the command that adds the reader to the store.
  func add(workers: Int = 0) -> Command {
    keytree(["add", "default", keyFile, "--fingerprint", person], workers: workers)
  }

  private func remove() -> Command { keytree(["remove", "default", person]) }

  private func keytree(_ words: [String], workers: Int = 0) -> Command {
    var command = bench.keytree(["group"] + words, store: stores.store)
    command.environment.append("KEYTREE_WORKERS=\(workers)")
    return command
  }

  private func passInit(_ people: [String]) throws(BenchmarkError) -> Command {
    var command = try bench.pass(["init"] + people, store: stores.pass)
    // Otherwise pass asks whether the key really is bob's.
    command.environment.append("PASSWORD_STORE_GPG_OPTS=--trust-model always")
    return command
  }

  /// Compares adding the reader with `pass init` with the same keys. Afterwards both stores have one reader.
  ///
  /// - Parameters:
  ///   - report: Receives the result.
  ///   - pairs: The number of pairs to count. A single pair has no warm-up, because with a protected key it takes
  ///     minutes.
  ///   - limit: The largest ratio.
  func compareWithPass(_ report: inout Report, pairs: Int = 3, limit: Double) throws(BenchmarkError) {
    try bench.output(of: bench.command(try bench.programs.find("gpg"), ["--quiet", "--import", keyFile]))
    let pairs = bench.wantedPairs ?? pairs
    let comparison = try Comparison(pairs: pairs, warmUp: pairs == 1 ? 0 : 1) {
      number throws(BenchmarkError) in
      if number > 0 { try removeOnBothSides() }
      Self.waitForFreedInodes()
      return add()
    } theirs: { _ throws(BenchmarkError) in
      Self.waitForFreedInodes()
      return try passInit([bench.fingerprint, person])
    }
    report.comparison(
      "one more reader for \(stores.count) items", comparison, ours: "keytree group add",
      theirs: "pass init", limit: limit)
    let readers = try bench.output(of: bench.keytree(["who", PairedStores.item(0)], store: stores.store))
    report.count("readers of an item", readers.split(separator: "\n").count, wanted: 2)
    let pending = try bench.output(of: bench.git(["status", "--porcelain"], in: stores.store))
    report.fact("everything is committed", "", isRight: pending.isEmpty)
    try removeOnBothSides()
  }

  /// Waits until the file system no longer skips the inodes of deleted files. For a minute (`RECENTCY_MIN`), ext4
  /// without a journal skips these inodes one by one for each new file, so the files that the previous run and the
  /// other side have deleted would slow this side down.
  private static func waitForFreedInodes() {
    sync()
    sleep(61)
  }

  private func removeOnBothSides() throws(BenchmarkError) {
    try bench.output(of: remove())
    try bench.output(of: try passInit([bench.fingerprint]))
  }

  /// Compares the time per item with a gpg pipeline that decrypts and encrypts one message.
  func compareWithPipelines(_ report: inout Report) throws(BenchmarkError) {
    let gpg = "\(try bench.programs.find("gpg")) --batch --quiet --yes --trust-model always"
    let people = "-r \(bench.fingerprint) -r \(person)"
    let message = "\(stores.pass)/\(PairedStores.entry(0)).gpg"
    let pipeline = "\(gpg) -d '\(message)' | \(gpg) -e \(people) -o '\(bench.folder)/again.gpg'"
    let shell = try bench.programs.find("sh")
    var seconds: [Double] = []
    for _ in 0..<50 {
      let outcome = try ChildProcess.run(bench.command(shell, ["-c", pipeline]))
      guard outcome.status == 0 else { throw .unexpected("the pipeline failed") }
      seconds.append(outcome.seconds)
    }
    let theirs = Samples(seconds).median
    report.line("an item, everything included")
    report.note("gpg -d | gpg -e", "\(Report.number(theirs * 1000, 2)) ms")
    Self.waitForFreedInodes()
    let whole = try ChildProcess.run(add())
    guard whole.status == 0 else { throw .unexpected("group add failed") }
    let ours = whole.seconds / Double(stores.count)
    report.note(
      "group add", "\(Report.number(ours * 1000, 2)) ms, ratio \(Report.number(ours / theirs, 2))")
    try bench.output(of: remove())
  }

  /// Compares two worker threads with one.
  func compareWorkers(_ report: inout Report) throws(BenchmarkError) {
    let comparison = try Comparison(pairs: bench.wantedPairs ?? 3) { number throws(BenchmarkError) in
      if number > 0 { try bench.output(of: remove()) }
      Self.waitForFreedInodes()
      return add(workers: 2)
    } theirs: { _ throws(BenchmarkError) in
      try bench.output(of: remove())
      Self.waitForFreedInodes()
      return add(workers: 1)
    }
    report.comparison(
      "workers", comparison, ours: "2 workers", theirs: "1 worker", limit: nil)
  }
}
