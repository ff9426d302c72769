import Foundation
import KeychainTestSupport
import Security
import Testing

/// Tests that the constants and codes are exactly those of Apple.
@Suite(.serialized)
struct LiteralTests {
  @Test func `every constant has Apple's text`() throws {
    let facts = try FactTable("constants.tsv").rows
    let ours = ConstantTable.rows.map { FactTable.Row(name: $0.name, value: $0.value as String) }
    #expect(facts.count == 163)
    #expect(Set(facts).symmetricDifference(ours) == [])
    #expect(ours.count == facts.count)
  }

  @Test func `every code has Apple's number`() throws {
    let facts = try FactTable("status.tsv").rows
    let ours = StatusTable.rows.map { FactTable.Row(name: $0.name, value: String($0.value)) }
    #expect(facts.count == 381)
    #expect(Set(facts).symmetricDifference(ours) == [])
    #expect(ours.count == facts.count)
    #expect(noErr == errSecSuccess)
  }

  /// Returns the message of a status without the cause of a failed call, which another test may have made.
  private static func sentence(_ status: OSStatus) -> String {
    KeychainWorld.lock.withLock {
      KeychainSettings.current = KeychainSettings.current
      return SecCopyErrorMessageString(status, nil) as String? ?? ""
    }
  }

  @Test func `every code has its own message`() {
    let sentences = StatusTable.rows.map { Self.sentence($0.value) }
    for (row, sentence) in zip(StatusTable.rows, sentences) {
      #expect(sentence.hasSuffix(".") && !sentence.hasPrefix("OSStatus"), "\(row.name): \(sentence)")
    }
    #expect(Set(sentences).count == sentences.count)
  }

  /// Swift code cannot read a doc comment, so the sentence is written twice. This keeps the two equal.
  @Test func `the documentation of a code begins with its message`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/KeychainServices/Status")
    let source = try ["", "Certificates", "Keys", "Modules"].map { part in
      try String(contentsOf: folder.appending(path: "SecStatus\(part).swift"), encoding: .utf8)
    }.joined()
    for row in StatusTable.rows {
      let message = Self.sentence(row.value)
      let parts = source.components(separatedBy: "\npublic let \(row.name): OSStatus")
      let comment = try #require(parts.first?.components(separatedBy: "\n\n").last)
      let text = comment.components(separatedBy: "\npublic let ").last ?? ""
      let lines = text.split(separator: "\n").filter { $0.hasPrefix("///") }.map { $0.dropFirst(4) }
      #expect(parts.count == 2 && lines.joined(separator: " ").hasPrefix(message), "\(row.name): \(lines)")
    }
  }

  @Test(arguments: [1, -1, -25321, 42, OSStatus.min, OSStatus.max])
  func `a code without a message is reported by its number`(status: OSStatus) {
    #expect(SecCopyErrorMessageString(status, nil) as String? == "OSStatus \(status)")
  }
}
