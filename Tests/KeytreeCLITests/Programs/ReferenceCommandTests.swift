import Arguments
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

@testable import KeytreeCLI

@Suite("Files of variables")
struct VariableFileTests {
  @Test(
    "are read as a shell reads the plain ones",
    arguments: [
      ("A=b", ["A=b"]), ("\n# x\n  A = b\n", nil), ("export A=b\nB=", ["A=b", "B="]),
      ("A=b c # d", ["A=b c"]),
      ("A=b#c", ["A=b#c"]), ("A=' b # '\r\n", ["A= b # "]), (#"A="x\n\"\\\$\z" # y"#, ["A=x\n\"\\$\\z"]),
      ("A='x\\n'", ["A=x\\n"]), ("  A=b  ", ["A=b"]), ("A=#x", ["A="]), ("A=b\nA=c", ["A=b", "A=c"]),
      ("_a1=é", ["_a1=é"]), ("A==", ["A=="]), ("", []), ("A", nil), ("=b", nil), ("1A=b", nil),
      ("A-B=c", nil),
      ("A='b", nil), ("A=\"b\\\"", nil), ("A='b'c", nil), ("A=\u{0}", nil), ("É=b", nil), ("[=b", nil),
      ("@=b", nil),
    ] as [(String, [String]?)])
  func lines(text: String, variables: [String]?) {
    let file = try? VariableFile(Array(text.utf8))
    #expect(file?.variables.map { "\($0.name)=\(String(decoding: $0.value, as: UTF8.self))" } == variables)
  }
}

@Suite("Templates")
struct SecretTemplateTests {
  static let path = "keytree://generic-password/a/b"

  @Test(
    "find their references and leave the rest alone",
    arguments: [
      ("", []), ("{{ \(path) }}", [path]), ("{{\(path)}}{{\t\(path)\t}}", [path, path]),
      ("{{ x }} {{{ }} }}", []),
      ("{{{ \(path) }}", [path]), ("\(path)", []), ("{ { \(path) }}", []), ("{{ \(path)", nil),
      ("{{ \(path)\n}}", nil),
      ("{{ keytree://x }}", nil), ("{{ \(path) x }}", nil), ("{{ keytree:// }}", nil),
    ] as [(String, [String]?)])
  func references(text: String, references: [String]?) {
    let template = try? SecretTemplate(Array(text.utf8))
    #expect(template?.references.map(\.text) == references)
  }

  @Test("name the line that is wrong")
  func line() {
    #expect(throws: SecretTemplate.Problem.noReference(line: 3)) {
      try SecretTemplate(Array("{{ \(Self.path) }}\n\n{{ keytree://x }}".utf8))
    }
  }
}

@Suite("Secrets for programs")
struct ReferenceCommandTests {
  let world: EverydayWorld
  let secret = Array("se\ncret \u{1}é".utf8) + [0xFF]
  let reference = "keytree://generic-password/app/db"

  init() throws {
    world = try EverydayWorld()
    _ = world.run("add", "generic:app/db", input: secret)
    _ = world.run("add", "generic:app/binary", input: [0x61, 0, 0x62])
  }

  @Test("are read by reference, byte for byte, and by nothing else")
  func read() throws {
    #expect(world.run("read", Word(reference)).output == secret)
    #expect(world.run("read", "keytree://generic-password/app/other").code == .notFound)
    for word in ["generic:app/db", "app/db", "", "keytree://", "\(reference)/"] {
      let result = world.run(["read", .init(word)])
      #expect(result.code == .usage && result.output.isEmpty)
    }
    #expect(world.run("read", Word(reference), isTerminal: true).output == secret + Array("\n".utf8))
  }

  @Test("fill a template, or nothing when one is missing")
  func inject() throws {
    let good = Array("a={{ \(reference) }}\n{{ x }}".utf8)
    #expect(world.run("inject", input: good).output == Array("a=".utf8) + secret + Array("\n{{ x }}".utf8))
    let missing = good + Array("{{ keytree://generic-password/app/other }}".utf8)
    let result = world.run("inject", input: missing)
    #expect(result.code == .notFound && result.output.isEmpty)
    #expect(world.run("inject", "--explain", input: good + good).talkText.contains("items decrypted: 1"))
    // No reference, no store.
    #expect(world.run(["inject"], input: [0xFF], more: ["KEYTREE_STORE": "/nowhere"]).output == [0xFF])
  }

  @Test("go into a new file that only its owner reads, or in place of one that was asked for")
  func injectFile() throws {
    let (source, target) = (world.folder.path + "/in", world.folder.path + "/out")
    try Data("x {{ \(reference) }}".utf8).write(to: URL(fileURLWithPath: source))
    func inject(_ words: Word...) -> EverydayWorld.Result {
      world.run(["inject", "-i", .init(source), "-o", .init(target)] + words)
    }
    #expect(inject().code == .done)
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("x ".utf8) + secret)
    let attributes = try FileManager.default.attributesOfItem(atPath: target)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    try Data("y".utf8).write(to: URL(fileURLWithPath: source))
    #expect(inject().code == .alreadyExists)
    #expect(inject("--force").code == .done)
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("y".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: world.folder.path).filter { $0.hasPrefix("out") }
        == ["out"])
  }

  @Test(
    "start nothing when one is missing, is none, or cannot be carried",
    arguments: [
      (["--env", "A=keytree://generic-password/app/other"], ExitCode.notFound),
      (["--env", "A=keytree://generic-password/app/binary"], .failure), (["--env", "A=plain"], .usage),
      (["--env", "1=keytree://generic-password/app/db"], .usage),
      (["--env", "keytree://generic-password/app/db"], .usage),
      (["--env", "A=keytree://nonsense"], .usage), (["--env-file", "/nowhere"], .notFound),
    ])
  func startsNothing(options: [String], code: ExitCode) throws {
    let mark = world.folder.path + "/started"
    let words = ["run"] + options + ["--", "/usr/bin/touch", mark]
    #expect(world.run(words.map { Word($0) }).code == code)
    #expect(!FileManager.default.fileExists(atPath: mark))
  }
}

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
