internal import Encoding
internal import KeyringModel
internal import Terminal

/// The output of `security` for an item: the attributes of its class in a fixed order, `<NULL>` for missing ones, and
/// no byte that could control a terminal.
struct SecurityItem {
  private let record: ItemRecord
  private let keychain: String

  /// Creates the output for an item.
  ///
  /// - Parameters:
  ///   - record: the item.
  ///   - keychain: the path of the store, which is printed first.
  init(_ record: ItemRecord, in keychain: String) {
    self.record = record
    self.keychain = keychain
  }

  /// The format of an attribute, which determines how it is printed.
  private enum Format: String {
    case blob, uint32, sint32, timedate
  }

  private typealias Row = (tag: String, format: Format, name: AttributeName)

  /// All lines, including the last line feed.
  var text: TerminalText {
    var text =
      "keychain: \(SecurityText.show(Array(keychain.utf8)))\nversion: 512\nclass: \(className)\nattributes:\n"
    for row in rows {
      // A numeric tag is printed without quotes and is followed by a space.
      let tag = row.tag.utf8.count == 4 ? "\"\(row.tag)\"" : "\(row.tag) "
      let value = shown(row.name, row.format)
      text += "    \(tag)<\(row.format)>=\(value.isEmpty ? "<NULL>" : value)\n"
    }
    return TerminalText(composed: text)
  }

  private var className: String {
    switch record.itemClass {
    case .genericPassword: "\"genp\""
    case .internetPassword: "\"inet\""
    case .certificate: SecurityText.show([0x80, 0x00, 0x10, 0x00])
    case .key: SecurityText.show([0, 0, 0, recordType])
    }
  }

  private var rows: [Row] {
    switch record.itemClass {
    case .genericPassword: Self.generic
    case .internetPassword: Self.internet
    case .certificate: Self.certificate
    case .key: Self.key
    }
  }

  // MARK: Values

  private func shown(_ name: AttributeName, _ format: Format) -> String {
    if name == .itemClass { return SecurityText.show([0, 0, 0, recordType]) }
    guard let value = record.value(of: name) else {
      // These two attributes are always printed: zero if they are missing.
      let isNumber = record.itemClass == .internetPassword && (name == .port || name == .protocol)
      return isNumber ? SecurityText.show([0, 0, 0, 0]) : ""
    }
    switch (format, value) {
    case (_, .date(let date)): return SecurityText.show(Self.digits(of: date))
    case (_, .boolean(let flag)): return SecurityText.show([0, 0, 0, flag ? 1 : 0])
    case (.uint32, _), (.sint32, _): return SecurityText.show(Self.code(value, of: name))
    // Values that Apple's tool stores as bytes, and the store as numbers or words.
    case (.blob, _), (.timedate, _): return SecurityText.show(Self.code(value, of: name))
    }
  }

  /// Returns the bytes that represent a value: four for a number, the code for a word that has one, else the text.
  ///
  /// A word for a protocol or an authentication type is padded with spaces to the four bytes of a code.
  static func code(_ value: AttributeValue, of name: AttributeName) -> [UInt8] {
    switch value {
    case .integer(let number):
      let bits = UInt32(truncatingIfNeeded: number)
      return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
    case .boolean(let flag): return [0, 0, 0, flag ? 1 : 0]
    case .date(let date): return digits(of: date)
    case .bytes(let bytes): return bytes
    case .string(let text):
      guard name == .protocol || name == .authenticationType else { return Array(text.utf8) }
      var bytes = Array(FourCharacterCode.code(for: text, of: name).utf8)
      while !bytes.isEmpty, bytes.count < 4 { bytes.append(UInt8(ascii: " ")) }
      return bytes
    }
  }

  /// Returns a date as `20260917153415Z` and a NUL.
  private static func digits(of date: Timestamp) -> [UInt8] {
    // 2026-09-17T15:34:15.123456Z
    let digits = date.rfc3339.utf8.prefix(19).filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return digits + [UInt8(ascii: "Z"), 0]
  }

  /// The CSSM record type of a public, private or symmetric key.
  private var recordType: UInt8 {
    switch record.attributes[.keyClass] {
    case .integer(0): 0x0F
    case .integer(2): 0x11
    default: 0x10
    }
  }

  // MARK: The order of the attributes

  private static let generic: [Row] = [
    ("0x00000007", .blob, .label), ("0x00000008", .blob, .alias), ("acct", .blob, .account),
    ("cdat", .timedate, .created), ("crtr", .uint32, .creator), ("cusi", .sint32, .customIcon),
    ("desc", .blob, .kind), ("gena", .blob, .generic), ("icmt", .blob, .comment),
    ("invi", .sint32, .invisible),
    ("mdat", .timedate, .modified), ("nega", .sint32, .negative), ("prot", .blob, .protected),
    ("scrp", .sint32, .scriptCode), ("svce", .blob, .service), ("type", .uint32, .type),
  ]

  private static let internet: [Row] = [
    ("0x00000007", .blob, .label), ("0x00000008", .blob, .alias), ("acct", .blob, .account),
    ("atyp", .blob, .authenticationType), ("cdat", .timedate, .created), ("crtr", .uint32, .creator),
    ("cusi", .sint32, .customIcon), ("desc", .blob, .kind), ("icmt", .blob, .comment),
    ("invi", .sint32, .invisible), ("mdat", .timedate, .modified), ("nega", .sint32, .negative),
    ("path", .blob, .path), ("port", .uint32, .port), ("prot", .blob, .protected),
    ("ptcl", .uint32, .protocol),
    ("scrp", .sint32, .scriptCode), ("sdmn", .blob, .securityDomain), ("srvr", .blob, .server),
    ("type", .uint32, .type),
  ]

  private static let certificate: [Row] = [
    ("alis", .blob, .alias), ("cenc", .uint32, .certificateEncoding), ("ctyp", .uint32, .certificateType),
    ("hpky", .blob, .publicKeyHash), ("issu", .blob, .issuer), ("labl", .blob, .label),
    ("skid", .blob, .subjectKeyID), ("snbr", .blob, .serialNumber), ("subj", .blob, .subject),
  ]

  private static let key: [Row] = [
    ("0x00000000", .uint32, .itemClass), ("0x00000001", .blob, .label), ("0x00000002", .blob, .alias),
    ("0x00000003", .uint32, .permanent), ("0x00000004", .uint32, .private),
    ("0x00000005", .uint32, .modifiable),
    ("0x00000006", .blob, .applicationLabel), ("0x00000007", .blob, .applicationTag),
    ("0x00000008", .blob, .creator), ("0x00000009", .uint32, .keyType), ("0x0000000A", .uint32, .keySize),
    ("0x0000000B", .uint32, .effectiveKeySize), ("0x0000000C", .blob, .startDate),
    ("0x0000000D", .blob, .endDate),
    ("0x0000000E", .uint32, .sensitive), ("0x0000000F", .uint32, .alwaysSensitive),
    ("0x00000010", .uint32, .extractable), ("0x00000011", .uint32, .neverExtractable),
    ("0x00000012", .uint32, .canEncrypt), ("0x00000013", .uint32, .canDecrypt),
    ("0x00000014", .uint32, .canDerive),
    ("0x00000015", .uint32, .canSign), ("0x00000016", .uint32, .canVerify),
    ("0x00000017", .uint32, .canSignRecover), ("0x00000018", .uint32, .canVerifyRecover),
    ("0x00000019", .uint32, .canWrap), ("0x0000001A", .uint32, .canUnwrap),
  ]
}
