import Foundation
import TestSupport
import Testing

@Suite("Programs that take the place of keytree", .serialized)
struct RunProcessTests {
  let program: ProcessesProgram
  let reference = "keytree://generic-password/app/db"

  init() throws {
    program = try ProcessesProgram.withStore(["generic:app/db": "s e\ncret", "generic:app/two": "2"])
  }

  @Test("a program gets secrets from all three sources, and the later ones take precedence")
  func variables() throws {
    let file = program.folder + "/app.env"
    try Data("# app\nB=keytree://generic-password/app/two\nC='plain x'\nD=\(reference)\n".utf8)
      .write(to: URL(fileURLWithPath: file))
    let words = [
      "run", "--env-file", file, "--env", "D=keytree://generic-password/app/two", "--", "/bin/sh", "-c",
      "printf '%s|%s|%s|%s|%s' \"$A\" \"$B\" \"$C\" \"$D\" \"$1\"", "sh", "--option x",
    ]
    let outcome = try program.run(words, variables: ["A": reference, "D": "overruled"])
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    #expect(outcome.text == "s e\ncret|2|plain x|2|--option x")
  }

  @Test(
    "the status and the signal of the program are passed to the caller",
    arguments: [
      ("exit 0", "0"), ("exit 7", "7"), ("exit 255", "255"), ("kill -TERM $$", "143"),
      ("kill -KILL $$", "137"),
    ])
  func status(script: String, status: String) throws {
    // A shell reports both unchanged; Foundation reports some signals as status 0.
    let words = ["run", "--env", "A=\(reference)", "--", "/bin/sh", "-c", script]
    let shell = ["/bin/sh", "-c", "\"$@\"; echo $?", "sh", ProcessesProgram.path]
    #expect(try program.lines(of: shell + words) == [status])
  }

  @Test(
    "a program that does not exist or cannot be run is an error",
    arguments: [
      (
        "no-such-program", 127,
        "a name without `/` is searched in the absolute folders of `PATH` that no other user can change"
      ),
      (
        "", 127,
        "a name without `/` is searched in the absolute folders of `PATH` that no other user can change"
      ),
      ("/no/such/program", 127, "check the path with `ls`: every folder in it must exist"),
      ("/etc/passwd/x", 126, "check the path with `ls`: every folder in it must exist"),
      (
        "/etc/passwd", 126,
        "it is a folder, or a file that you are not allowed to execute: `ls -ld` shows which"
      ),
      ("/", 126, "it is a folder, or a file that you are not allowed to execute: `ls -ld` shows which"),
      ("TEXT", 126, "it is neither a program for this machine nor a script that begins with `#!`"),
    ])
  func notThere(name: String, status: Int32, hint: String) throws {
    let text = program.folder + "/text"
    try ExecutableFile.write("text\n", to: text)
    let outcome = try program.run(
      ["run", "--env", "A=\(reference)", "--", name == "TEXT" ? text : name])
    #expect(outcome.status == status && outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("keytree: cannot run ") && !outcome.errors.contains("cret"))
    #expect(outcome.errors.hasSuffix("\nhint: \(hint)\n"), "\(outcome.errors)")
  }

  @Test("a secret too large for the environment starts nothing, and the hint names the alternatives")
  func tooLarge() throws {
    // Linux limits a variable to 128 KiB.
    try program.succeed(["add", "generic:app/large"], input: String(repeating: "x", count: 140_000))
    let outcome = try program.run(
      ["run", "--env", "A=keytree://generic-password/app/large", "--", "/bin/true"])
    #expect(outcome.status == 126 && outcome.output.isEmpty)
    #expect(
      outcome.errors == """
        keytree: cannot run /bin/true: Argument list too long
        hint: its arguments and variables are too large: pass the secret in a pipe (`keytree read`) or a file (`keytree inject`)

        """)
  }

  @Test("a variable that is a reference and has a name that is not UTF-8 starts nothing")
  func oddName() throws {
    // Foundation supports text only, so a shell creates the name.
    let script = "exec env \"$(printf 'A\\377=%s' \"$0\")\" \"$@\""
    let mark = program.folder + "/started"
    func start(_ value: String) throws -> ProcessesProgram.Outcome {
      try program.run(
        words: ["/bin/sh", "-c", script, value, ProcessesProgram.path, "run", "--", "/usr/bin/touch", mark])
    }
    let outcome = try start(reference)
    #expect(outcome.status == 2 && outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("keytree: a variable whose value is a reference has a name that is not"))
    #expect(!FileManager.default.fileExists(atPath: mark))
    // A variable that is not a reference is passed on unchanged.
    #expect(try start("plain").status == 0 && FileManager.default.fileExists(atPath: mark))
  }

  @Test("the program inherits umask, limits, signals and descriptors unchanged")
  func inherited() throws {
    // Signals above 31 belong to the C library.
    let script =
      "umask; ulimit -c; sed -n 's/^Sig\\(Ign\\|Blk\\).*\\(........\\)$/\\2/p' /proc/self/status; ls /proc/self/fd; env | sort"
    // Both run under the same shell, because two processes of this test may inherit different descriptors.
    let both =
      "umask 0027; ulimit -c 4096; /bin/sh -c \"$1\"; echo through; exec \"$2\" run --env \"$3\" -- /bin/sh -c \"$1\""
    let words = ["/bin/sh", "-c", both, "sh", script, ProcessesProgram.path, "A=\(reference)"]
    let parts = try program.lines(of: words).split(separator: "through").map(Array.init)
    let (plain, through) = (try #require(parts.first), try #require(parts.last))
    #expect(plain.contains("0027") && plain.contains("4096"))
    #expect(through.filter { !$0.hasPrefix("A=") && $0 != "cret" } == plain)
  }

  @Test("the program can read the standard input")
  func input() throws {
    #expect(
      try program.run(["run", "--env", "A=\(reference)", "--", "/bin/cat"], input: "in\u{1}put").text
        == "in\u{1}put")
  }
}
