internal import Encoding

/// A set of byte strings, one of which must occur in a line for it to match.
///
/// There are several byte strings because a value can be stored in several forms (as text, as a number, or as bytes in
/// base-64).
package struct Needle: Equatable, Sendable {
  /// The byte strings, one of which must occur; none is empty. Only the beginning of a long one is searched for.
  package let alternatives: [[UInt8]]
  /// Further alternatives: values in base-64, as they follow the key `base64`.
  package let bytesForms: [[UInt8]]
  /// A Boolean value that indicates whether the alternatives occur in any case. They are in lower case then.
  package let ignoresCase: Bool
  /// A Boolean value that indicates whether any value in base-64 is also an alternative.
  package let acceptsBytes: Bool
  /// A Boolean value that indicates whether most lines contain the needle, so that searching for it does not save time.
  let isCommon: Bool
  /// The alternatives, and the beginnings of the JSON escapes with which a line can spell one of them differently: `\u`
  /// for any character, and `\/` for a slash. The writer uses all other escapes itself.
  let spellings: [[UInt8]]

  /// The maximum number of bytes of an alternative that are searched for. The search of a shard that was made for this
  /// purpose compares all of them at every position (threat T46).
  private static let searchedBytes = 64

  /// Makes a needle from its alternatives.
  package init(_ alternatives: [[UInt8]], acceptsBytes: Bool = false) {
    self.init(alternatives, acceptsBytes: acceptsBytes, isCommon: false)
  }

  init(
    _ alternatives: [[UInt8]], bytesForms: [[UInt8]] = [], acceptsBytes: Bool = false,
    ignoresCase: Bool = false, isCommon: Bool
  ) {
    self.alternatives = alternatives.map { Array($0.prefix(Self.searchedBytes)) }
    self.bytesForms = bytesForms
    self.acceptsBytes = acceptsBytes
    self.ignoresCase = ignoresCase
    self.isCommon = isCommon
    let hasSlash = (self.alternatives + bytesForms).contains { $0.contains(UInt8(ascii: "/")) }
    spellings = self.alternatives + (hasSlash ? ["\\u", "\\/"] : ["\\u"]).map { Array($0.utf8) }
  }

  /// The length of the shortest alternative. Longer needles are faster to search for and match fewer lines.
  var shortest: Int { alternatives.map(\.count).min() ?? 0 }

  /// Returns a text as the writer writes it, with quotes.
  static func quoted(_ text: some Sequence<UInt8>) -> [UInt8] {
    var writer = JSONWriter()
    writer.write(quoting: text)
    return writer.bytes
  }

  /// Returns the first occurrence of an alternative in a part of the index.
  package func first(
    _ alternative: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int
  ) -> Int? {
    unsafe ignoresCase
      ? ByteSearch.first(ignoringCase: alternative, in: bytes, from: start)
      : ByteSearch.first(alternative, in: bytes, from: start)
  }
}

// Invariant: if `Predicate.matches` is true for the record of a line, one of the spellings or a value in base-64 that
// the needle accepts occurs in that line. Only values are searched for, never `"name":value`, because a valid line may
// have white space between the two.

extension Needle {
  /// Makes the needle of a condition; nil if no particular bytes have to occur.
  init?(_ predicate: Predicate) {
    switch predicate.subject {
    case .id(let prefix):
      self.init([[UInt8(ascii: "\"")] + prefix.utf8.map(Predicate.lowerASCII)])
    case .path(let path):
      // Without a digest the container equals the attribute exactly.
      guard path.isExact else { return nil }
      self.init(equalToText: Array(path.container.utf8))
    case _ where predicate.ignoresCase && predicate.comparison != .exists:
      self.init(ignoringCase: predicate.comparison)
    case .any:
      self.init(predicate.comparison, ofAnyAttribute: ())
    case .container:
      self.init(predicate.comparison, kind: .bytes, isCommon: false)
    case .attribute(let name):
      let role = KnownNames.role(of: name)
      if predicate.comparison == .exists {
        if case .record = role { return nil }
        self.init([Needle.quoted(name.text.utf8)])
        return
      }
      var isCommon = false
      if case .record = role, name != .id { isCommon = true }
      self.init(predicate.comparison, kind: AttributeSchema.kind(of: name), isCommon: isCommon)
    }
  }

  private init?(_ comparison: Predicate.Comparison, kind: AttributeKind?, isCommon: Bool) {
    // Integers are written without quotes. A custom attribute is never an integer.
    let quote: [UInt8] = kind == .integer ? [] : [UInt8(ascii: "\"")]
    switch comparison {
    case .equal(let value):
      let stored = kind.map { AttributeSchema.normalized(value, as: $0) } ?? value
      // A default value may be missing from the line.
      if stored.isDefault { return nil }
      if let content = stored.contentBytes {
        let bytesForms = isCommon ? [] : [Needle.bytesForm(of: content)]
        self.init([Needle.quoted(content)], bytesForms: bytesForms, isCommon: isCommon)
      } else {
        self.init([Needle.literal(stored)], isCommon: isCommon || kind == .boolean)
      }
    case .prefix(let part): self.init(part: part, isCommon: isCommon) { quote + $0 }
    case .suffix(let part): self.init(part: part, isCommon: isCommon) { $0 + quote }
    case .contains(let part): self.init(part: part, isCommon: isCommon) { $0 }
    case .before, .after, .exists: return nil
    }
  }

  private init?(_ comparison: Predicate.Comparison, ofAnyAttribute: Void) {
    switch comparison {
    case .equal(let value):
      guard !value.isDefault, let content = value.contentBytes else {
        // A number may match a Boolean and vice versa. Such queries are rare.
        return nil
      }
      // Digits may be stored as an integer, and RFC 3339 text as a date.
      let others = [AttributeKind.integer, .date].map { AttributeSchema.normalized(value, as: $0) }
        .filter { $0.contentBytes == nil }
      if others.contains(where: \.isDefault) { return nil }
      self.init(
        [Needle.quoted(content)] + others.map(Needle.literal), bytesForms: [Needle.bytesForm(of: content)],
        isCommon: false)
    case .prefix(let part), .suffix(let part), .contains(let part):
      self.init(part: part, isCommon: false) { $0 }
    case .before, .after, .exists: return nil
    }
  }

  /// Makes the needle of a comparison that ignores case: the longest part of the text in ASCII.
  ///
  /// The lower-case form of two other characters contains ASCII letters: U+212A gives `k`, and U+0130 gives `i` and a
  /// dot. Lines with them are candidates as well.
  private init?(ignoringCase comparison: Predicate.Comparison) {
    let content: [UInt8]
    switch comparison {
    case .equal(let value):
      // The text may be stored in another form: as a number, a date or a Boolean.
      let others = [AttributeKind.integer, .date, .boolean].map { AttributeSchema.normalized(value, as: $0) }
      guard others.allSatisfy({ $0.contentBytes != nil }) else { return nil }
      content = value.contentBytes ?? []
    case .prefix(let part), .suffix(let part), .contains(let part):
      if case .integer(let number) = part {
        content = Array(String(number).utf8)
      } else {
        content = part.contentBytes ?? []
      }
    case .before, .after, .exists: return nil
    }
    let runs = content.split {
      $0 >= 0x80 || $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
    }
    guard let longest = runs.max(by: { $0.count < $1.count }) else { return nil }
    let text = longest.map(Predicate.lowerASCII)
    var alternatives = [text]
    if text.contains(UInt8(ascii: "k")) { alternatives.append(Array("\u{212A}".utf8)) }
    if text.contains(UInt8(ascii: "i")) { alternatives.append(Array("\u{130}".utf8)) }
    self.init(alternatives, acceptsBytes: true, ignoresCase: true, isCommon: false)
  }

  private init(equalToText content: [UInt8]) {
    self.init([Needle.quoted(content)], bytesForms: [Needle.bytesForm(of: content)], isCommon: false)
  }

  /// Makes a needle for part of a text or of an integer's digits. In base-64 a part has three possible alignments, so
  /// any line with bytes is a candidate instead.
  private init?(part: AttributeValue, isCommon: Bool, _ wrap: ([UInt8]) -> [UInt8]) {
    var content = part.contentBytes ?? []
    if case .integer(let number) = part { content = Array(String(number).utf8) }
    if content.isEmpty { return nil }
    var escaped: [UInt8] = []
    JSONWriter.appendEscaped(content, to: &escaped)
    self.init([wrap(escaped)], acceptsBytes: true, isCommon: isCommon)
  }

  /// Returns the base-64 form of bytes, as it follows the key in a line.
  private static func bytesForm(of content: [UInt8]) -> [UInt8] {
    quoted(Base64.encode(content, as: .standard))
  }

  /// Returns a value that is neither text nor bytes, in the form that a line has.
  private static func literal(_ value: AttributeValue) -> [UInt8] {
    switch value {
    case .integer(let number): Array(String(number).utf8)
    case .boolean(let flag): Array((flag ? "true" : "false").utf8)
    // Another program may have written fewer digits of the fraction.
    case .date(let date): Array(date.rfc3339.utf8.prefix(19))
    case .string, .bytes: value.contentBytes ?? []
    }
  }
}
