import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

@testable import Interchange

/// `keytree import` as a user runs it, with a stand-in for GnuPG.
@Suite("Importing with the command", .serialized)
struct ImportCommandTests {
  private let csv = "name,url,username,password\nGitHub,https://github.com/,alice,s1\n"

  private func file(_ text: String, _ world: CommandFixture, named name: String = "in") throws -> Word {
    let path = "\(world.folder.path)/\(name)"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return Word(path)
  }

  @Test("the format of every fixture is detected", arguments: ImportFormat.allCases)
  func detected(format: ImportFormat) throws {
    let name =
      switch format {
      case .bitwarden: "bitwarden"
      case .onePassword: "1pux"
      case .keePass: "keepass-xml"
      case .netrc: "netrc"
      case .keychain: "keychain-dump"
      default: "csv"
      }
    let path = Word(ImportFixtures.folder.appending(path: format.rawValue).path)
    let (given, detected) = (try CommandFixture.withoutGnuPG(), try CommandFixture.withoutGnuPG())
    let first = given.run("import", Word(name), path, "--accept-loss")
    let second = detected.run("import", path, "--accept-loss")
    #expect(first.code == .done && second.code == .done, "\(second.diagnosticsText)")
    #expect(!first.text.isEmpty && first.text == second.text)
  }

  @Test("an export in Keytree's own format and a store of pass are detected")
  func detectedOwn() throws {
    let world = try CommandFixture.withoutGnuPG()
    _ = world.run("add", "github.com/alice", input: Array("secret".utf8))
    let path = Word("\(world.folder.path)/out.json")
    #expect(world.run("export", "json", path, "--plaintext").code == .done)
    #expect(world.run("import", path).text == "0 added, 1 already in the store\n")
    // Any other folder is not a store.
    let folder = world.run("import", Word(world.folder.path))
    #expect(folder.code == .failure && folder.diagnosticsText.contains("it has no .gpg-id"))
  }

  @Test(
    "a file whose format is not certain is a usage error that lists the formats",
    arguments: [
      "a,b\n1,2\n", "password\nx\n", "hello", "<html></html>", "{\"a\":1}", "[]",
      "name,url,username,password\u{0}", "username,password\n", "machines a",
    ])
  func uncertain(text: String) throws {
    let world = try CommandFixture.withoutGnuPG()
    let result = world.run("import", try file(text, world))
    #expect(result.code == .usage && result.output == [])
    for word in [
      "cannot detect the format of", "`pass`, `csv`, `bitwarden`", "`json`", "--map COLUMN=secret",
    ] {
      #expect(result.diagnosticsText.contains(word), "\(result.diagnosticsText)")
    }
  }

  @Test("a file that is certainly in a format and damaged is an error of that format")
  func damaged() throws {
    let world = try CommandFixture.withoutGnuPG()
    for text in ["{\"items\":[", "", "machine a login", "name,url,username,password\n\"a"] {
      let result = world.run("import", try file(text, world))
      #expect(result.code == .failure && result.diagnosticsText.contains("cannot read"), "\(text)")
    }
    #expect(world.run("import", "/nonexistent").code == .notFound)
    #expect(world.run("import").code == .usage)
    let netrc = try file("machine a.example login b password c\n", world)
    #expect(world.run("import", netrc, "--unknown-as-attributes").code == .usage)
    #expect(world.run("import", "netrc", netrc).text == "1 added\n")
    #expect(world.run("import", "netrc", netrc, "--map", "a=secret").code == .usage)
    #expect(world.run("import", "pass", "x", "--unknown-as-attributes").code == .usage)
  }

  @Test(
    "semicolons and tabs separate fields as well",
    arguments: [
      "name;url;username;password\nA,B;https://a.example/x,y;alice;\"p;w\"\n",
      "name\turl\tusername\tpassword\nA,B\thttps://a.example/x,y\talice\tp;w\n",
      "name,url,username,password\n\"A,B\",\"https://a.example/x,y\",alice,p;w\n",
      "\u{FEFF}\"name\";\"url\";\"username\";\"password\"\r\n\"A,B\";\"https://a.example/x,y\";\"alice\";\"p;w\"\r\n",
    ])
  func separators(text: String) throws {
    let world = try CommandFixture.withoutGnuPG()
    #expect(world.run("import", try file(text, world)).text == "1 added\n")
    #expect(world.run("get", "a.example/alice").text == "p;w")
    #expect(world.run("find", "-l", "A,B").text.hasPrefix("internet-password\ta.example\talice\tA,B\t"))
  }

  @Test(
    "columns for seeds become the field `otp` in every table",
    arguments: ["otp", "TOTP", "otpauth", "login_totp"])
  func seeds(column: String) throws {
    let world = try CommandFixture.withoutGnuPG()
    let text =
      "name,url,username,password,\(column)\nA,https://a.example,alice,pw,otpauth://totp/x?secret=GEZDGNBV\n"
    #expect(world.run("import", try file(text, world)).code == .done)
    #expect(world.run("get", "a.example/alice", "--field", "otp").text == "otpauth://totp/x?secret=GEZDGNBV")
    #expect(world.run("otp", "a.example/alice").code == .done)
  }

  @Test("a dry run prints counts, and every entry only with `--verbose`")
  func dryRun() throws {
    let world = try CommandFixture.withoutGnuPG()
    let rows = (0..<300).map { "A,https://a.example,user\($0),s\($0),note \($0)\n" }
    let path = try file(
      "name,url,username,password,note\n" + rows.joined() + "B,https://b.example,x,,\n", world)
    let plan = world.run("import", path, "--dry-run")
    #expect(
      plan.text.split(separator: "\n") == [
        "row 302: will be added as b.example/x; the secret is empty",
        "logins: 301 added", "notes: 300 added", "plan: 601 added",
      ])
    #expect(plan.code == .done && plan.diagnosticsText.hasPrefix("Nothing was changed.\nhint: "))
    #expect(world.run("import", path, "--dry-run", "--verbose").text.split(separator: "\n").count == 604)
    #expect(world.run("import", path, "-v").text.split(separator: "\n").count == 602)
  }

  @Test("`--update` replaces what differs, and without it the user is told that the file has more")
  func update() throws {
    let world = try CommandFixture.withoutGnuPG()
    let path = try file(csv, world)
    #expect(world.run("import", path).code == .done)
    let changed = try file(csv.replacing("s1", with: "s2"), world, named: "changed")
    let plain = world.run("import", changed)
    #expect(
      plain.code == .done && plain.text.contains("NOT imported: github.com/alice "))
    #expect(plain.diagnosticsText.contains("It also contains secrets that are not in the store."))
    #expect(world.run("get", "github.com/alice").text == "s1")
    #expect(world.run("import", changed, "--update", "--dry-run").text.contains("will replace the secret of"))
    #expect(world.run("get", "github.com/alice").text == "s1")
    #expect(world.run("import", changed, "--update").text.hasSuffix("0 added, 1 replaced\n"))
    #expect(world.run("get", "github.com/alice").text == "s2")
  }

  @Test(
    "a login of another group is not added a second time, unless the user chooses a group",
    arguments: [["-r", "https"], ["-P", "443"], []] as [[Word]])
  func groups(attributes: [Word]) throws {
    let world = try CommandFixture.withoutGnuPG()
    #expect(world.run("group", "create", "ops").code == .done)
    #expect(
      world.run(["add", "github.com/alice", "-g", "ops"] + attributes, input: Array("s1".utf8)).code == .done)
    let path = try file(csv + "GitHub,https://github.com/,bob,s2\n", world)
    #expect(world.run("import", path, "--update", "--dry-run").code == .ambiguous)
    let first = world.run("import", path)
    #expect(first.code == .alreadyExists)
    #expect(
      first.text.split(separator: "\n") == [
        "row 2: NOT imported: the group ops has this login; choose a group with `-g`",
        "1 added, 1 in another group and not imported",
      ])
    #expect(first.diagnosticsText.contains("secrets that are not in the store"))
    #expect(world.run("find").text.split(separator: "\n").count == 2)
    guard attributes == ["-r", "https"] else { return }
    #expect(world.run("import", path, "-g", "ops").text == "1 added, 1 completed\n")
    #expect(world.run("import", path, "-g", "default").text == "1 added, 1 already in the store\n")
  }

  @Test("git finds the logins of a pass store: `web/github.com/alice` and `github.com` with a `login:` line")
  func passForGit() throws {
    let world = try CommandFixture()
    let tree = "\(world.folder.path)/pass"
    for (path, text) in [
      (
        "web/github.com/alice",
        "token\nurl: https://github.com/login\notpauth://totp/x?secret=GEZDGNBV\nmore\n"
      ),
      ("gitlab.example", "other\nlogin: bob\n"),
    ] {
      let file = URL(fileURLWithPath: "\(tree)/\(path).gpg")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try world.home.run(
        ["--trust-model", "always", "-r", GnuPGKey.alice.mail, "-e", "-o", file.path], input: Array(text.utf8)
      )
    }
    try Data("\(GnuPGKey.alice.mail)\n".utf8).write(to: URL(fileURLWithPath: "\(tree)/.gpg-id"))
    let imported = world.run("import", Word(tree))
    #expect(
      imported.code == .done && imported.text == "4 added\n",
      "\(imported.diagnosticsText)")
    for (host, account, secret) in [
      ("github.com", "alice", "token"), ("gitlab.example", "bob", "other"),
    ] {
      let filled = world.run(
        "credential", "git", "get", input: Array("protocol=https\nhost=\(host)\n\n".utf8))
      #expect(filled.text.contains("username=\(account)\npassword=\(secret)\n"), "\(filled.text)")
    }
    #expect(world.run("get", "github.com/alice", "--field", "note").text == "more\n")
    #expect(
      world.run("get", "github.com/alice", "--field", "otp").text
        == "otpauth://totp/x?secret=GEZDGNBV")
    #expect(
      world.run("find", "--attribute", "pass=web/github.com/alice").text.split(separator: "\n")
        .count == 1)
  }
}
