import Arguments
import CommandSupport
import Encoding
import Foundation
import Keyring
import KeyringModel
import KeytreeCLI
import OpenPGP
import Secrets
import TestSupport
import Testing

@Suite("keytree audit", .serialized)
struct AuditCommandTests {
  private static let good = "mQ7-vkP2zX_h9Rt4"
  private static let reference = "keytree://internet-password/"

  private func world(_ items: [(String, String)] = []) throws -> CommandFixture {
    let world = try CommandFixture.withoutGnuPG()
    for (name, secret) in items { try world.done(["add", Word(name)], input: secret) }
    return world
  }

  /// Returns the lines of a pipe without the beginning of the references.
  private func lines(_ result: CommandFixture.Result) -> [String] {
    result.text.replacing(Self.reference, with: "").split(separator: "\n").map(String.init)
  }

  private func list(_ world: CommandFixture, _ passwords: [(String, Int)]) throws -> Word {
    let path = world.folder.path + "/pwned"
    let lines = passwords.map { password, count in
      "\(Hexadecimal.text(SHA1.digest(of: Array(password.utf8))).uppercased()):\(count)\r\n"
    }
    try Data(lines.sorted().joined().utf8).write(to: URL(fileURLWithPath: path))
    return Word(path)
  }

  @Test("reused secrets are listed as sets, and a line feed at the end makes no difference", .needsZxcvbn)
  func reused() throws {
    let other = "Zt5!wq0Lb8#nYc3e"
    let world = try world([
      ("a.example/x", Self.good), ("b.example/x", other), ("c.example/x", Self.good + "\n"),
      ("d.example/x", other), ("generic:e/x", Self.good + "\r\n"), ("f.example/x", Self.good + "2"),
    ])
    let result = world.run("audit")
    #expect(result.code == .done)
    #expect(
      lines(result) == [
        "reused\tkeytree://generic-password/e/x\t1", "reused\ta.example/x\t1",
        "reused\tc.example/x\t1", "reused\tb.example/x\t2",
        "reused\td.example/x\t2",
      ])
    #expect(
      result.diagnosticsText
        == "6 items examined, 2 findings.\nhint: change a password where it is used, then store it with "
        + "`keytree set ITEM --secret`.\n")
    let json = world.run("audit", "--json").text.replacing(Self.reference, with: "")
    #expect(
      json.hasPrefix(
        #"{"finding":"reused","items":["keytree://generic-password/e/x","a.example/x","c.example/x"]}"#))
    #expect(
      json.hasSuffix(
        #"{"examined":6,"findings":2,"items":6,"notExamined":0,"strengthEstimated":true}"# + "\n"))
  }

  @Test(
    "weak and breached passwords and fields are found; a good one, a key, a seed and a note are not",
    .needsZxcvbn)
  func weak() throws {
    let world = try world([
      ("a.example/x", "hunter2"), ("b.example/x", Self.good), ("d.example/x", "xkT93bQz"),
      ("e.example/Quimberton", "Quimberton-bank1"),
      ("k.example/x", "-----BEGIN KEY-----\nabc\n-----END KEY-----\n"),
    ])
    try world.done(["add", "c.example/x", "--generate=16"])
    for field in ["note", "otp", "pin"] {
      try world.done(["add", "b.example/x", "--field", Word(field)], input: "hunter2")
    }
    let result = world.run(
      "audit", "--pwned", try list(world, [("hunter2", 17_043), (Self.good, 1), ("4711", 5)]))
    #expect(
      lines(result)
        == [
          "reused\ta.example/x\t1", "reused\tb.example/x/pin\t1",
          "weak\ta.example/x\tvery weak", "weak\tb.example/x/pin\tvery weak", "weak\td.example/x\tweak",
          "weak\te.example/quimberton~<ID>\tvery weak",
          "breached\ta.example/x\t17043", "breached\tb.example/x\t1", "breached\tb.example/x/pin\t17043",
        ].map { $0.replacing("<ID>", with: id(result)) })
    let json = world.run("audit", "--json", "--pwned", try list(world, [("hunter2", 3)])).text
    #expect(
      json.contains(#"{"finding":"weak","item":"\#(Self.reference)a.example/x","strength":"very weak"}"#))
    #expect(json.contains(#"{"count":3,"finding":"breached","item":"\#(Self.reference)a.example/x"}"#))
  }

  @Test("a field is examined with its login, and a prefix in the list is marked")
  func fields() throws {
    let world = try world([("a.example/x", Self.good), ("b.example/x", Self.good + "2")])
    try world.done(["add", "a.example/x", "--field", "pin"], input: "4711")
    let path = world.folder.path + "/prefixes"
    let digest = Hexadecimal.text(SHA1.digest(of: Array("4711".utf8))).uppercased()
    try Data("\(digest.prefix(10)):5\n".utf8).write(to: URL(fileURLWithPath: path))
    let result = world.run("audit", "a.example/x", "--pwned", Word(path))
    #expect(lines(result).contains("breached\ta.example/x/pin\t5 (prefix)"), "\(result.text)")
    let json = world.run("audit", "--json", "--pwned", Word(path)).text
    #expect(json.contains(#""finding":"breached","item":"\#(Self.reference)a.example/x/pin","prefix":true"#))
    let table = world.run("audit", "--pwned", Word(path), isTerminal: true).text
    #expect(table.contains("a.example/x --field pin"), "\(table)")
    #expect(!world.run("audit", "b.example/x", "--pwned", Word(path)).text.contains("breached"))
  }

  @Test("rows with the same name are distinguished", .needsZxcvbn)
  func sameNames() throws {
    let world = try world([("a.example/x", "hunter2")])
    try world.done(["add", "a.example/x", "-r", "ssh"], input: "hunter3")
    try world.done(["add", "a.example/x", "-r", "https", "-P", "8443"], input: "hunter4")
    let table = world.run("audit", isTerminal: true).text
    for row in ["a.example/x ", "a.example/x (ssh) ", "a.example/x (https, port 8443) "] {
      #expect(table.contains("\n\(row)"), "\(table)")
    }
  }

  /// Returns the digits that make the path of an account in upper case unique.
  private func id(_ result: CommandFixture.Result) -> String {
    result.text.firstMatch(of: #/quimberton~([0-9a-f]+)/#).map { String($0.1) } ?? ""
  }

  @Test("protocols without encryption are found in attributes and addresses")
  func unencrypted() throws {
    let world = try world([("a.example/x", Self.good)])
    try world.done(["add", "b.example/x", "-r", "http"], input: "Zt5!wq0Lb8#nYc3e")
    try world.done(["add", "c.example/x", "--attribute", "url=ftp://c.example"], input: "Rk4&hd9Vp1@mWx6u")
    let result = world.run("audit", "--json").text
    #expect(
      result.contains(
        #"{"finding":"unencrypted","item":"\#(Self.reference)b.example/x+http","protocol":"http"}"#))
    #expect(
      result.contains(#"{"finding":"unencrypted","item":"\#(Self.reference)c.example/x","protocol":"ftp"}"#))
    #expect(result.contains(#""findings":2"#))
  }

  @Test("--fail gives exit code 13 if something was found", .needsZxcvbn)
  func fails() throws {
    let world = try world([("a.example/x", Self.good)])
    #expect(world.run("audit", "--fail").code == .done)
    try world.done(["add", "b.example/x"], input: "hunter2")
    #expect(world.run("audit").code == .done)
    #expect(world.run("audit", "--fail").code == .failedChecks)
    #expect(world.run("audit", "--fail", "a.example").code == .done, "a name narrows the audit")
    #expect(world.run("audit", "--fail", "--server", "a.example").code == .done)
    #expect(world.run("audit", "--fail", "b.example/x").code == .failedChecks)
    #expect(world.run("audit", "z.example").code == .notFound)
  }

  @Test("an empty store has no findings", .needsZxcvbn)
  func empty() throws {
    let result = try world().run("audit", "--fail")
    #expect(result.code == .done)
    #expect(result.diagnosticsText == "0 items examined, nothing was found.\n")
  }

  @Test("the list of breached passwords is checked before anything is decrypted")
  func badList() throws {
    let world = try world([("a.example/x", "hunter2")])
    for (text, code) in [("", ExitCode.failure), ("x\n", .failure)] {
      let path = world.folder.path + "/list"
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
      let result = world.run("audit", "--explain", "--pwned", Word(path))
      #expect(result.code == code)
      #expect(result.output.isEmpty)
      #expect(!result.diagnosticsText.contains("decrypted"))
    }
    #expect(world.run("audit", "--pwned", Word(world.folder.path + "/none")).code == .notFound)
  }

  @Test("no output contains a secret or its digest")
  func saysNoSecret() throws {
    let secrets = ["hunter2", "correct horse"]
    let world = try world([
      ("a.example/x", secrets[0]), ("b.example/x", secrets[0]), ("c.example/x", secrets[1]),
    ])
    let pwned = try list(world, secrets.map { ($0, 1) })
    for words in [["audit"], ["audit", "--json"]] as [[Word]] {
      for isTerminal in [false, true] {
        let result = world.run(
          words + ["--explain", "--old", "1", "--pwned", pwned], isTerminal: isTerminal)
        #expect(result.code == .done)
        #expect(result.text.lowercased().contains("breached"))
        for secret in secrets {
          let digest = Hexadecimal.text(SHA1.digest(of: Array(secret.utf8)))
          for text in [result.text, result.diagnosticsText].map({ $0.lowercased() }) {
            #expect(!text.contains(secret) && !text.contains(digest) && !text.contains(digest.prefix(5)))
          }
        }
      }
    }
  }

  @Test("on a terminal, rows are grouped, named as people type them, and fit the width", .needsZxcvbn)
  func table() throws {
    let world = try world([
      ("a.example/x", "hunter2"), ("b.example/x", "hunter2"),
      ("generic:mailer/" + String(repeating: "long", count: 40), "4711"),
    ])
    let rows = world.run("audit", isTerminal: true).text.split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    #expect(
      Array(rows.prefix(6)) == [
        "REUSED       SET", "a.example/x  1", "b.example/x  1", "",
        "WEAK" + String(repeating: " ", count: 67) + "STRENGTH",
        "generic:mailer/" + String(repeating: "long", count: 13) + "l…  very weak",
      ])
    #expect(rows.allSatisfy { $0.count <= 80 })
  }
}
