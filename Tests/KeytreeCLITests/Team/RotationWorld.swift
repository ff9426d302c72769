import Arguments
import CommandSupport
import Foundation
import KeyringModel
import KeytreeCLI
import TestSupport

extension CommandFixture {
  /// Returns Alice's store, in which Bob could read `a.example/alice` with the secret `old` and then left.
  static func afterBobLeft(_ more: [Word] = []) throws -> CommandFixture {
    let world = try CommandFixture()
    try world.joinBob()
    for item in ["a.example/alice"] + more { try world.done(["add", item], input: "old") }
    try world.done(["group", "remove", "default", Word(GnuPGKey.bob.mail)])
    return world
  }

  /// Adds Bob to the default group.
  func joinBob() throws {
    let file = folder.path + "/bob.asc"
    try Data(GnuPGKey.bob.publicKey).write(to: URL(fileURLWithPath: file))
    try done(["group", "add", "default", Word(file), "--fingerprint", Word(GnuPGKey.bob.fingerprint.text)])
  }

  /// Runs a command that must succeed.
  @discardableResult
  func done(_ words: [Word], input: String = "") throws -> Result {
    let result = run(words, input: Array(input.utf8))
    guard result.code == .done else { throw NoStore(reason: "\(words): \(result.diagnosticsText)") }
    return result
  }

  /// Runs `keytree rotate next` on a terminal with answers, one per line.
  func next(_ answers: String..., words: [Word] = [], more: [String: String] = [:]) -> Result {
    run(
      ["rotate", "next"] + words, input: Array(answers.map { "\($0)\n" }.joined().utf8), isTerminal: true,
      more: more)
  }

  /// Returns the states and the items of the rotation list, in its order.
  func rotations() throws -> [String] {
    try done(["rotate", "status"]).text.split(separator: "\n").map { line in
      line.split(separator: "\t").prefix(2).joined(separator: " ")
    }
  }

  /// Returns the number of pending secrets.
  func waiting() -> Int {
    run("find", "--service", "keytree-rotation").text.split(separator: "\n").count
  }

  func secret(_ item: Word = "a.example/alice") throws -> String { try done(["get", item]).text }
}
