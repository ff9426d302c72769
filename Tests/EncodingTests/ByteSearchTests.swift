import CSystem
import Encoding
import Glibc
import TestSupport
import Testing

@Suite(.serialized)
struct ByteSearchTests {
  /// The definition: the first position at which the bytes, or their lower-case forms, are equal.
  private static func first(
    _ text: [UInt8], ignoringCase: Bool, in bytes: [UInt8], from start: Int
  ) -> Int? {
    func lower(_ byte: UInt8) -> UInt8 { ignoringCase && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
    let last = bytes.count - text.count
    guard start <= last else { return nil }
    return (start...last).first { position in
      text.indices.allSatisfy { lower(bytes[position + $0]) == text[$0] }
    }
  }

  @Test(arguments: [true, false], 0..<20)
  func `a search returns the position that its definition gives`(ignoringCase: Bool, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("aAbBzZ@[`{1\u{212A}".utf8)
    func random(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
    }
    var found = 0
    for round in 0..<500 {
      // Blocks of 64 places are tested at once. Few different bytes make many places that match only in part.
      var bytes = random(Int.random(in: 0..<200, using: &generator))
      if round % 2 == 0 { bytes = bytes.map { $0 & 1 == 0 ? 0x61 : 0x41 } }
      var text = random(Int.random(in: 1..<6, using: &generator))
      if round % 5 == 0, bytes.count > 70 {
        text = Array(bytes.suffix(Int.random(in: 1...70, using: &generator)))
      }
      if round % 2 == 0 { text = text.map { $0 & 1 == 0 ? 0x61 : 0x41 } }
      if ignoringCase { text = text.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
      let start = Int.random(in: 0...bytes.count, using: &generator)
      let place = unsafe bytes.withUnsafeBytes {
        unsafe ignoringCase
          ? ByteSearch.first(ignoringCase: text, in: $0, from: start)
          : ByteSearch.first(text, in: $0, from: start)
      }
      let defined = Self.first(text, ignoringCase: ignoringCase, in: bytes, from: start)
      #expect(place == defined, "\(text) in \(bytes) from \(start)")
      let portable = unsafe bytes.withUnsafeBytes { buffer -> Int? in
        guard let base = buffer.baseAddress else { return nil }
        let found = unsafe keytree_search_portable(
          base + start, buffer.count - start, text, text.count, 0, text.count - 1, ignoringCase ? 1 : 0)
        return unsafe found.map { unsafe $0 - base }
      }
      #expect(portable == defined, "portable: \(text) in \(bytes) from \(start)")
      if place != nil { found += 1 }
    }
    #expect(found > 50)
  }

  @Test func `a search does not read past the end`() throws {
    // The bytes are at the end of a page, and the next page cannot be read.
    let page = Int(sysconf(Int32(_SC_PAGESIZE)))
    let memory = unsafe mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    let isMapped = unsafe memory != MAP_FAILED
    try #require(isMapped)
    guard let memory = unsafe memory else { return }
    defer { unsafe munmap(memory, 2 * page) }
    let isProtected = unsafe mprotect(memory + page, page, PROT_NONE) == 0
    #expect(isProtected)
    for count in 0..<200 {
      let bytes = unsafe UnsafeRawBufferPointer(start: memory + page - count, count: count)
      for text in [[0], [0, 1], [1, 0, 0]] as [[UInt8]] {
        let place = unsafe ByteSearch.first(text, in: bytes, from: 0)
        #expect(place == (text == [0] && count > 0 ? 0 : nil))
      }
    }
  }
}
