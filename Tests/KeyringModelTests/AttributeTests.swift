import Encoding
import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct AttributeTests {
  @Test func `texts that only look alike are different`() {
    #expect(AttributeValue.string("\u{e9}") != .string("e\u{301}"))
    #expect(!AttributeValue.string("\u{e9}").isSame(as: .string("e\u{301}")))
    #expect(AttributeName("\u{e9}") != AttributeName("e\u{301}"))
    var attributes: Attributes = ["\u{e9}": "1", "e\u{301}": "2"]
    #expect(attributes.count == 2)
    attributes["\u{e9}"] = nil
    #expect(attributes.names == ["e\u{301}"])
  }

  @Test func `text and bytes with the same bytes are the same value, but not equal`() {
    let text = AttributeValue.string("alice")
    let bytes = AttributeValue.bytes(Array("alice".utf8))
    #expect(text.isSame(as: bytes))
    #expect(bytes.isSame(as: text))
    #expect(text != bytes)
    #expect(!AttributeValue.string("1").isSame(as: .integer(1)))
  }

  @Test func `the account of an item is a string, and nil if it is not text`() {
    let attributes: Attributes = [
      .account: "bot", .service: "mailer", .server: .bytes([0xFF]), .label: "Bot", .comment: .integer(1),
    ]
    #expect(attributes.account == "bot")
    #expect(attributes.service == "mailer")
    #expect(attributes.label == "Bot")
    #expect(attributes.server == nil)
    #expect(attributes.comment == nil)
    #expect(Attributes().account == nil)
    #expect(attributes["label"]?.text == "Bot")
  }

  @Test func `bytes that are valid text become text, and others stay bytes`() {
    #expect(AttributeValue(text: Array("a\u{0}\n\u{e9}".utf8)) == .string("a\u{0}\n\u{e9}"))
    #expect(AttributeValue(text: [0x61, 0xff]) == .bytes([0x61, 0xff]))
    #expect(AttributeValue(text: [0xed, 0xa0, 0x80]) == .bytes([0xed, 0xa0, 0x80]))
  }

  @Test func `entries are sorted by the bytes of their names`() {
    let attributes: Attributes = ["b": "1", "B": "2", "\u{e9}": "3", "a": "4", "z": "5"]
    #expect(attributes.names.map(\.text) == ["B", "a", "b", "z", "\u{e9}"])
    var other = attributes
    other.merge(["a": "new", "c": "6"])
    #expect(other["a"] == "new")
    #expect(other.count == 6)
    #expect(other != attributes)
  }

  @Test(
    arguments: [
      (.port, "22", .integer(22)), (.port, .bytes([0x32, 0x32]), .integer(22)), (.port, "022", "022"),
      (.port, "+22", "+22"), (.port, "-0", "-0"), (.port, "-5", .integer(-5)), (.port, "", ""),
      (.port, "9007199254740992", .integer(1 << 53)), (.port, "9007199254740993", "9007199254740993"),
      (.port, "99999999999999999999", "99999999999999999999"), (.protocol, "https", "https"),
      (.port, true, .integer(1)), (.synchronizable, 1, true), (.synchronizable, 0, false),
      (.synchronizable, 2, 2), (.account, "22", "22"), (.account, .bytes([0x32]), .bytes([0x32])),
      (.startDate, "1970-01-01T00:00:00Z", .date(Timestamp(microseconds: 0))),
      (.startDate, "yesterday", "yesterday"), ("url", "22", "22"),
    ] as [(AttributeName, AttributeValue, AttributeValue)])
  func `a value takes the type of its attribute if nothing is lost`(
    name: AttributeName, given: AttributeValue, stored: AttributeValue
  ) {
    #expect(AttributeSchema.normalized(name: name, value: given) == stored)
  }

  @Test(
    arguments: [
      (.synchronizable, "true", true), (.synchronizable, "false", false), (.synchronizable, "yes", "yes"),
      (.port, "22", 22), (.account, "true", "true"), ("url", "a\nb", "a\nb"),
    ] as [(AttributeName, String, AttributeValue)])
  func `typed text becomes a value`(name: AttributeName, text: String, value: AttributeValue) {
    #expect(AttributeSchema.value(ofText: Array(text.utf8), for: name) == value)
  }

  static let long = String(repeating: "x", count: 4097)

  static let refused: [(AttributeName, AttributeValue, ItemClass, AttributeError)] = [
    (.server, "x", .genericPassword, .wrongClass(.server, .genericPassword)),
    (.service, "x", .internetPassword, .wrongClass(.service, .internetPassword)),
    (.keySize, 1, .certificate, .wrongClass(.keySize, .certificate)),
    (.generic, "x", .internetPassword, .wrongClass(.generic, .internetPassword)),
    (.account, 1, .genericPassword, .wrongKind(.account, expected: .string, .genericPassword)),
    (.port, true, .internetPassword, .wrongKind(.port, expected: .integer, .internetPassword)),
    (.port, .bytes([0xff]), .internetPassword, .wrongKind(.port, expected: .integer, .internetPassword)),
    (.invisible, "yes", .genericPassword, .wrongKind(.invisible, expected: .boolean, .genericPassword)),
    (.startDate, "now", .key, .wrongKind(.startDate, expected: .date, .key)),
    ("url", 1, .key, .wrongKind("url", expected: .string, .key)),
    (.port, .integer(1 << 53 + 1), .internetPassword, .integerOutOfRange(.port)),
    (.port, .integer(.min), .internetPassword, .integerOutOfRange(.port)),
    (.account, .string(long), .genericPassword, .valueTooLong(.account, limit: 4096)),
    ("url", .bytes(Array(long.utf8)), .genericPassword, .valueTooLong("url", limit: 4096)),
    ("", "x", .key, .emptyName),
    ("a\nb", "x", .key, .controlCharacterInName("a\nb")),
    ("a\u{9b}b", "x", .key, .controlCharacterInName("a\u{9b}b")),
    (.id, "x", .key, .reservedName(.id)),
    (.group, "x", .key, .reservedName(.group)),
    ("sealed", "x", .key, .reservedName("sealed")),
    ("custom", "x", .key, .reservedName("custom")),
    (
      AttributeName(String(repeating: "n", count: 129)), "x", .key,
      .nameTooLong(AttributeName(String(repeating: "n", count: 129)), limit: 128)
    ),
  ]

  @Test(arguments: refused.indices)
  func `an invalid attribute is refused with the details that a message needs`(index: Int) {
    let (name, value, itemClass, error) = Self.refused[index]
    #expect(throws: error) {
      try AttributeSchema.check(name: name, value: value, class: itemClass)
    }
  }

  @Test func `an item has at most 64 attributes`() throws {
    var attributes = Attributes()
    for number in 0..<64 { attributes[AttributeName("a\(number)")] = "" }
    try AttributeSchema.check(attributes, class: .key)
    attributes[.label] = ""
    #expect(throws: AttributeError.tooMany(limit: 64)) {
      try AttributeSchema.check(attributes, class: .key)
    }
  }

  @Test(arguments: ItemClass.allCases)
  func `every attribute of a class accepts the values of its type`(itemClass: ItemClass) throws {
    var generator = SeededGenerator(seed: 3)
    // Names of fields have their own rule.
    for name in AttributeSchema.names(of: itemClass) where name != .field {
      let kind = try #require(AttributeSchema.kind(of: name))
      for _ in 0..<10 {
        let value = AttributeSchema.normalized(name: name, value: Sample.value(kind, using: &generator))
        try AttributeSchema.check(name: name, value: value, class: itemClass)
      }
    }
    for name in AttributeSchema.primaryKey(of: itemClass) {
      #expect(AttributeSchema.applies(name, to: itemClass))
    }
  }
}
