import Foundation
import Security

/// The attributes of Apple's classes, written down from the facts about SecItem and not taken from the code.
enum AttributeFacts {
  /// The values that an attribute accepts.
  enum Kind: String {
    /// Text, bytes and numbers.
    case blob
    /// Text, and bytes that are valid text.
    case text
    /// Numbers, booleans, and text that is a number or a code.
    case number
    /// Booleans, 0 and 1.
    case flag
    /// Dates.
    case date
    /// A date that the store sets.
    case time
    case group, protection, accessControl, synchronizable
  }

  /// The classes by their constants.
  static let classes = ["genp", "inet", "cert", "keys", "idnt"]

  private static let common = "labl alis pdmn accc agrp sync cdat mdat vwht tkid"
  private static let passwords = "acct desc icmt crtr type scrp invi nega cusi prot"

  /// The codes of the attributes that items of a class may have.
  static let accepted: [String: Set<String>] = [
    "genp": "\(common) \(passwords) svce gena",
    "inet": "\(common) \(passwords) sdmn srvr ptcl atyp port path",
    "cert": "\(common) \(certificates)",
    "keys": "\(common) \(keys)",
    "idnt": "\(common) \(certificates) \(keys)",
  ].mapValues { Set($0.split(separator: " ").map(String.init)) }

  private static let certificates = "ctyp cenc subj issr slnr skid pkhh"
  private static let keys =
    "kcls klbl atag crtr type bsiz esiz sdat edat perm priv modi sens asen extr next encr decr drve sign vrfy snrc "
    + "vyrc wrap unwp"

  private static let kinds: [(kind: Kind, codes: String)] = [
    (.blob, "acct svce srvr sdmn path labl alis desc icmt"),
    (.blob, "gena prot subj issr slnr skid pkhh klbl atag"), (.text, "vwht tkid"),
    (.number, "crtr type scrp port ptcl atyp ctyp cenc kcls bsiz esiz"), (.flag, "invi nega cusi"),
    (.flag, "perm priv modi sens asen extr next encr decr drve sign vrfy snrc vyrc wrap unwp"),
    (.date, "sdat edat"), (.time, "cdat mdat"), (.group, "agrp"), (.protection, "pdmn"),
    (.accessControl, "accc"), (.synchronizable, "sync"),
  ]

  static func kind(of code: String) -> Kind? {
    kinds.first { $0.codes.split(separator: " ").contains(Substring(code)) }?.kind
  }

  /// Attributes that have constants for their values. The names of these constants begin with that of the attribute.
  private static let enumerations = [
    "Accessible", "AccessGroup", "Protocol", "AuthenticationType", "KeyClass", "KeyType", "TokenID",
    "Synchronizable", "PRF",
  ].map { "kSecAttr" + $0 }

  /// Returns the codes of all constants that name an attribute and not one of its values.
  static func codes() throws -> [String] {
    let names = try FactTable("constants.tsv").rows.filter { $0.name.hasPrefix("kSecAttr") }
    let attributes = names.filter { row in
      !enumerations.contains { row.name.hasPrefix($0) && row.name != $0 }
    }
    return Set(attributes.map(\.value)).sorted()
  }
}

/// A value as it is set for an attribute, and as it is returned.
struct SampleValue {
  var given: Any
  var returned: Any

  init(_ given: Any, returned: Any? = nil) {
    self.given = given
    self.returned = returned ?? given
  }

  /// Returns true if an object is the returned value and has the same type.
  func isReturned(_ object: Any?) -> Bool {
    guard let object = object.map({ $0 as AnyObject }) else { return false }
    let expected = returned as AnyObject
    return CFGetTypeID(object) == CFGetTypeID(expected) && CFEqual(object, expected)
  }
}

extension AttributeFacts.Kind {
  /// Pairs of values of each type that the kind accepts. The second value replaces the first one.
  var samples: [(SampleValue, SampleValue)] {
    let early = Date(timeIntervalSinceReferenceDate: 1.5)
    let late = Date(timeIntervalSinceReferenceDate: 700_000_000)
    let data = (Data([0, 0xff, 10]), Data("ünïcode".utf8))
    return switch self {
    case .blob:
      [
        (SampleValue("naïve \"text\"\n"), SampleValue("e\u{301} \u{0}")),
        (SampleValue(data.0), SampleValue(data.1)),
        // The store has text here and no numbers: a number is returned as its text.
        (SampleValue(5, returned: "5"), SampleValue(-70, returned: "-70")),
        (SampleValue("text"), SampleValue(data.0)),
      ]
    case .text:
      [
        (SampleValue("one"), SampleValue("two")),
        (SampleValue(data.1, returned: "ünïcode"), SampleValue(Data("x".utf8), returned: "x")),
      ]
    case .number:
      [
        (SampleValue(7), SampleValue(-8)), (SampleValue(true, returned: 1), SampleValue(1 << 53)),
        (SampleValue("443", returned: 443), SampleValue("code")),
      ]
    case .flag:
      [
        (SampleValue(true), SampleValue(false)),
        (SampleValue(1, returned: true), SampleValue(0, returned: false)),
        (SampleValue("1", returned: true), SampleValue("0", returned: false)),
      ]
    case .date: [(SampleValue(early), SampleValue(late))]
    case .group: [(SampleValue("team"), SampleValue(Data("default".utf8), returned: "default"))]
    case .protection: [(SampleValue("ck"), SampleValue(Data("dk".utf8), returned: "dk"))]
    case .accessControl:
      [
        (
          SampleValue(Self.control(kSecAttrAccessibleWhenUnlocked)),
          SampleValue(Self.control(kSecAttrAccessibleAfterFirstUnlock))
        )
      ]
    case .synchronizable: [(SampleValue(true), SampleValue(0, returned: false))]
    case .time: []
    }
  }

  private static func control(_ protection: CFString) -> Any {
    SecAccessControlCreateWithFlags(nil, protection, [], nil) as Any
  }

  /// One value of each of nine types, and the status that refuses it, or nil if it is accepted.
  var answers: [(value: Any, status: OSStatus?)] {
    let taken: Set<String> =
      switch self {
      case .blob: ["text", "data", "number"]
      case .text: ["text", "data"]
      case .number: ["text", "number", "flag"]
      case .flag, .synchronizable: ["flag"]
      case .date, .time: ["date"]
      case .group, .protection, .accessControl: []
      }
    let types: [(String, Any)] = [
      ("text", "text"), ("data", Data("data".utf8)), ("number", 7), ("flag", true),
      ("date", Date(timeIntervalSinceReferenceDate: 0)), ("array", ["text"]),
      ("dictionary", ["labl": "text"]),
      ("null", NSNull()), ("object", NSObject()),
    ]
    return types.map { name, value in
      if taken.contains(name) { return (value, nil) }
      let isGroup = self == .group && (name == "text" || name == "data")
      return (value, isGroup ? errSecMissingEntitlement : errSecParam)
    }
  }
}
