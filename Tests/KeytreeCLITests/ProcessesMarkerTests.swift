import Foundation
import KeyringModel
import TestSupport
import Testing

/// A secret appears only where it may, as observed from outside the process: DESIGN section 10.
@Suite(.enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized)
struct ProcessesMarkerTests {
  /// An action of a user with a secret. Each step continues from the state after the previous one.
  struct Step: Sendable {
    let arguments: [String]
    var input = ""
    var variables: [String: String] = [:]
    /// True if the secret may be in a file in memory, for the editor.
    var usesEditor = false
  }

  /// A text that does not occur in the program, in plain text, in Base64 or in hexadecimal digits.
  static let marker = "Mx7Qv2KzT9pLw4RbYs8HdN3c"

  @Test func `the marker of a secret is in no argument, variable, file or log`() throws {
    let program = try ProcessesProgram.withStore()
    let given = try Given(marker: Self.marker, home: program.gnupg)
    for step in Self.steps(given) { try run(step, program) }
    // Without the intended results of the steps, the search would prove nothing.
    let items = [
      "copied.example/alice", "moved.example/alice", "csv.example/alice", "pass.example/bob",
      "generic:json.example", "generic:xml.example", "netrc.example",
    ]
    for item in items {
      #expect(try program.succeed(["get", item]).contains(Self.marker), "\(item)")
    }
    #expect(try Self.files(below: program.folder).filter(Self.hasMarker) == [])
    #expect(Self.hasMarker(given.table), "the search finds a marker that exists")
    // The exports are encrypted.
    let exported = try Self.files(below: given.folder.path).filter { !$0.hasPrefix(given.table) }
    #expect(exported.count >= 5 && exported.filter(Self.hasMarker) == [])
  }

  /// Files outside the store that exist before the test; they may contain the marker.
  private struct Given {
    let folder = ScratchFolder()
    var table: String { "\(folder.path)/rows.csv" }
    var editor: String { "\(folder.path)/editor" }

    var pass: String { "\(folder.path)/pass" }

    init(marker: String, home: GnuPGHome) throws {
      let rows = "name,url,username,password\ncsv,https://csv.example/,alice,\(marker)\n"
      try Data(rows.utf8).write(to: URL(fileURLWithPath: table))
      // The editor shows the secret to no one, and changes it as an editor does.
      try ExecutableFile.write("#!/bin/sh\nprintf x >> \"$1\"\n", to: editor)
      let item = "\(pass)/pass.example/bob.gpg"
      try FileManager.default.createDirectory(
        atPath: "\(pass)/pass.example", withIntermediateDirectories: true)
      try Data(GnuPGKey.alice.fingerprint.text.utf8).write(to: URL(fileURLWithPath: "\(pass)/.gpg-id"))
      let sealed = try home.encrypt(
        Array("\(marker)\nlogin: bob\n".utf8), to: [.alice], namesRecipients: false)
      try Data(sealed).write(to: URL(fileURLWithPath: item))
    }
  }

  private static let alice = GnuPGKey.alice.fingerprint.text

  private static func steps(_ given: Given) -> [Step] {
    [
      Step(arguments: ["add", "first.example/alice"], input: marker),
      Step(arguments: ["get", "first.example/alice"]),
      Step(arguments: ["--explain", "--json", "get", "--reveal", "first.example/alice"]),
      Step(arguments: ["set", "first.example/alice", "--secret"], input: "\(marker) again"),
      Step(arguments: ["set", "first.example/alice", "--label", "marked"]),
      Step(
        arguments: ["edit", "first.example/alice"],
        variables: ["EDITOR": given.editor, "VISUAL": given.editor], usesEditor: true),
      Step(arguments: ["mv", "first.example/alice", "moved.example/alice"]),
      Step(arguments: ["cp", "moved.example/alice", "copied.example/alice"]),
      Step(arguments: ["import", "csv", given.table]),
      Step(arguments: ["import", "pass", given.pass]),
      Step(
        arguments: ["import", "bitwarden", "-"],
        input: #"{"items":[{"type":1,"name":"json.example","login":{"password":"\#(marker)"}}]}"#),
      Step(
        arguments: ["import", "keepass-xml", "-"],
        input: "<KeePassFile><Root><Group><Entry><String><Key>Title</Key><Value>xml.example</Value></String>"
          + "<String><Key>Password</Key><Value>\(marker)</Value></String></Entry></Group></Root></KeePassFile>"
      ),
      Step(arguments: ["import", "netrc", "-"], input: "machine netrc.example password \(marker)"),
      Step(arguments: ["export", "json", "\(given.folder.path)/out", "--recipient", alice]),
      Step(
        arguments: [
          "export", "csv", "\(given.folder.path)/out.csv.gpg", "--recipient", alice, "--accept-loss",
        ]),
      Step(
        arguments: ["export", "pass", "\(given.folder.path)/tree", "--recipient", alice, "--accept-loss"]),
      Step(arguments: ["check", "--decrypt"]),
      Step(arguments: ["audit", "--old", "1"]),
      Step(arguments: ["find", "example"]),
    ]
  }

  private func run(_ step: Step, _ program: ProcessesProgram) throws {
    let log = "\(program.folder)/strace.log"
    let strace = try #require(ProcessesTracer.strace)
    let calls = "execve,openat,open,creat,write,writev,pwrite64,pwritev,sendto,sendmsg,setxattr,symlinkat"
    let outcome = try program.run(
      step.arguments, input: step.input,
      tracer: [
        strace, "-f", "-y", "-v", "-qq", "-e", "signal=none", "-s", "1000000", "-e", "trace=\(calls)", "-o",
        log,
      ], variables: step.variables, onTerminal: step.usesEditor)
    #expect(outcome.status == 0, "\(step.arguments): \(outcome.text)\(outcome.errors)")
    #expect(!outcome.errors.contains(Self.marker))
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    // The test's own log records the writes to pipes, so it must not be searched.
    try FileManager.default.removeItem(atPath: log)
    for line in lines where line.contains(Self.marker) {
      #expect(Self.isAllowed(line, step), "\(line)")
    }
    for path in Self.writtenFiles(lines) where !path.hasPrefix("/dev/") || path.hasPrefix("/dev/shm") {
      #expect(!Self.hasMarker(path), "\(path) after \(step.arguments)")
    }
  }

  /// True if the line is a write to a pipe, or a write of the editor to a file in memory in its folder.
  private static func isAllowed(_ line: Substring, _ step: Step) -> Bool {
    guard let call = line.firstMatch(of: /\b(write|writev)\(\d+<([^>]*)>/) else { return false }
    if call.2.hasPrefix("pipe:") { return true }
    return step.usesEditor && call.2.contains("/keytree-edit-") && call.2.hasSuffix("/secret")
  }

  /// Returns every file that a process opened for writing.
  static func writtenFiles(_ lines: [Substring]) -> Set<String> {
    var paths: Set<String> = []
    for line in lines where line.contains("O_WRONLY") || line.contains("O_RDWR") {
      if let match = line.firstMatch(of: /= \d+<([^>]*)>/) { paths.insert(String(match.1)) }
    }
    return paths
  }

  /// Returns every file and folder below a folder.
  static func files(below folder: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
  }

  private static func hasMarker(_ path: String) -> Bool {
    // Sockets and folders cannot be read, and files may have been removed.
    guard let data = FileManager.default.contents(atPath: path) else { return false }
    return data.range(of: Data(marker.utf8)) != nil
  }
}
