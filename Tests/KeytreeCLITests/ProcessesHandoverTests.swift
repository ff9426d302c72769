import Foundation
import TestSupport
import Testing

/// A secret that is passed between keytree and other programs, in pipes and in the environment that `run` creates.
@Suite(
  .enabled(if: ProcessesTracer.strace != nil, Comment(rawValue: ProcessesTracer.reason)), .serialized, .slow)
struct ProcessesHandoverTests {
  /// A call of one program by another one. Each step continues from the state after the previous one.
  struct Step: Sendable {
    let words: [String]
    var input = ""
    /// True if the step prints the secret.
    var prints = false
    /// True if a program gets the secret in its environment.
    var startsWithSecret = false
    /// True if the command line of the first program contains the secret, as in scripts for macOS.
    var isGivenSecret = false
    /// The secret.
    var marker = ProcessesMarkerTests.marker
  }

  private static let marker = ProcessesMarkerTests.marker
  /// A seed of one-time passwords, whose letters and digits differ from those of the secret.
  private static let seed = "MXQVKZTPLWRBYSHDNQ2Z7K4C5M3V6A2X"
  private static let place = "protocol=https\nhost=git.example\n"
  private static let docker = "registry.example"
  private static let cargo =
    "{\"v\":1,\"kind\":\"KIND\"TOKEN,\"registry\":{\"index-url\":\"sparse+https://cargo.example/\"}}\n"

  static let steps: [Step] = [
    Step(words: ["git", "credential", "approve"], input: "\(place)username=alice\npassword=\(marker)\n"),
    Step(words: ["git", "credential", "fill"], input: place, prints: true),
    Step(words: ["git", "credential", "reject"], input: "\(place)username=alice\npassword=\(marker) old\n"),
    Step(
      words: ["docker-credential-keytree", "store"],
      input: "{\"ServerURL\":\"\(docker)\",\"Username\":\"alice\",\"Secret\":\"\(marker)\"}"),
    Step(words: ["docker-credential-keytree", "get"], input: docker, prints: true),
    Step(words: ["docker-credential-keytree", "list"]),
    Step(
      words: ["cargo-credential-keytree", "--cargo-plugin"],
      input: cargo.replacing("KIND", with: "login").replacing("TOKEN", with: ",\"token\":\"\(marker)\"")),
    Step(
      words: ["cargo-credential-keytree", "--cargo-plugin"],
      input: cargo.replacing("KIND", with: "get").replacing("TOKEN", with: ""), prints: true),
    Step(words: ["keyring", "set", "demo", "alice"], input: marker),
    Step(words: ["keyring", "get", "demo", "alice"], prints: true),
    Step(words: ["keyring", "get", "https://git.example/simple/", "alice"], prints: true),
    Step(words: ["keytree", "add", "generic:ssh/id_test"], input: marker),
    Step(
      words: [
        "./ssh-add", "-c", "keytree-askpass \"$1\"; exit $?", "sh",
        "Enter passphrase for /home/alice/.ssh/id_test: ",
      ], prints: true),
    Step(words: ["keytree", "read", "keytree://generic-password/demo/alice"], prints: true),
    Step(
      words: ["keytree", "inject"], input: "a {{ keytree://generic-password/demo/alice }} b", prints: true),
    Step(
      words: ["keytree", "otp", "add", "otp.example/alice"],
      input: "otpauth://totp/demo:alice?secret=\(seed)&issuer=demo", marker: seed),
    Step(words: ["keytree", "otp", "otp.example/alice"], marker: seed),
    Step(words: ["keytree", "get", "--field", "otp", "otp.example/alice"], prints: true, marker: seed),
    Step(words: ["security", "-i"], input: "add-generic-password -s svc -a me -w \"\(marker)\"\n"),
    Step(words: ["security", "-i"], input: "find-generic-password -s svc -w\n", prints: true),
    Step(words: ["security", "find-generic-password", "-s", "svc", "-w"], prints: true),
    Step(
      words: ["security", "add-generic-password", "-s", "given", "-a", "me", "-w", marker],
      isGivenSecret: true),
    Step(
      words: ["security", "add-internet-password", "-U", "-s", "given", "-a", "me", "-w", marker],
      isGivenSecret: true),
    // The program receives the secret and passes it to no other program.
    Step(
      words: [
        "keytree", "run", "--env", "TOKEN=keytree://generic-password/demo/alice", "--", "/bin/sh", "-c",
        "test ${#TOKEN} = \(marker.utf8.count)",
      ], startsWithSecret: true),
  ]

  @Test func `other programs exchange secrets with keytree through pipes only`() throws {
    let home = try ProgramsHome()
    try home.succeed(["git", "config", "--global", "credential.helper", "keytree"])
    try home.addShell(named: "ssh-add")
    for step in Self.steps { try run(step, home) }
    // Git compresses its objects, so the test asks git for all of them.
    let objects = try home.run(
      ["git", "-C", home.program.store, "cat-file", "--batch-all-objects", "--batch", "--buffer"])
    #expect(objects.status == 0 && objects.output.count > 4096)
    for marker in [Self.marker, Self.seed] {
      #expect(try ProcessesMarkerTests.files(below: home.folder).filter { Self.holds($0, marker) } == [])
      #expect(Data(objects.output).range(of: Data(marker.utf8)) == nil)
    }
  }

  private func run(_ step: Step, _ home: ProgramsHome) throws {
    let log = "\(home.folder)/strace.log"
    let strace = try #require(ProcessesTracer.strace)
    let calls = "execve,openat,open,creat,write,writev,pwrite64,pwritev,sendto,sendmsg,setxattr,symlinkat"
    let outcome = try home.run(
      [
        strace, "-f", "-y", "-v", "-qq", "-e", "signal=none", "-s", "1000000", "-e", "trace=\(calls)", "-o",
        log,
      ] + step.words, input: step.input)
    #expect(outcome.status == 0, "\(step.words): \(outcome.text)\(outcome.errors)")
    #expect(outcome.text.contains(step.marker) == step.prints, "\(step.words): \(outcome.text)")
    #expect(!outcome.errors.contains(step.marker))
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    // The test's own log records the writes to pipes, so it must not be searched.
    try FileManager.default.removeItem(atPath: log)
    let marked = lines.filter { $0.contains(step.marker) && !Self.writesToPipe($0) }
    if step.startsWithSecret {
      #expect(marked.count == 1 && marked.allSatisfy(Self.startsProgram), "\(marked)")
    } else if step.isGivenSecret {
      // The first line is the start of the program; no later line may contain the secret.
      #expect(marked == Array(lines.prefix(1)) && marked.allSatisfy(Self.startsSecurity), "\(marked)")
    } else {
      #expect(marked == [], "\(step.words)")
    }
    for path in ProcessesMarkerTests.writtenFiles(lines)
    where !path.hasPrefix("/dev/") || path.hasPrefix("/dev/shm") {
      #expect(!Self.holds(path, step.marker), "\(path) after \(step.words)")
    }
  }

  private static func holds(_ path: String, _ text: String) -> Bool {
    // Sockets and folders cannot be read, and files may have been removed.
    FileManager.default.contents(atPath: path)?.range(of: Data(text.utf8)) != nil
  }

  /// True if a line starts `security` with the secret in its arguments, once.
  private static func startsSecurity(_ line: Substring) -> Bool {
    line.firstMatch(of: /execve\("[^"]*\/security"/) != nil
      && line.split(separator: marker, omittingEmptySubsequences: false).count == 2
  }

  private static func writesToPipe(_ line: Substring) -> Bool {
    line.firstMatch(of: /\b(write|writev)\(\d+<pipe:/) != nil
  }

  /// True if a line starts the program of `run` with the secret in its variable and nowhere else.
  private static func startsProgram(_ line: Substring) -> Bool {
    line.contains("execve(\"/bin/sh\"") && line.contains("\"TOKEN=\(marker)\"")
      && line.split(separator: marker, omittingEmptySubsequences: false).count == 2
  }
}
