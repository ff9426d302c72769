import Encoding
import Foundation
import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct ItemPathTests {
  static func path(_ itemClass: ItemClass, _ attributes: Attributes, group: String = "default") -> ItemPath {
    ItemPath(PrimaryKey(itemClass: itemClass, attributes: attributes, group: group))
  }

  // MARK: Readable paths

  @Test(
    arguments: [
      (.internetPassword, [.server: "github.com", .account: "alice"], "internet-password/github.com/alice"),
      (
        .internetPassword, [.server: "h", .account: "a@b.c", .protocol: "https", .port: 8443],
        "internet-password/h/a@b.c+https+8443"
      ),
      (.internetPassword, [.server: "h", .account: "a", .port: "22"], "internet-password/h/a+22"),
      (
        .internetPassword, [.server: "h", .account: "a", .port: 0, .path: "", .protocol: ""],
        "internet-password/h/a"
      ),
      (
        .genericPassword, [.service: "mailer", .account: "bot", .label: "not in the key"],
        "generic-password/mailer/bot"
      ),
      (
        .genericPassword, [.service: .bytes(Array("mailer".utf8)), .account: .bytes(Array("bot".utf8))],
        "generic-password/mailer/bot"
      ),
      (
        .genericPassword, [.service: "mailer", .account: "bot", .synchronizable: false],
        "generic-password/mailer/bot"
      ),
      (.certificate, [.issuer: "my-ca", .serialNumber: "42"], "certificate/my-ca/42"),
    ] as [(ItemClass, Attributes, String)])
  func `a plain primary key is readable`(itemClass: ItemClass, attributes: Attributes, text: String) throws {
    let path = Self.path(itemClass, attributes)
    #expect(path.text == text)
    #expect(ItemPath(validating: text) == path)
  }

  @Test func `the shard of a path depends on its container and on the whole path`() {
    let path = Self.path(.internetPassword, [.server: "github.com", .account: "alice"])
    let digits = [path.container, path.text].map { ContentDigest(of: Array($0.utf8)).bytes[0] }
    #expect(path.shard == digits[0] & 0xf0 | digits[1] >> 4)
    #expect(path.shard == 0x33)
    #expect(path.container == "github.com")
    #expect(path.itemClass == .internetPassword)
  }

  // MARK: Digests

  @Test(
    arguments: [
      ([.server: "GitHub.com", .account: "alice"], "default", "internet-password/github.com/alice~"),
      ([.server: "github.com", .account: "a b"], "default", "internet-password/github.com/a_b~"),
      ([.server: "github.com", .account: ""], "default", "internet-password/github.com/_~"),
      ([.account: "alice"], "default", "internet-password/_/alice~"),
      ([.server: "..", .account: "-rf"], "default", "internet-password/__/_rf~"),
      ([.server: "h", .account: "a."], "default", "internet-password/h/a_~"),
      ([.server: "h", .account: "con"], "default", "internet-password/h/_con~"),
      ([.server: "com1.txt", .account: "a"], "default", "internet-password/_com1.txt/a~"),
      ([.server: "h", .account: "a", .path: "/x"], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a", .securityDomain: "r"], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a", .authenticationType: "totp"], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a", .synchronizable: true], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a"], "ops", "internet-password/h/a~"),
      ([.server: "h", .account: "a", .port: -1], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a", .protocol: 22], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a", .port: "https"], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a", .protocol: "HTTPS"], "default", "internet-password/h/a~"),
      ([.server: "h", .account: "a+b"], "default", "internet-password/h/a_b~"),
      ([.server: "h", .account: "a~b"], "default", "internet-password/h/a_b~"),
    ] as [(Attributes, String, String)])
  func `a digest represents everything that a path does not show`(
    attributes: Attributes, group: String, start: String
  ) {
    let path = Self.path(.internetPassword, attributes, group: group)
    #expect(path.text.hasPrefix(start))
    #expect(path.text.count == start.count + 10)
    #expect(ItemPath(validating: path.text) == path)
  }

  @Test(
    arguments: [
      (
        .certificate, [.issuer: .bytes([0x30, 0xff]), .serialNumber: .bytes([1, 0xab])],
        "certificate/30ff/01ab~"
      ),
      (.certificate, [.issuer: "ca", .serialNumber: "\u{1}"], "certificate/ca/01~"),
      (.key, [.applicationTag: "tag", .keyClass: 1], "key/tag/private~"),
      (.key, [.applicationLabel: .bytes([0xde, 0xff]), .keyClass: 0], "key/deff/public~"),
      (.key, [:], "key/_/public~"),
    ] as [(ItemClass, Attributes, String)])
  func `paths of certificates and keys show bytes as digits`(
    itemClass: ItemClass, attributes: Attributes, start: String
  ) {
    #expect(Self.path(itemClass, attributes).text.hasPrefix(start))
  }

  // MARK: Fields

  @Test(
    arguments: [
      (.internetPassword, [.server: "github.com", .account: "alice"], "default"),
      (.internetPassword, [.server: "GitHub.com", .account: "a b", .port: 22], "default"),
      (.internetPassword, [.server: "h", .account: "a"], "ops"),
      (.genericPassword, [.service: "mailer", .account: "bot"], "default"),
      (.genericPassword, [.service: "x", .account: "x.gpg"], "default"),
    ] as [(ItemClass, Attributes, String)])
  func `a field is in a folder beside its login, in the same shard`(
    itemClass: ItemClass, attributes: Attributes, group: String
  ) {
    let login = Self.path(itemClass, attributes, group: group)
    var attributes = attributes
    attributes[.field] = "otp"
    let field = Self.path(itemClass, attributes, group: group)
    #expect(field.text == "\(login.text)/otp")
    #expect(field == login.appending(field: "otp"))
    #expect(field.field == "otp")
    #expect(field.login == login)
    #expect(field.shard == login.shard)
    #expect(login.field == nil)
    #expect(login.login == login)
    #expect(ItemPath(validating: field.text) == field)
  }

  @Test(arguments: ["x.gpg", "x.json", ".gpg", "a.b.json"])
  func `the folder of a login's fields never has the name of another item's file`(account: String) {
    let path = Self.path(.internetPassword, [.server: "h", .account: .string(account)])
    #expect(path.name.contains("~"))
    #expect(!path.text.hasSuffix(".gpg") && !path.text.hasSuffix(".json"))
    #expect(ItemPath(validating: path.text) == path)
    #expect(ItemPath(validating: "internet-password/h/x\(account)") == nil)
  }

  // MARK: Injectivity

  static let nasty: [AttributeValue] =
    (0...255).map { AttributeValue.bytes([UInt8($0)]) }
    + [
      "con", "CON", "prn", "aux", "nul", "NUL", "com0", "com1", "COM1", "com9", "lpt1", "lpt9", "con.txt",
      "com1.txt", "_con", "con.", "nul.tar.gz", "com10", "conx", "\u{e9}", "e\u{301}", "\u{fb01}", "fi",
      "\u{ff41}", "a", "A", "alice", "Alice", "ALICE", "\u{1f511}", "\u{1f512}", "..", ".", "...", "-rf",
      "--",
      "_rf", "a.", "a..", "a_", "a ", " a", "", "_", "__", "\u{0}", "a/b", "a\\b", "a_b", "a:b", "~", "a~b",
      "a+22", "a~0123456789", "git~1", ".git", ".GIT", "\u{200c}.git", "\u{130}", "\u{131}", "i", "I",
      "\u{212a}", "k", "K", "\u{df}", "ss", "SS", "\u{1e9e}",
      .string(String(repeating: "x", count: 99)), .string(String(repeating: "x", count: 100)),
      .string(String(repeating: "x", count: 101)), .string(String(repeating: "x", count: 300)),
      .string(String(repeating: "x", count: 300) + "y"), .string("con." + String(repeating: "x", count: 96)),
      .string(String(repeating: ".", count: 120)), .bytes([0xff, 0xfe]), .bytes([0xc3, 0x28]),
    ]

  /// Returns the path as a file system stores it that folds case and normalises.
  static func folded(_ path: ItemPath) -> String {
    path.text.precomposedStringWithCompatibilityMapping.lowercased()
  }

  @Test func `nasty names lead to safe and different paths`() {
    var seen: [String: PrimaryKey] = [:]
    for account in Self.nasty {
      for server in [AttributeValue.string("h"), account] {
        let key = PrimaryKey(
          itemClass: .internetPassword, attributes: [.account: account, .server: server], group: "default")
        let path = ItemPath(key)
        Self.expectSafe(path)
        let other = seen.updateValue(key, forKey: Self.folded(path))
        #expect(other == nil || other == key, "\(path) belongs to two items")
      }
    }
  }

  @Test(arguments: 0..<20)
  func `different primary keys have different paths and equal ones the same`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var paths: [PrimaryKey: ItemPath] = [:]
    var keys: [String: PrimaryKey] = [:]
    for _ in 0..<500 {
      let key = Sample.randomRecord(using: &generator).primaryKey
      let path = ItemPath(key)
      Self.expectSafe(path)
      #expect((paths.updateValue(path, forKey: key) ?? path) == path)
      #expect((keys.updateValue(key, forKey: Self.folded(path)) ?? key) == key)
    }
  }

  static func expectSafe(_ path: ItemPath) {
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789._@+~-".unicodeScalars)
    #expect(ItemPath(validating: path.text) == path)
    for component in [path.container, path.name] {
      #expect(component.unicodeScalars.allSatisfy(allowed.contains))
      #expect((1...100).contains(component.utf8.count))
      #expect(component.first != "." && component.first != "-" && component.last != ".")
      let stem = component.prefix { $0 != "." }
      #expect(stem.range(of: "^(con|prn|aux|nul|com[0-9]|lpt[0-9])$", options: .regularExpression) == nil)
    }
  }

  @Test func `the digest is the same for text and for its bytes`() {
    let text = Self.path(.internetPassword, [.server: "A", .account: "B"])
    let bytes = Self.path(.internetPassword, [.server: .bytes([0x41]), .account: .bytes([0x42])])
    #expect(text == bytes)
  }

  @Test func `the canonical primary key is stable`() {
    let key = PrimaryKey(
      itemClass: .internetPassword,
      attributes: [.server: "h", .account: .bytes([0xff]), .port: "22", .path: "", .synchronizable: true],
      group: "ops")
    let json = """
      {"account":{"base64":"/w=="},"class":"internet-password","group":"ops","port":22,"server":"h",\
      "synchronizable":true}
      """
    #expect(String(decoding: key.canonicalJSON, as: UTF8.self) == json)
  }

  @Test(
    arguments: [
      "", "internet-password", "internet-password/h", "internet-password/h/a/B", "internet-password/h/a/-b",
      "internet-password/h/a/b/c", "internet-password/h/a/", "internet-password/h/a/con",
      "internet-password/h/a/b.gpg", "certificate/ca/42/otp", "key/tag/private~0123456789/otp",
      "internet-password/h/a.gpg", "internet-password/h/a.json", "internet-password//a",
      "internet-password/h/", "internet/h/a", "Internet-password/h/a", "internet-password/H/a",
      "internet-password/h/.a", "internet-password/.h/a", "internet-password/../a", "internet-password/h/-a",
      "internet-password/h/a.", "internet-password/h./a", "internet-password/con/a",
      "internet-password/h/nul",
      "internet-password/h/com1.x", "internet-password/h/a~", "internet-password/h/a~012345678",
      "internet-password/h/a~012345678A", "internet-password/h/a~0123456789~0123456789",
      "internet-password/h/~0123456789", "internet-password/h~0123456789/a", "internet-password/h+x/a",
      "internet-password/h/+a", "internet-password/h/a b", "internet-password/h/a\u{0}",
      "internet-password/h/\u{e9}", "/internet-password/h/a", "internet-password/h/a\n",
    ] + ["internet-password/h/" + String(repeating: "a", count: 101)])
  func `a path that the keyring would not create is refused`(text: String) {
    #expect(ItemPath(validating: text) == nil)
  }
}
