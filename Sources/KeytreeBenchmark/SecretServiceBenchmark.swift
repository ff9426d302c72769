internal import Glibc
internal import Keyring
internal import KeyringModel
internal import SecretService
internal import Secrets

extension Benchmark {
  /// The service for programs that use the Secret Service API, without a bus.
  static let secretService = Benchmark(
    name: "secret-service",
    summary: "calls of the Secret Service API with \(SecretServiceCalls.count) items, without a bus"
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeStore("served")
    try bench.fill(store, count: SecretServiceCalls.count, kind: .served)
    let arguments = [BenchmarkCommandLine.serve, store]
    let numbers = Report.numbers(in: try bench.output(of: bench.command(bench.programs.benchmark, arguments)))
    for (name, limit) in SecretServiceCalls.limits {
      guard let time = numbers[name] else { throw .unexpected("no number for \(name)") }
      let text = "\(Report.number(time, 1)) us"
      if let limit {
        report.amount(name, text, value: time, limit: limit, limitText: "\(Report.number(limit, 0)) us")
      } else {
        report.note(name, text)
      }
    }
    report.note("memory", Report.memory(Int(numbers["memory"] ?? 0)))
  }
}

/// The calls, in a child of this program.
enum SecretServiceCalls {
  /// The number of items of the store.
  static let count = 20_000

  /// The names of the measurements, and the limits of a call in microseconds.
  static let limits: [(name: String, limit: Double?)] = [
    ("start", 250_000), ("search by all attributes", 100), ("search by one attribute", 100),
    ("search that finds nothing", 100), ("properties of an item", 100), ("properties of a collection", nil),
    ("items of a collection", nil), ("search that finds half of the items", nil),
    ("comparison after a change", nil), ("create an item", 60_000), ("create it again", nil),
  ]

  /// Makes all calls and prints the microseconds per call.
  static func run(_ arguments: [String], _ report: Report) throws(BenchmarkError) -> Int32 {
    guard arguments.count == 1 else { return 2 }
    do {
      try call(store: arguments[0], report)
    } catch {
      throw .unexpected("\(error)")
    }
    return 0
  }

  private static func call(store: String, _ report: Report) throws {
    let memory = residentMemory()
    var host = HostContext.scratch
    host.keepsIndex = true
    let opened = host
    let options = ServiceOptions(
      stateBase: host.stateBase, clock: { ContinuousClock.now - Self.start }, date: { 0 })
    var service: SecretService?
    let time = try measured(1) { _ in
      service = try SecretService(options: options) { try Keyring.open(at: store, host: opened) }
    }
    report.line("start: \(time)")
    guard let service else { return }
    // Wait until the timestamps of the files, which were just written, are old enough to be relied on.
    usleep(100_000)
    _ = try service.searchItems(["number": "0"])
    func measure(_ name: String, _ calls: Int, _ body: (Int) throws -> Void) throws {
      report.line("\(name): \(try measured(calls) { try body($0 &* 7919 % count) })")
    }
    try measure("search by all attributes", 2000) { number in
      let found = try service.searchItems(ServiceAttributes(SampleIndex.served(number)))
      precondition(found.unlocked.count + found.locked.count == 1, "unexpected number of items")
    }
    var paths: [ObjectPath] = []
    try measure("search by one attribute", 2000) { number in
      let found = try service.searchItems(["number": "\(number)"])
      paths += found.unlocked + found.locked
    }
    try measure("search that finds nothing", 2000) { number in
      _ = try service.searchItems(["xdg:schema": "org.example.Password", "number": "\(number)x"])
    }
    try measure("properties of an item", 2000) { number in
      let path = paths[number % paths.count]
      guard case .item(let item) = try service.object(at: path, for: sender) else { return }
      _ = try service.properties(of: item)
    }
    try measure("properties of a collection", 100) { _ in
      _ = try service.properties(of: .group(GroupName.default))
    }
    try measure("items of a collection", 20) { _ in _ = try service.items(of: .group(GroupName.default)) }
    try measure("search that finds half of the items", 20) { _ in
      _ = try service.searchItems(["xdg:schema": "org.example.Password"])
    }
    try measure("comparison after a change", 20) { _ in service.storeChanged() }
    let session = try service.openSession("plain", .text, for: sender).session
    for name in ["create an item", "create it again"] {
      try measure(name, 20) { number in
        let secret = WireSecret(
          session: session, parameters: [], value: SecretSlice(SecretBytes(copying: [1, 2, 3])),
          contentType: "text/plain")
        let properties = NewItemProperties(label: "new", attributes: ["new": "\(number)"])
        let answer = try service.createItem(
          properties, secret, replace: true, in: .group(GroupName.default), for: sender)
        guard case .later(let work) = answer else { return }
        _ = try service.finish(work.run())
      }
    }
    report.line("memory: \(residentMemory() - memory)")
  }

  private static let sender = Sender(":1.1")
  private static let start = ContinuousClock.now

  /// Returns the microseconds per call.
  private static func measured(_ calls: Int, _ body: (Int) throws -> Void) throws -> Double {
    let start = ContinuousClock.now
    for number in 0..<calls { try body(number) }
    let time = start.duration(to: .now)
    return (Double(time.components.attoseconds) / 1e12 + Double(time.components.seconds) * 1e6)
      / Double(calls)
  }

  private static func residentMemory() -> Int {
    guard let bytes = try? Files.read("/proc/self/statm") else { return 0 }
    let fields = String(decoding: bytes, as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
  }
}
