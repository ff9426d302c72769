import CommandSupport
import Foundation
import TestSupport
import Testing

/// Tests encrypted files of another store of the same user, which another person can push (threat T54).
@Suite(.serialized) struct StoreMessageTests {
  private let world: MaintenanceFixture
  private var own: String { world.scratch.path + "/.local/share/keytree" }

  /// Creates the store of a team and a store that only the user has, with one item.
  init() throws {
    world = try MaintenanceFixture()
    for words in [["init", "--no-git"], ["--store", own, "init", "--no-git"]] { try succeed(words) }
    try succeed(["--store", own, "add", "bank.example/alice"], input: "money")
  }

  @discardableResult
  private func succeed(_ words: [String], input: String = "") throws -> MaintenanceFixture.Answer {
    let answer = world.run(words, input: Array(input.utf8))
    try #require(answer.code == .done, "\(words): \(answer.talk)")
    return answer
  }

  /// Copies the file of the private item to a path.
  private func push(to path: String) throws {
    let target = URL(fileURLWithPath: path)
    try FileManager.default.createDirectory(
      at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    let file = URL(fileURLWithPath: "\(own)/items/internet-password/bank.example/alice.gpg")
    try Data(contentsOf: file).write(to: target)
  }

  private static let reason = "it is the file of an item of a Keytree store"

  @Test func `a file of another store is not adopted, and the store is named`() throws {
    try push(to: "\(world.store)/items/web/x/a.gpg")
    let answer = world.run("adopt", "web/x/a", "--yes", "--json")
    #expect(answer.code == .damaged, "\(answer.talk)")
    #expect(
      answer.talk.contains(Self.reason) && answer.talk.contains("(it is in the store \"\(own)\")"),
      "\(answer.talk)")
    #expect(answer.text.contains("\"outcome\":\"copy\""))
    #expect(world.run("get", "x/a").code == .notFound && world.run("find").text == "")
    // The store is not known here.
    try FileManager.default.moveItem(atPath: own, toPath: world.scratch.path + "/elsewhere")
    let again = world.run("adopt", "web/x/a", "--yes")
    #expect(
      again.code == .damaged && again.talk.contains(Self.reason) && !again.talk.contains("in the store"))
    #expect(world.run("adopt", "web/x/a", "--yes", "--undo").code == .done)
  }

  @Test func `a file of another store does not change an item`() throws {
    try succeed(["add", "a.example/me"], input: "old")
    try push(to: "\(world.store)/items/internet-password/a.example/me.gpg")
    let answer = world.run("adopt", "a.example/me", "--yes")
    #expect(answer.code == .damaged && answer.talk.contains(Self.reason), "\(answer.talk)")
  }

  @Test func `a file of another store is not imported from a pass store`() throws {
    let pass = world.scratch.path + "/pass"
    try push(to: "\(pass)/web/x/a.gpg")
    try Data("x\n".utf8).write(to: URL(fileURLWithPath: "\(pass)/.gpg-id"))
    let message = try world.gnupg.encrypt(Array("mine".utf8), to: [.alice], namesRecipients: false)
    try Data(message).write(to: URL(fileURLWithPath: "\(pass)/web/b.gpg"))
    let answer = world.run("import", "pass", pass, "--accept-loss")
    #expect(
      answer.text.contains(Self.reason) || answer.talk.contains(Self.reason), "\(answer.text) \(answer.talk)")
    #expect(world.run("find").lines.count == 1, "\(answer.code) \(answer.text) \(answer.talk)")
  }
}
