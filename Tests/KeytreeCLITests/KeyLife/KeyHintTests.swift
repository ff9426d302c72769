import Foundation
import TestSupport
import Testing

/// Tests that every hint about a key removes the error when it is typed as it is printed.
@Suite(.slow, .needsFaketime) struct KeyHintTests {
  /// An error, and what its hint lets people type.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    var now = "2030-06-01 12:00:00"
    var prelude: @Sendable (KeyLifeWorld) throws -> Void = { _ in }
    /// What happens before the error.
    let happen: @Sendable (KeyLifeWorld) throws -> Void
    /// The person who sees the error.
    var person = KeyLifeWorld.Person.owner
    /// The command, and its exit code.
    var words = ["add", "new.example/a"]
    var code: Int32 = 10
    /// Part of the message.
    let message: String
    /// The number of each text between backquotes, with the person who types it.
    let typed: [(number: Int, person: KeyLifeWorld.Person)]
    /// What people put in place of the words in capitals.
    var names: [String: String] = [:]
    /// What happens between the error and the typing.
    var beforeTyping: @Sendable (KeyLifeWorld) throws -> Void = { _ in }
    /// The exit code and a part of the output of the same command afterwards; nil for any output.
    var finally: (code: Int32, prints: String?) = (0, nil)

    var testDescription: String { name }
  }

  @Test(arguments: KeyHintTests.cases)
  func `a hint about a key removes the error`(example: Case) throws {
    let world = try KeyLifeWorld(copying: KeyLifeWorld.base.get())
    try example.prelude(world)
    try example.happen(world)
    world.now = example.now
    let words = try example.words.map(world.resolve)
    let failed = try world.keytree(example.person, words, input: "new")
    #expect(failed.code == example.code, "\(failed.code): \(failed.all)")
    #expect(failed.all.contains(example.message), "\(failed.all)")
    try example.beforeTyping(world)
    let hints = Self.backquoted(failed.all)
    for (number, person) in example.typed {
      guard hints.indices.contains(number) else {
        Issue.record("no text \(number) between backquotes: \(failed.all)")
        return
      }
      try Self.type(hints[number], after: words, names: example.names, world, person)
    }
    let again = try world.keytree(example.person, words, input: "new")
    #expect(again.code == example.finally.code, "\(again.code): \(again.all)")
    if let prints = example.finally.prints { #expect(again.all.contains(prints), "\(again.all)") }
    #expect(!again.all.contains(example.message), "\(again.all)")
  }

  /// Returns the texts between backquotes.
  private static func backquoted(_ text: String) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 }.map { String($0.element) }
  }

  /// Types a command, or adds an option to the previous one. An option that is asked for is added, too.
  private static func type(
    _ text: String, after words: [String], names: [String: String], _ world: KeyLifeWorld,
    _ person: KeyLifeWorld.Person
  ) throws {
    var line = text.hasPrefix("--") ? (["keytree"] + words + [text]).joined(separator: " ") : text
    for (name, value) in names { line = line.replacing(name, with: try world.resolve(value)) }
    // The output of gpg is what the person sends.
    if line.hasPrefix("gpg --armor --export") { line += " > '\(world.file("SENT"))'" }
    line = line.replacing(" FILE", with: " '\(world.file("SENT"))'")
    var answer = try world.run(person, ["/bin/bash", "-c", line])
    if answer.code == 3, let option = backquoted(answer.talk).last(where: { $0.hasPrefix("--") }) {
      line += " \(option)"
      answer = try world.run(person, ["/bin/bash", "-c", line])
    }
    #expect(answer.code == 0, "\(person) \(line): \(answer.code): \(answer.all)")
    // Others receive it, if the store is usable by then.
    _ = try world.keytree(person, ["sync"])
    for other in KeyLifeWorld.Person.team { _ = try world.keytree(other, ["sync"]) }
  }
}
