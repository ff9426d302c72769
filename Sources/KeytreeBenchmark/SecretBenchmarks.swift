extension Benchmark {
  /// Decrypting one item.
  static let get = Benchmark(
    name: "get", summary: "one secret in a store of \(largeCount) lines, against gpg and pass; the agent runs"
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("get")
    for number in 0..<5 {
      try bench.add("real-\(number).example/alice", secret: "secret number \(number)", to: store)
    }
    try bench.fill(store, count: largeCount)
    try bench.makePassStore()
    try bench.output(of: try bench.pass(["insert", "-e", "real-3"]), input: "secret number 3\n")
    let gpg = try bench.programs.find("gpg")
    let show = try bench.pass(["show", "real-3"])
    let file = "\(store)/items/internet-password/real-3.example/alice.gpg"
    let pairs = bench.wantedPairs ?? 60
    let output = "\(bench.folder)/output"
    let items = [
      ("keytree://internet-password/real-3.example/alice", "get REFERENCE", 1.5, 0.6),
      ("real-3.example/alice", "get HOST/ACCOUNT", 1.6, 0.7),
    ]
    for (item, title, gpgLimit, passLimit) in items {
      let command = bench.keytree(["get", item], store: store)
      let secret = try bench.output(of: command)
      report.fact("\(title): the secret", "", isRight: secret == "secret number 3")
      let cost = try bench.cost(of: ["get", item], store: store)
      report.count("items decrypted", cost["items decrypted"], wanted: 1)
      // The version of gpg is remembered, so the only process is the one that decrypts.
      report.count("gpg processes started", cost["processes started"], wanted: 1)
      let againstGPG = try Comparison(pairs: pairs) { _ in
        command.writing(to: output)
      } theirs: { _ in
        bench.command(gpg, ["-q", "-d", file]).writing(to: output)
      }
      report.comparison(
        "\(title) against gpg", againstGPG, ours: "keytree \(title)", theirs: "gpg -q -d FILE",
        limit: gpgLimit)
      let againstPass = try Comparison(pairs: pairs) { _ in
        command.writing(to: output)
      } theirs: { _ in
        show.writing(to: output)
      }
      report.comparison(
        "\(title) against pass", againstPass, ours: "keytree \(title)", theirs: "pass show NAME",
        limit: passLimit)
    }
  }

  /// Adding one item durably.
  static let add = Benchmark(
    name: "add", summary: "a new secret without git, with every fsync, against `pass insert`"
  ) { bench, report throws(BenchmarkError) in
    let small = try bench.makeStore("add")
    let large = try bench.makeStore("add-large")
    try bench.fill(large, count: largeCount)
    try bench.makePassStore()
    let secret = "\(bench.folder)/secret"
    try Files.write(Array("correct horse battery staple\n".utf8), to: secret)
    for (title, store) in [("new store", small), ("store of \(largeCount) lines", large)] {
      let comparison = try Comparison(pairs: bench.wantedPairs ?? 60) { number in
        bench.keytree(["add", "added-\(number).example/alice"], store: store).reading(from: secret)
      } theirs: { number throws(BenchmarkError) in
        try bench.pass(["insert", "-m", "\(title)/added-\(number)"]).reading(from: secret)
      }
      report.comparison(
        "add, \(title)", comparison, ours: "keytree add", theirs: "pass insert -m", limit: 1)
    }
  }

  /// Many items at once.
  static let bulk = Benchmark(
    name: "bulk", summary: "import and check of \(bulkCount) items, without a limit"
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("bulk")
    for words in [["import", "csv", try bench.makeRows(bulkCount)], ["check"], ["check", "--decrypt"]] {
      let started = Clock.now
      try bench.output(of: bench.keytree(words, store: store))
      let seconds = Clock.now - started
      let rate = Report.number(Double(bulkCount) / seconds, 0)
      report.note(
        "keytree \(words.prefix(2).joined(separator: " "))",
        "\(Report.number(seconds, 2)) s, \(rate) items per second")
    }
  }

  /// The same file imported twice.
  static let secondImport = Benchmark(
    name: "import", summary: "import of \(bulkCount) rows: the second run against the first"
  ) { bench, report throws(BenchmarkError) in
    let rows = try bench.makeRows(bulkCount)
    // A pair is one store: the first run fills it, and the second run compares with it.
    var (first, second, ratios): ([Double], [Double], [Double]) = ([], [], [])
    var store = ""
    for number in 0..<(bench.wantedPairs ?? 3) {
      store = try bench.makeStore("import-\(number)")
      for added in [bulkCount, 0] {
        let started = Clock.now
        let said = try bench.output(of: bench.keytree(["import", rows], store: store))
        let seconds = Clock.now - started
        guard said.hasPrefix("\(added) added") else { throw .unexpected("the import reported: \(said)") }
        if added > 0 { first.append(seconds) } else { second.append(seconds) }
      }
      ratios.append(second[number] / first[number])
    }
    report.note("first run", Report.time(Samples(first)))
    let perRow = Samples(first).median * 1000 / Double(bulkCount)
    report.amount(
      "import of \(bulkCount) rows, per row", "\(Report.number(perRow, 2)) ms", value: perRow, limit: 7,
      limitText: "7 ms")
    report.note("second run", Report.time(Samples(second)))
    let ratio = Samples(ratios).median
    report.amount(
      "import of \(bulkCount) rows, second run", Report.number(ratio, 2), value: ratio, limit: 0.5,
      limitText: "0.50")
    let cost = try bench.cost(of: ["import", rows], store: store)
    // The one decrypted file is the key of the digests.
    report.count("files decrypted", cost["items decrypted"], wanted: 1)
  }

  private static let bulkCount = 2000
}
