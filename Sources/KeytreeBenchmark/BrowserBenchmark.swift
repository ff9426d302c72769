extension Benchmark {
  /// The host for browsers, compared with the extension's own program.
  static let browser = Benchmark(
    name: "browser",
    summary: "requests of the extension Browserpass as whole processes, against browserpass-native",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let native = try NativeHost.find(bench)
    if native == nil {
      report.line(
        "  browserpass-native is not installed (`apt install webext-browserpass`), so nothing is compared")
    }
    for count in [1000, 20_000, 25_000] {
      let stores = try BrowserStores(bench, count: count)
      let runs = BrowserRuns(bench: bench, stores: stores, native: native)
      report.line("  \(count) logins")
      try runs.measure("configure", limit: count == 1000 ? 6 : nil, &report)
      try runs.measure("list", limit: [1000: 20, 20_000: 200][count], &report)
      try runs.measureFetch(&report)
    }
  }
}

/// A store, and a store of `pass` with files of the same names.
private struct BrowserStores {
  let own: String
  let pass: String
  /// The encrypted file of the login that is fetched.
  let message: String

  static let host = "fetched.example"

  /// Makes both stores. Only the login that is fetched can be decrypted.
  init(_ bench: Workbench, count: Int) throws(BenchmarkError) {
    own = try bench.makeStore("browser-\(count)")
    try bench.add("\(Self.host)/alice", secret: "secret", to: own)
    try bench.fill(own, count: count - 1)
    try bench.output(of: bench.keytree(["config", "browser.fetchesPerMinute", "1000"], store: own))
    pass = "\(bench.folder)/browser-pass-\(count)"
    try bench.makePassStore(pass)
    let login = "secret\nlogin: alice\nurl: https://\(Self.host)/\n"
    try bench.output(
      of: bench.pass(["insert", "--multiline", "\(Self.host)/alice"], store: pass), input: login)
    message = "\(pass)/\(Self.host)/alice.gpg"
    guard let bytes = try Files.read(message) else { throw .unexpected("pass has written no file") }
    for number in 0..<(count - 1) {
      let folder = "\(pass)/\(SampleIndex.server(number))\(number % 9 == 0 ? ":8443" : "")"
      try Files.makeFolder(folder)
      try Files.write(bytes, to: "\(folder)/\(SampleIndex.account(number)).gpg")
    }
  }
}

/// The program of the extension.
private enum NativeHost {
  /// Returns its path: the place of Debian's package `webext-browserpass`, or the search path; nil if it is missing.
  static func find(_ bench: Workbench) throws(BenchmarkError) -> String? {
    let packaged = "/usr/lib/browserpass/browserpass-native"
    if Files.isProgram(packaged) { return packaged }
    return try? bench.programs.find("browserpass-native")
  }
}

/// The requests of the extension to both programs.
private struct BrowserRuns {
  let bench: Workbench
  let stores: BrowserStores
  let native: String?

  private static let origin = "chrome-extension://naepdomgkenhinolocfifgehidddafch/"

  /// The repetitions of one request.
  private var pairs: Int { bench.wantedPairs ?? 20 }

  /// Measures one request.
  ///
  /// - Parameter limit: The longest median of our times, in milliseconds; nil without a target.
  func measure(_ action: String, limit: Double?, _ report: inout Report) throws(BenchmarkError) {
    let ours = try times(action, &report)
    if let limit { amount(action, ours, limit: limit, &report) }
  }

  /// Measures a fetch, and compares it with a decryption by GnuPG alone.
  func measureFetch(_ report: inout Report) throws(BenchmarkError) {
    let gpg = try bench.programs.find("gpg")
    let decryption = bench.command(gpg, ["--batch", "--quiet", "--decrypt", stores.message])
    let alone = try Comparison(pairs: pairs) { _ in
      decryption
    } theirs: { _ in
      decryption
    }
    let ours = try times("fetch", &report)
    report.note("gpg --decrypt", Report.time(alone.ours))
    amount("fetch", ours, limit: alone.ours.median * 1000 + 10, &report)
  }

  private func amount(_ action: String, _ times: Samples, limit: Double, _ report: inout Report) {
    let time = times.median * 1000
    report.amount(
      action, "\(Report.number(time, 1)) ms", value: time, limit: limit,
      limitText: "\(Report.number(limit, 0)) ms")
  }

  /// Runs the programs alternately and reports times and memory.
  ///
  /// - Returns: Our times.
  private func times(_ action: String, _ report: inout Report) throws(BenchmarkError) -> Samples {
    var ours = bench.keytree(["browser-host", Self.origin], store: stores.own)
    ours.input = try request(action, store: stores.own)
    var theirs = ours
    if let native {
      theirs = bench.command(native, [Self.origin], ["PASSWORD_STORE_DIR=\(stores.pass)"])
      theirs.input = try request(action, store: stores.pass)
    }
    let comparison = try Comparison(pairs: pairs) { _ in
      ours
    } theirs: { _ in
      theirs
    }
    if native != nil {
      report.comparison(
        action, comparison, ours: "keytree browser-host", theirs: "browserpass-native", limit: nil)
    } else {
      report.note("\(action): keytree browser-host", Report.time(comparison.ours))
    }
    let peer = native == nil ? "" : ", browserpass-native \(Report.memory(comparison.peerPeakMemory))"
    report.note("memory of \(action)", "keytree \(Report.memory(comparison.peakMemory))\(peer)")
    return comparison.ours
  }

  /// Writes a request as a browser sends it.
  ///
  /// - Returns: The path of the file.
  private func request(_ action: String, store: String) throws(BenchmarkError) -> String {
    let path = "\(bench.folder)/request-\(action)-\(store.split(separator: "/").last ?? "")"
    let settings = #"{"stores":{"default":{"id":"default","name":"pass","path":"\#(store)","settings":{}}}}"#
    let file = "\(BrowserStores.host)/alice.gpg"
    let message =
      #"{"settings":\#(settings),"action":"\#(action)","storeId":"default","file":"\#(file)"}"#
    let size = UInt32(message.utf8.count)
    let header = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * UInt32($0))) }
    try Files.write(header + message.utf8, to: path)
    return path
  }
}
