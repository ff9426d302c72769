internal import Foundation
internal import Keyring

/// The mapping between Apple's names of attributes and the store's names.
///
/// The store uses words. Apple's codes of attributes are defined here, and those of values in `FourCharacterCode`.
/// Apple's `SecItemSchema.c` defines the attributes of each class; the store's schema defines the same in words.
enum ItemAttributes {
  /// The codes of attributes that are not attributes in the store but part of every item.
  static let group = "agrp"
  static let created = "cdat"
  static let modified = "mdat"

  /// Apple's codes and the store's names, used in both directions. `type` is the code of two attributes; the class
  /// decides which one it means.
  private static let table: [(code: String, name: AttributeName)] = [
    ("acct", .account), ("svce", .service), ("gena", .generic), ("desc", .kind), ("icmt", .comment),
    ("crtr", .creator), ("type", .type), ("type", .keyType), ("scrp", .scriptCode), ("labl", .label),
    ("alis", .alias), ("invi", .invisible), ("nega", .negative), ("cusi", .customIcon), ("prot", .protected),
    ("pdmn", .accessible), ("accc", .accessControl), ("sync", .synchronizable), ("tkid", .tokenID),
    ("vwht", .syncViewHint), ("sdmn", .securityDomain), ("srvr", .server), ("ptcl", .protocol),
    ("atyp", .authenticationType), ("port", .port), ("path", .path), ("ctyp", .certificateType),
    ("cenc", .certificateEncoding), ("subj", .subject), ("issr", .issuer), ("slnr", .serialNumber),
    ("skid", .subjectKeyID), ("pkhh", .publicKeyHash), ("kcls", .keyClass), ("klbl", .applicationLabel),
    ("atag", .applicationTag), ("bsiz", .keySize), ("esiz", .effectiveKeySize), ("sdat", .startDate),
    ("edat", .endDate), ("perm", .permanent), ("priv", .private), ("modi", .modifiable), ("sens", .sensitive),
    ("asen", .alwaysSensitive), ("extr", .extractable), ("next", .neverExtractable), ("encr", .canEncrypt),
    ("decr", .canDecrypt), ("drve", .canDerive), ("sign", .canSign), ("vrfy", .canVerify),
    ("snrc", .canSignRecover), ("vyrc", .canVerifyRecover), ("wrap", .canWrap), ("unwp", .canUnwrap),
  ]

  private static let names: [String: [AttributeName]] = Dictionary(grouping: table, by: \.code)
    .mapValues { $0.map(\.name) }
  private static let codes: [AttributeName: String] = Dictionary(
    table.map { ($0.name, $0.code) }, uniquingKeysWith: { first, _ in first })

  /// Returns the store's name for Apple's code; nil if items of the class have no such attribute.
  static func name(of code: String, in itemClass: ItemClass) -> AttributeName? {
    names[code]?.first { AttributeSchema.applies($0, to: itemClass) }
  }

  /// Returns Apple's code of an attribute; nil for a custom attribute, which Apple's functions do not show.
  static func code(of name: AttributeName) -> String? { codes[name] }
}

extension ItemAttributes {
  /// Values that Apple writes as a code and the store as a word, except for four-character codes.
  private static let words: [AttributeName: [(code: String, word: String)]] = [
    .accessible: [
      ("ak", "when-unlocked"), ("ck", "after-first-unlock"), ("dk", "always"),
      ("aku", "when-unlocked-this-device-only"), ("cku", "after-first-unlock-this-device-only"),
      ("dku", "always-this-device-only"), ("akpu", "when-passcode-set-this-device-only"),
    ]
  ]

  static func word(for code: String, of name: AttributeName) -> String {
    words[name]?.first { $0.code == code }?.word ?? FourCharacterCode.word(for: code, of: name)
  }

  static func code(for word: String, of name: AttributeName) -> String {
    words[name]?.first { $0.word == word }?.code ?? FourCharacterCode.code(for: word, of: name)
  }

  /// Returns true if this is a value of `kSecAttrAccessible`.
  static func isProtection(_ code: String) -> Bool {
    words[.accessible]?.contains { $0.code == code } ?? false
  }

  /// Returns true if items with this protection never leave the machine.
  static func isThisDeviceOnly(_ protection: String) -> Bool { protection.hasSuffix("u") }

  /// Returns the default protection of items of a class.
  static func defaultProtection(of itemClass: ItemClass) -> String { itemClass == .certificate ? "dk" : "ak" }

  /// Returns the values of missing attributes of the primary key, as Apple returns them.
  static func defaults(of itemClass: ItemClass) -> [(name: AttributeName, value: AttributeValue)] {
    AttributeSchema.primaryKey(of: itemClass).compactMap { name in
      switch AttributeSchema.kind(of: name) {
      case .string, .bytes: (name, AttributeSchema.kind(of: name) == .bytes ? .bytes([]) : .string(""))
      case .integer: (name, .integer(0))
      case .boolean: (name, .boolean(false))
      case .date, nil: nil
      }
    }
  }
}
