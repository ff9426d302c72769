/// The placeholders in a transcript for text that varies or is invisible.
enum Placeholders {
  private static let characters: [(String, String)] = [("<TAB>", "\t"), ("<CR>", "\r"), ("<ESC>", "\u{1B}")]

  /// Returns the text with invisible characters replaced by their names.
  static func name(_ text: String) -> String {
    var named = ""
    for scalar in text.unicodeScalars {
      if let known = characters.first(where: { $0.1 == String(scalar) }) {
        named += known.0
      } else if scalar.value < 0x20 || scalar.value == 0x7F {
        named += "<x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16) + ">"
      } else {
        named.unicodeScalars.append(scalar)
      }
    }
    return named
  }

  /// Returns the text with names replaced by values: `<TMP>` by a folder, `<TAB>` by a tab.
  static func fill(_ text: String, _ values: [String: String]) -> String {
    var filled = text
    for (name, character) in characters { filled = replace(name, in: filled, by: character) }
    for (name, value) in values { filled = replace("<" + name + ">", in: filled, by: value) }
    return filled
  }

  private static func replace(_ name: String, in text: String, by value: String) -> String {
    text.split(separator: name, omittingEmptySubsequences: false).joined(separator: value)
  }

  /// Compares a line with the expected one, and records the values of its placeholders.
  ///
  /// - Returns: The values of the placeholders, or nil if the line differs.
  static func match(_ line: String, _ expected: String) -> [String: String]? {
    match(Substring(line), Substring(expected))
  }

  private static func match(_ line: Substring, _ expected: Substring) -> [String: String]? {
    for (name, isPart) in kinds where expected.hasPrefix(name) {
      let rest = expected.dropFirst(name.count)
      var end = line.endIndex
      // The longest match is tried first. `<ANY>` may match an empty text.
      while true {
        let candidate = line[..<end]
        if isPart(candidate), var values = match(line[end...], rest) {
          values[String(name.dropFirst().dropLast())] = String(candidate)
          return values
        }
        guard end > line.startIndex else { return nil }
        end = line.index(before: end)
      }
    }
    guard let first = expected.first else { return line.isEmpty ? [:] : nil }
    guard line.first == first else { return nil }
    return match(line.dropFirst(), expected.dropFirst())
  }

  private static func isHexadecimal(_ text: Substring, _ counts: Int...) -> Bool {
    counts.contains(text.utf8.count) && text.allSatisfy { "0123456789abcdef".contains($0) }
  }

  private static let kinds: [(String, @Sendable (Substring) -> Bool)] = [
    ("<ID>", { isHexadecimal($0, 32) }),
    ("<COPY>", { isHexadecimal($0, 12, 64) }),
    (
      "<DATE>",
      { text in
        let shape = text.map { $0.isNumber ? "0" : String($0) }.joined()
        return shape == "0000-00-00T00:00:00.000000Z" || shape == "0000-00-00T00:00:00Z"
          || shape == "0000-00-00 00:00"
      }
    ),
    ("<DAY>", { text in text.map { $0.isNumber ? "0" : String($0) }.joined() == "0000-00-00" }),
    ("<ANY>", { _ in true }),
  ]
}
