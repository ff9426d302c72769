import Testing
@testable import CommandSupport
@testable import KeytreeCLI

@Suite("Generated secrets", .serialized)
struct SecretGeneratorTests {
  /// A random source that counts up, so that every outcome occurs in turn.
  private struct Counter: RandomNumberGenerator {
    var value: UInt64 = 0
    mutating func next() -> UInt64 {
      defer { value &+= 0x9E37_79B9_7F4A_7C15 }
      return value
    }
  }

  private func make(_ recipe: SecretGenerator.Recipe) -> String {
    var random = SystemRandomNumberGenerator()
    return String(decoding: SecretGenerator(recipe).make(using: &random).revealed, as: UTF8.self)
  }

  @Test(
    "a secret consists of the characters of its set",
    arguments: [
      ("lower", "abcdefghijklmnopqrstuvwxyz"), ("digits", "0123456789"), ("hex", "0123456789abcdef"),
      ("=ab", "ab"), ("digits,=-_.,", ",-.0123456789_"), ("=a,b", ",ab"), ("digits,digits", "0123456789"),
    ])
  func charset(description: String, characters: String) throws {
    let charset = try GeneratorCharset(description)
    #expect(charset.characters == Array(characters.utf8))
    let secret = make(.characters(charset, length: 500))
    #expect(secret.utf8.count == 500)
    #expect(Set(secret.utf8).isSubset(of: Set(characters.utf8)))
    // 500 draws miss one of 26 characters in one of ten million runs.
    #expect(Set(secret.utf8).count == characters.utf8.count)
  }

  @Test(
    "an invalid character set is refused",
    arguments: [
      ("", .tooFew), ("=", .tooFew), ("=aaa", .tooFew), ("nonsense", .unknownName), ("digits,", .none),
      (",digits", .unknownName), ("=a b", .notPrintable), ("=aé", .notPrintable), ("=a\u{7}", .notPrintable),
    ] as [(String, GeneratorCharset.Problem?)])
  func badCharset(description: String, problem: GeneratorCharset.Problem?) throws {
    guard let problem else {
      #expect(try GeneratorCharset(description).characters.count == 10)
      return
    }
    #expect(throws: problem) { try GeneratorCharset(description) }
  }

  @Test("all characters are equally likely")
  func unbiased() throws {
    var random = Counter()
    let charset = try GeneratorCharset("=abc")
    let bytes = SecretGenerator(.characters(charset, length: 30_000)).make(using: &random).revealed
    for character in "abc".utf8 {
      let share = bytes.count { $0 == character }
      #expect((9_700...10_300).contains(share), "\(share)")
    }
  }

  /// A random source that reveals the bias of a remainder or a product: an unbiased choice must reject its first
  /// number.
  private struct Biased: RandomNumberGenerator {
    var drawn = 0
    mutating func next() -> UInt64 {
      drawn += 1
      return drawn == 1 ? 0 : .max
    }
  }

  @Test("a number that would favour a character is rejected", arguments: ["=abc", "digits", "lower", "all"])
  func rejection(set: String) throws {
    var random = Biased()
    let charset = try GeneratorCharset(set)
    let secret = SecretGenerator(.characters(charset, length: 1)).make(using: &random).revealed
    // None of these sizes divides 2^64, so an unbiased choice must reject some numbers, starting at 0.
    #expect(random.drawn == 2)
    #expect(secret == [charset.characters.last])
  }

  @Test("a number that would favour a word is rejected")
  func wordRejection() {
    var random = Biased()
    let secret = SecretGenerator(.words(1)).make(using: &random).revealed
    #expect(random.drawn == 2)
    #expect(secret == WordList.word(WordList.count - 1))
  }

  @Test("a passphrase has the given number of words from the list, joined by hyphens", arguments: [1, 6, 40])
  func words(count: Int) {
    let list = Set((0..<WordList.count).map { WordList.word($0) })
    let words = make(.words(count)).split(separator: "-")
    #expect(words.count == count)
    #expect(words.allSatisfy { list.contains(Array($0.utf8)) })
  }

  @Test(
    "the explanation states the entropy",
    arguments: [
      (.characters(.standard, length: 24), 157), (.words(7), 72), (.words(6), 62),
      (.characters(.standard, length: 1), 6),
    ] as [(SecretGenerator.Recipe, Int)])
  func entropy(recipe: SecretGenerator.Recipe, bits: Int) {
    #expect(SecretGenerator(recipe).entropy == bits)
    #expect(SecretGenerator(recipe).explanation.contains("\(bits) bits"))
  }

  @Test("two generated secrets differ")
  func different() {
    #expect(make(.words(7)) != make(.words(7)))
  }
}

@Suite("The word list", .serialized)
struct WordListTests {
  static let words = (0..<WordList.count).map { String(decoding: WordList.word($0), as: UTF8.self) }

  @Test("the word list is sorted and distinct, and its words have three to seven lower-case letters")
  func shape() {
    #expect(Self.words == Set(Self.words).sorted())
    for word in Self.words {
      #expect((3...7).contains(word.count) && word.allSatisfy { ("a"..."z").contains($0) }, "\(word)")
    }
    #expect(Set(Self.words.map { $0.prefix(4) }).count == WordList.count)
  }

  @Test("no two words differ by only one letter")
  func apart() {
    // Two words that differ in one letter, or where one has an extra letter, are equal after one letter is removed from
    // either.
    var seen: [String: String] = [:]
    for word in Self.words {
      var rests: Set<String> = [word + "+"]
      for index in word.indices {
        rests.insert(String(word[..<index]) + "_" + word[word.index(after: index)...])
      }
      for rest in rests {
        #expect(seen[rest] == nil, "\(word), \(seen[rest] ?? "")")
        seen[rest] = word
      }
    }
  }
}
