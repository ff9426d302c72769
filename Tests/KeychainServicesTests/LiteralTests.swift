import Foundation
import Security
import Testing

/// The constants and codes are Apple's, all of them and no other.
struct LiteralTests {
  @Test func `every constant has the text that it has at Apple's`() throws {
    let facts = try FactTable("constants.tsv").rows
    let ours = ConstantTable.rows.map { FactTable.Row(name: $0.name, value: $0.value as String) }
    #expect(facts.count == 163)
    #expect(Set(facts).symmetricDifference(ours) == [])
    #expect(ours.count == facts.count)
  }

  @Test func `every code has the number that it has at Apple's`() throws {
    let facts = try FactTable("status.tsv").rows
    let ours = StatusTable.rows.map { FactTable.Row(name: $0.name, value: String($0.value)) }
    #expect(facts.count == 381)
    #expect(Set(facts).symmetricDifference(ours) == [])
    #expect(ours.count == facts.count)
    #expect(noErr == errSecSuccess)
  }

  @Test func `every code has a sentence of its own`() {
    let sentences = StatusTable.rows.map { SecCopyErrorMessageString($0.value, nil) as String? ?? "" }
    for (row, sentence) in zip(StatusTable.rows, sentences) {
      #expect(sentence.hasSuffix(".") && !sentence.hasPrefix("OSStatus"), "\(row.name): \(sentence)")
    }
    #expect(Set(sentences).count == sentences.count)
  }

  @Test(arguments: [1, -1, -25321, 42, OSStatus.min, OSStatus.max])
  func `a code without a sentence is told by its number`(status: OSStatus) {
    #expect(SecCopyErrorMessageString(status, nil) as String? == "OSStatus \(status)")
  }
}
