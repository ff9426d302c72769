import Foundation
import Glibc
import KeyringModel
import TestSupport
import Testing

/// Two clones on two machines, of which the other one has sent eight new items and two new secrets, one of an item whose
/// secret this one has changed, too. One program that keytree uses has a fault at one of its system calls.
final class HelperFaultFixture {
  /// A program that keytree starts, or whose socket it uses.
  enum Helper: String, CaseIterable {
    case gpg, git
    case agent = "gpg-agent"
  }

  /// A command in the clone of this machine.
  enum Command: String, CaseIterable {
    case sync, verify, check, get, add
    case groupAdd = "group add"
    case rotate = "rotate status"
  }

  /// The kinds of faults. A signal comes before the call, and a failed call is not executed.
  enum Fault: String, CaseIterable {
    case kill = "signal=KILL"
    case terminate = "signal=TERM"
    case inputOutput = "error=EIO"
    case fullDisk = "error=ENOSPC"
    case noMemory = "error=ENOMEM"

    /// Returns true if the system reports this error for a call.
    func applies(to call: String) -> Bool {
      switch self {
      case .kill, .terminate: true
      case .inputOutput:
        [
          "read", "pread64", "readv", "write", "pwrite64", "writev", "openat", "newfstatat", "fstat", "lseek",
          "getdents64", "fsync", "rename", "unlink", "link", "mkdir", "connect", "sendto", "sendmsg",
          "recvmsg",
        ].contains(call)
      case .fullDisk:
        ["write", "pwrite64", "openat", "mkdir", "link", "rename", "ftruncate", "fsync"].contains(call)
      case .noMemory: ["mmap", "brk", "clone", "clone3", "vfork", "openat", "socket"].contains(call)
      }
    }
  }

  /// A system call at which one process of a helper has a fault.
  struct Point: CustomStringConvertible {
    let helper: Helper
    let command: Command
    /// The number of the process, starting at 1; 0 for the agent, which is always running.
    let process: Int
    let call: String
    /// The number of the call, starting at 1.
    let number: Int
    let fault: Fault
    var description: String {
      "\(fault.rawValue) at \(call) \(number) of \(helper.rawValue) \(process) in `\(command.rawValue)`"
    }
  }

  let program: ProcessesProgram
  private var kept: [Bool: FolderSnapshot] = [:]
  private var other: String { "\(program.folder)/other" }
  private var hub: String { "\(program.folder)/hub.git" }
  private var tools: String { "\(program.folder)/tools" }
  /// The variables of the other machine, which has its own memory of what it has verified.
  private var others: [String: String] {
    ["XDG_STATE_HOME": "\(program.folder)/state2", "KEYTREE_STORE": other]
  }

  private static let items = (1...8).map { "n\($0).example/me" } + (1...3).map { "old.example/\($0)" }

  init() throws {
    program = try ProcessesProgram()
    for name in ["state2", "tools"] {
      try FileManager.default.createDirectory(
        atPath: "\(program.folder)/\(name)", withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
    }
    try program.succeed(["init"])
    for item in Self.items.suffix(3) { try program.succeed(["add", item], input: "first") }
    try program.git(["init", "-q", "--bare", "-b", "main", hub])
    try program.git(["remote", "add", "origin", hub])
    try program.succeed(["sync"])
    try program.succeed(
      ["clone", hub, other, "--fingerprint", GnuPGKey.alice.fingerprint.text],
      variables: others.filter { $0.key != "KEYTREE_STORE" })
    for item in Self.items.prefix(8) { try program.succeed(["add", item], input: "new", variables: others) }
    for item in ["old.example/2", "old.example/3"] {
      try program.succeed(["set", item, "--secret"], input: "theirs", variables: others)
    }
    try program.succeed(["sync"], variables: others)
    try program.succeed(["set", "old.example/1", "--label", "ours"])
    // Both sides have changed the third item.
    try program.succeed(["set", "old.example/3", "--secret"], input: "ours")
    kept[false] = try snapshot("before")
    try program.succeed(["sync"])
    kept[true] = try snapshot("after")
    try makeTools()
  }

  private var places: [String] {
    [program.store, other, hub, "\(program.folder)/state", "\(program.folder)/state2"]
  }

  private func snapshot(_ name: String) throws -> FolderSnapshot {
    // Signatures that were verified before would not be verified again.
    try forgetVerdicts()
    return try FolderSnapshot(places, in: "\(program.folder)/\(name)")
  }

  private func forgetVerdicts() throws {
    for base in ["state", "state2"].map({ "\(program.folder)/\($0)" }) {
      for path in try FileManager.default.subpathsOfDirectory(atPath: base) where path.hasSuffix("/roots") {
        try FileManager.default.removeItem(atPath: "\(base)/\(path)")
      }
    }
  }

  // MARK: Tracing

  /// Installs wrappers that are found before gpg and git. Each counts its calls and runs the real program, traced if the
  /// number matches.
  private func makeTools() throws {
    for helper in [Helper.gpg, .git] {
      let name = helper.rawValue
      let script = """
        #!/bin/sh
        [ "$FAULTY" = \(name) ] || exec /usr/bin/\(name) "$@"
        number=1
        until (set -C; : > '\(tools)'/turn.$number) 2>/dev/null; do number=$((number + 1)); done
        if [ "$TRACED" != all ] && [ "$TRACED" != $number ]; then exec /usr/bin/\(name) "$@"; fi
        exec '\(ProcessesTracer.strace ?? "strace")' -f -qq -o '\(tools)'/log.$number $TRACE /usr/bin/\(name) "$@"

        """
      try ExecutableFile.write(script, to: "\(tools)/\(name)")
    }
    try ExecutableFile.write("#!/bin/sh\nexec /usr/bin/gpgconf \"$@\"\n", to: "\(tools)/gpgconf")
  }

  /// Restores the state before a command, and removes the engine homes, so that they are made again.
  private func restore(for command: Command) throws {
    try kept[command != .sync]?.restore()
    let manager = FileManager.default
    try? manager.removeItem(atPath: "\(program.folder)/run/keytree")
    for name in try manager.contentsOfDirectory(atPath: tools)
    where name.hasPrefix("turn.") || name.hasPrefix("log.") {
      try manager.removeItem(atPath: "\(tools)/\(name)")
    }
  }

  /// Runs a command with a helper under strace.
  private func run(
    _ command: Command, tracing helper: Helper, _ process: String, _ options: [String]
  ) throws -> ProcessesProgram.Outcome {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let variables = [
      "PATH": "\(tools):\(path)", "FAULTY": helper.rawValue, "TRACED": process,
      "TRACE": options.joined(separator: " "),
    ]
    let words: [String] =
      switch command {
      case .sync, .verify, .check: [command.rawValue]
      case .get: ["get", "old.example/1"]
      case .add: ["add", "added.example/me"]
      case .groupAdd: ["group", "add", "default", bobFile, "--fingerprint", GnuPGKey.bob.fingerprint.text]
      case .rotate: ["rotate", "status"]
      }
    let tracer = helper == .agent ? try traceAgent(options) : nil
    defer {
      tracer?.terminate()
      tracer?.waitUntilExit()
    }
    return try program.run(words, input: "added", tracer: ["/usr/bin/timeout", "60"], variables: variables)
  }

  private var bobFile: String { "\(program.folder)/bob.asc" }

  /// Attaches strace to the agent.
  private func traceAgent(_ options: [String]) throws -> Process {
    let answer = try program.lines(of: ["/usr/bin/gpg-connect-agent", "getinfo pid", "/bye"]).first
    let agent = try #require(answer.flatMap { Int($0.dropFirst(2)) }, "the agent is not running")
    let tracer = Process()
    tracer.executableURL = URL(fileURLWithPath: try #require(ProcessesTracer.strace))
    tracer.arguments = ["-f", "-qq", "-o", "\(tools)/log.0", "-p", "\(agent)"] + options
    // strace would inherit the signals that a thread of a test blocks, and could not be terminated.
    var (none, before) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    try tracer.run()
    for _ in 0..<500 {
      let status = try String(contentsOfFile: "/proc/\(agent)/status", encoding: .utf8)
      if !status.contains("TracerPid:\t0\n") { return tracer }
      usleep(10_000)
    }
    throw ProcessesFailure(description: "strace did not attach to the agent")
  }

  // MARK: Points

  /// Returns every point of a command, in the order of the processes.
  func points(of helper: Helper, in command: Command) throws -> [Point] {
    if !FileManager.default.fileExists(atPath: bobFile) {
      try Data(GnuPGKey.bob.publicKey).write(to: URL(fileURLWithPath: bobFile))
    }
    try restore(for: command)
    let outcome = try run(command, tracing: helper, "all", ["-e", "signal=none"])
    #expect(outcome.status == 0, "\(command) without a fault: \(outcome)")
    var found: [Point] = []
    for process in helper == .agent ? [0] : Array(1..<1000) {
      guard let text = try? String(contentsOfFile: "\(tools)/log.\(process)", encoding: .utf8) else { break }
      for (call, count) in Self.calls(in: text).sorted(by: { $0.key < $1.key }) {
        for number in 1...count {
          for fault in Fault.allCases where fault.applies(to: call) {
            found.append(
              Point(
                helper: helper, command: command, process: process, call: call, number: number, fault: fault))
          }
        }
      }
    }
    return found
  }

  /// Returns the largest number of calls of each kind by one process: strace counts them separately.
  private static func calls(in log: String) -> [String: Int] {
    var counts: [Substring: [String: Int]] = [:]
    for line in log.split(separator: "\n") where !line.contains("resumed>") {
      let process = line.prefix { $0 != " " }
      let call = String(line.dropFirst(process.count).drop { $0 == " " }.prefix { $0 != "(" })
      guard !call.isEmpty, call.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }), call != "exit_group"
      else {
        continue
      }
      counts[process, default: [:]][call, default: 0] += 1
    }
    return counts.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: max) }
  }

  // MARK: Faults

  /// The results of all points that were tried.
  struct Results: CustomStringConvertible {
    var points = 0
    var succeeded = 0
    var failed = 0
    var refused = 0
    var lost = 0
    /// The number of points at which GnuPG tries forever to read its configuration.
    var endless = 0
    var description: String {
      """
      \(points) points, \(succeeded) succeeded, \(failed) ended with an error, \(endless) read gpg.conf forever, \
      \(refused) refused, \(lost) lost
      """
    }
  }

  /// Runs a command with a fault, and expects that nothing is refused, deleted or sent because of it.
  ///
  /// - Returns: False if the point was not reached.
  func tryFault(at point: Point, _ results: inout Results) throws -> Bool {
    try restore(for: point.command)
    let inject = "inject=\(point.call):\(point.fault.rawValue):when=\(point.number)"
    let outcome = try run(
      point.command, tracing: point.helper, "\(point.process)",
      ["-y", "-e", "trace=\(point.call)", "-e", inject])
    let log = try? String(contentsOfFile: "\(tools)/log.\(point.process)", encoding: .utf8)
    // strace shows no delivery of SIGKILL, only the end of the process.
    let mark =
      switch point.fault {
      case .kill: "+++ killed by SIGKILL"
      case .terminate: "--- SIGTERM"
      default: "(INJECTED)"
      }
    guard log?.contains(mark) == true else { return false }
    results.points += 1
    let isEndless =
      outcome.status == 124
      && log?.split(separator: "\n").contains { $0.contains("gpg.conf>") && $0.hasSuffix("(INJECTED)") }
        == true
    if isEndless { results.endless += 1 }
    if outcome.status == 0 { results.succeeded += 1 } else { results.failed += isEndless ? 0 : 1 }
    let comment = Comment(rawValue: "\(point): exit \(outcome.status): \(outcome.text)\(outcome.errors)")
    let said = outcome.text + outcome.errors
    let isRefused = [
      "refused items/", "not signed", "damaged", "contains no key", "was removed", "none of these keys",
      "binding mismatch",
    ].contains {
      said.contains($0)
    }
    if isRefused { results.refused += 1 }
    #expect(!isRefused, comment)
    #expect(outcome.status >= 0 && (outcome.status != 124 || isEndless), comment)
    #expect(outcome.status == 0 || !outcome.errors.isEmpty || isEndless, comment)
    if outcome.status == 0, point.command == .get { #expect(outcome.text == "first", comment) }
    let isWhole = try look(after: point, succeeded: outcome.status == 0, comment)
    if !isWhole { results.lost += 1 }
    return true
  }

  /// Compares both clones after a fault, and after the next commands without one.
  private func look(after point: Point, succeeded: Bool, _ comment: Comment) throws -> Bool {
    // Nothing of the other machine may be missing in what was sent.
    let sent = try program.git(["ls-tree", "-r", "--name-only", "main"], in: hub)
    let isSentWhole = Self.items.allSatisfy { sent.contains("\($0).gpg") }
    #expect(isSentWhole, comment)
    var isWhole = isSentWhole
    for (store, variables) in [(program.store, [:]), (other, others), (program.store, [:])] {
      let sync = try program.run(["--store", store, "sync"], variables: variables)
      #expect(sync.status == 0, "\(comment); then sync of \(store): \(sync)")
    }
    var lists: Set<String> = []
    for (store, variables) in [(program.store, [:]), (other, others)] {
      let list = try program.run(["--store", store, "find"], variables: variables).text
      let names = list.split(separator: "\n").map { $0.split(separator: "\t")[1...2].joined(separator: "/") }
      let added = names.contains("added.example/me")
      if point.command == .add, succeeded { #expect(added, comment) }
      lists.insert(names.sorted().joined(separator: "\n"))
      isWhole = isWhole && Set(Self.items).isSubset(of: names)
      let check = try program.run(["--store", store, "check", "--decrypt"], variables: variables)
      #expect(check.status == 0, "\(comment); then check of \(store): \(check.text)\(check.errors)")
      for (item, secret) in [
        ("n1.example/me", "new"), ("old.example/2", "theirs"), ("old.example/3", "ours"),
      ]
        + (added ? [("added.example/me", "added")] : [])
      {
        let found = try program.run(["--store", store, "get", item], variables: variables)
        isWhole = isWhole && found.text == secret
        #expect(found.text == secret, "\(comment); then \(item) of \(store): \(found)")
      }
      let conflicts = try program.run(["--store", store, "resolve"], variables: variables)
      isWhole = isWhole && conflicts.text.contains("old.example/3")
      #expect(conflicts.text.contains("old.example/3"), "\(comment); then resolve of \(store): \(conflicts)")
      #expect(try program.git(["status", "--porcelain"], in: store) == "", comment)
    }
    #expect(isWhole && lists.count == 1, "\(comment); then \(lists)")
    return isWhole && lists.count == 1
  }
}
