import CommandSupport
import Foundation
import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import Interchange
@testable import KeytreeCLI

/// `import pass` on stores made by `pass`, with real GnuPG: every byte is imported.
@Suite("Importing a store of pass", .serialized, .slow)
struct ImportPassCommandTests {
  @Test("the committed store is imported byte for byte")
  func committed() throws { try arrives(try ImportPassStore.committed()) }

  @Test(
    "a store that `pass` makes now is imported byte for byte as `pass show` prints it",
    .enabled(if: ImportPassStore.isPassInstalled, "pass is not installed (apt-get install pass)"))
  func fresh() throws {
    let source = try ImportPassStore.fresh()
    try arrives(source) { path, _ in try source.show(path) }
  }

  private func arrives(_ source: ImportPassStore) throws {
    try arrives(source) { _, message in try source.plaintext(of: message)?.revealed }
  }

  /// Imports a store and compares every item.
  ///
  /// - Parameter whole: Returns the content of an item from its path and its message; nil if it is encrypted for other
  ///   people.
  private func arrives(
    _ source: ImportPassStore, whole: (String, [UInt8]) throws -> [UInt8]?
  ) throws {
    let world = try MaintenanceFixture()
    let key = CareTranscriptTests.fixtures.appendingPathComponent("pass/keys/ours.secret.asc").path
    try world.gnupg.run(["--import", key])
    #expect(world.run("init", "--key", GnuPGKey.alice.mail).code == .done)
    #expect(world.run("import", "pass", source.path).code == .failure)
    #expect(world.run("status", "--json").text.contains(#""internet-password":0"#))
    let first = world.run("import", "pass", source.path, "--accept-loss")
    #expect(first.code == .done, "\(first.talk)")
    let before = world.run("find", "--json").text

    let tree = try PassTree(path: source.path)
    var compared = 0
    for entry in try tree.scan().entries {
      let path = String(decoding: entry.path, as: UTF8.self)
      guard let whole = try whole(path, tree.ciphertext(of: entry)) else { continue }
      let items = world.run("find", "--json", "--attribute", "pass=\(path)").lines
      let line = try #require(items.first, "\(path)")
      let (secret, rest) = try (self.secret(line, world), self.note(line, world))
      #expect(whole.starts(with: secret), "\(path)")
      let lines = self.lines(Array(whole.dropFirst(secret.count)))
      #expect(lines.first.map { [[10], [13, 10]].contains($0) } != false, "\(path)")
      let kept = lines.dropFirst().filter { line in
        !String(decoding: line, as: UTF8.self).contains(#/^(login|user|url): |^otpauth://#)
      }
      #expect(Array(kept.joined()) == rest, "\(path)")
      compared += 1
    }
    #expect(compared == 23)

    let second = world.run("import", "pass", source.path, "--accept-loss")
    #expect(second.code == .done && second.lines.last?.hasPrefix("0 added, 32 already in the store") == true)
    #expect(world.run("find", "--json").text == before)
    #expect(world.run("check", "--decrypt").code == .done)
  }

  /// The secret of the item, or of a field without a login: the first line, as a password or as a seed.
  private func secret(_ line: String, _ world: MaintenanceFixture) throws -> [UInt8] {
    try get(reference(line), world: world)
  }

  /// The lines of a text, each with its line end.
  private func lines(_ text: [UInt8]) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for byte in text {
      if lines.isEmpty || lines.last?.last == 10 { lines.append([]) }
      lines[lines.count - 1].append(byte)
    }
    return lines
  }

  /// The field `note`: the lines after the first that become no attribute and no seed.
  private func note(_ line: String, _ world: MaintenanceFixture) throws -> [UInt8] {
    guard line.contains(#/"fields":\["note"/#) else { return [] }
    return try get(reference(line), "--field", "note", world: world)
  }

  private func reference(_ line: String) throws -> String {
    String(try #require(line.firstMatch(of: #/"reference":"([^"]+)"/#)).1)
  }

  private func get(_ words: String..., world: MaintenanceFixture) throws -> [UInt8] {
    let answer = world.run(["get"] + words)
    #expect(answer.code == .done, "\(answer.talk)")
    return answer.bytes
  }
}
