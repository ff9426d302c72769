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

  @Test("get secrets of all three sources, the later ones first")
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
    "give their status and their signal to the caller",
    arguments: [
      ("exit 0", "0"), ("exit 7", "7"), ("exit 255", "255"), ("kill -TERM $$", "143"),
      ("kill -KILL $$", "137"),
    ])
  func status(script: String, status: String) throws {
    // A shell tells both as they are; Foundation takes some signals for a status of 0.
    let words = ["run", "--env", "A=\(reference)", "--", "/bin/sh", "-c", script]
    let shell = ["/bin/sh", "-c", "\"$@\"; echo $?", "sh", ProcessesProgram.path]
    #expect(try program.lines(of: shell + words) == [status])
  }

  @Test(
    "are not there, or cannot be run",
    arguments: [
      ("no-such-program", 127), ("/no/such/program", 127), ("/etc/passwd", 126), ("/", 126), ("", 127),
    ])
  func notThere(name: String, status: Int32) throws {
    let outcome = try program.run(["run", "--env", "A=\(reference)", "--", name])
    #expect(outcome.status == status && outcome.output.isEmpty)
    #expect(outcome.errors.hasPrefix("keytree: cannot run ") && !outcome.errors.contains("cret"))
  }

  @Test("inherit nothing of keytree but what it was started with")
  func inherited() throws {
    // The signals above 31 belong to the C library.
    let script =
      "umask; ulimit -c; sed -n 's/^Sig\\(Ign\\|Blk\\).*\\(........\\)$/\\2/p' /proc/self/status; ls /proc/self/fd; env | sort"
    let shell = ["/bin/sh", "-c", "umask 0027; ulimit -c 4096; exec \"$@\"", "sh"]
    let plain = try program.lines(of: shell + ["/bin/sh", "-c", script])
    let through = try program.lines(
      of: shell + [ProcessesProgram.path, "run", "--env", "A=\(reference)", "--", "/bin/sh", "-c", script])
    #expect(plain.contains("0027") && plain.contains("4096"))
    #expect(through.filter { !$0.hasPrefix("A=") && $0 != "cret" } == plain)
  }

  @Test("read what was not read before them")
  func input() throws {
    #expect(
      try program.run(["run", "--env", "A=\(reference)", "--", "/bin/cat"], input: "in\u{1}put").text
        == "in\u{1}put")
  }
}
