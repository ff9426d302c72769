import Arguments
import CommandSupport
import Foundation
import Keyring
import KeytreeCLI
import Personalities
import Secrets
import TestSupport
import Testing

@Suite("The history of changes by a library", .serialized, .waits)
struct LibraryHistoryTests {
  private let world: CommandFixture
  private let name: Word = "a.example/me"

  init() throws { world = try CommandFixture() }

  /// Opens the store as a program that uses the library.
  ///
  /// - Parameter isKilled: True if the process ends before it commits anything.
  private func open(isKilled: Bool = false) throws -> Keyring {
    var host = try #require(HostContext(environment: world.variables))
    host.commitsChanges = !isKilled
    return try Keyring.open(at: world.store, host: host)
  }

  @Test func `a secret that a program has stored twice and removed is in history, get --at and undelete`()
    throws
  {
    try {
      let keyring = try open()
      let item = try keyring.add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
      try keyring.delete([try keyring.update(item, secret: SecretBytes(text: "second"))])
    }()
    #expect(
      try world.subjects() == [
        "make the keyring", "add internet-password/a.example/me", "change internet-password/a.example/me",
        "remove internet-password/a.example/me",
      ])
    #expect(world.succeed("history", name, "--json").split(separator: "\n").count == 3)
    #expect(world.succeed("get", name, "--at", "HEAD~2") == "first")
    #expect(world.succeed("get", name, "--at", "HEAD~1") == "second")
    world.succeed("undelete", name)
    #expect(world.succeed("get", name) == "second")
  }

  @Test(arguments: [["set", "--secret"], ["set", "-l", "L"], ["mv", "b.example/me"], ["rm"]])
  func `a command commits what a killed program has stored before it replaces it`(words: [String]) throws {
    try open(isKilled: true).add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
    let result = world.run(
      [Word(words[0]), name] + words.dropFirst().map { Word($0) }, input: Array("second".utf8))
    #expect(result.code == .done, "\(result.diagnosticsText)")
    #expect(try world.subjects()[1] == "add internet-password/a.example/me")
    #expect(try world.subjects().count == 3)
    try world.git("cat-file", "-e", "HEAD~1:items/internet-password/a.example/me.gpg")
  }

  @Test func `a command does not replace a version that git cannot commit`() throws {
    try open(isKilled: true).add(.login("a.example", "me"), secret: SecretBytes(text: "first"))
    let sign = "\(world.store)/.git/MERGE_HEAD"
    try Data("x\n".utf8).write(to: URL(fileURLWithPath: sign))
    let refused = world.run("set", name, "--secret", input: Array("second".utf8))
    #expect(refused.code == .gitFailed)
    #expect(
      refused.diagnosticsText.contains(
        "keytree: nothing was changed, because the last version is not in the history yet: a merge is in progress"
      ))
    #expect(world.run("get", name).text == "first")
    try FileManager.default.removeItem(atPath: sign)
    world.succeed("set", name, "--secret", input: "second")
    #expect(world.succeed("get", name, "--at", "HEAD~1") == "first")
  }

  @Test func `every version that another program replaces or removes is in the history`() throws {
    for secret in ["first", "second"] {
      #expect(world.ask("save", file: "a.example/me.gpg", contents: secret).isOK)
    }
    #expect(world.ask("delete", file: "a.example/me.gpg").isOK)
    let lines = ["first", "second"].map { "add-generic-password -U -s mailer -a bot -w \($0)\n" }
    let script = (lines + ["delete-generic-password -s mailer -a bot\n"]).joined()
    #expect(world.run(as: .security, ["-i"], input: script).status == 0)
    for secret in ["first", "second"] {
      let entry = "{\"ServerURL\":\"r.example\",\"Username\":\"bob\",\"Secret\":\"\(secret)\"}"
      #expect(world.run(as: .dockerCredential, ["store"], input: entry).status == 0)
    }
    #expect(world.run(as: .dockerCredential, ["erase"], input: "r.example").status == 0)
    let subjects = try world.subjects()
    #expect(subjects.count == 10, "\(subjects)")
    // From the last commit back: removed, second, first; for each of the three programs.
    for (item, last) in [(name, 6), (Word("generic:mailer/bot"), 3), (Word("r.example/bob"), 0)] {
      #expect(world.succeed("get", item, "--at", Word("HEAD~\(last + 1)")) == "second")
      #expect(world.succeed("get", item, "--at", Word("HEAD~\(last + 2)")) == "first")
      #expect(world.run("get", item).code == .notFound)
    }
  }
}
