import Encoding
import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct IndexLineTests {
  static let line = """
    {"account":"alice","class":"internet-password","created":"2026-11-20T18:32:09.123456Z",\
    "custom":{"tags":"work","url":"https://github.com/login"},"group":"default",\
    "id":"0123456789abcdef0123456789abcdef","label":{"base64":"/w=="},\
    "modified":"2026-11-20T18:32:09.123456Z","port":443,"protocol":"https",\
    "revision":"fedcba9876543210fedcba9876543210",\
    "sealed":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",\
    "secretModified":"2026-11-20T18:32:09.123456Z","server":"github.com","synchronizable":true}
    """

  static func parse(_ text: String) throws(IndexLineError) -> ItemRecord {
    try IndexLine.parse(Array(text.utf8))
  }

  @Test func `a line is read with all its values`() throws {
    let record = try Self.parse(Self.line)
    #expect(record.itemClass == .internetPassword)
    #expect(record.id.hex == "0123456789abcdef0123456789abcdef")
    #expect(record.revision.hex == "fedcba9876543210fedcba9876543210")
    #expect(record.created == Timestamp(rfc3339: "2026-11-20T18:32:09.123456Z"))
    #expect(record.sealed == ContentDigest(of: []))
    #expect(record.group == "default")
    #expect(
      record.attributes == [
        .account: "alice", .server: "github.com", .port: 443, .protocol: "https", .synchronizable: true,
        .label: .bytes([0xff]), "tags": "work", "url": "https://github.com/login",
      ])
    #expect(record.value(of: .itemClass) == "internet-password")
    #expect(record.value(of: .modified) == .date(record.modified))
    #expect(record.value(of: .id) == .string(record.id.hex))
    #expect(record.value(of: "url") == "https://github.com/login")
    #expect(try IndexLine.encode(record) == Array(Self.line.utf8))
  }

  @Test(arguments: 0..<40)
  func `a written line reads back unchanged`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<50 {
      var record = Sample.randomRecord(using: &generator)
      if Bool.random(using: &generator) {
        record.unknown = [JSONMember("zz-new", .array([.null, .object([JSONMember("x", .integer(1))])]))]
      }
      let line = try IndexLine.encode(record)
      #expect(!line.contains(UInt8(ascii: "\n")))
      #expect(try IndexLine.parse(line) == record)
    }
  }

  @Test func `unknown members of a newer version survive an edit`() throws {
    let text = Self.line.replacing("\"account\"", with: "\"aardvark\":[1,{\"x\":[null]}],\"account\"")
      .replacing("\"synchronizable\":true", with: "\"zebra\":\"\u{e9}\"")
    var record = try Self.parse(text)
    record.attributes[.comment] = "edited"
    let edited = String(decoding: try IndexLine.encode(record), as: UTF8.self)
    #expect(edited == text.replacing("\"created\"", with: "\"comment\":\"edited\",\"created\""))
  }

  @Test func `another spelling of the same content is the same record`() throws {
    let spaced =
      Self.line.replacing(":", with: " :\t").replacing(
        "2026-11-20T18 :\t32 :\t09.", with: "2026-11-20T18:32:09."
      )
      .replacing("https :\t//", with: "https:\\/\\/").replacing("\"alice\"", with: "\"\\u0061lice\"")
      .replacing("\"account\"", with: "\"\\u0061ccount\"") + "\r"
    #expect(try Self.parse(spaced) == Self.parse(Self.line))
    let digits = Self.line.replacing("443", with: "\"443\"")
    #expect(try Self.parse(digits) == Self.parse(Self.line))
  }

  static let rejected: [(String, String, IndexLineError)] = [
    ("\"class\":\"internet-password\",", "", .missing(.itemClass)),
    ("\"id\":\"0123456789abcdef0123456789abcdef\",", "", .missing(.id)),
    ("\"group\":\"default\",", "", .missing(.group)),
    ("\"revision\":\"fedcba9876543210fedcba9876543210\",", "", .missing(.revision)),
    ("\"created\":\"2026-11-20T18:32:09.123456Z\",", "", .missing(.created)),
    ("\"sealed\":\"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU\",", "", .missing("sealed")),
    ("internet-password", "identity", .invalid(.itemClass)),
    ("internet-password", "generic-password", .attribute(.wrongClass(.port, .genericPassword))),
    ("0123456789abcdef0123456789abcdef", "0123456789ABCDEF0123456789abcdef", .invalid(.id)),
    ("\"default\"", "\"de fault\"", .invalid(.group)),
    ("\"default\"", "null", .invalid(.group)),
    ("\"created\":\"2026-11-20", "\"created\":\"2026-11-31", .invalid(.created)),
    ("-5JCeu", "+5JCeu", .invalid("sealed")),
    ("\"alice\"", "5", .invalid(.account)),
    ("\"alice\"", "null", .invalid(.account)),
    ("\"alice\"", "[]", .invalid(.account)),
    ("443", "true", .invalid(.port)),
    ("443", "{\"base64\":\"/w==\"}", .invalid(.port)),
    ("443", "1.5", .json(.notAnInteger(offset: 277))),
    ("true", "1", .invalid(.synchronizable)),
    ("{\"base64\":\"/w==\"}", "{\"base64\":\"/w=\"}", .invalid(.label)),
    ("{\"base64\":\"/w==\"}", "{\"base64\":\"/x==\"}", .invalid(.label)),
    ("{\"base64\":\"/w==\"}", "{\"base64\":\"_w==\"}", .invalid(.label)),
    ("{\"base64\":\"/w==\"}", "{}", .invalid(.label)),
    ("{\"base64\":\"/w==\"}", "{\"base64\":\"/w==\",\"more\":1}", .invalid(.label)),
    ("{\"base64\":\"/w==\"}", "{\"base32\":\"/w==\"}", .invalid(.label)),
    ("\"work\"", "1", .invalid("tags")),
    ("{\"tags\":\"work\",", "[", .invalid("custom")),
    ("\"tags\"", "\"server\"", .misplaced(.server)),
    ("\"tags\"", "\"id\"", .misplaced(.id)),
    ("\"tags\"", "\"\"", .attribute(.emptyName)),
    ("\"tags\"", "\"\\u001b\"", .attribute(.controlCharacterInName("\u{1b}"))),
    (
      "\"work\"", "\"\(String(repeating: "x", count: 4097))\"", .attribute(.valueTooLong("tags", limit: 4096))
    ),
    ("\"port\"", "\"label\"", .json(.duplicateKey("label"))),
    ("\"server\"", "\"serv\\u0065r\":\"x\",\"server\"", .json(.duplicateKey("server"))),
    ("\"work\"", "{\"a\":{\"b\":{}}}", .invalid("tags")),
    ("\"port\"", "\"new\":{\"a\":{\"b\":{\"c\":{}}}},\"port\"", .json(.tooDeep(limit: 4))),
  ]

  @Test(arguments: rejected.indices)
  func `an incomplete or invalid line is rejected with the reason`(index: Int) throws {
    let (old, new, error) = Self.rejected[index]
    let text = Self.line.replacing(old, with: new)
    try #require(text != Self.line)
    #expect(throws: error) { try Self.parse(text) }
  }

  @Test(
    arguments: [
      ("", .empty), ("\r", .json(.unexpectedEnd)), ("[]", .json(.unexpectedByte(0x5b, offset: 0))),
      ("{}", .missing("sealed")), (String(repeating: " ", count: 16 * 1024 + 1), .tooLong(limit: 16384)),
      (line + "x", .json(.trailingData(offset: line.utf8.count))),
      ("\u{feff}" + line, .json(.byteOrderMark)), ("\u{0}", .json(.unexpectedByte(0, offset: 0))),
    ] as [(String, IndexLineError)])
  func `text that is not a line is rejected`(text: String, error: IndexLineError) {
    #expect(throws: error) { try Self.parse(text) }
  }

  @Test func `a line has at most 64 attributes`() throws {
    let names = (10..<75).map { "\"n\($0)\":\"\"" }.joined(separator: ",")
    let text = Self.line.replacing("\"tags\":\"work\"", with: names)
    #expect(throws: IndexLineError.attribute(.tooMany(limit: 64))) { try Self.parse(text) }
  }

  @Test func `a record that could not be read again is not written`() {
    var record = Sample.record([.server: "h"])
    record.group = "no group"
    #expect(throws: IndexLineError.invalid(.group)) { try IndexLine.encode(record) }
    record.group = "default"
    record.attributes[.service] = "x"
    #expect(throws: IndexLineError.attribute(.wrongClass(.service, .internetPassword))) {
      try IndexLine.encode(record)
    }
    record.attributes[.service] = nil
    for number in 0..<5 {
      record.attributes[AttributeName("n\(number)")] = .string(String(repeating: "x", count: 4000))
    }
    #expect(throws: IndexLineError.tooLong(limit: 16384)) { try IndexLine.encode(record) }
  }

  @Test func `a line of the largest size fits into a record`() throws {
    var record = Sample.record([:])
    for number in 0..<4 {
      record.attributes[AttributeName("n\(number)")] = .string(String(repeating: "x", count: 3950))
    }
    let missing = IndexLine.maximumSize - (try IndexLine.encode(record).count)
    record.attributes[.comment] = .string(
      String(repeating: "y", count: missing - ",\"comment\":\"\"".utf8.count))
    let line = try IndexLine.encode(record)
    #expect(line.count == IndexLine.maximumSize)
    let digest = MerkleTree.leaf(of: line)
    let proof = RecordProof(
      leaf: 1 << 31, path: Array(repeating: digest, count: 32), root: digest,
      signature: [UInt8](repeating: 7, count: 16 << 10))
    let file = RecordFile(line: line, record: record, proof: proof)
    #expect(try RecordFile(parsing: file.bytes) == file)
  }

  @Test func `the name of a field is a file name, and only passwords have fields`() throws {
    for name in ["otp", "note", "a", "0", "recovery-codes", String(repeating: "x", count: 40)] {
      let record = Sample.record([.server: "h", .account: "a", .field: .string(name)])
      #expect(record.field == name)
      #expect(try IndexLine.parse(try IndexLine.encode(record)) == record)
    }
    let bad: [AttributeValue] = [
      "-a", "A", "a.b", "a/b", "con", "nul", "a b", "\u{e9}", "..",
      .string(String(repeating: "x", count: 41)),
      .bytes(Array("otp".utf8)),
    ]
    for name in bad {
      let record = Sample.record([.server: "h", .account: "a", .field: name])
      #expect(throws: IndexLineError.self, "\(name)") { try IndexLine.encode(record) }
      let line = Self.line.replacing("\"group\"", with: "\"field\":\(JSONValue(name).text),\"group\"")
      #expect(throws: IndexLineError.self, "\(name)") { try Self.parse(line) }
    }
    #expect(Sample.record([.server: "h", .field: ""]).field == nil)
    let key = Sample.record([.field: "otp"], itemClass: .key)
    #expect(throws: IndexLineError.attribute(.wrongClass(.field, .key))) { try IndexLine.encode(key) }
  }
}

extension JSONValue {
  fileprivate var text: String { String(decoding: canonicalBytes, as: UTF8.self) }
}
