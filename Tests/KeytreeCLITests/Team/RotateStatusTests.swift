import Arguments
import CommandSupport
import Foundation
import Glibc
import KeyringModel
import KeytreeCLI
import TestSupport
import Testing

@Suite("keytree rotate status", .serialized)
struct RotateStatusTests {
  @Test("the list shows past readers of each secret until it changes")
  func lists() throws {
    let world = try CommandFixture.afterBobLeft(["b.example/alice", "c.example/alice"])
    try world.done(["rm", "b.example"])
    try world.done(["rotate", "accept", "c.example", "--reason", "for everybody"])
    let id = try #require(
      try world.done(["rotate", "status", "--json"]).text.split(separator: "\n").last?
        .split(separator: "\"id\":\"").last?.prefix(8))
    let bob = "Bob Example <bob@keytree.example>, who left on "
    let result = try world.done(["rotate", "status"])
    let day = try #require(result.text.split(separator: bob).dropFirst().first?.prefix(10))
    #expect(
      result.text == """
        open\tkeytree://internet-password/a.example/alice\t\(bob)\(day)\t
        accepted\tkeytree://internet-password/c.example/alice\t\(bob)\(day)\t\
        Alice Example <alice@keytree.example>: for everybody
        deleted\tkeytree://internet-password/b.example/alice #\(id)\t\(bob)\(day)\t

        """)
    #expect(result.diagnosticsText == "1 open, 1 accepted, 1 deleted.\n")
    #expect(world.run("rotate", "status", "--fail-if-open").code == .failedChecks)
    try world.done(["set", "a.example", "--secret"], input: "new")
    let closed = world.run("rotate", "status", "--fail-if-open")
    #expect(closed.code == .done && closed.diagnosticsText == "0 open, 1 accepted, 1 deleted.\n")
    try world.done(["rotate", "accept", Word("#\(id)"), "--reason", "gone"])
    #expect(try world.done(["rotate", "status"]).text.contains("\tdeleted; Alice Example"))
  }

  @Test("the list for programs has one canonical object per line")
  func json() throws {
    let world = try CommandFixture.afterBobLeft()
    let record = try Members(try world.done(["get", "a.example", "--json"]).text)
    let policy = try #require(FileManager.default.contents(atPath: world.store + "/policy.json"))
    let left = try #require(
      String(decoding: policy, as: UTF8.self).split(separator: "\"removed\":\"").last?.prefix(27))
    let text = try world.done(["rotate", "status", "--json"]).text
    #expect(
      text == """
        {"deleted":false,"group":"default","id":"\(record["id"])",\
        "item":"keytree://internet-password/a.example/alice",\
        "readers":[{"fingerprint":"\(GnuPGKey.bob.fingerprint.text)","keys":["F0896F197DF1FC3C"],\
        "left":"\(left)","name":"Bob Example <bob@keytree.example>","reason":"left"}],\
        "revision":"\(record["revision"])","secretModified":"\(record["secretModified"])","state":"open"}

        """)
  }

  @Test("the command starts no process but git once GnuPG has read the keys")
  func cost() throws {
    let world = try CommandFixture.afterBobLeft()
    try world.done(["rotate", "status"])
    let talk = try world.done(["rotate", "status", "--explain"]).diagnosticsText
    #expect(
      talk.contains(
        "explain: items decrypted: 0\nexplain: signatures made: 0\nexplain: processes started: 0\n"))
  }

  @Test("an incomplete history is reported, and --fail-if-open fails")
  func incomplete() throws {
    let world = try CommandFixture.afterBobLeft()
    try world.done(["set", "a.example", "--secret"], input: "new")
    #expect(world.run("rotate", "status", "--fail-if-open").code == .done)
    let clone = world.folder.path + "/clone"
    try world.git("clone", "-q", "--depth", "1", "file://\(world.store)", clone)
    let plain = world.folder.path + "/plain"
    try FileManager.default.copyItem(atPath: world.store, toPath: plain)
    try FileManager.default.removeItem(atPath: plain + "/.git")
    for (path, words) in [
      (
        clone,
        "this clone has only the later part of the history\nhint: get the rest with `keytree git fetch --unshallow`\n"
      ),
      (
        plain,
        "the store has no history, so the former readers of its secrets are not known\nhint: create one with `keytree git init`\n"
      ),
    ] {
      _ = unsafe chmod(path, 0o700)
      let result = world.run(["--store", Word(path), "rotate", "status", "--fail-if-open", "--quiet"])
      #expect(result.code == .failedChecks)
      #expect(result.diagnosticsText.contains("keytree: warning: the list may be incomplete: \(words)"))
      #expect(world.run(["--store", Word(path), "rotate", "status"]).code == .done)
    }
  }

  @Test("an unreadable record and an unknown file are reported, also for programs, and --fail-if-open fails")
  func unreadable() throws {
    let world = try CommandFixture()
    try world.joinBob()
    try world.done(["add", "a.example/alice"], input: "old")
    let item = "\(world.store)/items/internet-password/a.example/alice.gpg"
    let message = try Data(contentsOf: URL(fileURLWithPath: item))
    try world.done(["group", "remove", "default", Word(GnuPGKey.bob.mail)])
    let stray = world.store + "/items/internet-password/a.example/other.gpg"
    // The files are another message for the same readers, and the original message after a marker packet, which has no
    // meaning.
    var other = message
    other[other.count - 1] ^= 1
    let marked = stray.replacing("other", with: "marked")
    let record = stray.replacing("other.gpg", with: "other.json")
    let files = [
      (stray, other), (marked, Data([0xCA, 3] + Array("PGP".utf8)) + message),
      (record, Data("{no record\n".utf8)),
    ]
    for (file, bytes) in files { try bytes.write(to: URL(fileURLWithPath: file)) }
    try world.git("-C", world.store, "add", "-A", "items")
    try world.git(
      "-C", world.store, "-c", "user.name=A", "-c", "user.email=a@keytree.example", "commit", "-q",
      "--no-verify", "-m", "stray")
    for (file, _) in files { try FileManager.default.removeItem(atPath: file) }
    try world.git(
      "-C", world.store, "-c", "user.name=A", "-c", "user.email=a@keytree.example", "commit", "-q",
      "--no-verify", "-am", "take it out")
    try world.done(["set", "a.example", "--secret"], input: "new")
    let result = world.run("rotate", "status", "--fail-if-open", "--quiet", "--json")
    #expect(result.code == .failedChecks)
    #expect(result.text == "{\"count\":1,\"gap\":\"strays\"}\n{\"count\":1,\"gap\":\"badRecords\"}\n")
    let warning = "keytree: warning: the list may be incomplete: 1"
    #expect(result.diagnosticsText.contains("\(warning) encrypted file of the history belongs to no record"))
    #expect(result.diagnosticsText.contains("\(warning) record of the history cannot be read"))
  }

  @Test("the list names a key that no member has, and a person who is not in the group")
  func strangers() throws {
    let world = try CommandFixture()
    try world.joinBob()
    try world.done(["group", "create", "ops"])
    try world.done(["add", "a.example/alice"], input: "old")
    try world.done(["set", "a.example", "--group", "ops"])
    #expect(
      try world.done(["rotate", "status"]).text.contains(
        "\tBob Example <bob@keytree.example>, who is not in group ops\t"))
    try world.done(["group", "remove", "default", Word(GnuPGKey.bob.mail)])
    try FileManager.default.removeItem(atPath: "\(world.store)/keys/\(GnuPGKey.bob.fingerprint.text).asc")
    let text = try world.done(["rotate", "status"]).text
    #expect(text.contains("\tkey F0896F197DF1FC3C, which no member has\t"), "\(text)")
  }

  @Test("accept is for admins, requires a reason, and only applies to items on the list")
  func accept() throws {
    let world = try CommandFixture.afterBobLeft()
    try world.done(["add", "new.example/alice"], input: "never seen")
    for (words, code, text) in [
      (["a.example"], .usage, "--reason is missing"),
      (["a.example", "--reason", ""], .usage, "a reason has 1 to 1024 bytes"),
      (
        ["a.example", "--reason", String(repeating: "x", count: 1025)], .usage, "a reason has 1 to 1024 bytes"
      ),
      (["nowhere.example", "--reason", "x"], .notFound, "no item is named nowhere.example"),
      (["new.example", "--reason", "x"], .notFound, "is not on the rotation list"),
    ] as [([String], ExitCode, String)] {
      let result = world.run(["rotate", "accept"] + words.map { Word($0) })
      #expect(
        result.code == code && result.diagnosticsText.contains(text), "\(words): \(result.diagnosticsText)")
    }
    #expect(try world.rotations() == ["open keytree://internet-password/a.example/alice"])
    // Carol is a member, but not an admin.
    let carol = try CommandFixture(keys: [.carol])
    let file = world.folder.path + "/carol.asc"
    try Data(GnuPGKey.carol.publicKey).write(to: URL(fileURLWithPath: file))
    try world.done([
      "group", "add", "default", Word(file), "--fingerprint", Word(GnuPGKey.carol.fingerprint.text),
    ])
    let clone = carol.folder.path + "/clone"
    try carol.git("clone", "-q", world.store, clone)
    _ = unsafe chmod(clone, 0o700)
    let store = ["--store", Word(clone)] as [Word]
    try carol.done(store + ["trust", "--fingerprint", Word(GnuPGKey.alice.fingerprint.text)])
    let refused = carol.run(store + ["rotate", "accept", "a.example", "--reason", "x"])
    #expect(
      refused.code == .policyNotTrusted
        && refused.diagnosticsText.contains("you are not an admin of this keyring"))
    #expect(try carol.done(store + ["rotate", "status"]).text.hasPrefix("open\t"))
  }
}

/// The texts in a line of JSON.
private struct Members {
  private let texts: [String: String]

  init(_ line: String) throws {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    texts = object.compactMapValues { $0 as? String }
  }

  subscript(name: String) -> String { texts[name, default: "?"] }
}
