internal import Encoding
internal import KeyringModel

/// A distinguished name of X.501: whom a certificate is for, or who issued it.
struct DistinguishedName: Equatable, Sendable {
  /// One part of a name, such as a common name.
  struct Part: Equatable, Sendable {
    /// The type of the part: the content of its object identifier.
    let type: [UInt8]
    /// The text; nil when the value is not text, or not valid in its encoding.
    let text: String?
  }

  /// The kinds of parts that a summary is made of, as contents of object identifiers.
  enum PartType {
    static let commonName: [UInt8] = [0x55, 0x04, 0x03]
    static let organization: [UInt8] = [0x55, 0x04, 0x0A]
    static let organizationalUnit: [UInt8] = [0x55, 0x04, 0x0B]
    static let emailAddress: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01]
  }

  /// The parts in their order; those of one relative name stand together.
  let parts: [Part]
  /// DER of the name in a form in which names that mean the same are the same bytes.
  ///
  /// Values of type PrintableString are upper case there, with single spaces and none at the ends (RFC 3280
  /// section 4.1.2.4); everything else stays as it is. Apple's keychain compares names in this form.
  let normalized: [UInt8]

  /// Reads a name.
  ///
  /// - Parameter der: Its DER, with the SEQUENCE around it and nothing behind it; nil comes of anything else.
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

  /// The text of the last part of a type, which is the most specific one; nil when there is none.
  func text(of type: [UInt8]) -> String? {
    texts(of: type).last
  }

  /// The texts of all parts of a type.
  func texts(of type: [UInt8]) -> [String] {
    parts.filter { $0.type == type }.compactMap(\.text)
  }

  /// Reads one AttributeTypeAndValue, and writes its normalised form.
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

  /// The text of a string value, in whichever of ASN.1's string types it is.
  private static func text(_ value: DERElement<ArraySlice<UInt8>>) -> String? {
    switch value.tag {
    case DER.utf8String:
      return String(validating: value.content, as: UTF8.self)
    case DER.printableString, DER.ia5String, DER.numericString, DER.visibleString:
      return DERText.ascii(value.content)
    case DER.teletexString:
      // What certificates call T.61 is Latin-1.
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

/// Text in encodings that Swift's strings do not read by themselves.
enum DERText {
  /// ASCII text; nil when an octet is none.
  static func ascii(_ bytes: some Collection<UInt8>) -> String? {
    bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
  }

  /// Numbers of several octets, biggest first; nil when the last one is cut off.
  static func units<Unit: FixedWidthInteger>(of bytes: ArraySlice<UInt8>, as type: Unit.Type) -> [Unit]? {
    let size = Unit.bitWidth / 8
    guard bytes.count.isMultiple(of: size) else { return nil }
    return stride(from: bytes.startIndex, to: bytes.endIndex, by: size).map { start in
      bytes[start..<start + size].reduce(0) { $0 << 8 | Unit($1) }
    }
  }
}
