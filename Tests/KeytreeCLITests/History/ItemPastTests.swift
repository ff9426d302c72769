import Arguments
import CommandSupport
import Encoding
import Foundation
import Glibc
import KeyringModel
import KeytreeCLI
import OpenPGP
import TestSupport
import Testing

@Suite("Items as they were", .serialized, .slow)
struct ItemPastTests {
  /// The last version that was removed can be signed by a member of another group.
  @Test func `a deleted item that was in several groups is restored only if the group is given`() throws {
    let world = try CommandFixture()
    for words in [
      ["group", "create", "ops"], ["add", "prod.example/root", "-g", "ops"],
      ["set", "prod.example/root", "-g", "default", "--widen"], ["rm", "prod.example/root"],
    ] {
      let result = world.run(words.map { Word($0) }, input: Array("secret".utf8))
      try #require(result.code == .done, "\(words): \(result.diagnosticsText)")
    }
    let refused = world.run("undelete", "prod.example/root")
    #expect(
      refused.code == .ambiguous && refused.diagnosticsText.contains("2 items match"),
      "\(refused.diagnosticsText)")
    #expect(world.run("find", "prod.example").code == .notFound)
    #expect(world.run("undelete", "prod.example/root", "-g", "ops").code == .done)
    #expect(world.run("get", "prod.example/root", "-g", "ops").text == "secret")
    #expect(world.run("get", "prod.example/root", "-g", "default").code == .notFound)
  }

  @Test(arguments: ["deploy", "key:deploy"])
  func `a deleted key is restored by its application tag`(name: String) throws {
    let world = try CommandFixture()
    world.succeed(
      "add", "--class", "key", "--attribute", "applicationTag=deploy", "--attribute",
      "applicationLabel=label",
      input: "secret")
    world.succeed("rm", Word(name))
    #expect(world.run("undelete", "key:label").code == .notFound)
    world.succeed("undelete", Word(name))
    #expect(world.run("get", Word(name)).text == "secret")
  }

  @Test func `the secret of a date is the one that was in the store at its end`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "0")
    for number in 1...2 { world.succeed("set", "a.example/alice", "--secret", input: "\(number)") }
    // Each commit gets another date; the first one creates the store.
    let dates = [
      "2026-01-01T09:00:00Z", "2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z", "2026-01-03T10:00:00Z",
    ]
    let commits = try world.git("rev-list", "--reverse", "HEAD").split(separator: "\n")
    try #require(commits.count == dates.count)
    var parent: String?
    for (commit, date) in zip(commits, dates) {
      let tree = try world.git("rev-parse", "\(commit)^{tree}").trimmingCharacters(in: .newlines)
      let parents = parent.map { ["-p", $0] } ?? []
      let people = ["-c", "user.name=A", "-c", "user.email=a@a.example"]
      let new = try world.git(
        people + ["commit-tree", "-m", "x", tree] + parents,
        more: ["GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date])
      parent = new.trimmingCharacters(in: .newlines)
    }
    try world.git("update-ref", "HEAD", try #require(parent))
    for (date, secret) in [
      ("2026-01-01", "0"), ("2026-01-02", "1"), ("2026-01-02 09:00", "0"), ("2026-01-02T10:00:00Z", "1"),
      ("2026-06-01", "2"), ("1 minute ago", "2"),
    ] {
      #expect(world.run("get", "a.example/alice", "--at", Word(date)).text == secret, "\(date)")
    }
    let early = world.run("get", "a.example/alice", "--at", "2025-12-31")
    #expect(early.code == .notFound && early.diagnosticsText.contains("begins after 2025-12-31"))
    let other = world.run("get", "a.example/alice", "--at", "tomorrow")
    #expect(other.code == .notFound && other.diagnosticsText.contains("nor a date"))
  }

  @Test func `undelete alone lists what can be restored`() throws {
    let world = try CommandFixture()
    #expect(world.run("undelete").diagnosticsText.contains("No deleted item"))
    world.succeed("add", "a.example/alice", "-l", "Gone", input: "one")
    world.succeed("add", "a.example/alice", "--field", "note", input: "note")
    world.succeed("add", "b.example/bob", input: "two")
    world.succeed("add", "b.example/bob", "--field", "note", input: "note")
    world.succeed("add", "c.example/carol", input: "three")
    world.succeed("rm", "a.example/alice")
    world.succeed("rm", "b.example/bob", "--field", "note")
    world.succeed("mv", "c.example/carol", "d.example/carol")
    let lines = world.run("undelete").text.split(separator: "\n").map {
      $0.split(separator: "\t", omittingEmptySubsequences: false)
    }
    #expect(lines.map { $0[2] } == ["b.example/bob --field note", "a.example/alice"])
    #expect(lines[1][3] == "Gone")
    #expect(world.run("undelete", "--explain").diagnosticsText.contains("items decrypted: 1") == false)
    let json = world.run("undelete", "--json").text
    #expect(json.contains("\"deleted\":\"20") && json.contains("\"author\":"))
    world.succeed("undelete", Word(String(lines[1][1])))
    #expect(world.run("get", "a.example/alice", "--field", "note").text == "note")
  }

  @Test func `history needs neither GnuPG nor a key`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    world.succeed("set", "a.example/alice", "--secret", input: "two")
    let words = ["history", "a.example"] as [Word]
    let result = world.run(
      words, more: ["PATH": try world.folderWithGit(), "GNUPGHOME": "/nonexistent", "XDG_RUNTIME_DIR": ""])
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(
      result.text.split(separator: "\n").map { $0.split(separator: "\t").last } == ["new secret", "added"])
    #expect(world.run(words + ["--explain"]).diagnosticsText.contains("explain: items decrypted: 0\n"))
  }

  @Test func `each line of history --json is canonical and leads to the version that it describes`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", "-l", "L", input: "one")
    world.succeed("set", "a.example/alice", "--secret", "-l", "M", input: "two")
    world.succeed("mv", "a.example/alice", "b.example/bob")
    world.succeed("rm", "b.example/bob")
    let lines = world.succeed("history", "b.example", "--json").split(separator: "\n").map(String.init)
    #expect(lines.count == 4)
    var secrets: [String] = []
    for line in lines {
      let value = try JSONValue(parsing: Array(line.utf8), limits: JSONLimits(size: 4096, depth: 4))
      #expect(String(decoding: value.canonicalBytes, as: UTF8.self) == line)
      let members = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      #expect(members["author"] as? String == "Alice Example")
      #expect(members["mail"] as? String == "alice@keytree.example")
      let commit = try #require(members["commit"] as? String)
      if (members["change"] as? [String])?.contains("deleted") ?? false { continue }
      let reference = try #require(members["reference"] as? String)
      secrets.append(world.succeed("get", Word(reference), "--at", Word(commit)))
    }
    #expect(secrets == ["two", "two", "one"])
    #expect(lines[0].contains("\"change\":[\"deleted\"]"))
    #expect(lines[1].contains("\"from\":\"keytree://internet-password/a.example/alice\""))
    #expect(lines[2].contains("\"attributes\":[\"label\"]"))
    #expect(lines[2].contains("\"change\":[\"secret\",\"attributes\"]"))
  }

  @Test(arguments: [true, false])
  func `names of authors and attributes in the history are escaped`(isTerminal: Bool) throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    let evil = "e\u{1B}[2J\u{202E}\tx" + String(repeating: "y", count: 500)
    try world.git("config", "user.name", evil)
    try world.git("config", "user.email", "m\u{1B}@example.org")
    world.succeed("set", "a.example/alice", "--attribute", "t\u{202E}ag=v")
    let result = world.run(["history", "a.example"], isTerminal: isTerminal, more: ["NO_COLOR": "1"])
    #expect(result.code == .done)
    let scalars = result.text.unicodeScalars
    let allowed: Set<UInt32> = isTerminal ? [10] : [9, 10, 0x202E]
    #expect(scalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E || allowed.contains($0.value) })
    #expect(result.text.contains("\\x1b[2J"))
    let lines = result.text.split(separator: "\n")
    #expect(lines.count == (isTerminal ? 3 : 2))
    if !isTerminal { #expect(lines.allSatisfy { $0.count { $0 == "\t" } == 4 }) }
    #expect(lines.allSatisfy { $0.count < 200 } == isTerminal)
  }

  @Test func `an old secret is found by commit, revision, date or tag, in every form of output`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", "-l", "old", input: "one")
    let attributes = world.succeed("get", "a.example", "--json")
    let revision = try #require(
      try (JSONSerialization.jsonObject(with: Data(attributes.utf8)) as? [String: Any])?["revision"]
        as? String)
    try world.git("-c", "user.name=P", "-c", "user.email=p@example.org", "tag", "-a", "-m", "x", "first")
    world.succeed("set", "a.example/alice", "--secret", "-l", "new", input: "two")
    let commit = try world.git("rev-parse", "HEAD~1")
    for name in [
      "HEAD~1", "first", "main@{1}", String(commit.prefix(9)), String(revision.prefix(8)), revision,
    ] {
      #expect(world.succeed("get", "a.example", "--at", Word(name)) == "one", "\(name)")
    }
    #expect(world.succeed("get", "a.example", "--at", "HEAD") == "two")
    #expect(world.succeed("get", "a.example", "--at", "first", "--json") == attributes)
    #expect(world.succeed("get", "a.example", "--at", "first", "--attributes").contains("label\told\n"))
    #expect(
      world.succeed("get", "a.example", "--at", "first", "--json", "--reveal").contains("\"secret\":\"one\""))
    let file = world.folder.path + "/out"
    world.succeed("get", "a.example", "--at", "first", "--out", Word(file))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "one")
  }

  /// Arguments of `--at`, and the exit code.
  static let wrong: [(Word, ExitCode)] = [
    ("--output=x", .notFound), ("-h", .notFound), ("", .notFound), ("HEAD~9", .notFound),
    ("HEAD:index", .notFound),
    ("00000000", .notFound), ("0000000", .notFound), ("HEAD", .done), ("HEAD~1", .notFound),
  ]

  @Test(arguments: wrong)
  func `an invalid argument of --at is not found, whatever it looks like`(name: Word, code: ExitCode) throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    let result = world.run("get", "a.example", "--at", name)
    #expect(result.code == code, "\(result.diagnosticsText)")
    #expect(result.text == (code == .done ? "one" : ""))
  }

  @Test func `a name with --at means the item that had this name then`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    world.succeed("rm", "a.example/alice")
    world.succeed("add", "a.example/alice", input: "two")
    let result = world.run("get", "a.example/alice", "--at", "HEAD~2")
    #expect(result.text == "one")
    #expect(result.diagnosticsText.hasPrefix("Another item had this name in that commit: #"))
    #expect(world.run("get", "a.example/alice", "--at", "HEAD~1").code == .notFound)
    #expect(world.succeed("get", "a.example/alice", "--at", "HEAD") == "two")
  }

  @Test func `a commit in which an item has the message of another item releases nothing`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    world.succeed("add", "b.example/bob", input: "two")
    let files = ["a.example/alice", "b.example/bob"].map {
      "\(world.store)/items/internet-password/\($0).gpg"
    }
    let good = try Data(contentsOf: URL(fileURLWithPath: files[0]))
    try Data(contentsOf: URL(fileURLWithPath: files[1])).write(to: URL(fileURLWithPath: files[0]))
    try world.git("-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "-am", "swap")
    try good.write(to: URL(fileURLWithPath: files[0]))
    try world.git("-c", "user.name=P", "-c", "user.email=p@example.org", "commit", "-q", "-am", "back")
    let result = world.run("get", "a.example", "--at", "HEAD~1")
    #expect(result.code == .damaged)
    #expect(result.output.isEmpty)
    #expect(result.diagnosticsText.contains("its encrypted file is not the one that its record describes"))
    #expect(world.succeed("get", "a.example", "--at", "HEAD") == "one")
  }

  @Test func `a pending deletion is committed before it is undone`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    let lock = URL(fileURLWithPath: "\(world.store)/.git/index.lock")
    try Data().write(to: lock)
    #expect(world.run("rm", "a.example/alice").code == .gitFailed)
    #expect(world.run("undelete", "a.example/alice").code == .gitFailed)
    try FileManager.default.removeItem(at: lock)
    world.succeed("undelete", "a.example/alice")
    #expect(world.succeed("get", "a.example/alice") == "one")
    let subjects = [
      "remove internet-password/a.example/alice", "bring back internet-password/a.example/alice",
    ]
    #expect(try world.subjects().suffix(2) == subjects)
    #expect(try world.git("status", "--porcelain") == "")
    #expect(world.run("check").code == .done)
  }

  @Test(arguments: ["b.example/bob", "a.example/bob"])
  func `an item renamed before its deletion is restored by either name or its id`(name: String) throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    world.succeed("mv", "a.example/alice", Word(name))
    let line = world.succeed("history", "a.example/alice", "--json", "--limit", "1")
    #expect(line.contains("\"change\":[\"renamed\"]"))
    #expect(world.run("undelete", "a.example/alice").code == .notFound)
    for start in ["a.example/alice", name, "id"] {
      world.succeed("rm", Word(name))
      let id = try #require(line.split(separator: "\"id\":\"").last?.prefix(32))
      let result = world.run("undelete", start == "id" ? Word("keytree://id/\(id)") : Word(start))
      #expect(result.code == .done, "\(result.diagnosticsText)")
      #expect(result.diagnosticsText == "Restored \(name).\n")
      #expect(world.succeed("get", Word(name)) == "one")
    }
    #expect(world.succeed("history", Word(name)).split(separator: "\n").count == 8)
  }

  @Test func `a restored item is encrypted for the new members of its group, or is not restored`() throws {
    for hasKey in [true, false] {
      let world = try CommandFixture(keys: hasKey ? [.alice] : [.alice, .bob])
      world.succeed("add", "a.example/alice", input: "one")
      let revision = world.succeed("history", "a.example").split(separator: "\t")[2]
      world.succeed("rm", "a.example/alice")
      try world.addMember(.bob)
      if !hasKey { try world.home.run(["--delete-secret-keys", GnuPGKey.alice.fingerprint.text]) }
      let result = world.run("undelete", "a.example/alice")
      let file = "\(world.store)/items/internet-password/a.example/alice.gpg"
      guard hasKey else {
        #expect(result.code == .cannotDecrypt, "\(result.diagnosticsText)")
        #expect(!FileManager.default.fileExists(atPath: file))
        continue
      }
      #expect(
        result.code == .done && result.diagnosticsText.contains("Restored"), "\(result.diagnosticsText)")
      let message = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
      let header = try unsafe message.withUnsafeBytes { try unsafe MessageHeader.parse($0, limit: 1 << 20) }
      #expect(header.recipients.count == 2)
      let lines = world.succeed("history", "a.example").split(separator: "\n")
      #expect(lines.count == 3 && lines[0].split(separator: "\t")[2] == revision)
      #expect(world.succeed("get", "a.example") == "one")
    }
  }

  @Test func `a shallow clone reports that it has no older history`() throws {
    let world = try CommandFixture()
    world.succeed("add", "a.example/alice", input: "one")
    #expect(world.run("history", "a.example").text.hasSuffix("\tadded\n"))
    try world.git("clone", "-q", "--depth=1", "file://\(world.store)", "../shallow")
    let shallow = world.folder.path + "/shallow"
    _ = unsafe chmod(shallow, 0o700)
    let cut = world.run("--store", Word(shallow), "history", "a.example")
    #expect(cut.text.hasSuffix("\talready existed; this clone has no older history\n"))
    #expect(cut.diagnosticsText.hasPrefix("This clone has no older history; "))
  }

  @Test func `commands about the history fail without git`() throws {
    let world = try CommandFixture()
    let store = ["--store", Word(world.folder.path + "/plain")] as [Word]
    #expect(world.run(store + ["init", "--no-git"]).code == .done)
    #expect(world.run(store + ["add", "a.example/alice"], input: [1]).code == .done)
    for words in [
      ["history", "a.example"], ["get", "a.example", "--at", "HEAD"], ["undelete", "a.example"],
    ] {
      let result = world.run(store + words.map { Word($0) })
      #expect(result.code == .gitFailed, "\(words)")
      #expect(result.diagnosticsText.contains("has no git repository\nhint: "))
    }
  }
}

extension CommandFixture {
  /// Runs a command that must succeed, and returns its output.
  @discardableResult
  func succeed(_ words: Word..., input: String = "") -> String {
    let result = run(words, input: Array(input.utf8))
    #expect(result.code == .done, "\(words): \(result.diagnosticsText)")
    return result.text
  }

  /// Returns a search path that contains only git.
  func folderWithGit() throws -> String {
    let programs = folder.path + "/git-alone"
    try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: "\(programs)/git", withDestinationPath: "/usr/bin/git")
    return programs
  }

  /// Adds a person to the default group as an admin does, and accepts the policy on this machine.
  func addMember(_ key: GnuPGKey) throws {
    let file = URL(fileURLWithPath: "\(store)/policy.json")
    let bytes = [UInt8](try Data(contentsOf: file))
    var policy = try Policy.parse(bytes)
    policy.generation += 1
    policy.previous = ContentDigest(of: bytes)
    policy.people[key.fingerprint] = Person(
      name: key.mail, role: .member, added: Timestamp(microseconds: 1_800_000_000_000_000),
      encryptTo: [key.encryptionSubkey])
    policy.groups[GroupName.default] = [GnuPGKey.alice, key].map(\.fingerprint).sorted()
    try Data(policy.encode()).write(to: file)
    try Data(key.publicKey).write(
      to: URL(fileURLWithPath: "\(store)/keys/\(key.fingerprint.text).asc"))
    try home.run([
      "--armor", "--local-user", GnuPGKey.alice.fingerprint.text, "--output", "\(file.path).asc",
      "--detach-sign", file.path,
    ])
    try FileManager.default.removeItem(atPath: folder.path + "/state")
    succeed("trust", "--fingerprint", Word(GnuPGKey.alice.fingerprint.text))
  }
}
