import Secrets
import Testing
import TestSupport

@testable import Encoding

@Suite("JSON whose texts stay in wiped memory", .serialized)
struct SecretJSONTests {
  /// Returns the value in a notation that tests can compare.
  static func show(_ value: SecretJSON) -> String {
    switch value {
    case .null: "null"
    case .boolean(let flag): "\(flag)"
    case .number(let digits): digits
    case .string(let slice): "<" + String(decoding: slice.publicBytes(), as: UTF8.self) + ">"
    case .array(let values): "[" + values.map(show).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.map { $0.name + ":" + show($0.value) }.joined(separator: ",") + "}"
    }
  }

  static func read(_ text: [UInt8]) throws(SecretJSONError) -> SecretJSON {
    let bytes = SecretBytes(copying: text)
    return try SecretJSON(bytes)
  }

  @Test(
    "valid JSON is read",
    arguments: [
      ("null", "null"), (" true ", "true"), ("false\r\n", "false"), ("0", "0"), ("-0.5e+10", "-0.5e+10"),
      ("\"\"", "<>"), ("\"a b\"", "<a b>"), ("[]", "[]"), ("{}", "{}"), ("[ 1 , \"x\" ]", "[1,<x>]"),
      ("{\"a\" : 1,\"b\":{\"c\":[null]}}", "{a:1,b:{c:[null]}}"),
      (#""\"\\\/\b\f\n\r\t""#, "<\"\\/\u{8}\u{C}\n\r\t>"), (#""\u00e9\u20AC\ud83d\ude00""#, "<é€😀>"),
      ("\"é😀\"", "<é😀>"), ("{\"\":\"\"}", "{:<>}"), ("\u{FEFF}1", "1"),
      (#"{"\u0061":1}"#, "{a:1}"), ("\"\u{7F}\"", "<\u{7F}>"),
    ])
  func values(text: String, shown: String) throws {
    #expect(Self.show(try Self.read(Array(text.utf8))) == shown)
  }

  @Test(
    "invalid JSON is refused with its line and none of its content",
    arguments: [
      ("", SecretJSONError.empty), (" \n", .empty), ("[", .truncated), ("\"a", .truncated),
      ("\"\\", .truncated),
      ("{\"a\"", .truncated), ("{\"a\":", .truncated), ("tru", .truncated), ("-", .truncated),
      ("1.", .truncated),
      ("\"\\u00", .truncated), ("[1,]", .unexpected(line: 1)), ("{\"a\":1,}", .unexpected(line: 1)),
      ("[\n1 2]", .unexpected(line: 2)), ("01", .unexpected(line: 1)), ("+1", .unexpected(line: 1)),
      (".5", .unexpected(line: 1)), ("1 1", .unexpected(line: 1)), ("{a:1}", .unexpected(line: 1)),
      ("'a'", .unexpected(line: 1)), ("\"a\nb\"", .unexpected(line: 1)), ("\"\\x\"", .unexpected(line: 1)),
      ("nul1", .unexpected(line: 1)), ("// x\n1", .unexpected(line: 1)),
      ("\"\\u12G4\"", .unexpected(line: 1)),
      (#"{"a":1,"\u0061":2}"#, .duplicateName(line: 1)), (#""\ud800""#, .notUnicode(line: 1)),
      (#""\udc00x""#, .notUnicode(line: 1)), (#""\ud800\u0041""#, .notUnicode(line: 1)),
      (String(repeating: "[", count: 65), .tooDeep(line: 1)), ("\u{0}", .unexpected(line: 1)),
    ])
  func refused(text: String, error: SecretJSONError) {
    #expect(throws: error) { try Self.read(Array(text.utf8)) }
  }

  @Test(
    "JSON that is not UTF-8 is refused",
    arguments: [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22]])
  func notUTF8(bytes: [UInt8]) {
    #expect(throws: SecretJSONError.notUnicode(line: 1)) { try Self.read(bytes) }
  }

  @Test("JSON that is truncated at any byte is refused")
  func prefixes() throws {
    let text = Array(#"{"a":["x\n\u00e9\ud83d\ude00",1.5e3,true,null,{"b":"c"}],"d":-2}"#.utf8)
    _ = try Self.read(text)
    for count in 0..<text.count {
      #expect(throws: SecretJSONError.self) { try Self.read(Array(text[..<count])) }
    }
  }

  @Test("no changed byte crashes the reader")
  func flips() {
    let text = Array(#"{"a":["x\n\u00e9",1.5e3,true,null,{"b":"c"}]}"#.utf8)
    for position in text.indices {
      for byte in 0...255 {
        var changed = text
        changed[position] = UInt8(byte)
        _ = try? Self.read(changed)
      }
    }
  }

  @Test(
    "a written string reads back unchanged",
    arguments: ["", "a", "\"\\\u{0}\u{1F}\n\r\t\u{8}\u{C}/é😀\u{7F}\u{2028}"])
  func written(text: String) throws {
    var bytes = SecretBytes()
    let secret = SecretBytes(text: text)
    unsafe secret.withBytes { unsafe bytes.append(jsonString: $0) }
    let value = try SecretJSON(bytes)
    #expect(Self.show(value) == "<\(text)>")
  }
}
