import Arguments
import CommandSupport
import Foundation
import KeytreeCLI
import TestSupport
import Testing

@Suite("Secrets for programs", .serialized)
struct ReferenceCommandTests {
  let world: CommandFixture
  let secret = Array("se\ncret \u{1}é".utf8) + [0xFF]
  let reference = "keytree://generic-password/app/db"

  init() throws {
    world = try CommandFixture()
    _ = world.run("add", "generic:app/db", input: secret)
    _ = world.run("add", "generic:app/binary", input: [0x61, 0, 0x62])
  }

  @Test("a secret is read by its reference or by another name, byte for byte")
  func read() throws {
    #expect(world.run("read", Word(reference)).output == secret)
    #expect(world.run("read", "keytree://generic-password/app/other").code == .notFound)
    for word in ["generic:app/db", "app/db"] { #expect(world.run("read", .init(word)).output == secret) }
    let similar = world.run("read", "app db")
    #expect(similar.code == .notFound && similar.output.isEmpty)
    #expect(similar.diagnosticsText.contains("  app/db\n"))
    #expect(world.run("read", "app").code == .ambiguous)
    for word in ["", "keytree://", "\(reference)/"] {
      let result = world.run(["read", .init(word)])
      #expect(result.code == .usage && result.output.isEmpty)
    }
    for words in [["read", Word(reference)], ["inject", "-i", Word(try template())]] {
      let refused = world.run(words, input: Array("n\n".utf8), isTerminal: true)
      #expect(refused.code == .cancelled && refused.output.isEmpty, "the secret is not text")
    }
    let shown = world.run("read", Word(reference), input: Array("y\n".utf8), isTerminal: true)
    #expect(shown.output == secret + Array("\n".utf8))
  }

  private func template() throws -> String {
    let path = world.folder.path + "/template"
    try Data("{{ \(reference) }}".utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("a template is filled completely, or not if a secret is missing")
  func inject() throws {
    let good = Array("a={{ \(reference) }}\n{{ x }}".utf8)
    #expect(world.run("inject", input: good).output == Array("a=".utf8) + secret + Array("\n{{ x }}".utf8))
    let missing = good + Array("{{ keytree://generic-password/app/other }}".utf8)
    let result = world.run("inject", input: missing)
    #expect(result.code == .notFound && result.output.isEmpty)
    #expect(
      world.run("inject", "--explain", input: good + good).diagnosticsText.contains("items decrypted: 1"))
    // A template without references does not need a store.
    #expect(world.run(["inject"], input: [0xFF], more: ["KEYTREE_STORE": "/nowhere"]).output == [0xFF])
  }

  @Test("inject writes a file that only the owner can read, and overwrites only on request")
  func injectFile() throws {
    let (source, target) = (world.folder.path + "/in", world.folder.path + "/out")
    try Data("x {{ \(reference) }}".utf8).write(to: URL(fileURLWithPath: source))
    func inject(_ words: Word...) -> CommandFixture.Result {
      world.run(["inject", "-i", .init(source), "-o", .init(target)] + words)
    }
    #expect(inject().code == .done)
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("x ".utf8) + secret)
    let attributes = try FileManager.default.attributesOfItem(atPath: target)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    try Data("y".utf8).write(to: URL(fileURLWithPath: source))
    let refused = inject()
    #expect(refused.code == .alreadyExists && refused.diagnosticsText.contains("hint: `--force` replaces it"))
    #expect(inject("--force").code == .done)
    #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("y".utf8))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: world.folder.path).filter { $0.hasPrefix("out") }
        == ["out"])
  }

  @Test(
    "run starts nothing if a secret is missing, is not named, or does not fit into the environment",
    arguments: [
      (["--env", "A=keytree://generic-password/app/other"], ExitCode.notFound),
      (["--env", "A=keytree://generic-password/app/binary"], .failure), (["--env", "A=plain"], .notFound),
      (["--env", "A="], .usage), (["--env", "A=app"], .ambiguous), (["--env", "A=bogus:x"], .usage),
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

  @Test(
    "no file with the name - is written, because - means standard output in other programs",
    arguments: [
      ["inject", "-o", "-"], ["inject", "-o-", "-f"], ["inject", "--out=-"],
      ["get", "generic:app/db", "--out", "-"], ["get", "generic:app/db", "--out=-"],
    ])
  func dash(words: [String]) {
    let result = world.run(words.map { Word($0) }, input: Array("text".utf8))
    #expect(result.code == .usage && result.output.isEmpty)
    #expect(result.diagnosticsText.contains("standard output is the default without --out"))
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }
}
