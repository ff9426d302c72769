internal import Encoding
internal import Secrets

/// The parts of an `otpauth` URI, as ranges of its bytes, so that no bytes are copied before their meaning is known.
///
/// The form is that of Google Authenticator's "Key URI Format": `otpauth://TYPE/LABEL?NAME=VALUE&...`. Parameters other
/// than `SeedError.Parameter` are ignored.
struct OTPAuthURI {
  static let scheme = "otpauth://"

  /// The word after the scheme.
  let type: Range<Int>
  /// The label: the part up to the parameters, still encoded.
  let label: Range<Int>
  /// The values of the known parameters, still encoded.
  let values: [SeedError.Parameter: Range<Int>]
  /// A Boolean value that indicates whether there are parameters.
  let hasQuery: Bool
  /// The position where another parameter could be added.
  let end: Int
  /// A Boolean value that indicates whether a parameter asks for Steam codes: `encoder=steam`.
  let isSteam: Bool

  /// Parses a URI that begins with the scheme.
  ///
  /// - Throws: `repeated`.
  init(_ text: UnsafeRawBufferPointer) throws(SeedError) {
    let start = Self.scheme.utf8.count
    func first(_ characters: String, from: Int, to limit: Int) -> Int {
      unsafe text[from..<limit].firstIndex { characters.utf8.contains($0) } ?? limit
    }
    end = first("#", from: start, to: text.count)
    let question = first("?", from: start, to: end)
    let slash = first("/", from: start, to: question)
    type = start..<slash
    label = min(slash + 1, question)..<question
    hasQuery = question < end
    var values: [SeedError.Parameter: Range<Int>] = [:]
    var isSteam = false
    var position = min(question + 1, end)
    while position < end {
      let next = first("&", from: position, to: end)
      let equals = first("=", from: position, to: next)
      let (name, value) = (position..<equals, min(equals + 1, next)..<next)
      for parameter in SeedError.Parameter.allCases {
        guard unsafe Self.isWord(parameter.rawValue, text, name) else { continue }
        guard values.updateValue(value, forKey: parameter) == nil else { throw .repeated(parameter) }
      }
      if unsafe Self.isWord("encoder", text, name), unsafe Self.isWord("steam", text, value) {
        isSteam = true
      }
      position = next + 1
    }
    self.values = values
    self.isSteam = isSteam
  }

  /// Returns true if a part is a word, ignoring case.
  static func isWord(_ word: String, _ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    guard range.count == word.utf8.count else { return false }
    return zip(range, word.utf8).allSatisfy { index, wanted in
      let byte = unsafe text[index]
      return byte == wanted || (byte | 0x20 == wanted && (0x61...0x7A).contains(wanted))
    }
  }

  /// Returns a part with its percent-encoding decoded (RFC 3986, section 2.1).
  ///
  /// - Parameters:
  ///   - text: The URI.
  ///   - range: The part.
  ///   - plusIsSpace: True for the value of a parameter, where web pages write a space as `+`.
  /// - Returns: The bytes; nil if a percent sign is not followed by two digits.
  static func decoded(
    _ text: UnsafeRawBufferPointer, _ range: Range<Int>, plusIsSpace: Bool
  ) -> SecretSlice? {
    var bytes = SecretBytes(capacity: range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = unsafe text[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 2 <= range.upperBound,
          let high = Hexadecimal.value(ofDigitInAnyCase: unsafe text[index]),
          let low = Hexadecimal.value(ofDigitInAnyCase: unsafe text[index + 1])
        else { return nil }
        bytes.append(high << 4 | low)
        index += 2
      } else {
        bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return SecretSlice(bytes)
  }
}
