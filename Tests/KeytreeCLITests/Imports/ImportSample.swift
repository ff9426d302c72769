import Arguments
import CommandSupport
import Encoding
import Foundation
import KeyringModel
import Secrets
import Testing

@testable import Interchange
@testable import KeytreeCLI

/// A file as another program writes it, and the result of its import with the command.
struct ImportSample: Sendable, CustomTestStringConvertible {
  /// The expected result.
  enum Result: Sendable {
    /// The lines of ``ImportDraft/summary`` of all stored items, in any order.
    case items([String])
    /// The import is refused, and its messages contain these words.
    case refusal([String])
  }

  let name: String
  let file: [UInt8]
  var options: [Word] = ["--accept-loss"]
  /// Words in the report or in the messages.
  var told: [String] = []
  let result: Result
  var testDescription: String { name }

  init(
    _ name: String, _ text: String, options: [Word] = ["--accept-loss"], told: [String] = [],
    _ items: [String]
  ) {
    self.init(name, Array(text.utf8), options: options, told: told, .items(items))
  }

  init(
    _ name: String, _ file: [UInt8], options: [Word] = ["--accept-loss"], told: [String] = [],
    _ result: Result
  ) {
    (self.name, self.file, self.options, self.told, self.result) = (
      name, file, options, told, result
    )
  }

  /// Returns a file of KeePass with entries in the group `F`.
  static func keePass(_ entries: [[(String, String)]]) -> String {
    let texts = entries.map { strings in
      "<Entry>"
        + strings.map { "<String><Key>\($0.0)</Key><Value>\($0.1)</Value></String>" }.joined()
        + "</Entry>"
    }
    return "<KeePassFile><Meta/><Root><Group><Name>DB</Name><Group><Name>F</Name>\(texts.joined())"
      + "</Group></Group></Root></KeePassFile>"
  }

  /// Imports the file twice into a new store, and checks the result.
  func check() throws {
    let world = try CommandFixture.withoutGnuPG()
    let path = "\(world.folder.path)/sample"
    try Data(file).write(to: URL(fileURLWithPath: path))
    let first = world.run(["import"] + options + [Word(path)])
    let messages = first.text + first.diagnosticsText
    for words in told { #expect(messages.contains(words), "\(messages)") }
    switch result {
    case .refusal(let words):
      #expect(first.code != .done)
      for word in words { #expect(messages.contains(word), "\(messages)") }
    case .items(let items):
      #expect(first.code == .done, "\(messages)")
      #expect(try stored(world).sorted() == items.sorted())
      let again = world.run(["import"] + options + [Word(path)])
      #expect(again.text.contains("\n0 added") || again.text.hasPrefix("0 added"), "\(again.text)")
      #expect(
        !again.text.contains("completed") && !again.text.contains("different"), "\(again.text)")
    }
  }

  private func stored(_ world: CommandFixture) throws -> [String] {
    let path = "\(world.folder.path)/export.json"
    let export = world.run("export", "json", Word(path), "--plaintext")
    if export.code == .notFound { return [] }
    #expect(export.code == .done, "\(export.diagnosticsText)")
    let bytes = SecretBytes(copying: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    return try KeytreeImport.plan(bytes).summary
  }
}
