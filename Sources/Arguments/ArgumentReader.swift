/// A pull parser for the words of a command line.
///
/// The caller pulls one token after another and, after an option that takes a value, its value. The accepted forms are:
/// - `-a`, and clusters such as `-abc`
/// - `-ovalue`, `-o value` and `-o=value`: the first `=` after the letter is a separator, so a value that itself begins
///   with `=` has to be a separate word
/// - `--name value` and `--name=value`
/// - an optional value only in the attached form, `--name=value` or `-nvalue`
/// - `--`: every later word is an operand, even one that begins with a hyphen
/// - `-` alone is an operand
///
/// Names cannot be abbreviated. The reader does not look them up; the caller knows which options exist.
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

  /// The errors that the reader detects.
  package enum Problem: Error, Equatable {
    /// The preceding option, as written, has a value attached with `=` but takes none.
    case unexpectedValue(option: String)
    /// The preceding option, as written, needs a value, but no word is left.
    case missingValue(option: String)
  }

  private let words: [Word]
  private var position = 0
  /// The rest of a cluster of one-letter options.
  private var cluster: ArraySlice<UInt8> = []
  /// The value attached to the long option that was returned last.
  private var attached: Word?
  private var onlyOperands = false
  /// The option that was returned last, as the user would write it.
  private var current = ""

  /// Creates a reader at the first word.
  ///
  /// - Parameter words: the arguments without the name of the program.
  package init(_ words: [Word]) {
    self.words = words
  }

  /// Returns all unread words unchanged and moves to the end.
  package mutating func rest() -> ArraySlice<Word> {
    defer { position = words.count }
    return words[position...]
  }

  /// Returns the next token, or nil at the end.
  ///
  /// - Throws: `unexpectedValue` if the preceding option has an attached value that the caller did not take.
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

  /// Returns the value of the last option: the attached value, or else the next word, even if it begins with a hyphen.
  ///
  /// - Throws: `missingValue` if there is neither.
  package mutating func value() throws(Problem) -> Word {
    if let word = optionalValue() { return word }
    guard position < words.count else { throw .missingValue(option: current) }
    defer { position += 1 }
    return words[position]
  }

  /// Returns the attached value of the last option, or nil. Never takes the next word.
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
    // An invalid byte also decodes to U+FFFD, but it is one byte long and not the three bytes of U+FFFD in UTF-8.
    let isWhole = cluster.starts(with: length)
    cluster = cluster.dropFirst(isWhole ? length.count : 1)
    current = "-" + String(scalar)
    return .short(scalar)
  }
}
