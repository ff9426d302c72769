internal import Encoding

/// One thing that must occur in a line for it to match: any of several byte strings.
///
/// There are several because a value can be stored in several forms (as text, as a number, or as bytes in
/// base-64).
package struct Needle: Equatable, Sendable {
  /// The byte strings, one of which must occur; none is empty.
  package let alternatives: [[UInt8]]
  /// The values in the form of bytes that are alternatives too: what follows the key `base64`.
  package let bytesForms: [[UInt8]]
  /// A Boolean value that indicates whether any value in the form of bytes is an alternative too.
  package let acceptsBytes: Bool
  /// A Boolean value that indicates whether most lines contain it, so that searching for it does not save
  /// time.
  let isCommon: Bool

  /// Makes a needle of its alternatives.
  package init(_ alternatives: [[UInt8]], acceptsBytes: Bool = false) {
    self.init(alternatives, acceptsBytes: acceptsBytes, isCommon: false)
  }

  init(
    _ alternatives: [[UInt8]], bytesForms: [[UInt8]] = [], acceptsBytes: Bool = false, isCommon: Bool
  ) {
    self.alternatives = alternatives
    self.bytesForms = bytesForms
    self.acceptsBytes = acceptsBytes
    self.isCommon = isCommon
  }

  /// The length of the shortest alternative; longer needles are found faster and more rarely.
  var shortest: Int { alternatives.map(\.count).min() ?? 0 }

  /// A text as the writer writes it, with quotes.
  static func quoted(_ text: some Sequence<UInt8>) -> [UInt8] {
    var writer = JSONWriter()
    writer.write(quoting: text)
    return writer.bytes
  }

}

// Soundness: whenever `Predicate.matches` holds for the record of a line without a backslash, one of the
// alternatives occurs in that line. Only values are sought, never `"name":value`, because a valid line may
// have white space between the two.

extension Needle {
  /// The needle of a condition, or nil when nothing in particular has to occur.
  init?(_ predicate: Predicate) {
    switch predicate.subject {
    case .id(let prefix):
      self.init([[UInt8(ascii: "\"")] + prefix.utf8.map(Predicate.lowerASCII)])
    case .path(let path):
      // Without a digest the container is the attribute, exactly.
      guard path.isExact else { return nil }
      self.init(equalToText: Array(path.container.utf8))
    case .any:
      guard !predicate.ignoresCase else { return nil }
      self.init(predicate.comparison, ofAnyAttribute: ())
    case .container:
      guard !predicate.ignoresCase else { return nil }
      self.init(predicate.comparison, kind: .bytes, isCommon: false)
    case .attribute(let name):
      let role = KnownNames.role(of: name)
      if predicate.comparison == .exists {
        if case .record = role { return nil }
        self.init([Needle.quoted(name.text.utf8)])
        return
      }
      guard !predicate.ignoresCase else { return nil }
      var isCommon = false
      if case .record = role, name != .id { isCommon = true }
      self.init(predicate.comparison, kind: AttributeSchema.kind(of: name), isCommon: isCommon)
    }
  }

  private init?(_ comparison: Predicate.Comparison, kind: AttributeKind?, isCommon: Bool) {
    // Integers are written without quotes; a custom attribute is never one.
    let quote: [UInt8] = kind == .integer ? [] : [UInt8(ascii: "\"")]
    switch comparison {
    case .equal(let value):
      let stored = kind.map { AttributeSchema.normalized(value, as: $0) } ?? value
      // What equals a default need not be in the line at all.
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
        // A number may stand for a boolean and the other way round; such queries are rare.
        return nil
      }
      // Digits may be stored as an integer and RFC 3339 as a date.
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

  private init(equalToText content: [UInt8]) {
    self.init([Needle.quoted(content)], bytesForms: [Needle.bytesForm(of: content)], isCommon: false)
  }

  /// Part of a text or of an integer's digits. Bytes hold parts in base-64 in three alignments; any line
  /// with bytes is a candidate instead.
  private init?(part: AttributeValue, isCommon: Bool, _ wrap: ([UInt8]) -> [UInt8]) {
    var content = part.contentBytes ?? []
    if case .integer(let number) = part { content = Array(String(number).utf8) }
    if content.isEmpty { return nil }
    var escaped: [UInt8] = []
    JSONWriter.appendEscaped(content, to: &escaped)
    self.init([wrap(escaped)], acceptsBytes: true, isCommon: isCommon)
  }

  /// Returns the form of bytes in a line, as it follows the key.
  private static func bytesForm(of content: [UInt8]) -> [UInt8] {
    quoted(Base64.encode(content, as: .standard))
  }

  /// Returns the form in a line of a value that is neither text nor bytes.
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
