internal import Keyring
internal import KeyringModel

extension Benchmark {
  /// Looking at a large store without a key.
  static let verify = Benchmark(
    name: "verify", summary: "a look at \(largeCount) items without a key; no process for an item",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let small = try store(bench, "verify-small", count: 100)
    let large = try store(bench, "verify", count: largeCount)
    let processes = try bench.cost(of: ["verify"], store: small)["processes started"]
    for store in [small, large] {
      var times: [Double] = []
      var memory = 0
      for _ in 0..<3 {
        let outcome = try ChildProcess.run(bench.keytree(["verify"], store: store))
        guard outcome.status == 0 else { throw .unexpected("`keytree verify` finds something") }
        times.append(outcome.seconds)
        memory = max(memory, outcome.peakMemory)
      }
      let name = store == small ? "verify, 100 items" : "verify, \(largeCount) items"
      report.note(name, "\(Report.time(Samples(times))), peak memory \(Report.memory(memory))")
    }
    report.note("processes of GnuPG, 100 items", "\(processes ?? -1)")
    let more = try bench.cost(of: ["verify"], store: large)["processes started"]
    report.count("more for \(largeCount) items", more.map { $0 - (processes ?? 0) }, wanted: 0)
    let arguments = [CommandLineUse.audit, large, "\(bench.folder)/run/keytree", bench.programs.searchPath]
    let numbers = Report.numbers(in: try bench.output(of: bench.command(bench.programs.benchmark, arguments)))
    report.note("recipients alone", "\(Report.number(numbers["seconds"] ?? 0, 2)) s")
    report.count("items", numbers["items"].map { Int($0) }, wanted: largeCount + 1)
    report.count("findings", numbers["findings"].map { Int($0) }, wanted: 0)
    report.count("processes started", numbers["processes started"].map { Int($0) }, wanted: 0)
  }

  /// A store of items that all have one message.
  private static func store(
    _ bench: Workbench, _ name: String, count: Int
  ) throws(BenchmarkError) -> String {
    let store = try bench.makeStore(name)
    try bench.add("first.example/alice", secret: "secret", to: store)
    let message = "\(store)/items/internet-password/first.example/alice.gpg"
    try bench.fill(store, count: count, message: message)
    return store
  }
}

/// The recipients of all items of a store, in a child of this program.
enum RecipientAudit {
  /// Looks once, and prints what it cost.
  static func run(_ arguments: [String], _ report: Report) throws(BenchmarkError) -> Int32 {
    guard arguments.count == 3 else { return 2 }
    do throws(KeyringError) {
      let host = HostContext(
        engineBase: arguments[1], stateBase: arguments[1], searchPath: arguments[2], interaction: .never
      ) { Timestamp(microseconds: 0) }
      let room = try VerificationRoom(host: host)
      defer { room.remove() }
      let keyring = try Keyring.forVerification(at: arguments[0], in: room)
      // The engine home is made once, whatever the number of items.
      try keyring.prepareAudit()
      let before = keyring.engineStatistics.processes
      let start = ContinuousClock.now
      let audit = try keyring.auditRecipients()
      let time = start.duration(to: .now)
      report.line(
        "seconds: \(Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18)")
      report.line("items: \(audit.items)")
      report.line("findings: \(audit.findings.count)")
      report.line("processes started: \(keyring.engineStatistics.processes - before)")
    } catch {
      throw .unexpected("\(error)")
    }
    return 0
  }
}
