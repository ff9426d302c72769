import Encoding
import KeyringModel
import Testing

@Suite(.serialized)
struct PolicyTests {
  static let alice = String(repeating: "A", count: 40)
  static let bob = String(repeating: "B", count: 64)

  static let subkey = String(repeating: "D", count: 40)

  static let text = """
    {"format":1,"generation":2,"groups":{"default":["\(alice)","\(bob)"],"ops":["\(alice)"]},\
    "keyring":"0123456789abcdef0123456789abcdef",\
    "people":{"\(alice)":{"added":"2026-11-20T18:32:09.000000Z","encryptTo":["\(subkey)"],"name":"Alice \\"A\\" \u{e9}","role":"admin"},\
    "\(bob)":{"added":"2026-11-20T18:32:09.000000Z","encryptTo":["\(bob)"],"name":"Bob","role":"member"}},\
    "previous":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"}\n
    """

  static func parse(_ text: String) throws(PolicyError) -> Policy {
    try Policy.parse(Array(text.utf8))
  }

  @Test func `a policy is read with all its values`() throws {
    let policy = try Self.parse(Self.text)
    let alice = try #require(Fingerprint(Self.alice))
    let bob = try #require(Fingerprint(Self.bob))
    #expect(policy.generation == 2)
    #expect(policy.previous == ContentDigest(of: []))
    #expect(policy.people[alice]?.name == "Alice \"A\" \u{e9}")
    #expect(policy.people[alice]?.encryptTo == [try #require(Fingerprint(Self.subkey))])
    #expect(policy.people[bob]?.role == .member)
    #expect(policy.groups == ["default": [alice, bob], "ops": [alice]])
    #expect(policy.admins == [alice])
    #expect(String(decoding: policy.encode(), as: UTF8.self) == Self.text)
  }

  static let rejected: [(String, String, PolicyError)] = [
    ("\"format\":1", "\"format\":2", .unknownFormat(2)),
    ("{\"format\":1", "{\"a\":1,\"format\":99", .unknownFormat(99)),
    ("\"format\":1,", "", .missing("format")),
    ("\"format\":1", "\"format\":\"1\"", .invalid("format")),
    ("\"format\":1", "\"extra\":1,\"format\":1", .unexpected("extra")),
    ("\"name\":\"Bob\"", "\"mail\":\"b\",\"name\":\"Bob\"", .unexpected("mail")),
    ("\"name\":\"Bob\"", "\"name\":\"\"", .unnamedPerson(bobFingerprint)),
    ("\"name\":\"Bob\",", "", .missing("name")),
    ("\"encryptTo\":[\"\(bob)\"],", "", .missing("encryptTo")),
    ("\"encryptTo\":[\"\(bob)\"]", "\"encryptTo\":[]", .noEncryptionSubkey(bobFingerprint)),
    ("\"encryptTo\":[\"\(bob)\"]", "\"encryptTo\":[\"BB\"]", .invalid("encryptTo")),
    ("\"encryptTo\":[\"\(bob)\"]", "\"encryptTo\":\"\(bob)\"", .invalid("encryptTo")),
    ("\"encryptTo\":[\"\(bob)\"]", "\"encryptTo\":[\"\(bob)\",\"\(bob)\"]", .notCanonical),
    ("\"encryptTo\":[\"\(bob)\"]", "\"encryptTo\":[\"\(subkey)\"]", .sharedSubkey(fingerprint(subkey))),
    ("\"role\":\"member\"", "\"role\":\"owner\"", .invalid("role")),
    ("\"role\":\"admin\"", "\"role\":\"member\"", .noAdmin),
    ("\"generation\":2", "\"generation\":0", .invalid("generation")),
    ("\"generation\":2", "\"generation\":1", .invalid("previous")),
    ("\"generation\":2", "\"generation\":\"2\"", .invalid("generation")),
    (",\"previous\":\"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU\"", "", .invalid("previous")),
    ("47DEQ", "=7DEQ", .invalid("previous")),
    ("\"previous\"", "\"signatures\":\"required\",\"previous\"", .unexpected("signatures")),
    ("0123456789abcdef0123456789abcdef", "x", .invalid("keyring")),
    ("\"default\":[", "\"defaults\":[", .noDefaultGroup),
    ("\"default\":[\"\(alice)\",\"\(bob)\"]", "\"default\":[]", .emptyDefaultGroup),
    (
      "\"default\":[\"\(alice)\"", "\"default\":[\"\(String(repeating: "C", count: 40))\"",
      .unknownPerson(strangerFingerprint, group: "default")
    ),
    ("\"default\":[\"\(alice)\"", "\"default\":[1", .invalid("groups")),
    ("\"ops\":[\"\(alice)\"]", "\"ops\":\"\(alice)\"", .invalid("groups")),
    ("\"ops\"", "\"o/ps\"", .badGroupName("o/ps")),
    ("\"ops\"", "\".ops\"", .badGroupName(".ops")),
    (
      "\"Bob\",\"role\"", "\"Bob\",\"removed\":\"2026-11-21T00:00:00.000000Z\",\"role\"",
      .removedPerson(bobFingerprint, group: "default")
    ),
    ("\"Bob\",\"role\"", "\"Bob\",\"removed\":\"2026-11-19T00:00:00.000000Z\",\"role\"", .invalid("removed")),
    ("\"Bob\",\"role\"", "\"Bob\",\"replacedBy\":\"\(alice)\",\"role\"", .invalid("replacedBy")),
    ("\"format\":1", "\"files\":1,\"format\":1", .invalid("files")),
    ("\"format\":1", "\"files\":[1],\"format\":1", .invalid("files")),
    ("\"format\":1", "\"files\":[],\"format\":1", .notCanonical),
    ("\"format\":1", "\"files\":[\"b\",\"a\"],\"format\":1", .notCanonical),
    ("\"format\":1", "\"files\":[\"a\",\"a\"],\"format\":1", .notCanonical),
    ("\"format\":1", "\"files\":[\"../a\"],\"format\":1", .badFileName("../a")),
    (
      "\"format\":1", "\"files\":[\((0...1000).map { "\"\($0)\"" }.joined(separator: ","))],\"format\":1",
      .invalid("files")
    ),
    ("\"ops\":[\"\(alice)\"]", "\"ops\":[\"\(alice)\",\"\(alice)\"]", .notCanonical),
    ("[\"\(alice)\",\"\(bob)\"]", "[\"\(bob)\",\"\(alice)\"]", .notCanonical),
    ("\"format\":1,", "\"format\":1, ", .notCanonical),
    (".000000Z\",\"encryptTo\":[\"\(bob)", "Z\",\"encryptTo\":[\"\(bob)", .notCanonical),
    ("}\n", "}", .notCanonical),
    ("}\n", "}\n\n", .notCanonical),
    ("\"format\":1,", "\"format\":1,\"format\":1,", .malformed(.duplicateKey("format"))),
    ("\(text)", "[]", .malformed(.unexpectedType(offset: 0))),
    ("\(text)", "", .malformed(.unexpectedEnd)),
  ]

  static var bobFingerprint: Fingerprint { fingerprint(bob) }
  static var strangerFingerprint: Fingerprint { fingerprint(String(repeating: "C", count: 40)) }

  static func fingerprint(_ text: String) -> Fingerprint {
    guard let fingerprint = Fingerprint(text) else { preconditionFailure("a fixture is wrong") }
    return fingerprint
  }

  @Test(arguments: rejected.indices)
  func `an invalid policy is rejected with the reason`(index: Int) throws {
    let (old, new, error) = Self.rejected[index]
    let text = Self.text.replacing(old, with: new)
    try #require(text != Self.text)
    #expect(throws: error) { try Self.parse(text) }
  }

  @Test func `equal policies give equal bytes`() throws {
    let policy = try Self.parse(Self.text)
    var other = policy
    other.groups["default"] = policy.groups["default"].map { $0.reversed() + $0 }
    #expect(other.encode() == policy.encode())
  }

  @Test func `a removed person stays on the list and is no longer an admin`() throws {
    var policy = try Self.parse(Self.text)
    policy.people[Self.bobFingerprint]?.role = .admin
    policy.people[Self.bobFingerprint]?.removed = Timestamp.latest
    policy.groups["default"]?.removeAll { $0 == Self.bobFingerprint }
    try policy.validate()
    #expect(policy.admins.count == 1)
    #expect(try Policy.parse(policy.encode()) == policy)
  }

  @Test func `a key that replaces another one is that of the same person`() throws {
    let policy = try Self.parse(Self.text)
    let alice = Self.fingerprint(Self.alice)
    let next = try policy.successor(
      by: [.replace(Self.bobFingerprint, by: alice)], previous: ContentDigest(of: []), at: .latest)
    #expect(next.people[Self.bobFingerprint]?.replacedBy == alice)
    #expect(next.groups["default"] == [alice] && !next.isMember(Self.bobFingerprint))
    #expect(next.newestKey(of: Self.bobFingerprint) == alice && next.newestKey(of: alice) == alice)
    #expect(try Policy.parse(next.encode()) == next)
    let edits = next.edits(since: policy)
    #expect(edits == [.replace(Self.bobFingerprint, by: alice)])
    // An entry that names a missing one is refused.
    var broken = next
    broken.people[Self.bobFingerprint]?.replacedBy = Self.strangerFingerprint
    #expect(throws: PolicyError.invalid("replacedBy")) { try broken.validate() }
  }

  @Test func `a pin is made from its policy and reads back unchanged`() throws {
    let bytes = Array(Self.text.utf8)
    let (policy, digest) = (try Policy.parse(bytes), ContentDigest(of: bytes).base64url)
    let alice = try #require(Fingerprint(Self.alice))
    var pin = Pin(policy: policy, bytes: bytes, keys: [alice: []])
    let start = #"{"admins":["\#(Self.alice)"],"digest":"\#(digest)","format":1,"generation":2"#
    let keys = #","keys":{"\#(Self.alice)":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"}"#
    #expect(String(decoding: pin.encode(), as: UTF8.self) == start + keys + "}\n")
    #expect(try Pin.parse(pin.encode()) == pin)
    // The older form, without the digests of the key files.
    pin.keys = nil
    #expect(String(decoding: pin.encode(), as: UTF8.self) == start + "}\n")
    #expect(try Pin.parse(pin.encode()) == pin)
  }

  static let pin = """
    {"admins":["\(alice)"],"digest":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU","format":1,"generation":2}\n
    """

  @Test(
    arguments: [
      ("\"format\":1", "\"format\":7", .unknownFormat(7)),
      ("[\"\(alice)\"]", "[]", .noAdmin),
      ("\"generation\":2", "\"generation\":0", .invalid("generation")),
      ("47DE", "x", .invalid("digest")),
      ("\"format\":1", "\"extra\":0,\"format\":1", .unexpected("extra")),
      ("{\"admins\"", "{ \"admins\"", .notCanonical),
      ("[\"\(alice)\"]", "[\"\(alice)\",\"\(alice)\"]", .notCanonical),
      ("\(alice)", "alice", .invalid("admins")),
    ] as [(String, String, PolicyError)])
  func `an invalid pin is rejected with the reason`(old: String, new: String, error: PolicyError) throws {
    let text = Self.pin.replacing(old, with: new)
    try #require(text != Self.pin)
    #expect(throws: error) { try Pin.parse(Array(text.utf8)) }
  }

  @Test(arguments: [
    ("default", true), ("ops-2.x_Y", true), ("0", true), ("", false), ("-x", false), (".x", false),
    ("_x", false), ("a b", false), ("a/b", false), ("\u{e9}", false), ("a\n", false),
    (String(repeating: "a", count: 100), true), (String(repeating: "a", count: 101), false),
  ])
  func `group names are plain ASCII`(name: String, isValid: Bool) {
    #expect(GroupName.isValid(name) == isValid)
  }
}
