/// The number of terminal columns that a text takes.
package enum DisplayWidth {
  /// Returns the columns of a text without control characters.
  ///
  /// The unit is the grapheme: a letter with accents takes as many columns as the letter, a flag or an emoji with
  /// modifiers takes two. Wide characters are those that Unicode's East Asian Width calls wide or full width (UAX #11).
  /// Ambiguous characters count as one, as in every locale that is not East Asian.
  package static func of(_ text: String) -> Int {
    // ASCII text, the usual case, takes one column for each byte.
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns($1) }
  }

  /// Returns a text of at most `limit` columns, in which `…` replaces the part that did not fit.
  ///
  /// - Parameters:
  ///   - text: a text without control characters.
  ///   - limit: the available columns, one or more.
  package static func cut(_ text: String, to limit: Int) -> String {
    guard of(text) > limit else { return text }
    var kept = ""
    var width = 0
    for character in text {
      width += columns(character)
      guard width < limit else { break }
      kept.append(character)
    }
    return kept + "…"
  }

  /// Returns a text of at most `limit` columns, in which `…` replaces a part between the first third and the rest.
  ///
  /// - Parameters:
  ///   - text: a text without control characters.
  ///   - limit: the available columns, three or more.
  package static func cutMiddle(_ text: String, to limit: Int) -> String {
    guard of(text) > limit else { return text }
    let start = cut(text, to: limit / 3)
    var end: [Character] = []
    var width = of(start)
    for character in text.reversed() {
      width += columns(character)
      guard width <= limit else { break }
      end.append(character)
    }
    return start + String(end.reversed())
  }

  /// Returns the lines of a text that is wrapped between words. A word that is too long has a line of its own, which is
  /// less indented if the word then fits.
  ///
  /// - Parameters:
  ///   - text: a text of one line, without control characters.
  ///   - limit: the available columns.
  ///   - indent: the indentation of all lines but the first; nil for that of the first.
  package static func wrap(_ text: String, to limit: Int, indent: Int? = nil) -> [String] {
    guard of(text) > limit else { return [text] }
    let blanks = text.prefix { $0 == " " }
    let margin = String(repeating: " ", count: min(indent ?? blanks.count, limit / 2))
    var lines: [String] = []
    var line = String(blanks)
    // The blanks before the next word, which are dropped where a line ends.
    var gap = ""
    for word in text.dropFirst(blanks.count).split(separator: " ", omittingEmptySubsequences: false) {
      guard !word.isEmpty else {
        gap += " "
        continue
      }
      if !gap.isEmpty, of(line) + gap.utf8.count + of(String(word)) > limit {
        lines.append(line)
        (line, gap) = (String(margin.prefix(max(0, limit - of(String(word))))), "")
      }
      line += gap + word
      gap = " "
    }
    return lines + [line]
  }

  private static func columns(_ character: Character) -> Int {
    var widest = 0
    for scalar in character.unicodeScalars {
      // VARIATION SELECTOR-16 selects the emoji form, which is wide.
      if scalar.value == 0xFE0F, widest == 1 { return 2 }
      widest = max(widest, columns(scalar))
    }
    return widest
  }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(scalar.value) ? 2 : 1
    }
  }

  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F: true
    case 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60: true
    case 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD: true
    case 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0, 0x23F3, 0x25FD...0x25FE: true
    case 0x2614...0x2615, 0x2648...0x2653, 0x267F, 0x2693, 0x26A1, 0x26AA...0x26AB: true
    case 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE, 0x26D4, 0x26EA, 0x26F2...0x26F3, 0x26F5: true
    case 0x26FA, 0x26FD, 0x2705, 0x270A...0x270B, 0x2728, 0x274C, 0x274E, 0x2753...0x2755: true
    case 0x2757, 0x2795...0x2797, 0x27B0, 0x27BF, 0x2B1B...0x2B1C, 0x2B50, 0x2B55: true
    case 0x1F004, 0x1F0CF, 0x1F18E, 0x1F191...0x1F19A, 0x1F1E6...0x1F1FF, 0x1F200...0x1F320: true
    case 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA: true
    case 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440: true
    case 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A: true
    case 0x1F595...0x1F596, 0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC: true
    case 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6D7, 0x1F6DC...0x1F6DF, 0x1F6EB...0x1F6EC: true
    case 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7EB, 0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945: true
    case 0x1F947...0x1F9FF, 0x1FA70...0x1FAFF: true
    default: false
    }
  }
}
