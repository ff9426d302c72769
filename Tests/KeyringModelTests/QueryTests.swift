import Encoding
import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct QueryTests {
  static let item = Sample.record([
    .server: "github.com", .account: "Alice", .port: 443, .protocol: "https", .label: "Caf\u{e9}",
    .comment: .bytes([0x41, 0xff]), "url": "https://GitHub.com/",
  ])

  static func matches(_ predicate: Predicate, _ record: ItemRecord = item) -> Bool {
    Query(predicates: [predicate]).matches(record)
  }

  static let equalities: [(AttributeName, AttributeValue, Bool, Bool)] = [
    (.server, "github.com", false, true),
    (.server, "GitHub.com", false, false),
    (.server, "GitHub.com", true, true),
    (.server, .bytes(Array("github.com".utf8)), false, true),
    (.server, .bytes(Array("GITHUB.com".utf8)), true, true),
    (.server, "github", false, false),
    (.label, "Caf\u{e9}", false, true),
    (.label, "Cafe\u{301}", false, false),
    (.label, "CAF\u{c9}", true, true),
    (.label, "CAFE\u{301}", true, false),
    (.comment, .bytes([0x41, 0xff]), false, true),
    (.comment, .bytes([0x61, 0xff]), false, false),
    (.comment, .bytes([0x61, 0xff]), true, true),
    (.port, 443, false, true),
    (.port, "443", false, true),
    (.port, "443", true, true),
    (.port, 444, false, false),
    (.protocol, "https", false, true),
    (.protocol, "htps", false, false),
    ("url", "https://github.com/", true, true),
    ("URL", "https://GitHub.com/", false, false),
    // Missing parts of the primary key are empty, zero or false; other attributes are just missing.
    (.path, "", false, true),
    (.path, 0, false, true),
    (.authenticationType, 0, false, true),
    (.synchronizable, false, false, true),
    (.synchronizable, true, false, false),
    (.kind, "", false, false),
    ("tags", "", false, false),
    // Attributes that every item has.
    (.itemClass, "internet-password", false, true),
    (.group, "default", false, true),
    (.group, "Default", false, false),
    (.id, .string(item.id.hex), false, true),
    (.created, .date(item.created), false, true),
    (.created, .string(item.created.rfc3339), false, true),
  ]

  @Test(arguments: equalities)
  func `equality follows type, bytes and defaults`(
    name: AttributeName, value: AttributeValue, ignoresCase: Bool, isMatch: Bool
  ) {
    #expect(Self.matches(.equal(name, value, ignoresCase: ignoresCase)) == isMatch)
  }

  @Test func `a stored default equals every default`() {
    let record = Sample.record([.server: "", .protocol: 0, .account: .bytes([])])
    for value in [AttributeValue.string(""), .bytes([]), .integer(0)] {
      #expect(Self.matches(.equal(.server, value), record))
      #expect(Self.matches(.equal(.protocol, value), record))
      #expect(Self.matches(.equal(.account, value), record))
    }
  }

  static let parts: [(Predicate.Subject, Predicate.Comparison, Bool, Bool)] = [
    (.attribute(.server), .prefix("git"), false, true),
    (.attribute(.server), .prefix("hub"), false, false),
    (.attribute(.server), .prefix("GIT"), true, true),
    (.attribute(.server), .suffix(".com"), false, true),
    (.attribute(.server), .suffix("git"), false, false),
    (.attribute(.server), .contains("hub.c"), false, true),
    (.attribute(.server), .contains(""), false, true),
    (.attribute(.path), .contains(""), false, false),
    (.attribute(.label), .suffix("e\u{301}"), false, false),
    (.attribute(.label), .suffix("\u{c9}"), true, true),
    // Half of a character is a part of the bytes, too.
    (.attribute(.label), .contains(.bytes([0xc3])), false, true),
    (.attribute(.comment), .suffix(.bytes([0xff])), false, true),
    (.attribute(.comment), .prefix("A"), false, true),
    (.attribute(.comment), .prefix("a"), true, true),
    (.attribute(.port), .prefix("44"), false, true),
    (.attribute(.port), .prefix(44), false, true),
    (.attribute(.port), .suffix("44"), false, false),
    (.attribute(.server), .exists, false, true),
    (.attribute(.path), .exists, false, false),
    (.attribute(.created), .exists, false, true),
    (.attribute(.created), .before(item.created), false, false),
    (.attribute(.created), .before(Timestamp(microseconds: item.created.microseconds + 1)), false, true),
    (.attribute(.created), .after(Timestamp(microseconds: item.created.microseconds - 1)), false, true),
    (.attribute(.server), .after(.earliest), false, false),
    (.any, .equal("https"), false, true),
    (.any, .equal("443"), false, true),
    (.any, .equal("default"), false, false),
    (.any, .contains("GITHUB"), true, true),
    (.any, .contains("GITHUB"), false, false),
    (.any, .contains("44"), false, true),
    (.any, .equal(""), false, false),
    (.id(prefix: String(item.id.hex.prefix(8))), .exists, false, true),
    (.id(prefix: String(item.id.hex.prefix(8)).uppercased()), .exists, false, true),
    (.id(prefix: "ffffffff"), .exists, false, false),
    (.path(item.path), .exists, false, true),
    (.path(Sample.record([:]).path), .exists, false, false),
  ]

  @Test(arguments: parts)
  func `comparisons are made by bytes`(
    subject: Predicate.Subject, comparison: Predicate.Comparison, ignoresCase: Bool, isMatch: Bool
  ) {
    let predicate = Predicate(subject: subject, comparison: comparison, ignoresCase: ignoresCase)
    #expect(Self.matches(predicate) == isMatch)
  }

  @Test func `class and all conditions must hold`() {
    #expect(Query(itemClass: .internetPassword).matches(Self.item))
    #expect(!Query(itemClass: .genericPassword).matches(Self.item))
    #expect(!Query(predicates: [.equal(.server, "github.com"), .equal(.port, 1)]).matches(Self.item))
  }

  static let refused: [(Query, QueryError)] = [
    (Query(limit: .all, returns: .secret), .secretOfAllMatches),
    (Query(itemClass: .key, limit: .all, returns: [.attributes, .secret]), .secretOfAllMatches),
    (Query(limit: .count(0)), .limitNotPositive(0)),
    (Query(limit: .count(-1), returns: .secret), .limitNotPositive(-1)),
    (
      Query(itemClass: .genericPassword, predicates: [.equal(.server, "x")]),
      .wrongClass(.server, .genericPassword)
    ),
    (Query(predicates: [.equal("", "x")]), .noSuchAttribute("")),
    (Query(predicates: [.equal("sealed", "x")]), .noSuchAttribute("sealed")),
    (
      Query(predicates: [Predicate(subject: .attribute(.account), comparison: .before(.latest))]),
      .notADate(.account)
    ),
    (Query(predicates: [.id(prefix: "")]), .badIDPrefix("")),
    (Query(predicates: [.id(prefix: "xyz")]), .badIDPrefix("xyz")),
    (Query(predicates: [.id(prefix: "\u{10}")]), .badIDPrefix("\u{10}")),
    (
      Query(predicates: [.id(prefix: String(repeating: "0", count: 33))]),
      .badIDPrefix(String(repeating: "0", count: 33))
    ),
  ]

  @Test(arguments: refused.indices)
  func `an invalid query is refused`(index: Int) {
    #expect(throws: Self.refused[index].1) { try Self.refused[index].0.validate() }
  }

  @Test(arguments: [
    Query(), Query(limit: .one, returns: .secret), Query(limit: .count(5), returns: [.secret, .attributes]),
    Query(predicates: [.id(prefix: "ABCDEF01"), .equal("url", "x")]),
    Query(predicates: [Predicate(subject: .attribute(.modified), comparison: .after(.earliest))]),
  ])
  func `a valid query is accepted`(query: Query) throws {
    try query.validate()
  }
}
