extension Benchmark {
  /// The time to compute all historical readers of the secrets in a large store.
  static let rotation = Benchmark(
    name: "rotation",
    summary:
      "`rotate status` over \(rotationCount) items that a former member could read, each encrypted twice",
    onlyByName: true
  ) { bench, report throws(BenchmarkError) in
    let store = try bench.makeRotation("rotation", count: rotationCount)
    let log = "\(bench.folder)/started"
    let folder = try bench.makeCounters("counters", log: log)
    // The first run makes GnuPG read the key of the former member.
    try bench.output(of: bench.keytree(["rotate", "status"], store: store))
    var (seconds, memory) = ([Double](), 0)
    for _ in 0..<(bench.wantedPairs ?? 3) {
      try Files.write([], to: log)
      var command = bench.keytree(["--quiet", "rotate", "status"], store: store).lookingIn(folder)
      command.output = "\(bench.folder)/output"
      let outcome = try ChildProcess.run(command)
      guard outcome.status == 0 else { throw .unexpected("rotate status: \(outcome.ending)") }
      seconds.append(outcome.seconds)
      memory = max(memory, outcome.peakMemory)
    }
    let time = Samples(seconds)
    report.amount(
      "rotate status", Report.time(time), value: time.median, limit: 15, limitText: "15 s")
    report.note("peak memory", Report.memory(memory))
    let lines = (try Files.read("\(bench.folder)/output") ?? []).split(separator: UInt8(ascii: "\n"))
    let open = lines.count { $0.starts(with: "open\t".utf8) }
    report.fact(
      "entries", "\(open) open, \(lines.count - open) others", isRight: open == rotationCount + 1)
    let started = String(decoding: try Files.read(log) ?? [], as: UTF8.self).split(separator: "\n")
    report.note("processes: git", "\(started.count { $0 == "git" })")
    report.count("processes: GnuPG", started.count { $0 != "git" }, wanted: 0)
  }

  /// The number of items.
  private static let rotationCount = 100_000
}

extension Workbench {
  /// Makes a store whose items a former member could read, with two messages for each item in the history.
  fileprivate func makeRotation(_ name: String, count: Int) throws(BenchmarkError) -> String {
    let store = try makeHistory(name, count: 0)
    try add("seed.test/alice", secret: Self.longSecret, to: store)
    let file = "\(store)/items/internet-password/seed.test/alice.gpg"
    let colleague = try makeColleague()
    for (number, change) in [
      ["group", "add", "default", colleague], ["group", "remove", "default", colleague],
    ].enumerated() {
      try output(of: keytree(change, store: store))
      guard let message = try Files.read(file) else { throw .unexpected("the seed has no message") }
      try Files.write(message, to: "\(folder)/message-\(number)")
    }
    for number in 0...1 {
      try seal(store, count: count, like: "\(folder)/message-\(number)")
      for words in [["add", "index", "items"], ["commit", "-q", "-m", "seal \(number)"]] {
        try output(of: git(words, in: store))
      }
    }
    // Pack the repository, as a hub or `git gc` does after a while.
    try output(of: git(["gc", "--quiet"], in: store))
    return store
  }

  /// Makes the key of another person in the keyring of the user, and returns its fingerprint.
  private func makeColleague() throws(BenchmarkError) -> String {
    let gpg = try programs.find("gpg")
    let batch = ["--batch", "--quiet", "--no-tty"]
    let person = "Colleague <colleague@keytree.example>"
    try output(
      of: command(gpg, batch + ["--passphrase", "", "--quick-generate-key", person, "future-default"]))
    let listing = try output(of: command(gpg, batch + ["--with-colons", "--list-keys", "colleague"]))
    let line = listing.split(separator: "\n").first { $0.hasPrefix("fpr:") }
    guard let text = line?.split(separator: ":").last else { throw .unexpected("gpg lists no key") }
    return String(text)
  }

  /// Makes a folder of wrapper programs that log their start to a file and then run the real program.
  fileprivate func makeCounters(_ name: String, log: String) throws(BenchmarkError) -> String {
    let place = "\(folder)/\(name)"
    try Files.makeFolder(place)
    for program in ["git", "gpg", "gpgconf", "gpg-agent"] {
      let script = "#!/bin/sh\necho \(program) >> '\(log)'\nexec '\(try programs.find(program))' \"$@\"\n"
      try Files.write(Array(script.utf8), to: "\(place)/\(program)")
      try output(of: command(try programs.find("chmod"), ["700", "\(place)/\(program)"]))
    }
    return place
  }
}

extension Command {
  /// Returns the same command with a folder at the beginning of its `PATH`.
  fileprivate func lookingIn(_ folder: String) -> Command {
    var command = self
    command.environment = environment.map { variable in
      variable.hasPrefix("PATH=") ? "PATH=\(folder):\(variable.dropFirst("PATH=".count))" : variable
    }
    return command
  }
}
