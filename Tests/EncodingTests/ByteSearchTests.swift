import Encoding
import TestSupport
import Testing

@Suite(.serialized)
struct ByteSearchTests {
  /// The definition: the first position at which the lower-case bytes are equal.
  private static func first(_ text: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
    let last = bytes.count - text.count
    guard start <= last else { return nil }
    return (start...last).first { position in
      text.indices.allSatisfy { lower(bytes[position + $0]) == text[$0] }
    }
  }

  @Test(arguments: 0..<20)
  func `a search that ignores case finds the same place as its definition`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("aAbBzZ@[`{1\u{212A}".utf8)
    func random(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
    }
    var found = 0
    for _ in 0..<500 {
      let bytes = random(Int.random(in: 0..<60, using: &generator))
      let text = random(Int.random(in: 1..<4, using: &generator)).map {
        (0x41...0x5A).contains($0) ? $0 | 0x20 : $0
      }
      let start = Int.random(in: 0...bytes.count, using: &generator)
      let place = unsafe bytes.withUnsafeBytes {
        unsafe ByteSearch.first(ignoringCase: text, in: $0, from: start)
      }
      #expect(place == Self.first(text, in: bytes, from: start), "\(text) in \(bytes) from \(start)")
      if place != nil { found += 1 }
    }
    #expect(found > 50)
  }
}
