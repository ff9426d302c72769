import Arguments
import CommandSupport
import Encoding
import Foundation
import Keyring
import KeyringModel
import OpenPGP
import Personalities
import Secrets
import Subprocess
import Terminal
import TestSupport
import Testing

/// Tests `keytree adopt` and what other commands do with files of other programs, in a store without git.
@Suite(.serialized) struct AdoptCommandTests {
  private let world: CommandFixture

  init() throws { world = try CommandFixture.withoutGnuPG() }

  /// The number of decryptions so far, including those of `get`.
  private var decryptions: Int {
    get throws { try engine.statistics.decryptions }
  }

  private var engine: any OpenPGPEngine {
    get throws {
      var generator = SystemRandomNumberGenerator()
      let factory = try #require(world.engine)
      return factory(KeyringID(using: &generator), [:])
    }
  }

  /// Writes an encrypted file.
  ///
  /// - Returns: The path, in which `1f2e3d4c` is replaced by the digits of the file's digest.
  @discardableResult
  private func put(_ path: String, _ text: String, to reader: UInt8 = 1) throws -> String {
    let secret = SecretBytes(text: text)
    let message = try engine.seal(secret, to: [EngineDouble.fingerprint(reader)])
    let digits = Hexadecimal.text(ContentDigest(of: message).bytes.prefix(4))
    let path = path.replacing("1f2e3d4c", with: digits)
    try write(path, message)
    return path
  }

  private func write(_ path: String, _ bytes: [UInt8]) throws {
    let file = URL(fileURLWithPath: "\(world.store)/\(path)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: file)
  }

  private func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(world.store)/\(path)")
  }

  private func secret(_ words: Word...) -> String { world.run([Word("get")] + words).text }

  private static let file = "items/github.com/alice.gpg"
  private static let itemFile = "items/internet-password/a.example/me.gpg"

  @Test func `without a terminal the files are listed, and the exit code says if there are any`() throws {
    let nothing = world.run("adopt")
    #expect(nothing.code == .done && nothing.text == "")
    try put(Self.file, "secret")
    let list = world.run("adopt")
    #expect(list.code == .failedChecks)
    #expect(list.text.hasPrefix("\"\(Self.file)\": added on "))
    #expect(list.text.hasSuffix(", not committed\n"), "\(list.text)")
    let json = world.run("adopt", "--json")
    #expect(json.code == .failedChecks)
    #expect(json.text.contains("\"author\":null,"), "\(json.text)")
    #expect(json.text.contains("\"outcome\":\"listed\"") && json.text.contains("\"state\":\"added\""))
    #expect(world.run("status").text.contains(Self.file))
    #expect(
      world.run("status", "--json").text.contains(
        "\"notAdopted\":[{\"author\":null,\"path\":\"\(Self.file)\""))
    #expect(world.run("check").code == .failedChecks)
    #expect(exists(Self.file))
  }

  @Test func `a new file becomes a login with its fields`() throws {
    try put(Self.file, "secret\nmore\notpauth://totp/x?secret=ABCDEFGHIJKLMNOP\n")
    let result = world.run("adopt", "github.com/alice", "--yes")
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(
      result.diagnosticsText.contains(
        "Adopted \"\(Self.file)\" as github.com/alice.")
    )
    #expect(secret("github.com/alice") == "secret")
    #expect(secret("github.com/alice", "--field", "note").hasPrefix("more\n"))
    #expect(secret("github.com/alice", "--field", "otp").hasPrefix("otpauth://totp/x"))
    #expect(!exists(Self.file))
    #expect(world.run("check", "--decrypt").code == .done)
  }

  @Test func `a file with headers of gopass becomes a login whose secret is the password`() throws {
    try put(
      "items/web/a.example.gpg",
      "GOPASS-SECRET-1.0\nColour: red\nPassword: pw-1\nUsername: zoe\n\nmore\nPassword: no\n")
    let result = world.run("adopt", "web/a.example", "--yes")
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(secret("a.example/zoe") == "pw-1")
    #expect(secret("a.example/zoe", "--field", "note") == "Colour: red\n\nmore\nPassword: no\n")
    #expect(world.run("adopt").code == .done)
  }

  @Test func `the name of the format of gopass never becomes the secret of a changed file`() throws {
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    for (content, secret) in [
      ("GOPASS-SECRET-1.0\nPassword: pw-1\n", "pw-1"),
      ("GOPASS-SECRET-1.0\nPassword: pw-2\nUsername: me\n\nmore\n", "pw-2"),
    ] {
      try put(Self.itemFile, content)
      let result = world.run("adopt", "a.example/me", "--yes")
      #expect(result.code == .done, "\(result.diagnosticsText)")
      #expect(self.secret("a.example/me") == secret)
    }
    #expect(secret("a.example/me", "--field", "note") == "more\n")
  }

  /// Paths below `items`, and the names of the items that they become.
  static let places: [(path: String, name: String)] = [
    ("github.com/alice", "internet:github.com/alice"),
    ("web/forum.example/bob", "internet:forum.example/bob"),
    ("Some Site", "generic:Some Site/Some Site"), ("web/Some Site", "generic:web/Some Site"),
    ("internet-password/github.com/alice", "internet:github.com/alice"),
    ("internet-password/intranet/alice", "internet:intranet/alice"),
    ("internet-password/github.com (1f2e3d4c)", "internet:github.com"),
    ("generic-password/github.com/bot", "generic:github.com/bot"),
    ("generic-password/wifi (1f2e3d4c)", "generic:wifi/wifi"),
    ("generic-password/My Wifi", "generic:My Wifi/My Wifi"),
    ("internet-password/github.com/Alice B", "internet:github.com/Alice B"),
    // A second path of an item that no longer exists, and of a new file.
    ("internet-password/github.com/alice (1f2e3d4c)", "internet:github.com/alice"),
    ("web/forum.example/bob (1f2e3d4c)", "internet:forum.example/bob"),
  ]

  @Test(arguments: places.indices)
  func `the path of a file is the name of the item`(index: Int) throws {
    let (path, name) = Self.places[index]
    let file = try put("items/\(path).gpg", "secret\nnote")
    let result = world.run("adopt", Word(file), "--yes")
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(secret(Word(name)) == "secret", "\(world.run("find").text)")
    #expect(secret(Word(name), "--field", "note") == "note")
    #expect(world.run("adopt").code == .done)
  }

  @Test func `a file at the path of a field becomes the field`() throws {
    _ = world.run("add", "a.example/me", input: Array("pw".utf8))
    try put("items/internet-password/a.example/me/pin.gpg", "1234\n")
    #expect(world.run("adopt", "a.example/me/pin", "--yes").code == .done)
    #expect(secret("a.example/me", "--field", "pin") == "1234" && secret("a.example/me") == "pw")
  }

  @Test func `on a terminal each file is asked for, and nothing is decrypted before`() throws {
    try put(Self.file, "one")
    try put("items/web/x.gpg", "two")
    let before = try decryptions
    let result = world.run("adopt", input: Array("n\ny\n".utf8), isTerminal: true)
    #expect(result.diagnosticsText.contains("Adopt \"\(Self.file)\"? [y/N]"))
    // All files are listed before the first question.
    #expect(
      result.diagnosticsText.hasPrefix("\"\(Self.file)\": added on ")
        && result.diagnosticsText.split(separator: "\n")[1].hasPrefix("\"items/web/x.gpg\": added on "),
      "\(result.diagnosticsText)")
    #expect(try decryptions == before + 1)
    #expect(result.code == .cancelled && exists(Self.file) && !exists("items/web/x.gpg"))
    #expect(secret("generic:web/x") == "two")
    let declined = world.run("adopt", input: Array("n\n".utf8), isTerminal: true)
    #expect(try declined.code == .cancelled && decryptions == before + 2)
  }

  @Test func `a script must name the files and give the option`() throws {
    try put(Self.file, "one")
    #expect(world.run("adopt", "--yes").code == .usage)
    #expect(world.run("adopt", Word(Self.file)).code == .cancelled)
    #expect(world.run("adopt", Word(Self.file), "--no-input", isTerminal: true).code == .cancelled)
    let unknown = world.run("adopt", "nothing", "--yes")
    #expect(unknown.code == .notFound && unknown.diagnosticsText.contains("`keytree adopt --no-input`"))
    #expect(world.run("adopt", "--no-input", isTerminal: true).text.hasPrefix("\"\(Self.file)"))
    #expect(world.run("adopt", Word(Self.file), "--undo", "--update").code == .usage)
    #expect(world.run("adopt", Word(Self.file), "--undo", "-g", "default").code == .usage)
    #expect(exists(Self.file))
  }

  @Test func `an existing login is not replaced, except with the option`() throws {
    for account in ["alice", "alice2"] {
      _ = world.run("add", Word("github.com/\(account)"), "--protocol", "https", input: Array("old".utf8))
    }
    try put(Self.file, "new\nnote")
    let refused = world.run("adopt", Word(Self.file), "--yes", "--json")
    #expect(
      refused.code == .alreadyExists && refused.text.contains("\"outcome\":\"exists\""), "\(refused.text)")
    #expect(secret("github.com/alice") == "old" && exists(Self.file))
    let done = world.run("adopt", Word(Self.file), "--yes", "--update")
    #expect(done.code == .done, "\(done.diagnosticsText)")
    #expect(secret("github.com/alice") == "new" && secret("github.com/alice", "--field", "note") == "note")
    #expect(secret("github.com/alice2") == "old")
    #expect(world.run("find", "--account", "alice").text.split(separator: "\n").count == 1)
  }

  @Test func `a given group decides which login is replaced or added`() throws {
    #expect(world.run("group", "create", "ops").code == .done)
    _ = world.run("add", "github.com/alice", input: Array("old".utf8))
    try put(Self.file, "new")
    #expect(world.run("adopt", Word(Self.file), "--yes", "-g", "ops").code == .done)
    #expect(secret("github.com/alice", "-g", "default") == "old")
    #expect(secret("github.com/alice", "-g", "ops") == "new")
    try put(Self.file, "newer")
    #expect(world.run("adopt", Word(Self.file), "--yes", "-g", "default", "--update").code == .done)
    #expect(secret("github.com/alice", "-g", "default") == "newer")
    #expect(secret("github.com/alice", "-g", "ops") == "new")
  }

  @Test func `a file that cannot be read is reported, and the others are adopted`() throws {
    try put("items/web/others.gpg", "secret", to: 9)
    try put("items/web/good.gpg", "secret")
    try write("items/web/text.gpg", Array("no message".utf8))
    try write("items/web/large.gpg", [UInt8](repeating: 1, count: StoreLayout.sealedItemLimit + 1))
    let names = ["others", "good", "text", "large"].map { Word("web/\($0)") }
    let result = world.run([Word("adopt")] + names + ["--yes"])
    #expect(result.code == .cannotDecrypt)
    for (name, words) in [
      ("others", "it is encrypted to "), ("text", ""), ("large", "it is larger than"),
    ] {
      #expect(result.diagnosticsText.contains("cannot adopt \"items/web/\(name).gpg\": \(words)"), "\(name)")
    }
    #expect(secret("generic:web/good") == "secret")
    #expect(world.run("adopt", "web/text", "--yes").code == .damaged)
    #expect(world.run("adopt").text.split(separator: "\n").count == 3)
    // The same files can be put aside.
    let moved = world.run([Word("adopt")] + [names[0], names[2], names[3]] + ["--yes", "--undo"])
    #expect(moved.code == .done)
    let place = moved.diagnosticsText.firstMatch(of: #/Moved "items/web/text\.gpg" to "(.*)"\./#)?.1
    #expect(place.map { exists(String($0)) } == true, "\(moved.diagnosticsText)")
    #expect(world.run("adopt").code == .done && world.run("check").code == .done)
  }

  @Test func `a changed file is shown with both dates, and accepted`() throws {
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    try put(Self.itemFile, "new\n")
    for command in ["adopt", "status", "check"] {
      let text = world.run(Word(command)).text
      #expect(text.contains(Self.itemFile), "\(command)")
      #expect(text.contains("2026-") || text.contains("record of 20"), "\(command): \(text)")
    }
    #expect(world.run("check").text.contains("another program changed this file on "))
    #expect(world.run("get", "a.example/me").code == .damaged)
    #expect(world.run("get", "a.example/me").diagnosticsText.contains("`keytree adopt`"))
    let result = world.run("adopt", "a.example/me", "--yes")
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(secret("a.example/me") == "new")
    #expect(world.run("check", "--decrypt").code == .done)
  }

  @Test func `further lines of a changed file never become a field in another group`() throws {
    #expect(world.run("group", "create", "ops").code == .done)
    #expect(world.run("add", "a.example/me", "--field", "note", "-g", "ops", input: [0x78]).code == .done)
    #expect(world.run("add", "a.example/me", "-g", "default", input: Array("old".utf8)).code == .done)
    try put(Self.itemFile, "new\nPIN 1234")
    let result = world.run("adopt", "a.example/me", "--yes", "--update")
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(secret("a.example/me", "--field", "note", "-g", "ops") == "x")
  }

  @Test func `several lines in a changed file are the secret`() throws {
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    try put(Self.itemFile, "one\ntwo\n")
    #expect(world.run("adopt", "a.example/me", "--yes").code == .done)
    #expect(secret("a.example/me") == "one\ntwo\n")
  }

  @Test func `without a history a change cannot be undone`() throws {
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    try put(Self.itemFile, "new")
    let result = world.run("adopt", "a.example/me", "--undo", "--yes")
    #expect(
      result.code == .damaged
        && result.diagnosticsText.contains("cannot undo \"\(Self.itemFile)\": the store has no history"))
    #expect(world.run("adopt").code == .failedChecks)
  }

  @Test func `a name is escaped in every output`() throws {
    try put("items/a\u{E9}\u{2028}/x.gpg", "x")
    try put("items/web/\u{1F600} x.gpg", "x")
    let list = world.run("adopt").text
    #expect(list.contains("items/web/") && !list.contains("\u{2028}"))
    #expect(list.split(separator: "\n").count == 1)
  }

  // MARK: Readers

  /// Makes a person, whose key this machine does not have, a member of a group.
  private func join(_ person: UInt8, _ group: String) throws {
    try #require(world.standIn).join(EngineDouble.fingerprint(person), group)
  }

  /// The recipients in the first lines of a message of the stand-in, for a copy with one more.
  private func adding(_ reader: UInt8, to message: [UInt8]) -> [UInt8] {
    let line = message.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return message[..<line] + Array("\(EngineDouble.fingerprint(reader).text),".utf8) + message[line...]
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: "\(world.store)/\(path)")))
  }

  @Test func `a copy of a file that others cannot read is not adopted for them`() throws {
    try join(2, "ops")
    _ = world.run("add", "bank.example/alice", input: Array("money".utf8))
    _ = world.run("add", "phone.example/shared", "-g", "ops", input: Array("shared".utf8))
    let bank = try bytes("items/internet-password/bank.example/alice.gpg")
    let index = URL(fileURLWithPath: "\(world.store)/items/internet-password/phone.example")
    let shared = try #require(
      FileManager.default.contentsOfDirectory(atPath: index.path).first { $0.hasSuffix(".gpg") })
    try write("items/internet-password/phone.example/\(shared)", adding(2, to: bank))
    try write("items/web/team-wifi.gpg", bank)
    let decryptions = try decryptions
    let result = world.run(
      "adopt", Word("phone.example/\(shared)"), "web/team-wifi", "-g", "ops", "--yes", "--widen", "--json")
    #expect(result.code == .damaged, "\(result.diagnosticsText)")
    let reason = "it is a copy of \"items/internet-password/bank.example/alice.gpg\""
    #expect(result.diagnosticsText.split(separator: "\n").count { $0.contains(reason) } == 2)
    #expect(try self.decryptions == decryptions)
    #expect(world.run("adopt").text.split(separator: "\n").count == 2)
    // Both can be undone.
    #expect(world.run("adopt", "web/team-wifi", "--undo", "--yes").code == .done)
  }

  @Test func `the question names the members who will be able to read the content`() throws {
    try join(2, "ops")
    try put(Self.file, "secret")
    let asked = world.run("adopt", "-g", "ops", input: Array("n\n".utf8), isTerminal: true)
    #expect(
      asked.diagnosticsText.contains("\"Person 02\" will be able to read \"\(Self.file)\"."),
      "\(asked.diagnosticsText)")
    let alone = world.run("adopt", input: Array("n\n".utf8), isTerminal: true)
    #expect(!alone.diagnosticsText.contains("will be able to read"))
    let refused = world.run("adopt", Word(Self.file), "-g", "ops", "--yes")
    #expect(refused.code == .cancelled && refused.diagnosticsText.contains("`--widen`") && exists(Self.file))
    #expect(world.run("adopt", Word(Self.file), "--undo", "--widen", "--yes").code == .usage)
    #expect(world.run("adopt", Word(Self.file), "-g", "ops", "--yes", "--widen").code == .done)
    #expect(secret("github.com/alice", "-g", "ops") == "secret")
  }

  @Test func `a changed item of a group with other members needs the option, too`() throws {
    try join(2, "ops")
    #expect(world.run("add", "a.example/me", "-g", "ops", input: Array("old".utf8)).code == .done)
    let folder = "items/internet-password/a.example"
    let name = try #require(
      FileManager.default.contentsOfDirectory(atPath: "\(world.store)/\(folder)").first {
        $0.hasSuffix(".gpg")
      })
    try put("\(folder)/\(name)", "new")
    let path = Word("\(folder)/\(name)")
    #expect(world.run("adopt", path, "--yes").code == .cancelled)
    #expect(world.run("adopt", path, "--yes", "--widen").code == .done)
    #expect(secret("a.example/me") == "new")
  }

  // MARK: Groups

  /// Options, the exit code where only group `ops` has the login, and the secret in `ops` and in `default` afterwards.
  static let groups: [(options: [Word], code: ExitCode, ops: String, own: String)] = [
    ([], .alreadyExists, "x", ""),
    (["--update"], .ambiguous, "x", ""),
    (["-g", "default"], .done, "x", "phone"),
    (["-g", "default", "--update"], .done, "x", "phone"),
    (["-g", "ops", "--widen"], .alreadyExists, "x", ""),
    (["-g", "ops", "--update", "--widen"], .done, "phone", ""),
  ]

  @Test(arguments: groups.indices, [true, false])
  func `a login of another group is changed only if the group is given`(index: Int, hasProtocol: Bool) throws
  {
    let (options, code, ops, own) = Self.groups[index]
    try join(2, "ops")
    let place: [Word] = ["add", "shadow.example/alice", "-g", "ops"]
    #expect(
      world.run(place + (hasProtocol ? ["--protocol", "https"] : []), input: Array("x".utf8)).code == .done)
    try put("items/web/shadow.example/alice.gpg", "phone\n")
    let result = world.run([Word("adopt"), "web/shadow.example/alice", "--yes"] + options)
    #expect(result.code == code, "\(result.diagnosticsText)")
    if code != .done { #expect(result.diagnosticsText.contains("group \"ops\"")) }
    #expect(secret("shadow.example/alice", "-g", "ops") == ops)
    #expect(secret("shadow.example/alice", "-g", "default") == own)
  }

  @Test func `a field alone is added in the group of its login only if the group is given`() throws {
    try join(2, "ops")
    _ = world.run("add", "a.example/me", "--protocol", "https", "-g", "ops", input: Array("pw".utf8))
    try put("items/internet-password/a.example/me/pin.gpg", "1234\n")
    #expect(world.run("adopt", "a.example/me/pin", "--yes").code == .alreadyExists)
    let done = world.run("adopt", "a.example/me/pin", "--yes", "--widen", "-g", "ops")
    #expect(done.code == .done, "\(done.diagnosticsText)")
    #expect(secret("a.example/me", "--field", "pin") == "1234")
  }

  // MARK: Forged names

  @Test func `a path cannot imitate a question or another line`() throws {
    let blanks = String(repeating: " ", count: 40)
    let path = "items/web/x\"? [y/N] y\(blanks)Adopted \"items\u{3000}\u{2003} a.gpg"
    try put(path, "x")
    let list = world.run("adopt").text
    #expect(
      list.hasPrefix("\"items/web/x\\\"? [y/N] y Adopted \\\"items a.gpg\": added on "), "\(list)")
    let asked = world.run("adopt", input: Array("n\n".utf8), isTerminal: true)
    #expect(
      asked.diagnosticsText.contains("Adopt \"items/web/x\\\"? [y/N] y Adopted \\\"items a.gpg\"? [y/N]"),
      "\(asked.diagnosticsText)")
    // The name is accepted as it is shown.
    let shown = Word("items/web/x\"? [y/N] y Adopted \"items a.gpg")
    #expect(world.run("adopt", shown, "--yes", "--undo").code == .done && !exists(path))
  }

  @Test func `no command releases a file that was not adopted`() throws {
    try put(Self.file, "TOP-SECRET")
    try put("items/internet-password/git.example/bob.gpg", "TOP-SECRET")
    _ = world.run("add", "a.example/me", "--protocol", "https", input: Array("old".utf8))
    let changed = "items/internet-password/a.example/me+https.gpg"
    #expect(exists(changed))
    try put(changed, "TOP-SECRET")
    let commands: [[Word]] = [
      ["get", "github.com/alice"], ["get", "git.example/bob"], ["get", "a.example/me"], ["find"],
      ["show", "a.example/me"],
      ["show", "a.example/me", "--reveal"], ["read", "keytree://internet-password/git.example/bob"],
      ["read", "keytree://internet-password/a.example/me+https"],
      ["run", "--env", "X=keytree://internet-password/a.example/me+https", "--", "env"],
      ["export", "json", "-", "--plaintext"], ["status"], ["check", "--decrypt"], ["adopt"],
      ["get", "a.example/me", "--qr"],
    ]
    for words in commands {
      let result = world.run(words)
      #expect(
        !result.text.contains("TOP-SECRET") && !result.diagnosticsText.contains("TOP-SECRET"), "\(words)")
    }
    for host in ["github.com", "git.example", "a.example"] {
      let input = Word("credential")
      let result = world.run(
        [input, "git", "get"], input: Array("protocol=https\nhost=\(host)\n\n".utf8))
      #expect(!result.text.contains("password"), "\(host)")
    }
    // An item of the same name is not shadowed by the file.
    let added = world.run("add", "github.com/alice", input: Array("mine".utf8))
    #expect(added.code == .done && secret("github.com/alice") == "mine")
  }
}

/// Tests `keytree adopt` with GnuPG and git, as a phone app leaves a store.
@Suite(.serialized, .slow) struct AdoptWithGnuPGTests {
  private let world: CommandFixture

  init() throws { world = try CommandFixture() }

  /// Writes a file as another program does, and commits it under the name of its user.
  private func phone(
    _ path: String, _ text: String, to keys: [GnuPGKey] = [.alice], author: String = "Pixel"
  ) throws {
    let message = try world.home.encrypt(Array(text.utf8), to: keys, namesRecipients: false)
    let file = URL(fileURLWithPath: "\(world.store)/\(path)")
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(message).write(to: file)
    _ = try git("add", "--all")
    _ = try git(
      "commit", "--quiet", "--message", "phone", "--author", "\(author) <p@example.org>", "--date",
      "2026-11-20T12:00:00Z")
  }

  /// Runs git in the store, as another program does.
  private func git(_ words: String...) throws -> String {
    var run = ProgramRun(
      "/usr/bin/git", ["-c", "user.name=P", "-c", "user.email=p@example.org"] + words,
      environment: ProcessEnvironment(["HOME": world.folder.path, "PATH": "/usr/bin:/bin"]))
    run.folder = world.store
    run.timeout = .seconds(60)
    let outcome = try run.run()
    try #require(outcome.ending == .exited(status: 0), "\(String(decoding: outcome.errors, as: UTF8.self))")
    return String(decoding: outcome.output, as: UTF8.self)
  }

  @Test func `the author of the commit is shown as unverified, and the file goes with the adoption`() throws {
    try phone("items/github.com/alice.gpg", "secret\nnote\n")
    let list = world.run("adopt")
    #expect(
      list.text
        == "\"items/github.com/alice.gpg\": added on 2026-11-20, committed by \"Pixel <p@example.org>\", not verified\n",
      "\(list.text)")
    #expect(world.run("adopt", "--json").text.contains("\"author\":\"Pixel <p@example.org>\""))
    let verified = world.run("verify")
    #expect(
      verified.code == .done && verified.text.contains("warning: items/github.com/alice.gpg"),
      "\(verified.text)")
    #expect(world.run("verify", "--strict").code == .failedChecks)
    let result = world.run("adopt", input: Array("y\n".utf8), isTerminal: true)
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(result.diagnosticsText.unwrapped.contains("committed by \"Pixel <p@example.org>\", not verified"))
    #expect(world.run("get", "github.com/alice").text == "secret")
    #expect(try git("status", "--porcelain") == "")
    #expect(world.run("verify").code == .done && world.run("check", "--decrypt").code == .done)
    #expect(world.run("adopt").code == .done)
  }

  @Test func `the name of an author cannot imitate a verification`() throws {
    try phone("items/github.com/alice.gpg", "secret", author: "alice\", verified by \"alice")
    let list = world.run("adopt").text
    #expect(
      list.hasSuffix("committed by \"alice\\\", verified by \\\"alice <p@example.org>\", not verified\n"),
      "\(list)")
  }

  @Test func `a changed file is accepted or undone from the history`() throws {
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    let path = "items/internet-password/a.example/me.gpg"
    try phone(path, "new\n")
    let list = world.run("adopt").text
    #expect(list.hasPrefix("\"\(path)\": changed on 2026-11-20, record of 20"), "\(list)")
    #expect(world.run("check").text.contains("another program changed this file on 2026-11-20"))
    #expect(world.run("get", "a.example/me").code == .damaged)
    let verified = world.run("verify")
    #expect(verified.code == .done && verified.text.contains("warning: \(path)"), "\(verified.text)")
    let undone = world.run("adopt", "a.example/me", "--undo", "--yes")
    #expect(
      undone.code == .done && undone.diagnosticsText == "Restored \"\(path)\".\n", "\(undone.diagnosticsText)"
    )
    #expect(world.run("get", "a.example/me").text == "old")
    #expect(try git("status", "--porcelain") == "" && world.run("check").code == .done)
    try phone(path, "newer\n")
    #expect(world.run("adopt", "a.example/me", "--yes").code == .done)
    #expect(world.run("get", "a.example/me").text == "newer")
    #expect(world.run("verify").code == .done && world.run("check", "--decrypt").code == .done)
    #expect(try git("log", "-1", "--format=%s") == "adopt 1 file\n")
  }

  @Test func `further lines of a changed login become fields`() throws {
    let path = "items/internet-password/a.example/me.gpg"
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    try phone(path, "new\notpauth://totp/x?secret=ABCDEFGHIJKLMNOP\nlogin: me\nhint: blue\n")
    #expect(world.run("adopt", "a.example/me", "--yes").code == .done)
    #expect(world.run("get", "a.example/me").text == "new")
    #expect(world.run("get", "a.example/me", "--field", "note").text == "hint: blue\n")
    #expect(world.run("get", "a.example/me", "--field", "otp").text.hasPrefix("otpauth://totp/x"))

    // An existing field is replaced only after a question.
    try phone(path, "newer\nlogin: you\nhint: red\n")
    let refused = world.run("adopt", "a.example/me", "--yes")
    #expect(refused.code == .alreadyExists, "\(refused.diagnosticsText)")
    #expect(
      refused.diagnosticsText.contains("a.example/me --field note exists already"),
      "\(refused.diagnosticsText)")
    let declined = world.run("adopt", input: Array("y\nn\n".utf8), isTerminal: true)
    #expect(declined.code == .cancelled, "\(declined.diagnosticsText)")
    #expect(declined.diagnosticsText.contains("Replace a.example/me --field note? [y/N]"))
    #expect(world.run("get", "a.example/me", "--field", "note").text == "hint: blue\n")
    #expect(world.run("adopt", input: Array("y\ny\n".utf8), isTerminal: true).code == .done)
    #expect(world.run("get", "a.example/me").text == "newer")
    #expect(world.run("get", "a.example/me", "--field", "note").text == "login: you\nhint: red\n")

    // A field with the same content is no question.
    try phone(path, "newest\nlogin: you\nhint: red\n")
    #expect(world.run("adopt", "a.example/me", "--yes").code == .done)
    #expect(world.run("check", "--decrypt").code == .done)
  }

  @Test func `a changed secret of several lines stays one secret`() throws {
    _ = world.run("add", "b.example/me", input: Array("one\ntwo\n".utf8))
    try phone("items/internet-password/b.example/me.gpg", "three\nfour\n")
    #expect(world.run("adopt", "b.example/me", "--yes").code == .done)
    #expect(world.run("get", "b.example/me").text == "three\nfour\n")
  }

  /// The offsets are in the header, the key id, the session key and the content.
  @Test(arguments: [2, 5, 11, 12, 30, 63, 64, 150, -20, -1])
  func `a file that is damaged at any place is restored and never adopted`(offset: Int) throws {
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    let file = URL(fileURLWithPath: "\(world.store)/items/internet-password/a.example/me.gpg")
    var bytes = Array(try Data(contentsOf: file))
    bytes[offset < 0 ? bytes.count + offset : offset] ^= 0x10
    try Data(bytes).write(to: file)
    #expect(world.run("adopt", "a.example/me", "--yes").code != .done)
    _ = world.run("check", "--repair")
    #expect(world.run("get", "a.example/me").text == "old")
    #expect(world.run("check", "--decrypt").code == .done)
  }

  @Test func `equal days are shown with the time`() throws {
    _ = world.run("add", "a.example/me", input: Array("old".utf8))
    let path = "items/internet-password/a.example/me.gpg"
    let message = try world.home.encrypt(Array("new".utf8), to: [.alice], namesRecipients: false)
    try Data(message).write(to: URL(fileURLWithPath: "\(world.store)/\(path)"))
    let minute = #/changed on \d{4}-\d\d-\d\d \d\d:\d\d, record of \d{4}-\d\d-\d\d \d\d:\d\d/#
    #expect(world.run("adopt").text.contains(minute), "\(world.run("adopt").text)")
    let sentence = #/changed this file on \d{4}-\d\d-\d\d \d\d:\d\d/#
    #expect(world.run("check").text.contains(sentence), "\(world.run("check").text)")
  }

  @Test func `a repair restores a missing file and does not touch what another program has changed`() throws {
    for name in ["a.example/me", "b.example/me"] {
      #expect(world.run("add", Word(name), input: Array("old".utf8)).code == .done)
    }
    let path = "items/internet-password/a.example/me.gpg"
    try phone(path, "new\n")
    let changed = try Data(contentsOf: URL(fileURLWithPath: "\(world.store)/\(path)"))
    try FileManager.default.removeItem(atPath: "\(world.store)/items/internet-password/b.example/me.gpg")

    let repair = world.run("check", "--repair")
    #expect(repair.code == .failedChecks && repair.text.contains(path), "\(repair.text)")
    #expect(world.run("get", "b.example/me").text == "old")
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(world.store)/\(path)")) == changed)
    #expect(world.run("adopt").text.hasPrefix("\"\(path)\": changed on 2026-11-20"))
    #expect(world.run("adopt", "a.example/me", "--yes").code == .done)
    #expect(world.run("get", "a.example/me").text == "new")
  }

  @Test func `a file for other people cannot be adopted, and its recipients are not used`() throws {
    try world.home.run(["--pinentry-mode", "loopback", "--import"], input: GnuPGKey.bob.publicKey)
    try phone("items/web/bob.gpg", "secret", to: [.bob])
    try phone("items/web/both.gpg", "secret", to: [.alice, .bob])
    let result = world.run("adopt", "web/bob", "web/both", "--yes")
    #expect(result.code == .cannotDecrypt, "\(result.diagnosticsText)")
    #expect(world.run("get", "generic:web/both").text == "secret")
    // An item that Bob could read would be a finding.
    let findings = world.run("check").text
    #expect(
      findings.hasPrefix("items/web/bob.gpg:") && findings.split(separator: "\n").count == 1, "\(findings)")
  }
}
