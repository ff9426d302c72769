/// A file of variables in the simple syntax that `docker --env-file`, `dotenv` and a shell have in common.
///
/// A line is `NAME=VALUE`, optionally with `export` in front; `#` begins a comment line. A value in single quotes is
/// literal. In double quotes `\n`, `\t`, `\"`, `\\` and `\$` represent a character. A value without quotes ends at
/// ` #` or the end of the line, and the white space around it is removed. There is no expansion, and no command is run.
struct VariableFile {
  /// A problem with a file. Lines are counted from 1.
  enum Problem: Error, Equatable {
    /// The line is not `NAME=VALUE`.
    case notVariable(line: Int)
    /// A quoted value has no closing quote in its line, or something after it.
    case badQuotes(line: Int)
    /// The value contains a NUL.
    case containsNUL(line: Int)
  }

  /// The variables in order. If a name occurs twice, the later value counts.
  private(set) var variables: [(name: String, value: [UInt8])] = []

  /// Parses a file.
  ///
  /// - Throws: the first problem.
  init(_ text: [UInt8]) throws(Problem) {
    // Editors on Windows begin a file with the UTF-8 byte order mark.
    let text = text.starts(with: Self.mark) ? text.dropFirst(Self.mark.count) : text[...]
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if line.contains(0) { throw .containsNUL(line: index + 1) }
      let line = Self.trimmed(line)
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      variables.append(try Self.variable(line, number: index + 1))
    }
  }

  /// The byte order mark in UTF-8.
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns true if a word is a valid name of a variable: letters, digits and `_`, no digit first (POSIX, 8.1).
  static func isName(_ word: some Collection<UInt8>) -> Bool {
    guard let first = word.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
      return false
    }
    return word.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
  }

  private static func variable(
    _ line: ArraySlice<UInt8>, number: Int
  ) throws(Problem) -> (name: String, value: [UInt8]) {
    var line = line
    if line.starts(with: "export ".utf8) { line = trimmed(line.dropFirst("export ".utf8.count)) }
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")), isName(line[..<equals]) else {
      throw .notVariable(line: number)
    }
    let name = String(decoding: line[..<equals], as: UTF8.self)
    let value = trimmed(line[(equals + 1)...])
    switch value.first {
    case UInt8(ascii: "'"): return (name, try quoted(value, by: UInt8(ascii: "'"), number))
    case UInt8(ascii: "\""): return (name, try quoted(value, by: UInt8(ascii: "\""), number))
    default: return (name, Array(trimmed(withoutComment(value))))
    }
  }

  private static func quoted(
    _ value: ArraySlice<UInt8>, by quote: UInt8, _ number: Int
  ) throws(Problem) -> [UInt8] {
    var result: [UInt8] = []
    var rest = value.dropFirst()
    while let byte = rest.popFirst() {
      if byte == quote {
        let after = trimmed(rest)
        guard after.isEmpty || after.first == UInt8(ascii: "#") else { throw .badQuotes(line: number) }
        return result
      }
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let next = rest.first,
        let character = escapes[next]
      {
        rest = rest.dropFirst()
        result.append(character)
      } else {
        result.append(byte)
      }
    }
    throw .badQuotes(line: number)
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 0x0A, UInt8(ascii: "t"): 0x09, UInt8(ascii: "\""): UInt8(ascii: "\""),
    UInt8(ascii: "\\"): UInt8(ascii: "\\"), UInt8(ascii: "$"): UInt8(ascii: "$"),
  ]

  private static func withoutComment(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    if value.first == UInt8(ascii: "#") { return value.prefix(0) }
    let end = value.indices.dropFirst().first { value[$0] == UInt8(ascii: "#") && isSpace(value[$0 - 1]) }
    return value[..<(end ?? value.endIndex)]
  }

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var line = line.drop(while: isSpace)
    while let last = line.last, isSpace(last) { line = line.dropLast() }
    return line
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
