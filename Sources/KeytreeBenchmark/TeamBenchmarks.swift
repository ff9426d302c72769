extension Benchmark {
  /// One more reader for every item, and one less.
  static let teams = Benchmark(
    name: "teams", summary: "one more and one less reader for 1,000 items, against `pass init`",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let team = try TeamStores(bench, count: 1000)
    try team.compareWithPass(&report)
    try team.compareWithPipelines(&report)
    try team.compareWorkers(&report)
  }
}

/// The same secrets in a store and in one of pass, both with a history, and somebody who comes and goes.
private struct TeamStores {
  private let bench: Workbench
  private let count: Int
  private let store: String
  /// Without signatures, as pass is.
  private let unsigned: String
  private let pass: String
  private let keyFile: String
  /// Bob of `fixtures/gnupg`.
  private let person = "B5F28C0DCD5A74569FA573FFB3B71ABCA803B25F"
  /// Else pass would ask whether bob's key is his.
  private let passOptions = ["PASSWORD_STORE_GPG_OPTS=--trust-model always"]

  init(_ bench: Workbench, count: Int) throws(BenchmarkError) {
    (self.bench, self.count) = (bench, count)
    store = try bench.makeHistory("teams", count: count)
    unsigned = try bench.makeHistory("teams-unsigned", count: count, options: ["--no-sign"])
    pass = "\(bench.folder)/teams-pass"
    keyFile = Workbench.fixture("bob.public.asc", in: "gnupg")
    let gpg = try bench.programs.find("gpg")
    try bench.output(of: bench.command(gpg, ["--batch", "--quiet", "--import", keyFile]))
    try bench.makePassStore(pass)
    try bench.output(of: try bench.pass(["git", "init"], store: pass))
    // The same secrets, each sealed by itself.
    for number in 0..<count {
      let folder = "\(pass)/\(SampleIndex.server(number))"
      try Files.makeFolder(folder)
      let file = "\(folder)/\(number).gpg"
      try bench.output(
        of: bench.command(
          gpg,
          ["--batch", "--quiet", "--yes", "--recipient", bench.fingerprint, "--output", file, "--encrypt"]),
        input: "secret-\(number)\n")
    }
    try bench.output(of: try bench.git(["add", "--all"], in: pass))
    try bench.output(of: try bench.git(["commit", "-q", "-m", "import"], in: pass))
  }

  private func keytree(_ words: [String], in place: String? = nil, workers: Int = 0) -> Command {
    var command = bench.keytree(["group"] + words, store: place ?? store)
    command.environment.append("KEYTREE_WORKERS=\(workers)")
    return command
  }

  private func add(to place: String? = nil, workers: Int = 0) -> Command {
    keytree(["add", "default", keyFile, "--fingerprint", person], in: place, workers: workers)
  }

  private func remove(from place: String? = nil) -> Command {
    keytree(["remove", "default", person], in: place)
  }

  private func passInit(_ people: [String]) throws(BenchmarkError) -> Command {
    var command = try bench.pass(["init"] + people, store: pass)
    command.environment += passOptions
    return command
  }

  /// Adding somebody, against `pass init` with the same keys; between two rounds she is taken out again. What pass does
  /// is signed by nobody, so that the limit is about a store like that; what signatures cost comes after it.
  func compareWithPass(_ report: inout Report) throws(BenchmarkError) {
    for (place, words, limit) in [(unsigned, "not signed, as with pass", 0.5), (store, "signed", nil)] {
      let comparison = try Comparison(pairs: bench.wantedPairs ?? 3) { number throws(BenchmarkError) in
        if number > 0 { try takeOut(of: place) }
        return add(to: place)
      } theirs: { _ throws(BenchmarkError) in
        try passInit([bench.fingerprint, person])
      }
      report.comparison(
        "one more reader for \(count) items, \(words)", comparison, ours: "keytree group add",
        theirs: "pass init", limit: limit)
      let item = "\(SampleIndex.server(0))/\(SampleIndex.account(0))"
      let readers = try bench.output(of: bench.keytree(["who", item], store: place))
      report.count("readers of an item", readers.split(separator: "\n").count, wanted: 2)
      let waiting = try bench.output(of: bench.git(["status", "--porcelain"], in: place))
      report.fact("everything is committed", "", isRight: waiting.isEmpty)
      try takeOut(of: place)
    }
  }

  /// Back to one reader on both sides.
  private func takeOut(of place: String) throws(BenchmarkError) {
    try bench.output(of: remove(from: place))
    try bench.output(of: try passInit([bench.fingerprint]))
  }

  /// An item, against one pipeline of gpg that decrypts and encrypts one message.
  func compareWithPipelines(_ report: inout Report) throws(BenchmarkError) {
    let gpg = "\(try bench.programs.find("gpg")) --batch --quiet --yes --trust-model always"
    let people = "-r \(bench.fingerprint) -r \(person)"
    let message = "\(pass)/\(SampleIndex.server(0))/0.gpg"
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
    for (place, words) in [(unsigned, "not signed"), (store, "signed")] {
      let whole = try ChildProcess.run(add(to: place))
      guard whole.status == 0 else { throw .unexpected("group add failed") }
      let ours = whole.seconds / Double(count)
      let ratio = Report.number(ours / theirs, 2)
      report.note("group add, \(words)", "\(Report.number(ours * 1000, 2)) ms, ratio \(ratio)")
      try bench.output(of: remove(from: place))
    }
  }

  /// The same with one thread and with two.
  func compareWorkers(_ report: inout Report) throws(BenchmarkError) {
    let comparison = try Comparison(pairs: bench.wantedPairs ?? 3) { number throws(BenchmarkError) in
      if number > 0 { try bench.output(of: remove()) }
      return add(workers: 2)
    } theirs: { _ throws(BenchmarkError) in
      try bench.output(of: remove())
      return add(workers: 1)
    }
    report.comparison(
      "workers", comparison, ours: "2 workers", theirs: "1 worker", limit: nil)
  }
}
