import Keyring
import KeyringModel
import Secrets
import TestSupport
import Testing
@testable import PasswordAudit

@Suite("Strength of passwords", .serialized)
struct PasswordStrengthTests {
  private func record(_ attributes: Attributes = Attributes()) throws -> ItemRecord {
    let store = StandInStore()
    let keyring = try store.create()
    var all = attributes
    if all[.server] == nil { all[.server] = "bank.example" }
    return try keyring.add(
      NewItem(itemClass: .internetPassword, attributes: all), secret: SecretBytes(text: "x"))
  }

  @Test(
    "the weakness of a password", .needsZxcvbn,
    arguments: [
      ("password", Weakness.veryWeak), ("", .veryWeak), ("4711", .veryWeak), ("correct horse", .veryWeak),
      ("xkT93bQz", .weak), ("xkT93bQzpWm2", nil), ("correct horse battery staple", nil),
      (String(repeating: "a", count: 90), .veryWeak),
    ] as [(String, Weakness?)])
  func weakness(_ password: String, _ expected: Weakness?) throws {
    let estimator = try #require(StrengthEstimator())
    #expect(estimator.weakness(of: SecretBytes(text: password), GuessableWords(of: try record())) == expected)
  }

  @Test("a password made of the item's own attributes is weak", .needsZxcvbn)
  func ownWords() throws {
    let estimator = try #require(StrengthEstimator())
    let password = "Zorbulax-Quimberton1"
    var attributes = Attributes()
    attributes[.account] = "zorbulax"
    attributes[.server] = "quimberton.example"
    #expect(estimator.weakness(of: SecretBytes(text: password), GuessableWords(of: try record())) == nil)
    #expect(
      estimator.weakness(of: SecretBytes(text: password), GuessableWords(of: try record(attributes))) != nil)
  }

  @Test("words are parts of three bytes or more, each once, and never more than the library takes")
  func words() throws {
    var attributes = Attributes()
    attributes[.account] = "al@bob.example"
    attributes[.server] = "bob.example"
    #expect(
      GuessableWords(of: try record(attributes)).text
        == Array("al@bob.example\0bob\0example\0bob.example\0".utf8))
    attributes[.label] = .string((0..<200).map { "word\($0)" }.joined(separator: " "))
    #expect(GuessableWords(of: try record(attributes)).count == 64)
    attributes[.label] = "nul\0byte"
    #expect(GuessableWords(of: try record(attributes)).count == 4)
  }

  @Test("a long secret is judged by its first bytes, in a moment", .needsZxcvbn)
  func longSecret() throws {
    let estimator = try #require(StrengthEstimator())
    let words = GuessableWords(of: try record())
    let long = SecretBytes(
      text: String(repeating: "a", count: StrengthEstimator.examinedBytes) + "xkT93bQzpWm2")
    #expect(estimator.weakness(of: long, words) == .veryWeak)
    let largest = SecretBytes(copying: [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20))
    #expect(estimator.weakness(of: largest, words) == .veryWeak)
  }

  @Test("a library that is missing, or is another one, is no estimator")
  func missing() {
    #expect(StrengthEstimator(library: "libzxcvbn-of-nobody.so.0") == nil)
    #expect(StrengthEstimator(library: "libgcrypt.so.20") == nil)
  }

  @Test(
    "protocols that send passwords unencrypted",
    arguments: [
      (["protocol": "http"], "http"), (["protocol": "https"], nil), (["protocol": "telnet"], "telnet"),
      (["protocol": "ftp"], "ftp"), (["protocol": "imap"], nil), ([:], nil),
      (["protocol": "http", "server": "localhost"], nil), (["protocol": "http", "server": "127.0.0.1"], nil),
      (["protocol": "http", "server": "127.0.0.1.evil.example"], "http"),
      (["url": "http://a.example/login"], "http"), (["url": "HTTP://a.example"], "http"),
      (["url": "https://a.example/?next=http://b.example"], nil), (["url": "a.example"], nil),
      (["url": "https://a.example", "url-2": "ftp://a.example"], "ftp"),
      (["url": "http://localhost:8080/x"], nil), (["url": "http://[::1]:8080/x"], nil),
      (["url": "http://app.localhost"], nil), (["url": "http://alice@127.0.0.1/"], nil),
      (["url": "http://localhost@a.example/"], "http"), (["url": "http://localhost.example/"], "http"),
    ] as [([String: String], String?)])
  func unencrypted(_ values: [String: String], _ expected: String?) throws {
    var attributes = Attributes()
    for (name, value) in values { attributes[AttributeName(name)] = .string(value) }
    #expect(UnencryptedProtocol(of: try record(attributes))?.name == expected)
  }
}
