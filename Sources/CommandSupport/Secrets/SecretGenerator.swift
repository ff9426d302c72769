internal import Glibc
package import Secrets

/// A generator of random secrets without bias, directly in wiped memory.
///
/// Every character or word has the same probability: the standard library's `next(upperBound:)` rejects values that
/// would cause a bias. The random source is a parameter; commands use `SystemRandomNumberGenerator`, which is
/// `getrandom(2)`.
package struct SecretGenerator: Equatable, Sendable {
  /// The composition of a secret.
  package enum Recipe: Equatable, Sendable {
    /// Characters of a set.
    case characters(GeneratorCharset, length: Int)
    /// Words of `WordList`, joined by hyphens.
    case words(Int)
  }

  /// The default number of characters.
  package static let defaultLength = 24
  /// The default number of words.
  package static let defaultWords = 7
  /// The permitted numbers of characters or words.
  package static let lengths = Configuration.generatedLengths

  /// The composition of the secrets.
  package let recipe: Recipe

  /// Creates a generator for a recipe.
  package init(_ recipe: Recipe) {
    self.recipe = recipe
  }

  /// The bits of entropy of a secret, rounded down.
  package var entropy: Int {
    switch recipe {
    case .characters(let charset, let length): Int(log2(Double(charset.characters.count)) * Double(length))
    case .words(let count): Int(log2(Double(WordList.count)) * Double(count))
    }
  }

  /// The message about a new secret: its composition and strength, without the secret itself.
  package var explanation: String {
    switch recipe {
    case .characters(let charset, let length):
      "\(length) characters from a set of \(charset.characters.count): \(entropy) bits of entropy"
    case .words(let count):
      "\(count) words from a list of \(WordList.count): \(entropy) bits of entropy"
    }
  }

  /// Returns a new secret.
  ///
  /// - Parameter random: the random source.
  package func make(using random: inout some RandomNumberGenerator) -> SecretBytes {
    switch recipe {
    case .characters(let charset, let length):
      var secret = SecretBytes(capacity: length)
      for _ in 0..<length {
        secret.append(charset.characters[Int.random(in: 0..<charset.characters.count, using: &random)])
      }
      return secret
    case .words(let count):
      var secret = SecretBytes(capacity: count * 8)
      for index in 0..<count {
        if index > 0 { secret.append(UInt8(ascii: "-")) }
        for byte in WordList.word(Int.random(in: 0..<WordList.count, using: &random)) { secret.append(byte) }
      }
      return secret
    }
  }
}

/// The characters that a generated secret may contain: printable ASCII, each once.
package struct GeneratorCharset: Equatable, Sendable {
  /// The reason why a text describes no set.
  package enum Problem: Error, Equatable {
    /// A part of the text is not one of the names.
    case unknownName
    /// A character is not printable ASCII, or is a space.
    case notPrintable
    /// There are fewer than two different characters.
    case tooFew
  }

  /// The characters in ascending order.
  package let characters: [UInt8]

  /// Letters, digits and symbols: all 94 printable characters except the space.
  package static let standard = GeneratorCharset(unchecked: Array(0x21...0x7E))

  /// The names that a description may contain.
  package static let names = ["lower", "upper", "letters", "digits", "symbols", "hex", "all"]

  private init(unchecked characters: [UInt8]) {
    self.characters = characters
  }

  /// Creates a set from its description: names joined by commas, then optionally `=` and literal characters up to the
  /// end of the text: `letters,digits,=-_.`.
  ///
  /// - Throws: `unknownName`, `notPrintable`, `tooFew`.
  package init(_ description: String) throws(Problem) {
    var chosen = [Bool](repeating: false, count: 128)
    var rest = description[...]
    while !rest.isEmpty {
      if rest.first == "=" {
        for byte in rest.dropFirst().utf8 {
          guard (0x21...0x7E).contains(byte) else { throw .notPrintable }
          chosen[Int(byte)] = true
        }
        break
      }
      let name = rest.prefix { $0 != "," }
      guard let characters = Self.characters(of: String(name)) else { throw .unknownName }
      for byte in characters { chosen[Int(byte)] = true }
      rest = rest.dropFirst(name.count + 1)
    }
    let characters = (0x21...0x7E).filter { chosen[Int($0)] }.map { UInt8($0) }
    guard characters.count >= 2 else { throw .tooFew }
    self.characters = characters
  }

  private static func characters(of name: String) -> [UInt8]? {
    let lower = Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
    let upper = Array(UInt8(ascii: "A")...UInt8(ascii: "Z"))
    let digits = Array(UInt8(ascii: "0")...UInt8(ascii: "9"))
    switch name {
    case "lower": return lower
    case "upper": return upper
    case "letters": return lower + upper
    case "digits": return digits
    case "symbols": return standard.characters.filter { !(lower + upper + digits).contains($0) }
    case "hex": return digits + lower.prefix(6)
    case "all": return standard.characters
    default: return nil
    }
  }
}
