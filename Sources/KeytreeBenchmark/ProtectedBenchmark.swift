extension Benchmark {
  /// The same commands with a key without a passphrase and with one.
  static let protected = Benchmark(
    name: "protected",
    summary: "commands and their uses of the key, without and with a passphrase on it, against pass with git",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    report.line("a key without a passphrase")
    try EverydayCommands(bench).compare(&report, EverydayCommands.Limits(get: 0.75, reader: 0.5))

    let second = try bench.another()
    defer { second.close() }
    let key = try ProtectedKey(second)
    report.line("a key with a passphrase; gpg --sign takes \(Report.time(key.time))")
    let commands = try EverydayCommands(second)
    try commands.compare(&report, EverydayCommands.Limits(get: 1.05, reader: 1.05))
    try commands.countUses(of: key, &report)
  }
}

/// The commands of everyday use, in two stores with git.
private struct EverydayCommands {
  /// The largest ratios that depend on the key.
  struct Limits {
    let get: Double
    let reader: Double
  }

  private let bench: Workbench
  private let stores: PairedStores
  private let secret: String
  private let output: String

  init(_ bench: Workbench) throws(BenchmarkError) {
    self.bench = bench
    stores = try PairedStores(bench)
    secret = "\(bench.folder)/secret"
    output = "\(bench.folder)/output"
    try Files.write(Array("correct horse battery staple\n".utf8), to: secret)
  }

  private var pairs: Int { bench.wantedPairs ?? 20 }

  private func keytree(_ words: [String], store: String? = nil) -> Command {
    bench.keytree(words, store: store ?? stores.store).reading(from: secret).writing(to: output)
  }

  private func pass(_ words: [String]) throws(BenchmarkError) -> Command {
    try bench.pass(words, store: stores.pass).reading(from: secret).writing(to: output)
  }

  /// Returns a command of pass followed by one signature, because pass itself signs nothing.
  private func signed(_ command: Command) throws(BenchmarkError) -> Command {
    var shell = command
    shell.program = try bench.programs.find("sh")
    let sign = "gpg --batch --quiet --yes --output '\(bench.folder)/signed' --sign '\(secret)'"
    shell.arguments = ["-c", "\"$0\" \"$@\" && \(sign)", command.program] + command.arguments
    return shell
  }

  // MARK: Comparing

  func compare(_ report: inout Report, _ limits: Limits) throws(BenchmarkError) {
    let get = try Comparison(pairs: pairs) { _ in
      keytree(["get", PairedStores.item(7)])
    } theirs: { _ throws(BenchmarkError) in
      try pass(["show", PairedStores.entry(7)])
    }
    report.comparison("get", get, ours: "keytree get", theirs: "pass show", limit: limits.get)
    let add = try Comparison(pairs: pairs) { number in
      keytree(["add", "added-\(number).test/alice"])
    } theirs: { number throws(BenchmarkError) in
      try signed(try pass(["insert", "-m", "added-\(number).test/alice"]))
    }
    report.comparison("add", add, ours: "keytree add", theirs: "pass insert, gpg --sign", limit: 1)
    let move = try Comparison(pairs: pairs) { number in
      keytree(["mv", "added-\(number).test/alice", "moved-\(number).test/alice"])
    } theirs: { number throws(BenchmarkError) in
      try signed(try pass(["mv", "-f", "added-\(number).test/alice", "moved-\(number).test/alice"]))
    }
    report.comparison("mv", move, ours: "keytree mv", theirs: "pass mv, gpg --sign", limit: 1)
    try compareImport(&report)
    try TeamStores(stores).compareWithPass(&report, pairs: 1, limit: limits.reader)
  }

  private func compareImport(_ report: inout Report) throws(BenchmarkError) {
    let rows = try bench.makeRows(stores.count)
    let import500 = try Comparison(pairs: bench.wantedPairs ?? 1, warmUp: 0) {
      number throws(BenchmarkError) in
      keytree(["import", "csv", rows], store: try bench.makeHistory("imported-\(number)", count: 0))
    } theirs: { number throws(BenchmarkError) in
      let store = "\(bench.folder)/inserted-\(number)"
      try bench.makePassStore(store)
      try bench.output(of: try bench.pass(["git", "init"], store: store))
      var shell = try bench.pass([], store: store)
      let loop =
        "for name in $(seq \(stores.count)); do echo $name | pass insert -m $name || exit; done"
      (shell.program, shell.arguments) = (try bench.programs.find("sh"), ["-c", loop])
      return shell
    }
    report.comparison(
      "\(stores.count) new items", import500, ours: "keytree import csv", theirs: "pass insert, each",
      limit: 0.5)
  }

  // MARK: Counting

  func countUses(of key: ProtectedKey, _ report: inout Report) throws(BenchmarkError) {
    report.line("uses of the key, by the agent's log")
    let item = PairedStores.item(3)
    let empty = try bench.makeHistory("import", count: 0)
    let rows = ["import", "csv", try bench.makeRows(2000)]
    try count("find", ["find", SampleIndex.server(3)], signatures: 0, key, &report)
    try count("get", ["get", item], decryptions: 1, signatures: 0, key, &report)
    try count("add", ["add", "counted.test/alice"], key, &report)
    try count("set --label", ["set", item, "--label", "changed"], key, &report)
    try count("set --secret", ["set", item, "--secret"], key, &report)
    try count("mv", ["mv", "counted.test/alice", "renamed.test/alice"], key, &report)
    try count("import of 2000 rows", rows, in: empty, key, &report)
    let right = try makeParallelChanges(count: 50)
    try count("sync, 50 changed on each side", ["sync"], in: right, key, &report)
    let items = try bench.output(of: bench.keytree(["find"], store: stores.store)).split(separator: "\n")
      .count
    let reader = TeamStores(stores).add().arguments
    // One signature is for the policy, the other for the records.
    try count(
      "group add, \(items) items", reader, decryptions: items, signatures: 2, key, &report)
  }

  private func count(
    _ name: String, _ words: [String], in store: String? = nil, decryptions: Int = 0, signatures: Int = 1,
    _ key: ProtectedKey, _ report: inout Report
  ) throws(BenchmarkError) {
    var cost: [String: Int] = [:]
    let use = try key.use { () throws(BenchmarkError) in
      cost = try bench.cost(of: words, store: store ?? stores.store, input: "new secret")
    }
    let wanted = ProtectedKey.Use(decryptions: decryptions, signatures: signatures)
    report.fact(name, use.text, isRight: use == wanted)
    let told = ProtectedKey.Use(
      decryptions: cost["items decrypted"] ?? -1, signatures: cost["signatures made"] ?? -1)
    if told != use { report.fact("  what --explain says", told.text, isRight: false) }
  }

  /// Changes the same items in two clones, and pushes one of them to the repository that both come from.
  ///
  /// - Returns: The path of the other clone.
  private func makeParallelChanges(count: Int) throws(BenchmarkError) -> String {
    let hub = "\(bench.folder)/hub.git"
    try bench.output(of: try bench.git(["clone", "-q", "--bare", stores.store, hub], in: bench.folder))
    let sides = [("left", "--label"), ("right", "--comment")]
    for (side, option) in sides {
      let clone = "\(bench.folder)/\(side)"
      try bench.output(of: bench.keytree(["clone", hub, clone], store: clone))
      for number in 10..<10 + count {
        try bench.output(of: bench.keytree(["set", PairedStores.item(number), option, side], store: clone))
      }
    }
    try bench.output(of: bench.keytree(["sync"], store: "\(bench.folder)/left"))
    return "\(bench.folder)/right"
  }
}
