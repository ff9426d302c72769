internal import Secrets

/// The options and operands of one command of `security`, parsed like getopt(3) of BSD.
///
/// Letters can be combined in one word. The value of a letter is the rest of its word, else the whole next word,
/// regardless of its first character. The first operand or `--` ends the options. If a letter occurs more than once,
/// its last value is used.
struct SecurityOptions {
  /// The error for an unknown letter, or for a letter without its value.
  struct Misuse: Error {}

  private var given: [(letter: Unicode.Scalar, value: SecretSlice?)] = []
  /// The words after the options.
  private(set) var operands: [SecretSlice] = []
  /// The last letter of the line if its value is missing and the command accepts that.
  private(set) var lackingValue: Unicode.Scalar?
  /// A Boolean value that indicates whether a secret was given as an argument, which every user of this machine can
  /// see.
  private(set) var hasShownSecret = false

  /// Parses the words after the name of a command.
  ///
  /// A secret value is immediately overwritten in the memory of the arguments.
  ///
  /// - Parameters:
  ///   - words: the words.
  ///   - pattern: the letters in the notation of getopt: `:` after each letter with a value, and `:` first if the
  ///     command itself handles a missing value.
  ///   - secrets: the letters whose value is a secret.
  /// - Throws: `Misuse` for an unknown letter, or for a letter without its value.
  init(_ words: SecurityWords, _ pattern: String, secrets: String) throws(Misuse) {
    let judgesLacking = pattern.hasPrefix(":")
    var index = 0
    while index < words.count {
      let word = words[index]
      let bytes = unsafe word.withBytes { unsafe $0.first == UInt8(ascii: "-") && $0.count > 1 }
      guard bytes else { break }
      let isEnd = unsafe word.withBytes { unsafe $0.count == 2 && $0[1] == UInt8(ascii: "-") }
      index += 1
      if isEnd { break }
      var position = 1
      while position < word.count {
        let letter = Unicode.Scalar(unsafe word.withBytes { unsafe $0[position] })
        position += 1
        switch Self.arity(of: letter, in: pattern) {
        case nil: throw Misuse()
        case false: given.append((letter, nil))
        case true where position < word.count:
          take(letter, word.part(position..<word.count), at: index - 1, from: position, of: words, secrets)
          position = word.count
        case true where index < words.count:
          take(letter, words[index], at: index, from: 0, of: words, secrets)
          index += 1
        case true:
          guard judgesLacking else { throw Misuse() }
          lackingValue = letter
        }
      }
    }
    while index < words.count {
      operands.append(words[index])
      index += 1
    }
  }

  private mutating func take(
    _ letter: Unicode.Scalar, _ value: SecretSlice, at index: Int, from offset: Int, of words: SecurityWords,
    _ secrets: String
  ) {
    given.append((letter, value))
    guard secrets.unicodeScalars.contains(letter) else { return }
    words.hide(index, from: offset)
    hasShownSecret = hasShownSecret || words.areShown
  }

  /// Returns true if a letter has a value, or nil for an unknown letter.
  private static func arity(of letter: Unicode.Scalar, in pattern: String) -> Bool? {
    let letters = Array(pattern.unicodeScalars)
    guard letter != ":", let index = letters.firstIndex(of: letter) else { return nil }
    return index + 1 < letters.count && letters[index + 1] == ":"
  }

  /// Returns true if a letter was given.
  func has(_ letter: Unicode.Scalar) -> Bool { given.contains { $0.letter == letter } }

  /// Returns the last value of a letter.
  func value(_ letter: Unicode.Scalar) -> SecretSlice? { given.last { $0.letter == letter }?.value }

  /// Returns the last value that was given for any of several letters, with its letter.
  func last(of letters: String) -> (letter: Unicode.Scalar, value: SecretSlice)? {
    for entry in given.reversed() where letters.unicodeScalars.contains(entry.letter) {
      if let value = entry.value { return (entry.letter, value) }
    }
    return nil
  }

  /// Returns the last value of a letter whose value is not secret.
  func bytes(_ letter: Unicode.Scalar) -> [UInt8]? { value(letter)?.publicBytes() }
}
