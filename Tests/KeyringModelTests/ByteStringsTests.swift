import Testing

@testable import KeyringModel

/// The search for several byte strings against one that compares every place.
struct ByteStringsTests {
  private static func first(_ strings: [[UInt8]], in text: [UInt8], from start: Int) -> Int? {
    guard start < text.count else { return nil }
    return (start..<text.count).first { place in
      strings.contains { !$0.isEmpty && text[place...].starts(with: $0) }
    }
  }

  private static func found(_ strings: [[UInt8]], in text: [UInt8], from start: Int) -> Int? {
    unsafe text.withUnsafeBytes { unsafe ByteStrings(strings).first(in: $0, from: start) }
  }

  @Test(arguments: 0..<40)
  func `finds the first place, wherever it is`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    // Few different bytes, so that much is nearly right; sizes around the sixteen bytes of one step.
    let letters: [UInt8] = [0, 97, 98, 255]
    for _ in 0..<200 {
      let text = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
        letters.randomElement(using: &generator) ?? 0
      }
      let strings = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        (0..<Int.random(in: 0...9, using: &generator)).map { _ in letters.randomElement(using: &generator) ?? 0 }
      }
      let start = Int.random(in: 0...(text.count + 1), using: &generator)
      let place = Self.found(strings, in: text, from: start)
      #expect(place == Self.first(strings, in: text, from: start), "\(strings) in \(text) from \(start)")
    }
  }

  @Test func `finds what lies across the windows of the search`() {
    let needle = Array("\"accounts.example.org\"".utf8)
    for place in Array(4070...4110) + Array(8180...8200) {
      var text = [UInt8](repeating: UInt8(ascii: "x"), count: 9000)
      text.replaceSubrange(place..<(place + needle.count), with: needle)
      #expect(Self.found([needle], in: text, from: 0) == place)
      #expect(Self.found([[1], needle], in: text, from: place) == place)
      #expect(Self.found([needle], in: text, from: place + 1) == nil)
      // Cut off at the end of the text.
      #expect(Self.found([needle], in: Array(text[..<(place + needle.count - 1)]), from: 0) == nil)
      #expect(Self.found([needle], in: Array(text[..<(place + needle.count)]), from: 0) == place)
    }
  }
}
