internal import Glibc

/// Scratch folders, a GnuPG home with a throw-away key, and the ways to run programs in them.
///
/// None of the user's files are read or changed: the home, GnuPG home, runtime and state folders are all new.
final class Workbench {
  /// The scratch folder, on a real disk.
  let folder: String
  /// The programs that run.
  let programs: Programs
  /// The number of pairs of a comparison, if the user has given it.
  let wantedPairs: Int?
  private let base: String
  private let key: String
  private let keytree: String
  /// True if the user's key has a passphrase, so that each use of it takes long.
  var hasPassphrase = false
  /// The fingerprint of the user's primary key.
  private(set) var fingerprint = ""

  /// Makes the folders and the GnuPG home.
  ///
  /// - Parameters:
  ///   - base: The folder in which the scratch folder is made.
  ///   - pairs: The number of pairs in a comparison; nil for each benchmark's own number.
  ///   - key: The key of `fixtures/gnupg` to which everything is encrypted.
  /// - Throws: An error if a program is missing, or if a program or a system call failed.
  init(base: String, pairs: Int?, key: String) throws(BenchmarkError) {
    programs = try Programs()
    keytree = try programs.keytree()
    wantedPairs = pairs
    (self.base, self.key) = (base, key)
    folder = "\(base)/ktb-\(String(UInt32.random(in: 0...UInt32.max), radix: 36))"
    for name in ["", "/home", "/gnupg", "/run", "/state", "/data"] { try Files.makeFolder(folder + name) }
    try makeGnuPGHome(key)
  }

  /// Makes another workbench like this one, with its own agent.
  func another() throws(BenchmarkError) -> Workbench {
    try Workbench(base: base, pairs: wantedPairs, key: key)
  }

  /// Returns the number of operations to measure, unless the user has given it.
  func count(_ usual: Int, withPassphrase few: Int) -> Int { wantedPairs ?? (hasPassphrase ? few : usual) }

  /// Stops the agent and removes everything.
  func close() {
    for arguments in [["--kill", "all"], ["--remove-socketdir"]] {
      // Best effort: an agent that was never started cannot be stopped, and it ends with its home anyway.
      if let gpgconf = try? programs.find("gpgconf") {
        _ = try? ChildProcess.run(command(gpgconf, ["--homedir", "\(folder)/gnupg"] + arguments))
      }
    }
    Files.remove(folder)
  }

  // MARK: Commands

  /// Returns the command of another program in the scratch environment.
  func command(_ program: String, _ arguments: [String], _ more: [String] = []) -> Command {
    let environment = [
      "PATH=\(programs.searchPath)", "HOME=\(folder)/home", "GNUPGHOME=\(folder)/gnupg",
      "XDG_RUNTIME_DIR=\(folder)/run", "XDG_STATE_HOME=\(folder)/state", "XDG_DATA_HOME=\(folder)/data",
      "LC_ALL=C",
    ]
    var command = Command(program: program, arguments: arguments, environment: environment + more)
    command.errors = "\(folder)/errors"
    return command
  }

  /// Returns the measured command on a store.
  func keytree(_ arguments: [String], store: String) -> Command {
    command(keytree, arguments, ["KEYTREE_STORE=\(store)"])
  }

  /// Returns a command of `pass` on a pass store.
  func pass(_ arguments: [String], store: String? = nil) throws(BenchmarkError) -> Command {
    command(try programs.find("pass"), arguments, ["PASSWORD_STORE_DIR=\(store ?? "\(folder)/pass")"])
  }

  /// Returns a command of git in a folder, as the user would run it.
  func git(_ arguments: [String], in place: String) throws(BenchmarkError) -> Command {
    command(try programs.find("git"), ["-C", place] + arguments)
  }

  /// Runs a command that has to succeed, and returns its output.
  @discardableResult
  func output(of command: Command, input: String? = nil) throws(BenchmarkError) -> String {
    var command = command
    if let input {
      command.input = "\(folder)/input"
      try Files.write(Array(input.utf8), to: command.input)
    }
    command.output = "\(folder)/output"
    let outcome = try ChildProcess.run(command)
    guard outcome.status == 0 else {
      let said = try Files.read(command.errors) ?? []
      throw .failed(
        command: command.text, status: outcome.ending, said: String(decoding: said, as: UTF8.self))
    }
    return String(decoding: try Files.read(command.output) ?? [], as: UTF8.self)
  }

  /// Runs our command with `--explain`, and returns the costs that it reports.
  ///
  /// - Returns: The numbers by name, such as `items decrypted`.
  func cost(
    of arguments: [String], store: String, input: String? = nil
  ) throws(BenchmarkError) -> [String: Int] {
    let command = keytree(["--explain"] + arguments, store: store)
    try output(of: command, input: input)
    let said = String(decoding: try Files.read(command.errors) ?? [], as: UTF8.self)
    var numbers: [String: Int] = [:]
    for line in said.split(separator: "\n") where line.hasPrefix("explain: ") {
      let parts = line.dropFirst("explain: ".count).split(separator: ":")
      guard parts.count == 2, let number = Int(parts[1].drop { $0 == " " }) else { continue }
      numbers[String(parts[0])] = number
    }
    return numbers
  }

  // MARK: Stores

  /// Makes a store without git.
  ///
  /// - Parameter name: The name of its folder.
  /// - Returns: Its path.
  func makeStore(_ name: String) throws(BenchmarkError) -> String {
    let path = "\(folder)/\(name)"
    try output(of: keytree(["init", "--no-git", "--key", fingerprint], store: path))
    return path
  }

  /// Adds an item to a store.
  func add(_ item: String, secret: String, to store: String) throws(BenchmarkError) {
    try output(of: keytree(["add", item], store: store), input: secret)
  }

  /// Writes an index of many items into a store, without the items.
  func fill(
    _ store: String, count: Int, escapeInterval: Int = 200, kind: SampleIndex.Kind = .internet
  ) throws(BenchmarkError) {
    // In a separate process, see `ChildProcess`.
    let arguments = [BenchmarkCommandLine.fill, store, "\(count)", "\(escapeInterval)", kind.rawValue]
    try output(of: command(programs.benchmark, arguments))
  }

  /// Writes many items with encrypted files and signed records into a store.
  ///
  /// - Parameters:
  ///   - store: The store's folder.
  ///   - count: The number of items.
  ///   - message: The encrypted file from which the files of the items are made. It is the file of an item whose secret
  ///     is ``longSecret``.
  ///   - portion: The number of records that one signature covers; nil for all of them.
  func seal(
    _ store: String, count: Int, like message: String, perSignature portion: Int? = nil
  ) throws(BenchmarkError) {
    let arguments = [BenchmarkCommandLine.seal, store, "\(count)", "\(portion ?? count)", message]
    try output(of: command(programs.benchmark, arguments))
  }

  /// A secret whose encrypted file is long enough for ``seal(_:count:like:perSignature:)``.
  static let longSecret = String(repeating: "correct horse battery staple ", count: 12)

  /// Makes a store of `pass`.
  func makePassStore(_ store: String? = nil) throws(BenchmarkError) {
    try output(of: try pass(["init", fingerprint], store: store))
  }

  /// Makes a store with a git history and a number of items that were imported at once.
  ///
  /// - Parameters:
  ///   - name: The name of its folder.
  /// - Returns: Its path.
  func makeHistory(_ name: String, count: Int) throws(BenchmarkError) -> String {
    let path = "\(folder)/\(name)"
    // git must not pack in the background during a measurement.
    let person = "[user]\n\tname = Benchmark\n\temail = benchmark@keytree.example\n[gc]\n\tauto = 0\n"
    try Files.write(Array(person.utf8), to: "\(folder)/home/.gitconfig")
    try output(of: keytree(["init", "--key", fingerprint], store: path))
    if count > 0 { try output(of: keytree(["import", "csv", try makeRows(count)], store: path)) }
    return path
  }

  /// Writes the table of a number of items.
  ///
  /// - Returns: The path of the file.
  func makeRows(_ count: Int) throws(BenchmarkError) -> String {
    let file = "\(folder)/rows.csv"
    try Files.write(Array(SampleIndex.rows(count).utf8), to: file)
    return file
  }

  /// Copies a folder with everything in it.
  func copy(_ source: String, to target: String) throws(BenchmarkError) {
    try output(of: command(try programs.find("cp"), ["-a", source, target]))
  }

  // MARK: GnuPG

  private func makeGnuPGHome(_ name: String) throws(BenchmarkError) {
    let gpg = try programs.find("gpg")
    let batch = ["--batch", "--quiet", "--no-tty"]
    if let key = try Files.read(Self.fixture(name)) {
      try Files.write(key, to: "\(folder)/key")
      try output(of: command(gpg, batch + ["--import", "\(folder)/key"]))
    } else {
      // Run outside of the source folder: any key will do.
      let identity = "Benchmark <benchmark@keytree.example>"
      try output(of: command(gpg, batch + ["--passphrase", "", "--quick-generate-key", identity]))
    }
    let listing = try output(of: command(gpg, batch + ["--with-colons", "--list-secret-keys"]))
    let line = listing.split(separator: "\n").first { $0.hasPrefix("fpr:") }
    guard let text = line?.split(separator: ":").last else { throw .unexpected("gpg lists no secret key") }
    fingerprint = String(text)
    // Trust the key like the user's own key; otherwise pass cannot encrypt without asking.
    try output(of: command(gpg, batch + ["--import-ownertrust"]), input: "\(fingerprint):6:\n")
  }

  private static func fixture(_ key: String) -> String { fixture("\(key).secret.asc", in: "gnupg") }

  /// Returns the path of a file in `fixtures`, next to the sources.
  static func fixture(_ name: String, in folder: String) -> String {
    let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return "/\(package)/fixtures/\(folder)/\(name)"
  }
}
