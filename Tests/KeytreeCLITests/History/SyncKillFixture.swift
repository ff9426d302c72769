import Foundation
import Glibc
import TestSupport
import Testing

/// Two clones with twenty changes each, one of them not committed yet. The state can be restored repeatedly.
final class SyncKillFixture {
  /// The process that is killed: keytree itself, or one of the git processes that it starts.
  enum Target: Equatable {
    case keytree
    /// The number of the git process, starting at 1.
    case git(Int)
  }

  /// The system call at which the process is killed.
  struct Point: CustomStringConvertible {
    let target: Target
    let call: String
    /// The number of the call, starting at 1.
    let number: Int
    var description: String { "\(call) \(number) of \(target)" }
  }

  let program: ProcessesProgram
  /// The content of both clones after a synchronization without a kill.
  private(set) var expected: Set<String> = []

  private var other: String { "\(program.folder)/other" }
  private var hub: String { "\(program.folder)/hub.git" }
  private var tools: String { "\(program.folder)/tools" }
  private var kept: FolderSnapshot?

  init() throws {
    program = try ProcessesProgram()
    try makeClones()
    for words in Self.ours.dropLast() { try change(words) }
    for words in Self.theirs { try change(["--store", other] + words) }
    // The changes include a file that does not belong to the store.
    try Data("read me\n".utf8).write(to: URL(fileURLWithPath: "\(other)/README"))
    try program.git(["add", "README"], in: other)
    try program.git(["commit", "-q", "-m", "README"], in: other)
    try program.succeed(["--store", other, "sync"])
    // One change is not committed yet.
    let lock = "\(program.store)/.git/index.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    let outcome = try program.run(Self.ours.last ?? [], input: "ours")
    try #require(outcome.status == 11, "\(outcome)")
    try FileManager.default.removeItem(atPath: lock)
    kept = try FolderSnapshot([program.store, other, hub], in: "\(program.folder)/kept")
    try makeTools()
    try settle("nothing was killed")
    expected = try lines(of: program.store)
    // 14 of 16 items remain, 11 are new, and 4 are conflict copies: 2 secrets, a rename and an addition.
    try #require(expected.count == 29)
  }

  // MARK: Changes

  private static let ours: [[String]] =
    (0..<5).map { ["add", "a\($0).example/me"] } + [["add", "both.example/me"]]
    + (0..<3).map { ["set", "i\($0).example/me", "--secret"] }
    + (3..<6).map { ["set", "i\($0).example/me", "-l", "ours"] }
    + (6..<9).map { ["mv", "i\($0).example/me", "m\($0).example/me"] }
    + (9..<12).map { ["rm", "i\($0).example/me"] }
    + [["set", "i13.example/me", "-l", "ours"], ["set", "i12.example/me", "--secret"]]

  private static let theirs: [[String]] =
    (0..<5).map { ["add", "c\($0).example/me"] } + [["add", "both.example/me"]]
    + [0, 6, 9, 12].map { ["set", "i\($0).example/me", "--secret"] }
    + [3, 10, 1].map { ["set", "i\($0).example/me", "-j", "theirs"] }
    + [4, 7, 14].map { ["mv", "i\($0).example/me", "n\($0).example/me"] }
    + [11, 13, 15, 5].map { ["rm", "i\($0).example/me"] }

  private func makeClones() throws {
    try program.succeed(["init"])
    try program.succeed(["policy", "allow", "README"])
    let rows = (0..<16).map { "i\($0),https://i\($0).example/,me,old \($0)\n" }.joined()
    try program.succeed(["import", "csv", "/dev/stdin"], input: "name,url,username,password\n" + rows)
    try program.git(["init", "-q", "--bare", "-b", "main", hub])
    try program.succeed(["git", "remote", "add", "origin", hub])
    try program.succeed(["sync"])
    try program.succeed(["clone", hub, other])
  }

  private func change(_ words: [String]) throws {
    let side = words.contains(other) ? "theirs" : "ours"
    try program.succeed(words, input: "\(side) \(words.last { $0.contains("example") } ?? "")")
  }

  // MARK: Killing

  /// Installs a wrapper that is found before git. It counts its calls and runs the real git, traced if the number
  /// matches.
  private func makeTools() throws {
    try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: false)
    let script = """
      #!/bin/sh
      number=1
      until (set -C; : > '\(tools)'/turn.$number) 2>/dev/null; do number=$((number + 1)); done
      if [ "$TRACED" != all ] && [ "$TRACED" != $number ]; then exec /usr/bin/git "$@"; fi
      '\(ProcessesTracer.strace ?? "strace")' -f -qq -o '\(tools)'/log.$number $TRACE /usr/bin/git "$@"
      status=$?
      if [ "$KILLED" = both ] && grep -q 'killed by SIGKILL' '\(tools)'/log.$number; then kill -9 $PPID; fi
      exit $status

      """
    try ExecutableFile.write(script, to: "\(tools)/git")
  }

  private func sync(
    tracing: String, _ options: [String], kills: Bool = false, tracer: [String] = []
  ) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: tools) where name.hasPrefix("turn.") {
      try FileManager.default.removeItem(atPath: "\(tools)/\(name)")
    }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    _ = try program.run(
      ["sync"], tracer: tracer,
      variables: [
        "PATH": "\(tools):\(path)", "TRACED": tracing, "TRACE": options.joined(separator: " "),
        "KILLED": kills ? "both" : "git",
      ])
  }

  /// The system calls that change a file or start a program.
  private static let calls = [
    "openat", "mkdir", "mkdirat", "write", "pwrite64", "fsync", "rename", "renameat", "renameat2", "unlink",
    "unlinkat", "rmdir", "link", "flock", "execve", "clone", "clone3", "vfork",
  ]

  /// Returns every point of a synchronization, ordered by target.
  func points() throws -> [Point] {
    try kept?.restore()
    let trace = ["-e", "signal=none", "-e", "trace=\(Self.calls.joined(separator: ","))"]
    let strace = try #require(ProcessesTracer.strace)
    try sync(tracing: "none", [], tracer: [strace, "-qq", "-o", "\(tools)/log.0"] + trace)
    let own = try points(of: .keytree, log: "log.0", hasProcesses: false)
    try kept?.restore()
    try sync(tracing: "all", trace)
    var found = own
    for number in 1..<1000 {
      guard FileManager.default.fileExists(atPath: "\(tools)/log.\(number)") else { break }
      found += try points(of: .git(number), log: "log.\(number)", hasProcesses: true)
    }
    return found
  }

  private func points(of target: Target, log: String, hasProcesses: Bool) throws -> [Point] {
    var counts: [String: Int] = [:]
    var found: [String: Set<Int>] = [:]
    let text = try String(contentsOfFile: "\(tools)/\(log)", encoding: .utf8)
    for line in text.split(separator: "\n") where !line.contains("resumed>") {
      let process = hasProcesses ? String(line.prefix { $0 != " " }) : ""
      let rest = line.dropFirst(process.count).drop { $0 == " " }
      let call = String(rest.prefix { $0 != "(" })
      guard Self.calls.contains(call) else { continue }
      // strace counts calls separately for each process.
      counts["\(process) \(call)", default: 0] += 1
      // Opening a file only for reading leaves nothing behind.
      if call == "openat", !rest.contains("O_WRONLY"), !rest.contains("O_RDWR") { continue }
      found[call, default: []].insert(counts["\(process) \(call)", default: 0])
    }
    return found.sorted { $0.key < $1.key }.flatMap { call, numbers in
      numbers.sorted().map { Point(target: target, call: call, number: $0) }
    }
  }

  /// Synchronizes, and kills at a point.
  ///
  /// - Parameter both: True if keytree is killed together with git.
  /// - Returns: True if the point was reached.
  func kill(at point: Point, both: Bool) throws -> Bool {
    try kept?.restore()
    let trace = [
      "-e", "trace=\(point.call)", "-e", "inject=\(point.call):signal=KILL:when=\(point.number)",
    ]
    let strace = try #require(ProcessesTracer.strace)
    let log: String
    switch point.target {
    case .keytree:
      log = "\(tools)/log.0"
      try sync(tracing: "none", [], tracer: [strace, "-qq", "-o", log] + trace)
    case .git(let number):
      log = "\(tools)/log.\(number)"
      try? FileManager.default.removeItem(atPath: log)
      try sync(tracing: "\(number)", trace, kills: both)
    }
    return (try? String(contentsOfFile: log, encoding: .utf8).contains("killed by SIGKILL")) ?? false
  }

  // MARK: Checking

  /// Runs the commands that follow a kill, and expects that both clones are identical and complete.
  func settle(_ comment: Comment) throws {
    for store in [program.store, other, program.store] { try synchronize(store, comment) }
    for store in [program.store, other] {
      let check = try program.run(["--store", store, "check", "--decrypt"])
      #expect(check.status == 0, "\(comment): \(check.text)\(check.errors)")
      #expect(try program.git(["status", "--porcelain"], in: store) == "", comment)
      if !expected.isEmpty { #expect(try lines(of: store) == expected, comment) }
    }
    var trees: Set<String> = []
    for store in [program.store, other, hub] {
      try program.git(["fsck", "--strict"], in: store)
      trees.insert(try program.git(["rev-parse", "main^{tree}"], in: store))
    }
    #expect(trees.count == 1, comment)
  }

  /// Synchronizes, and retries while a git process that outlived keytree is still running.
  private func synchronize(_ store: String, _ comment: Comment) throws {
    for _ in 0..<4 {
      let outcome = try program.run(["--store", store, "sync"])
      if outcome.status == 0 { return }
      guard outcome.status == 11, outcome.errors.contains("another git process is running or was killed")
      else {
        Issue.record("\(comment): exit \(outcome.status): \(outcome.errors)")
        return
      }
      usleep(500_000)
    }
    Issue.record("\(comment): a lock remains")
  }

  /// Returns the lines of the index and of the conflict copies, without the members that re-encryption changes.
  private func lines(of store: String) throws -> Set<String> {
    var texts: [Substring] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: "\(store)/index") {
      texts += try String(contentsOfFile: "\(store)/index/\(name)", encoding: .utf8).split(separator: "\n")
    }
    for name in try FileManager.default.subpathsOfDirectory(atPath: "\(store)/conflicts")
    where name.hasSuffix(".json") {
      let record = try String(contentsOfFile: "\(store)/conflicts/\(name)", encoding: .utf8)
      texts.append("conflict " + (record.split(separator: "\n").first ?? ""))
    }
    var lines: Set<String> = []
    for text in texts {
      let isCopy = text.hasPrefix("conflict ")
      let object = try JSONSerialization.jsonObject(with: Data((isCopy ? text.dropFirst(9) : text).utf8))
      var item = try #require(object as? [String: Any])
      (item["sealed"], item["modified"]) = (nil, nil)
      let bytes = try JSONSerialization.data(withJSONObject: item, options: .sortedKeys)
      lines.insert((isCopy ? "conflict " : "") + String(decoding: bytes, as: UTF8.self))
    }
    return lines
  }
}
