/// A pull parser for the words of a command line.
///
/// The caller pulls one token after the other and, after an option that takes a value, the value. What
/// is accepted:
/// - `-a`, and clusters of them, `-abc`
/// - `-ovalue`, `-o value` and `-o=value`: the first `=` after the letter is a separator, so a value that
///   itself begins with `=` is given as a word of its own
/// - `--name value` and `--name=value`
/// - an optional value only in the attached form, `--name=value` or `-nvalue`
/// - `--`: every later word is an operand, whatever it begins with
/// - `-` alone is an operand
///
/// Names are not abbreviated and not looked up here: what exists is the caller's business.
package struct ArgumentReader: Sendable {
  /// The elements of a command line.
  package enum Token: Equatable, Sendable {
    /// A one-letter option, without its hyphen.
    case short(Unicode.Scalar)
    /// An option by name, without its hyphens and without an attached value.
    case long(String)
    /// A word that is not an option.
    case operand(Word)
  }

  /// The reasons why the reader stops.
  package enum Problem: Error, Equatable {
    /// The option before, as written, was given a value with `=` that nobody asked for.
    case unexpectedValue(option: String)
    /// The option before, as written, needs a value and no word is left.
    case missingValue(option: String)
  }

  private let words: [Word]
  private var position = 0
  /// The rest of a cluster of one-letter options.
  private var cluster: ArraySlice<UInt8> = []
  /// The value attached to the long option returned last.
  private var attached: Word?
  private var onlyOperands = false
  /// The option returned last as the user would write it.
  private var current = ""

  /// A reader at the first of the words.
  ///
  /// - Parameter words: the arguments without the name of the program.
  package init(_ words: [Word]) {
    self.words = words
  }

  /// All words that were not read yet, as they stand.
  package mutating func rest() -> ArraySlice<Word> {
    defer { position = words.count }
    return words[position...]
  }

  /// The next token, or nil at the end.
  ///
  /// - Throws: `unexpectedValue` when the option before has an attached value that was not taken.
  package mutating func next() throws(Problem) -> Token? {
    if attached != nil || cluster.first == UInt8(ascii: "=") {
      throw .unexpectedValue(option: current)
    }
    if !cluster.isEmpty { return takeLetter() }
    guard position < words.count else { return nil }
    let word = words[position]
    position += 1
    let bytes = word.bytes
    guard !onlyOperands, bytes.count > 1, bytes[0] == UInt8(ascii: "-") else { return .operand(word) }
    guard bytes[1] == UInt8(ascii: "-") else {
      cluster = bytes[1...]
      return takeLetter()
    }
    if bytes.count == 2 {
      onlyOperands = true
      return try next()
    }
    let name: String
    if let equals = bytes.firstIndex(of: UInt8(ascii: "=")) {
      name = String(decoding: bytes[2..<equals], as: UTF8.self)
      attached = Word(bytes[(equals + 1)...])
    } else {
      name = String(decoding: bytes[2...], as: UTF8.self)
    }
    current = "--" + name
    return .long(name)
  }

  /// The value of the option returned last: attached, or else the next word, even one with a hyphen.
  ///
  /// - Throws: `missingValue` when there is neither.
  package mutating func value() throws(Problem) -> Word {
    if let word = optionalValue() { return word }
    guard position < words.count else { throw .missingValue(option: current) }
    defer { position += 1 }
    return words[position]
  }

  /// The attached value of the option returned last, or nil; never the next word.
  package mutating func optionalValue() -> Word? {
    if let word = attached {
      attached = nil
      return word
    }
    guard let first = cluster.first else { return nil }
    let bytes = first == UInt8(ascii: "=") ? cluster.dropFirst() : cluster
    cluster = []
    return Word(bytes)
  }

  private mutating func takeLetter() -> Token {
    let scalar = String(decoding: cluster.prefix(4), as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
    let length = String(scalar).utf8
    // A byte that is not UTF-8 also decodes to U+FFFD, but is one byte long and not these three.
    let isWhole = cluster.starts(with: length)
    cluster = cluster.dropFirst(isWhole ? length.count : 1)
    current = "-" + String(scalar)
    return .short(scalar)
  }
}
