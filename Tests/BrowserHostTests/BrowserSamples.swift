import KeyringModel
import TestSupport

@testable import BrowserHost

/// Random logins that are difficult for names and contents.
enum BrowserSamples {
  /// Hosts of several kinds: under known top-level domains, in a local network, and addresses.
  static let hosts = [
    "github.com", "login.github.com", "example.co.uk", "a.b.example.org", "bank.example", "localhost",
    "intranet",
    "pi.hole", "10.0.0.1", "192.168.178.20", "2001:db8::1", "xn--mnchen-3ya.de", "GitHub.com",
    "shop.example.museum",
  ]

  /// Accounts that look like hosts, like other names, or like the syntax of paths.
  static let accounts = [
    "", "alice", "alice@example.org", "alice.dev", "evil.com", "a:b", "x:443", "@alice", "@@", "com", "uk",
    "1", "de",
    "localhost", "a/b", "..", ".", ".hidden", "a\\b", "100%", "%41", "a\nb", "a\tb", "alice #00000000",
    "#12345678",
    " alice ", "\u{e9}", "\u{2028}", "Alice", "very long " + String(repeating: "x", count: 200), "\"quoted\"",
    "a b",
    "\u{1f511}", "gpg", "x.gpg", "example", "hole", "evil.com/alice", "login.github.com",
  ]

  /// Secrets that look like the keys of the extension.
  static let secrets = [
    "hunter2", "pass: word", "password:x", "PASS :y", " : login", "login:", "user:", "otp: JBSWY3DPEHPK3PXP",
    "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP", "OTPAUTH://x", "otpauth://", "url: https://evil.com",
    "lin\u{212a}: x",
    "autosubmit:", "autosubmit: true", "openid: x", "::", ":", ": secret", "a:b", " leading", "trailing ",
    "\u{a0}nbsp",
    "pass: \u{2028}x", "\u{2028}", "secret:\u{2029}", "{\"a\":1}", "\u{1f511}\u{e9}", "\u{0}", "tab\there",
    "\\", "\"",
    "%41", "site :", "LAUNCH: x", "website:\u{feff}", "user", "#", "pass", "password",
    "x" + String(repeating: "y", count: 300),
  ]

  /// Returns a random internet password, or a generic password with a URL.
  static func record(_ number: UInt64, using generator: inout SeededGenerator) -> ItemRecord {
    let host = hosts.randomElement(using: &generator) ?? ""
    let account = accounts.randomElement(using: &generator) ?? ""
    let suffix = Int.random(in: 0..<4, using: &generator) == 0 ? "\(number)" : ""
    var attributes = Attributes()
    if !(account + suffix).isEmpty { attributes[.account] = .string(account + suffix) }
    let port = [nil, nil, nil, 443, 80, 8443].randomElement(using: &generator) ?? nil
    let scheme = [nil, "https", "http"].randomElement(using: &generator) ?? nil
    if Int.random(in: 0..<4, using: &generator) == 0 {
      let place = host.contains(":") ? "[\(host)]" : host
      attributes[.service] = .string("service-\(number)")
      attributes[.url] = .string("\(scheme ?? "https")://\(place)\(port.map { ":\($0)" } ?? "")/login")
      return Sample.record(attributes, itemClass: .genericPassword, seed: number)
    }
    attributes[.server] = .string(host)
    attributes[.protocol] = scheme.map { .string($0) }
    attributes[.port] = port.map { .integer(Int64($0)) }
    attributes[.path] = Bool.random(using: &generator) ? .string("login/\(number % 3)") : nil
    return Sample.record(attributes, seed: number)
  }

  static let protocols: Set<String> = ["http", "https"]
}
