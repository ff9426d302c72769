/// A passphrase on the key of a workbench, which the agent knows but has to apply for each use of the key.
///
/// The agent caches the passphrase, not the key: it derives the key's protection again for each operation, and GnuPG
/// chooses the number of iterations so that this takes about 100 ms on the machine that protects the key.
struct ProtectedKey {
  /// The target time of `gpg --sign`, in seconds.
  private static let wantedTime = 0.1
  private static let passphrase = "correct horse"

  private let bench: Workbench
  private let signedFile: String

  /// The measured time of `gpg --sign`.
  private(set) var time: Samples

  /// Protects the key.
  ///
  /// - Parameter bench: A workbench whose key has no passphrase yet.
  init(_ bench: Workbench) throws(BenchmarkError) {
    self.bench = bench
    signedFile = "\(bench.folder)/to-sign"
    try Files.write(Array("text\n".utf8), to: signedFile)
    time = try Self.timeOfSigning(signedFile, bench)
    let plain = time.median
    // The time is proportional to the iterations, but a busy machine may need a second try.
    var iterations = 30_000_000.0
    for _ in 0..<6 {
      try protect(iterations: Int(iterations))
      time = try Self.timeOfSigning(signedFile, bench)
      if abs(time.median - Self.wantedTime) < Self.wantedTime / 10 { break }
      let wanted = max(Self.wantedTime - plain, Self.wantedTime / 10)
      iterations = max(iterations * wanted / max(time.median - plain, 0.001), 65_536)
    }
    bench.hasPassphrase = true
  }

  private func protect(iterations: Int) throws(BenchmarkError) {
    let lines = [
      "allow-preset-passphrase", "default-cache-ttl 999999", "max-cache-ttl 999999",
      "s2k-count \(iterations)", "log-file \(log)", "debug-level advanced",
    ]
    try Files.write(
      Array(lines.map { "\($0)\n" }.joined().utf8), to: "\(bench.folder)/gnupg/gpg-agent.conf")
    try bench.output(of: bench.command(try bench.programs.find("gpgconf"), ["--kill", "gpg-agent"]))
    let gpg = try bench.programs.find("gpg")
    let change = ["--pinentry-mode", "loopback", "--passphrase", Self.passphrase, "--passwd"]
    try bench.output(of: bench.command(gpg, ["--batch", "--quiet"] + change + [bench.fingerprint]))
    let listing = try bench.output(
      of: bench.command(gpg, ["--batch", "--with-colons", "--with-keygrip", "--list-secret-keys"]))
    let digits = Self.passphrase.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let connect = try bench.programs.find("gpg-connect-agent")
    for line in listing.split(separator: "\n") where line.hasPrefix("grp:") {
      guard let grip = line.split(separator: ":").last else { continue }
      let answer = try bench.output(
        of: bench.command(connect, ["PRESET_PASSPHRASE \(grip) -1 \(digits)", "/bye"]))
      guard answer == "OK\n" else { throw .unexpected("the agent does not accept the passphrase: \(answer)") }
    }
  }

  private static func timeOfSigning(_ file: String, _ bench: Workbench) throws(BenchmarkError) -> Samples {
    let words = ["--batch", "--quiet", "--yes", "--output", "\(file).gpg", "--sign", file]
    let sign = bench.command(try bench.programs.find("gpg"), words)
    var seconds: [Double] = []
    for number in 0...10 {
      let outcome = try ChildProcess.run(sign)
      guard outcome.status == 0 else { throw .unexpected("gpg --sign: \(outcome.ending)") }
      // The first one may start the agent.
      if number > 0 { seconds.append(outcome.seconds) }
    }
    return Samples(seconds)
  }

  // MARK: Counting

  /// The number of uses of a secret key.
  struct Use: Equatable {
    var decryptions = 0
    var signatures = 0

    var text: String { "\(decryptions) decrypted, \(signatures) signed" }
  }

  private var log: String { "\(bench.folder)/agent.log" }

  /// Counts the uses of the key in the agent's log while a body runs.
  func use(during body: () throws(BenchmarkError) -> Void) throws(BenchmarkError) -> Use {
    try Files.write([], to: log)
    try body()
    var use = Use()
    for line in (try bench.text(log)).split(separator: "\n") {
      if line.hasSuffix("<- PKDECRYPT") { use.decryptions += 1 }
      if line.hasSuffix("<- PKSIGN") { use.signatures += 1 }
    }
    return use
  }
}
