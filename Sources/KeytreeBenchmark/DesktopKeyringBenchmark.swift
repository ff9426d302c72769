internal import Glibc

extension Benchmark {
  /// The keyring of the desktop on a bus, against gnome-keyring.
  static let desktopKeyring = Benchmark(
    name: "desktop-keyring",
    summary: "`keytree secret-service` on a private bus, against gnome-keyring-daemon on another one",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    for count in [1000, 20_000] {
      report.line("with \(count) items")
      try DesktopKeyringComparison(bench, count: count).run(&report)
    }
  }
}

/// Two keyrings with the same items, each on a bus of its own.
private struct DesktopKeyringComparison {
  private let bench: Workbench
  private let count: Int
  private let ours: ServedKeyring
  /// nil if gnome-keyring is not installed, or if there are more items than it can serve.
  private let theirs: ServedKeyring?

  /// The largest number of items for a comparison. With 20,000, gnome-keyring 42 does not answer the first search within
  /// the 25 seconds of a D-Bus call.
  private static let comparedCount = 1000

  init(_ bench: Workbench, count: Int) throws(BenchmarkError) {
    (self.bench, self.count) = (bench, count)
    let store = try bench.makeStore("desktop-\(count)")
    try bench.fill(store, count: count, kind: .served)
    ours = try ServedKeyring(
      "keytree", in: "\(bench.folder)/bus-\(count)", bench, bench.keytree(["secret-service"], store: store))
    theirs = count > Self.comparedCount ? nil : try GnomeKeyring.serve(count, bench)
  }

  /// Measures and reports. The two programs are called alternately.
  func run(_ report: inout Report) throws(BenchmarkError) {
    defer {
      ours.close()
      theirs?.close()
    }
    if count > Self.comparedCount {
      report.note("gnome-keyring-daemon", "does not answer with so many items; not compared")
    } else if theirs == nil {
      report.note("gnome-keyring-daemon", "not installed (Debian package gnome-keyring); not compared")
    }
    try starts(&report)
    // Wait until the stamps of the files, which were just written, are old enough to be relied on.
    usleep(200_000)
    let calls = bench.wantedPairs ?? 300
    try compare("search", calls, &report) { keyring, number throws(BenchmarkError) in
      _ = try keyring.search(number &* 7919 % count)
    }
    try compare("search and properties", calls, limit: 1.2, &report) {
      keyring, number throws(BenchmarkError) in
      try keyring.properties(of: try keyring.search(number &* 7919 % count))
    }
    let changes = bench.wantedPairs ?? 40
    try compare("create", changes, seconds: 0.060, &report) { keyring, number throws(BenchmarkError) in
      _ = try keyring.create(number, secret: "first")
    }
    try compare("create the same again", changes, seconds: 0.015, &report) {
      keyring, number throws(BenchmarkError) in
      _ = try keyring.create(number, secret: "first")
    }
    try compare("create with another secret", changes, &report) { keyring, number throws(BenchmarkError) in
      _ = try keyring.create(number, secret: "second")
    }
    let items = try [ours, theirs].compactMap(\.self).map { keyring throws(BenchmarkError) in
      (keyring.name, try keyring.create(0, secret: "second"))
    }
    let paths = Dictionary(uniqueKeysWithValues: items)
    try compare("read a secret", changes, seconds: 0.015, &report) { keyring, _ throws(BenchmarkError) in
      try keyring.read(paths[keyring.name] ?? "/", expecting: "second")
    }
    report.amount(
      "memory of keytree", Report.memory(ours.memory), value: Double(ours.memory), limit: 40_000_000,
      limitText: "40 MB")
    if let theirs { report.note("memory of gnome-keyring", Report.memory(theirs.memory)) }
  }

  private func starts(_ report: inout Report) throws(BenchmarkError) {
    var (owned, searched) = ([[Double]](repeating: [], count: 2), [[Double]](repeating: [], count: 2))
    for number in 0..<5 {
      for (place, keyring) in [ours, theirs].enumerated() {
        guard let times = try keyring?.start(searching: number) else { continue }
        owned[place].append(times.owned)
        searched[place].append(times.searched)
      }
    }
    try compare("start until the name is owned", owned, seconds: 0.250, &report)
    try compare("start until the first search is answered", searched, &report)
  }

  /// Times a call of both programs.
  ///
  /// - Parameters:
  ///   - pairs: The number of calls.
  ///   - limit: The maximum ratio of the medians.
  ///   - seconds: The maximum median of Keytree.
  private func compare(
    _ name: String, _ pairs: Int, limit: Double? = nil, seconds: Double? = nil, _ report: inout Report,
    _ call: (ServedKeyring, Int) throws(BenchmarkError) -> Void
  ) throws(BenchmarkError) {
    var times = [[Double]](repeating: [], count: 2)
    for number in 0..<pairs {
      for (place, keyring) in [ours, theirs].enumerated() {
        guard let keyring else { continue }
        let begin = Clock.now
        try call(keyring, number)
        times[place].append(Clock.now - begin)
      }
    }
    try compare(name, times, limit: limit, seconds: seconds, &report)
  }

  private func compare(
    _ name: String, _ times: [[Double]], limit: Double? = nil, seconds: Double? = nil,
    _ report: inout Report
  ) throws(BenchmarkError) {
    let mine = Samples(times[0])
    if times[1].isEmpty {
      report.note(name, Report.time(mine))
    } else {
      report.comparison(
        name, Comparison(ours: times[0], theirs: times[1]), ours: "keytree", theirs: "gnome-keyring",
        limit: limit)
    }
    guard let seconds else { return }
    report.amount(
      "\(name), keytree", "\(Report.number(mine.median * 1000, 2)) ms", value: mine.median, limit: seconds,
      limitText: "\(Report.number(seconds * 1000, 0)) ms")
  }
}

/// The keyring of GNOME with sample items.
private enum GnomeKeyring {
  /// Starts a bus for gnome-keyring-daemon.
  ///
  /// The items are in a keyring without a password, which is a text file, because storing them over the bus would take
  /// longer than the measurements.
  ///
  /// - Returns: nil if it is not installed.
  static func serve(_ count: Int, _ bench: Workbench) throws(BenchmarkError) -> ServedKeyring? {
    guard let program = try? bench.programs.find("gnome-keyring-daemon") else { return nil }
    let place = "\(bench.folder)/gnome-\(count)"
    for folder in [place, "\(place)/keyrings", "\(place)/run"] { try Files.makeFolder(folder) }
    try Files.write(Array("default".utf8), to: "\(place)/keyrings/default")
    try Files.write(Array(text(count).utf8), to: "\(place)/keyrings/default.keyring")
    var command = bench.command(program, ["--foreground", "--components=secrets"])
    command.environment.removeAll { $0.hasPrefix("XDG_") }
    command.environment += ["XDG_DATA_HOME=\(place)", "XDG_RUNTIME_DIR=\(place)/run"]
    return try ServedKeyring("gnome-keyring", in: "\(place)/bus", bench, command)
  }

  /// Returns the keyring as text.
  private static func text(_ count: Int) -> String {
    var text = "[keyring]\ndisplay-name=default\nctime=1600000000\nmtime=1600000000\nlock-on-idle=false\n"
    text += "lock-after=false\n"
    for number in 0..<count {
      let item = number + 1
      text += "\n[\(item)]\nitem-type=0\ndisplay-name=\(SampleIndex.label(number))\nsecret=secret \(number)\n"
      text += "mtime=1600000000\nctime=1600000000\n"
      for (place, pair) in SampleIndex.served(number).enumerated() {
        text += "\n[\(item):attribute\(place)]\nname=\(pair.name)\ntype=string\nvalue=\(pair.value)\n"
      }
    }
    return text
  }
}
