internal import Keyring
internal import KeyringModel

extension Benchmark {
  /// Checking a large store without a key.
  static let verify = Benchmark(
    name: "verify",
    summary:
      "`keytree verify` of \(largeCount) records under one signature, and of \(signedCount) under one each",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let small = try store(bench, "verify-small", count: 100)
    let large = try store(bench, "verify", count: largeCount)
    let signed = try store(bench, "verify-signed", count: signedCount, perSignature: 1)
    var processes: [String: Int] = [:]
    for (store, name) in [
      (small, "100 items"), (large, "\(largeCount) items, one signature"),
      (signed, "\(signedCount) items, one signature each"),
    ] {
      report.line(name)
      try measure(bench, &report, "no signature remembered", store) { bench.forgetSignatures() }
      try measure(bench, &report, "all signatures remembered", store) {}
      processes[store] = try bench.cost(of: ["verify"], store: store)["processes started"]
      report.note("processes started, remembered", "\(processes[store] ?? -1)")
      bench.forgetSignatures()
      let cold = try bench.cost(of: ["verify"], store: store)["processes started"]
      report.note("processes started, not remembered", "\(cold ?? -1)")
    }
    for store in [large, signed] {
      report.count(
        "more processes than for 100 items", (processes[store] ?? -1) - (processes[small] ?? 0), wanted: 0)
    }
    let arguments = [BenchmarkCommandLine.audit, large]
    let numbers = Report.numbers(in: try bench.output(of: bench.command(bench.programs.benchmark, arguments)))
    report.note("records and recipients alone", "\(Report.number(numbers["seconds"] ?? 0, 2)) s")
    report.count("items", numbers["items"].map { Int($0) }, wanted: largeCount + 1)
    report.count("findings", numbers["findings"].map { Int($0) }, wanted: 0)
  }

  /// The number of items that each have their own signature.
  private static let signedCount = 10_000

  private static func measure(
    _ bench: Workbench, _ report: inout Report, _ name: String, _ store: String,
    prepare: () -> Void
  ) throws(BenchmarkError) {
    var times: [Double] = []
    var memory = 0
    for _ in 0..<(bench.wantedPairs ?? 3) {
      prepare()
      let outcome = try ChildProcess.run(bench.keytree(["verify"], store: store))
      guard outcome.status == 0 else { throw .unexpected("`keytree verify` has findings in \(store)") }
      times.append(outcome.seconds)
      memory = max(memory, outcome.peakMemory)
    }
    report.note(name, "\(Report.time(Samples(times))), peak memory \(Report.memory(memory))")
  }

  private static func store(
    _ bench: Workbench, _ name: String, count: Int, perSignature portion: Int? = nil
  ) throws(BenchmarkError) -> String {
    let store = try bench.makeStore(name)
    try bench.add("first.example/alice", secret: Workbench.longSecret, to: store)
    let message = "\(store)/items/internet-password/first.example/alice.gpg"
    try bench.seal(store, count: count, like: message, perSignature: portion)
    return store
  }
}

extension Workbench {
  /// Deletes the remembered signatures.
  fileprivate func forgetSignatures() {
    for keyring in Files.names(in: "\(folder)/state/keytree") {
      Files.remove("\(folder)/state/keytree/\(keyring)/roots")
    }
  }
}

/// The check of the records and recipients of all items of a store, in a child of this program.
enum RecipientAudit {
  /// Checks once and prints the cost.
  static func run(_ arguments: [String], _ report: Report) throws(BenchmarkError) -> Int32 {
    guard arguments.count == 1 else { return 2 }
    do throws(KeyringError) {
      let room = try VerificationWorkspace(host: .scratch)
      defer { room.remove() }
      let keyring = try Keyring.forVerification(at: arguments[0], in: room)
      // The engine home is made only once, regardless of the number of items, so it is not measured.
      try keyring.prepareAudit()
      let start = ContinuousClock.now
      let audit = try keyring.auditRecipients()
      let time = start.duration(to: .now)
      report.line(
        "seconds: \(Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)")
      report.line("items: \(audit.items)")
      report.line("findings: \(audit.findings.count)")
    } catch {
      throw .unexpected("\(error)")
    }
    return 0
  }
}
