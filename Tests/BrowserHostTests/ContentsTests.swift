import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import BrowserHost

@Suite("The content of a login for the extension", .serialized)
struct ContentsTests {
  private func slice(_ text: String) -> SecretSlice { SecretSlice(SecretBytes(text: text)) }

  private func contents(
    _ secret: String, account: String = "alice", url: String? = nil, seed: String? = nil
  ) throws -> String {
    let login = SentLogin(
      secret: slice(secret), account: Array(account.utf8), url: url.map { Array($0.utf8) },
      seed: seed.map(slice))
    return try login.contents().text()
  }

  @Test(
    "a content has the secret, the account and the URL",
    arguments: [
      ("hunter2", "alice", "https://h/" as String?, "hunter2\nlogin: alice\nurl: https://h/"),
      ("hunter2", "", nil, "hunter2\nlogin: "), (" x ", "a", nil, " x \nlogin: a"),
      ("hunter2", "a\nb", "https://h/\r", "hunter2\nlogin: "),
      ("pass: x", "a", nil, "password: pass: x\nlogin: a"),
      ("otpauth://x", "a", nil, "password: otpauth://x\nlogin: a"),
      (" : login", "a", "", "password:  : login\nlogin: a"),
      ("a: b", "a", nil, "a: b\nlogin: a"), ("x", "\u{2028}", nil, "x\nlogin: "),
    ])
  func sent(secret: String, account: String, url: String?, expected: String) throws {
    if secret == " : login" {
      // The extension would remove the space in front.
      #expect(throws: SentLogin.Obstacle.ambiguous) { try contents(secret, account: account, url: url) }
    } else {
      #expect(try contents(secret, account: account, url: url) == expected)
    }
  }

  @Test(
    "a secret that the extension would read differently is refused",
    arguments: [
      ("", SentLogin.Obstacle.blank), (" \t", .blank), ("\u{a0}\u{feff}", .blank), ("a\nb", .severalLines),
      ("a\r", .severalLines), ("pass: x ", .ambiguous), (" login: x", .ambiguous),
      (String(repeating: "x", count: (64 << 10) + 1), .tooLarge),
    ])
  func refused(secret: String, obstacle: SentLogin.Obstacle) {
    #expect(throws: obstacle) { try contents(secret) }
  }

  @Test("a secret that is not UTF-8 is refused")
  func notText() {
    let login = SentLogin(secret: SecretSlice(SecretBytes(copying: [0x61, 0xFF])), account: [], url: nil)
    #expect(throws: SentLogin.Obstacle.notText) { try login.contents().text() }
  }

  @Test(
    "a seed is sent if its codes are digits that depend on the time",
    arguments: [
      ("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", "\notpauth://totp/x?secret=JBSWY3DPEHPK3PXP"),
      (" otpauth://totp/x?secret=JBSWY3DPEHPK3PXP\n", "\notpauth://totp/x?secret=JBSWY3DPEHPK3PXP"),
      ("JBSWY3DPEHPK3PXP", "\notp: JBSWY3DPEHPK3PXP"),
      ("otpauth://hotp/x?secret=JBSWY3DPEHPK3PXP&counter=1", ""),
      ("steam://JBSWY3DPEHPK3PXP", ""), ("otpauth://totp/Steam:x?secret=JBSWY3DPEHPK3PXP", ""),
      ("not a seed!", ""), ("JBSWY3DP\nEHPK3PXP", ""),
    ])
  func seeds(seed: String, line: String) throws {
    #expect(try contents("x", account: "a", seed: seed) == "x\nlogin: a" + line)
  }

  @Test(
    "a content is read as the extension reads it, and the rest is the note",
    arguments: [
      ("hunter2", "hunter2", nil, nil, nil, nil),
      ("hunter2\nlogin: alice\nurl: https://h/\nnote\n", "hunter2", "alice", "https://h/", nil, "note\n"),
      ("first\r\nPassword:  real \r\nuser: a\nuser: b\n\n", "real", "a", nil, nil, "first\r\nuser: b\n\n"),
      (
        "x\notpauth://totp/x?secret=AAAA\notp: BBBB", "x", nil, nil, "otpauth://totp/x?secret=AAAA",
        "otp: BBBB"
      ),
      ("\n\n  x \nlogin:\nsecret:\n", "  x ", nil, nil, nil, "\n\nsecret:\n"),
      ("x\nlogin: a\n\n", "x", "a", nil, nil, nil),
      ("x\rautosubmit: true", "x", nil, nil, nil, "autosubmit: true"),
    ] as [(String, String, String?, String?, String?, String?)])
  func saved(
    contents: String, secret: String, account: String?, url: String?, seed: String?, note: String?
  ) throws {
    let saved = try #require(SavedLogin(slice(contents)))
    func text(_ slice: SecretSlice?) -> String? {
      slice.map { String(decoding: $0.publicBytes(), as: UTF8.self) }
    }
    #expect(text(saved.secret) == secret)
    #expect(saved.account.map { String(decoding: $0, as: UTF8.self) } == account)
    #expect(saved.url.map { String(decoding: $0, as: UTF8.self) } == url)
    #expect(text(saved.seed) == seed)
    #expect(text(saved.note) == note)
  }

  @Test(
    "a content without a secret cannot be saved",
    arguments: ["login: a", "\n url: x\nhunter2", "otpauth://x"])
  func withoutSecret(contents: String) {
    #expect(SavedLogin(slice(contents)) == nil)
  }

  @Test("what is sent is read back, for all pairs of difficult secrets and accounts")
  func roundTrip() throws {
    for secret in BrowserSamples.secrets {
      for account in BrowserSamples.accounts {
        let login = SentLogin(
          secret: slice(secret), account: Array(account.utf8), url: Array("https://h/".utf8))
        do {
          let saved = try #require(SavedLogin(SecretSlice(try login.contents())))
          #expect(saved.secret.isEqual(toText: secret))
          #expect(saved.account ?? [] == SentLogin.asRead(Array(account.utf8)))
          #expect(saved.url == Array("https://h/".utf8))
          #expect(saved.note == nil && saved.seed == nil)
        } catch let obstacle as SentLogin.Obstacle {
          #expect([.ambiguous, .blank].contains(obstacle))
        }
      }
    }
  }
}
