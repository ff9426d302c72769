import Arguments
import CommandSupport
import Foundation
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@testable import Interchange
@testable import KeytreeCLI

/// `keytree export` as a user runs it, with real GnuPG.
@Suite("Exporting with the command", .serialized)
struct ExportCommandTests {
  private let alice = GnuPGKey.alice.fingerprint.text

  private func world() throws -> MaintenanceFixture {
    let world = try MaintenanceFixture()
    #expect(world.run("init", "--no-git", "--key", GnuPGKey.alice.mail).code == .done)
    return world
  }

  private func mode(_ path: String) throws -> Int {
    let facts = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(facts[.posixPermissions] as? Int)
  }

  private func summary(_ world: MaintenanceFixture) throws -> Set<String> {
    var lines: Set<String> = []
    for line in world.run("find", "--json").lines {
      let reference = try #require(line.firstMatch(of: #/"reference":"([^"]+)"/#)).1
      let secret = world.run("get", String(reference))
      #expect(secret.code == .done)
      // Ids and times differ in each store.
      let varying = #/"(created|id|modified|revision|sealed|secretModified)":"[^"]*",?/#
      let shown = line.replacing(varying, with: "")
      lines.insert(shown + " " + String(decoding: secret.bytes, as: UTF8.self))
      let names = line.firstMatch(of: #/"fields":\[([^\]]*)\]/#)?.1.split(separator: ",") ?? []
      for name in names.map({ String($0.dropFirst().dropLast()) }) {
        let field = world.run("get", String(reference), "--field", name)
        #expect(field.code == .done)
        lines.insert("\(shown) \(name) " + String(decoding: field.bytes, as: UTF8.self))
      }
    }
    return lines
  }

  @Test("a store of pass survives an import and an export: every item, attribute and byte")
  func passRoundTrip() throws {
    let first = try world()
    let key = CareTranscriptTests.fixtures.appendingPathComponent("pass/keys/ours.secret.asc").path
    try first.gnupg.run(["--import", key])
    let source = try ImportPassStore.committed()
    #expect(first.run("import", "pass", source.path, "--accept-loss").code == .done)
    let tree = first.scratch.path + "/tree"
    // Link names are attributes that a pass file cannot hold.
    let export = first.run("export", "pass", tree, "--recipient", alice, "--accept-loss")
    #expect(export.code == .done, "\(export.talk)")
    let told = export.lines.dropLast()
    for line in told {
      #expect(line.hasSuffix("without pass-2") || line.hasSuffix("without pass-2, pass-3"), "\(line)")
    }
    #expect(try mode(tree) == 0o700 && mode(tree + "/.gpg-id") == 0o600)
    #expect(try String(contentsOfFile: tree + "/.gpg-id", encoding: .utf8) == alice + "\n")

    let second = try world()
    #expect(second.run("import", "pass", tree).code == .done)
    let links = #/,?"pass-\d":"[^"]*"/#
    let before = Set(try summary(first).map { $0.replacing(links, with: "") })
    let after = try summary(second)
    #expect(after.subtracting(before) == [])
    #expect(before.subtracting(after) == [])
    #expect(before.count == 32)
  }

  @Test(
    "`pass show` prints the secret, the note and the seed of an exported item",
    .enabled(if: ImportPassStore.isPassInstalled, "pass is not installed (apt-get install pass)"))
  func passShow() throws {
    let world = try world()
    let file = world.scratch.path + "/in.csv"
    try Data(
      "title,url,username,password,notes,otpauth\nMail,,alice,=pw é,\"one\ntwo\",otpauth://totp/x?secret=ABC\n"
        .utf8
    ).write(to: URL(fileURLWithPath: file))
    #expect(world.run("import", "csv", file).code == .done)
    _ = world.run("add", "example.org:8443/../../evil", input: Array("hostile".utf8))
    _ = world.run("add", "--server", "example.org", "-a", "-rf", input: Array("minus\n".utf8))
    let tree = world.scratch.path + "/tree"
    let export = world.run("export", "pass", tree, "--recipient", alice, "--accept-loss")
    #expect(export.code == .done, "\(export.talk)")
    func show(_ name: String) throws -> String {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["pass", "show", name]
      process.environment = ProcessInfo.processInfo.environment.merging(
        ["PASSWORD_STORE_DIR": tree, "GNUPGHOME": world.gnupg.home]) { _, new in new }
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let data = try output.fileHandleForReading.readToEnd() ?? Data()
      process.waitUntilExit()
      return String(decoding: data, as: UTF8.self)
    }
    #expect(try show("Mail/alice") == "=pw é\notpauth://totp/x?secret=ABC\none\ntwo")
    // Nothing was written outside the tree.
    let around = try FileManager.default.contentsOfDirectory(atPath: world.scratch.path)
    #expect(Set(around).isSubset(of: ["in.csv", "store", "tree", ".local", ".gnupg", "run"]), "\(around)")
    let inside = try FileManager.default.subpathsOfDirectory(atPath: tree)
    #expect(
      inside.count { $0.hasSuffix(".gpg") } == 3
        && inside.allSatisfy { !$0.contains("..") || $0.contains("_..") })
  }

  @Test("nothing is written as plaintext unless the user asks for it, and nothing is overwritten")
  func refusals() throws {
    let world = try world()
    _ = world.run("add", "github.com/alice", "-r", "https", input: Array("secret".utf8))
    let file = world.scratch.path + "/out"
    #expect(world.run("export", "csv", file).code == .usage)
    #expect(world.run("export", "json", "-", "--plaintext").code == .usage)
    #expect(!FileManager.default.fileExists(atPath: "-"))
    #expect(world.run("export", "json", file).code == .usage)
    #expect(world.run("export", "pass", file).code == .usage)
    #expect(world.run("export", "pass", file, "--plaintext").code == .usage)
    #expect(world.run("export", "json", file, "--plaintext", "--recipient", alice).code == .usage)
    #expect(world.run("export", "json", file, "--recipient", "alice").code == .usage)
    let stranger = String(repeating: "A", count: 40)
    #expect(world.run("export", "json", file, "--recipient", stranger).code == .recipientUnusable)
    #expect(world.run("export", "json", file, "--plaintext", "nothing like it").code == .notFound)
    #expect(world.run("export", "json", file, "--plaintext", "--dry-run").code == .done)
    #expect(!FileManager.default.fileExists(atPath: file))
    try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    let link = world.scratch.path + "/link"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: world.scratch.path + "/target")
    for name in ["out", "link"] {
      let path = "\(world.scratch.path)/\(name)"
      #expect(world.run("export", "json", path, "--plaintext").code == .alreadyExists)
      #expect(world.run("export", "csv", path, "--plaintext", "--accept-loss").code == .alreadyExists)
      #expect(world.run("export", "pass", path, "--recipient", alice, "--accept-loss").code == .alreadyExists)
    }
    let full = world.scratch.path + "/full"
    try FileManager.default.createDirectory(atPath: full + "/x", withIntermediateDirectories: true)
    #expect(world.run("export", "pass", full, "--recipient", alice, "--accept-loss").code != .done)
    #expect(try FileManager.default.contentsOfDirectory(atPath: full) == ["x"])
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
  }

  @Test("a loss exits with code 1 and writes nothing, unless the user accepts it")
  func loss() throws {
    let world = try world()
    _ = world.run("add", "generic:mailer/bot", input: Array("token".utf8))
    _ = world.run("add", "github.com/alice", "-r", "https", "-j", "remark", input: Array("secret".utf8))
    let file = world.scratch.path + "/out.csv"
    let refused = world.run("export", "csv", file, "--plaintext")
    #expect(refused.code == .failure && refused.talk.contains("2 items would lose data"))
    #expect(!FileManager.default.fileExists(atPath: file))
    let done = world.run("export", "csv", file, "--plaintext", "--accept-loss")
    #expect(done.code == .done && done.talk.contains("contains these secrets unencrypted"))
    #expect(try mode(file) == 0o600)
    #expect(
      try String(contentsOfFile: file, encoding: .utf8)
        == "name,url,username,password,note\r\ngithub.com,https://github.com,alice,secret,\r\n")
  }

  @Test("an encrypted export can be read with the given keys only")
  func sealed() throws {
    let world = try world()
    try world.gnupg.run(["--import"], input: GnuPGKey.bob.publicKey)
    _ = world.run("add", "github.com/alice", input: Array("secret-marker".utf8))
    let file = world.scratch.path + "/out.gpg"
    let bob = GnuPGKey.bob.fingerprint.text
    let answer = world.run("export", "json", file, "--recipient", alice.lowercased(), "--recipient", bob)
    #expect(answer.code == .done, "\(answer.talk)")
    let message = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(try mode(file) == 0o600 && message.range(of: Data("marker".utf8)) == nil)
    let plain = try world.gnupg.run(["--decrypt", file])
    let draft = try KeytreeImport.plan(SecretBytes(copying: plain))
    #expect(draft.items.map(\.secret.text) == ["secret-marker"])
    let recipients = try unsafe message.withUnsafeBytes {
      try unsafe MessageHeader.parse($0, limit: 1 << 20).recipients.count
    }
    #expect(recipients == 2)
  }

  @Test("an import restores the groups of exported items, and attributes select the items to export")
  func groups() throws {
    let world = try world()
    #expect(world.run("group", "create", "work").code == .done)
    _ = world.run("add", "github.com/alice", "-g", "work", input: Array("ü\u{0}\n".utf8))
    _ = world.run("add", "example.org/bob", input: Array("b".utf8))
    let file = world.scratch.path + "/out.json"
    #expect(world.run("export", "json", file, "--plaintext", "-g", "work").lines == ["1 exported"])
    _ = world.run("rm", "github.com/alice")
    #expect(world.run("import", "json", file).code == .done)
    #expect(world.run("find", "-g", "work").lines.count == 1)
    #expect(world.run("get", "github.com/alice").text == "ü\u{0}\n")
    #expect(world.run("import", "json", file).lines == ["0 added, 1 already in the store"])
  }

  @Test(
    "losses of attributes are reported before anything is decrypted",
    arguments: [["csv", "--plaintext"], ["csv", "--plaintext", "--format", "bitwarden"]] as [[Word]])
  func forecast(words: [Word]) throws {
    let world = try CommandFixture.withoutGnuPG()
    #expect(world.run("group", "create", "ops").code == .done)
    let item: [Word] = ["add", "github.com/alice", "-r", "https", "-g", "ops"]
    #expect(world.run(item, input: Array("secret".utf8)).code == .done)
    let path = Word("\(world.folder.path)/out")
    func export(_ more: Word...) -> CommandFixture.Result {
      world.run(["export", words[0], path, "--explain"] + words.dropFirst() + more)
    }
    let refused = export()
    #expect(refused.code == .failure && refused.text.contains("without"), "\(refused.diagnosticsText)")
    #expect(refused.text.hasSuffix("plan: 1 exported, 1 of them incomplete\n"))
    let plan = export("--dry-run", "--accept-loss")
    #expect(plan.code == .done && plan.text == refused.text)
    #expect(plan.diagnosticsText.contains("Nothing was decrypted or written."))
    for result in [refused, plan] { #expect(result.diagnosticsText.contains("items decrypted: 0")) }
    #expect(!FileManager.default.fileExists(atPath: "\(world.folder.path)/out"))
  }

  @Test("a secret that a format cannot contain is found after decryption, and nothing is written")
  func lateLoss() throws {
    let world = try CommandFixture.withoutGnuPG()
    #expect(world.run("add", "github.com/alice", "-r", "https", input: [0xFF, 0xFE]).code == .done)
    let path = Word("\(world.folder.path)/out")
    #expect(world.run("export", "csv", path, "--plaintext", "--dry-run").code == .done)
    let result = world.run("export", "csv", path, "--plaintext")
    #expect(result.code == .failure && result.text.contains("NOT exported: its secret is not UTF-8 text"))
    #expect(!FileManager.default.fileExists(atPath: "\(world.folder.path)/out"))
  }

  @Test(
    "exports keep the seeds of Steam codes",
    arguments: ["steam://JBSWY3DPEHPK3PXP", "otpauth://totp/Steam:x?secret=JBSWY3DPEHPK3PXP"])
  func steam(seed: String) throws {
    let first = try CommandFixture.withoutGnuPG()
    #expect(first.run("add", "a.example/zoe", input: Array("pw".utf8)).code == .done)
    #expect(
      first.run("otp", "add", "a.example/zoe", input: Array(seed.utf8)).code == .done
    )
    let code = first.run("otp", "a.example/zoe").text
    #expect(code.trimmingCharacters(in: .newlines).count == 5)
    for format in [["bitwarden"], ["csv", "--format", "bitwarden"], ["json"]] as [[Word]] {
      let path = Word("\(first.folder.path)/\(format.map(\.approximateText).joined())")
      let export = first.run(["export"] + format + [path, "--plaintext", "--accept-loss"])
      #expect(export.code == .done, "\(export.diagnosticsText)")
      let second = try CommandFixture.withoutGnuPG()
      #expect(second.run("import", path).code == .done)
      #expect(second.run("get", "a.example/zoe", "--field", "otp").text == seed)
    }
  }

  @Test(
    "a loss that many items have in common is one line, and the error names the formats that lose nothing"
  )
  func grouped() throws {
    let world = try CommandFixture.withoutGnuPG()
    let rows = (0..<13).map {
      "A,https://a.example,user\($0),s\($0),otpauth://totp/x?secret=GEZDGNBV\n"
    }
    let file = Array(("name,url,username,password,otp\n" + rows.joined()).utf8)
    #expect(world.run("import", "-", input: file).code == .done)
    let path = Word("\(world.folder.path)/out.csv")
    let short = world.run("export", "csv", path, "--plaintext")
    #expect(short.code == .failure)
    #expect(
      short.text
        == "13 one-time passwords: NOT exported: browsers cannot store one-time passwords\n"
        + "plan: 13 exported, 13 NOT exported\n")
    #expect(short.diagnosticsText.contains("`export bitwarden`"), "\(short.diagnosticsText)")
    #expect(short.diagnosticsText.contains("`--verbose` lists each of these items."))
    let long = world.run("export", "csv", path, "--plaintext", "--verbose")
    #expect(long.text.split(separator: "\n").count == 14)
    #expect(!long.diagnosticsText.contains("--verbose"))
  }
}
