import Encoding
import TestSupport
import Testing

@Suite(.serialized)
struct JSONTests {
  static let limits = JSONLimits(size: 4096, depth: 4)

  static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue {
    try JSONValue(parsing: bytes, limits: limits)
  }

  // MARK: Accepted text

  static let accepted: [(String, JSONValue)] = [
    ("null", .null),
    ("true", .bool(true)),
    (" false\n", .bool(false)),
    ("0", .integer(0)),
    ("-1", .integer(-1)),
    ("9007199254740992", .integer(1 << 53)),
    ("-9007199254740992", .integer(-1 << 53)),
    ("\"\"", .string("")),
    ("[]", .array([])),
    ("[ 1 ,\t2\r\n]", .array([.integer(1), .integer(2)])),
    ("[[],[[[]]]]", .array([.array([]), .array([.array([.array([])])])])),
    ("{}", .object([])),
    ("{\"\":0}", .object([JSONMember("", .integer(0))])),
    ("{\"b\":1,\"a\":2}", .object([JSONMember("b", .integer(1)), JSONMember("a", .integer(2))])),
    ("{\"a\":{\"a\":1}}", .object([JSONMember("a", .object([JSONMember("a", .integer(1))]))])),
    (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{c}\n\r\t")),
    (#""\u0000\u00e9\u20AC\uFFFF""#, .string("\u{0}\u{e9}\u{20ac}\u{ffff}")),
    (#""x\ud83d\udd11y""#, .string("x\u{1f511}y")),
    ("\"\u{7f}\u{80}\u{2028}\u{1f511}\"", .string("\u{7f}\u{80}\u{2028}\u{1f511}")),
    // Names that only look alike are different names.
    (
      "{\"\u{e9}\":1,\"e\u{301}\":2}",
      .object([JSONMember("\u{e9}", .integer(1)), JSONMember("e\u{301}", .integer(2))])
    ),
  ]

  @Test(arguments: accepted)
  func `valid text is read as its value`(text: String, value: JSONValue) throws {
    #expect(try Self.parse(Array(text.utf8)) == value)
  }

  // MARK: Rejected text

  static let rejected: [(String, JSONError)] = [
    ("", .unexpectedEnd),
    (" ", .unexpectedEnd),
    ("\u{feff}{}", .byteOrderMark),
    ("{", .unexpectedEnd),
    ("[", .unexpectedEnd),
    ("[1", .unexpectedEnd),
    ("\"abc", .unexpectedEnd),
    ("{\"a\"", .unexpectedEnd),
    ("{\"a\":", .unexpectedEnd),
    ("tru", .unexpectedEnd),
    ("[1,]", .unexpectedByte(UInt8(ascii: "]"), offset: 3)),
    ("{\"a\":1,}", .unexpectedByte(UInt8(ascii: "}"), offset: 7)),
    ("[,1]", .unexpectedByte(UInt8(ascii: ","), offset: 1)),
    ("[1,,2]", .unexpectedByte(UInt8(ascii: ","), offset: 3)),
    ("[1 2]", .unexpectedByte(UInt8(ascii: "2"), offset: 3)),
    ("[1}", .unexpectedByte(UInt8(ascii: "}"), offset: 2)),
    ("{a:1}", .unexpectedByte(UInt8(ascii: "a"), offset: 1)),
    ("{'a':1}", .unexpectedByte(UInt8(ascii: "'"), offset: 1)),
    ("{1:1}", .unexpectedByte(UInt8(ascii: "1"), offset: 1)),
    ("{\"a\" 1}", .unexpectedByte(UInt8(ascii: "1"), offset: 5)),
    ("{\"a\":1 \"b\":2}", .unexpectedByte(UInt8(ascii: "\""), offset: 7)),
    ("{\"a\"::1}", .unexpectedByte(UInt8(ascii: ":"), offset: 5)),
    ("True", .unexpectedByte(UInt8(ascii: "T"), offset: 0)),
    ("nulL", .unexpectedByte(UInt8(ascii: "L"), offset: 3)),
    ("NaN", .unexpectedByte(UInt8(ascii: "N"), offset: 0)),
    ("/**/1", .unexpectedByte(UInt8(ascii: "/"), offset: 0)),
    ("\u{a0}1", .unexpectedByte(0xc2, offset: 0)),
    ("\u{0}", .unexpectedByte(0, offset: 0)),
    ("{}{}", .trailingData(offset: 2)),
    ("1\u{0}", .trailingData(offset: 1)),
    ("truex", .trailingData(offset: 4)),
    ("]", .unexpectedByte(UInt8(ascii: "]"), offset: 0)),
    // Numbers.
    ("-", .unexpectedEnd),
    ("+1", .unexpectedByte(UInt8(ascii: "+"), offset: 0)),
    (".5", .unexpectedByte(UInt8(ascii: "."), offset: 0)),
    ("01", .notAnInteger(offset: 0)),
    ("-01", .notAnInteger(offset: 0)),
    ("00", .notAnInteger(offset: 0)),
    ("-0", .notAnInteger(offset: 0)),
    ("1.0", .notAnInteger(offset: 0)),
    ("1e3", .notAnInteger(offset: 0)),
    ("[1E3]", .notAnInteger(offset: 1)),
    ("[ 1E3]", .notAnInteger(offset: 2)),
    ("[ 9007199254740993]", .integerOutOfRange(offset: 2)),
    ("0x1", .trailingData(offset: 1)),
    ("9007199254740993", .integerOutOfRange(offset: 0)),
    ("-9007199254740993", .integerOutOfRange(offset: 0)),
    ("99999999999999999999999999999999999999", .integerOutOfRange(offset: 0)),
    // Strings.
    ("\"a\nb\"", .controlCharacter(offset: 2)),
    ("\"\u{0}\"", .controlCharacter(offset: 1)),
    ("\"\t\"", .controlCharacter(offset: 1)),
    (#""\x""#, .invalidEscape(offset: 1)),
    (#""\u12g4""#, .invalidEscape(offset: 5)),
    (#""\u12""#, .invalidEscape(offset: 5)),
    (#""\'""#, .invalidEscape(offset: 1)),
    (#""\U0041""#, .invalidEscape(offset: 1)),
    (#""\"#, .unexpectedEnd),
    (#""\u00"#, .unexpectedEnd),
    (#""\ud800""#, .loneSurrogate(offset: 1)),
    (#""\udc00""#, .loneSurrogate(offset: 1)),
    (#""\ud800\ud800""#, .loneSurrogate(offset: 1)),
    (#""\ud800x\udc00""#, .loneSurrogate(offset: 1)),
    (#""\ud800\n""#, .loneSurrogate(offset: 1)),
    // Duplicate keys, plain, escaped, out of order, empty.
    ("{\"a\":1,\"a\":1}", .duplicateKey("a")),
    (#"{"a":1,"\u0061":2}"#, .duplicateKey("a")),
    (#"{"\u0062":1,"a":2,"b":3}"#, .duplicateKey("b")),
    ("{\"c\":1,\"b\":1,\"a\":1,\"c\":1}", .duplicateKey("c")),
    ("{\"\":1,\"\":2}", .duplicateKey("")),
    (#"{"\ud83d\udd11":1,"🔑":2}"#, .duplicateKey("\u{1f511}")),
    // Limits.
    ("[[[[[]]]]]", .tooDeep(limit: 4)),
    ("{\"a\":{\"a\":{\"a\":{\"a\":{}}}}}", .tooDeep(limit: 4)),
    (String(repeating: "[", count: 4096), .tooDeep(limit: 4)),
    (String(repeating: " ", count: 4097), .tooLarge(limit: 4096)),
  ]

  @Test(arguments: rejected)
  func `invalid text is rejected with the reason`(text: String, error: JSONError) {
    #expect(throws: error) { try Self.parse(Array(text.utf8)) }
  }

  @Test(
    arguments: [
      ([0x22, 0xff, 0x22], 1), ([0x22, 0xc0, 0x80, 0x22], 1), ([0x22, 0xe2, 0x82, 0x22], 1),
      ([0x22, 0xed, 0xa0, 0x80, 0x22], 1), ([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1), ([0x31, 0x80], 1),
      ([0xff, 0xfe, 0x31, 0x00], 0),
    ] as [([UInt8], Int)])
  func `bytes that are not UTF-8 are rejected`(bytes: [UInt8], offset: Int) {
    #expect(throws: JSONError.invalidUTF8(offset: offset)) { try Self.parse(bytes) }
  }

  @Test func `many keys out of order are checked for duplicates quickly`() throws {
    let names = (0..<20_000).reversed().map { "\"\($0)\":0" }
    let limits = JSONLimits(size: 1 << 20, depth: 1)
    let text = Array("{\(names.joined(separator: ","))}".utf8)
    // Comparing every key with every other key would take minutes.
    guard case .object(let members) = try JSONValue(parsing: text, limits: limits) else {
      Issue.record("not an object")
      return
    }
    #expect(members.count == 20_000)
  }

  // MARK: The canonical writer

  @Test(arguments: [
    ("{ \"b\" : 1 , \"a\" : [ ] }", "{\"a\":[],\"b\":1}"),
    (#""\u0061\/\u00e9""#, "\"a/\u{e9}\""),
    (
      #""\u0000\u0008\u0009\u000a\u000b\u000c\u000d\u001f\u007f\"\\""#,
      #""\u0000\b\t\n\u000b\f\r\u001f"# + "\u{7f}" + #"\"\\""#
    ),
    ("{\"\u{e9}\":1,\"z\":2,\"e\u{301}\":3,\"Z\":4}", "{\"Z\":4,\"e\u{301}\":3,\"z\":2,\"\u{e9}\":1}"),
    ("[true,false,null,-5]", "[true,false,null,-5]"),
  ])
  func `the writer writes one canonical form`(text: String, canonical: String) throws {
    let bytes = try Self.parse(Array(text.utf8)).canonicalBytes
    #expect(bytes == Array(canonical.utf8))
    #expect(try Self.parse(bytes).canonicalBytes == bytes)
  }

  @Test(arguments: 0..<50)
  func `a written value reads back unchanged`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      let value = Self.random(depth: 4, using: &generator)
      let bytes = value.canonicalBytes
      let read = try JSONValue(parsing: bytes, limits: JSONLimits(size: 1 << 20, depth: 4))
      #expect(read.canonicalBytes == bytes)
      #expect(Self.sorted(read) == Self.sorted(value))
    }
  }

  @Test(arguments: 0..<20)
  func `damaged text never crashes the reader`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var bytes = Self.random(depth: 4, using: &generator).canonicalBytes
      for _ in 0..<Int.random(in: 1..<4, using: &generator) where !bytes.isEmpty {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.removeSubrange(index...)
        default: bytes.insert(contentsOf: bytes[..<index], at: index)
        }
      }
      do throws(JSONError) {
        // The canonical form of accepted text is accepted, too.
        let value = try Self.parse(bytes)
        #expect(throws: Never.self) { try Self.parse(value.canonicalBytes) }
      } catch {
        continue
      }
    }
  }

  static func random(depth: Int, using generator: inout SeededGenerator) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 7 : 4), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .integer(Int64.random(in: -(1 << 53)...(1 << 53), using: &generator))
    case 3: return .string(Sample.texts.randomElement(using: &generator) ?? "")
    case 4:
      let count = Int.random(in: 0..<4, using: &generator)
      return .array((0..<count).map { _ in random(depth: depth - 1, using: &generator) })
    default:
      let names = Sample.texts.shuffled(using: &generator).prefix(Int.random(in: 0..<5, using: &generator))
      return .object(names.map { JSONMember($0, random(depth: depth - 1, using: &generator)) })
    }
  }

  static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
          .map { JSONMember($0.name, sorted($0.value)) })
    default: value
    }
  }
}
