import Encoding
import KeyringModel
import TestSupport
import Testing

@Suite(.serialized)
struct IdentifierTests {
  @Test(arguments: [
    "", "0", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0",
    "0123456789ABCDEF0123456789abcdef", "0123456789abcdef0123456789abcdeg",
    "0x23456789abcdef0123456789abcdef",
    " 123456789abcdef0123456789abcdef", "0123456789abcdef0123456789abcd\u{e9}",
  ])
  func `an identifier has one spelling`(text: String) {
    #expect(ItemID(hex: text) == nil)
  }

  @Test func `a written identifier reads back unchanged`() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<100 {
      let id = ItemID(using: &generator)
      #expect(id.hex.utf8.count == 32)
      #expect(ItemID(hex: id.hex) == id)
    }
    #expect(ItemID(hex: "00000000000000010000000000000002")?.hex == "00000000000000010000000000000002")
  }

  // The digests of FIPS 180-4's example messages.
  @Test(arguments: [
    ("", "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"),
    ("abc", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"),
  ])
  func `a digest is SHA-256`(text: String, digest: String) throws {
    #expect(ContentDigest(of: Array(text.utf8)).base64url == digest)
    #expect(ContentDigest(base64url: digest) == ContentDigest(of: Array(text.utf8)))
  }

  @Test(arguments: [
    "", "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuF", "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFV",
    "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFUA",
  ])
  func `a digest has one spelling`(text: String) {
    #expect(ContentDigest(base64url: text) == nil)
  }

  @Test(arguments: [
    (String(repeating: "A", count: 40), true), (String(repeating: "0", count: 64), true),
    (String(repeating: "A", count: 39), false), (String(repeating: "A", count: 41), false),
    (String(repeating: "a", count: 40), false), (String(repeating: "G", count: 40), false),
    ("0x" + String(repeating: "A", count: 38), false), (String(repeating: "A", count: 39) + "\n", false),
    (String(repeating: "\u{ff21}", count: 40), false), ("", false),
  ])
  func `a fingerprint is 40 or 64 upper-case digits`(text: String, isValid: Bool) {
    #expect((Fingerprint(text) != nil) == isValid)
  }

  @Test(arguments: [
    ("keytree://internet-password/github.com/alice", true),
    ("keytree://generic-password/mailer/bot~0123456789", true),
    ("keytree://id/0123456789abcdef0123456789abcdef", true),
    ("keytree://id/0123456789ABCDEF0123456789abcdef", false),
    ("keytree://id/01234567", false),
    ("Keytree://internet-password/github.com/alice", false),
    ("keytree:/internet-password/github.com/alice", false),
    ("keytree://internet-password/github.com", false),
    ("keytree://internet-password/github.com/", false),
    ("keytree://internet-password/github.com/alice/", false),
    ("keytree://internet-password/github.com/alice?x", false),
    ("keytree://internet-password/github.com/al%69ce", false),
    ("keytree://internet-password//alice", false),
    ("keytree://internet/github.com/alice", false),
    ("keytree://internet-password/../alice", false),
    ("keytree://internet-password/GitHub.com/alice", false),
    (" keytree://internet-password/github.com/alice", false),
    ("", false),
  ])
  func `a reference has one form`(text: String, isValid: Bool) {
    #expect(ItemReference(text)?.text == (isValid ? text : nil))
  }
}
