internal import Encoding
internal import KeyringModel

/// An X.501 distinguished name: the subject or the issuer of a certificate.
struct DistinguishedName: Equatable, Sendable {
  /// One part of a name, such as a common name.
  struct Part: Equatable, Sendable {
    /// The type of the part: the content of its object identifier.
    let type: [UInt8]
    /// The text; nil when the value is not text, or not valid in its encoding.
    let text: String?
  }

  /// The types of the parts that a summary uses, as contents of object identifiers.
  enum PartType {
    static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    static let organization: [UInt8] = [0x55, 0x04, 0x0A]
    static let organizationalUnit: [UInt8] = [0x55, 0x04, 0x0B]
    static let emailAddress: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01]
  }

  /// The parts in order; those of one relative distinguished name are adjacent.
  let parts: [Part]
  /// The DER of the name in normalised form, in which equivalent names have the same bytes.
  ///
  /// Values of type PrintableString are in upper case, with single spaces and none at the ends (RFC 3280 section
  /// 4.1.2.4). Everything else is unchanged. Apple's keychain compares names in this form.
  let normalized: [UInt8]

  /// Reads a name.
  ///
  /// - Parameter der: The DER of the name, including the SEQUENCE, with no bytes after it. Anything else yields nil.
  init?(der: some Collection<UInt8>) {
    self.init(bytes: Array(der)[...])
  }

  private init?(bytes: ArraySlice<UInt8>) {
    guard var relativeNames = DERReader.only(bytes, DER.sequence)?.reader else { return nil }
    var parts: [Part] = []
    var normalized: [UInt8] = []
    while !relativeNames.isAtEnd {
      guard var values = relativeNames.next(DER.set)?.reader, !values.isAtEnd else { return nil }
      var content: [UInt8] = []
      while !values.isAtEnd {
        guard let (part, form) = Self.read(&values) else { return nil }
        parts.append(part)
        content += form
      }
      normalized += DER.encode(DER.set, content)
    }
    self.parts = parts
    self.normalized = DER.encode(DER.sequence, normalized)
  }

  /// Returns the text of the last part of a type, which is the most specific one; nil if there is none.
  func text(of type: [UInt8]) -> String? {
    texts(of: type).last
  }

  /// Returns the texts of all parts of a type.
  func texts(of type: [UInt8]) -> [String] {
    parts.filter { $0.type == type }.compactMap(\.text)
  }

  /// Reads one AttributeTypeAndValue and returns it with its normalised form.
  private static func read(_ values: inout DERReader<ArraySlice<UInt8>>) -> (Part, [UInt8])? {
    guard var pair = values.next(DER.sequence)?.reader, let type = pair.next(DER.objectIdentifier),
      !type.content.isEmpty, let value = pair.next(), pair.isAtEnd
    else { return nil }
    let isFolded = value.tag == DER.printableString
    let form = isFolded ? DER.encode(value.tag, fold(value.content)) : Array(value.whole)
    let part = Part(type: Array(type.content), text: text(value))
    return (part, DER.encode(DER.sequence, type.whole + form))
  }

  private static func fold(_ text: ArraySlice<UInt8>) -> [UInt8] {
    let words = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    let upper = words.map { word in
      word.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 }
    }
    return Array(upper.joined(separator: [UInt8(ascii: " ")]))
  }

  /// Returns the text of a value of any ASN.1 string type.
  private static func text(_ value: DERElement<ArraySlice<UInt8>>) -> String? {
    switch value.tag {
    case DER.utf8String:
      return String(validating: value.content, as: UTF8.self)
    case DER.printableString, DER.ia5String, DER.numericString, DER.visibleString:
      return DERText.ascii(value.content)
    case DER.teletexString:
      // Certificates declare T.61 but contain Latin-1.
      return String(String.UnicodeScalarView(value.content.map { Unicode.Scalar($0) }))
    case DER.bmpString:
      return DERText.units(of: value.content, as: UInt16.self).flatMap {
        String(validating: $0, as: UTF16.self)
      }
    case DER.universalString:
      return DERText.units(of: value.content, as: UInt32.self).flatMap {
        String(validating: $0, as: UTF32.self)
      }
    default: return nil
    }
  }
}

/// Decoders for text encodings that Swift's `String` does not read directly.
enum DERText {
  /// Returns ASCII text; nil if an octet is not ASCII.
  static func ascii(_ bytes: some Collection<UInt8>) -> String? {
    bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Returns big-endian numbers of several octets; nil if the last one is incomplete.
  static func units<Unit: FixedWidthInteger>(of bytes: ArraySlice<UInt8>, as type: Unit.Type) -> [Unit]? {
    let size = Unit.bitWidth / 8
    guard bytes.count.isMultiple(of: size) else { return nil }
    return stride(from: bytes.startIndex, to: bytes.endIndex, by: size).map { start in
      bytes[start..<start + size].reduce(0) { $0 << 8 | Unit($1) }
    }
  }
}
