import Encoding
import Secrets
import Testing

@testable import OneTimePasswords

@Suite("Seeds of one-time passwords", .serialized)
struct SeedTests {
  struct Facts: Equatable {
    var hash = Seed.Hash.sha1
    var digits = 6
    var isSteam = false
    var factor = Seed.Factor.time(period: 30)
    var issuer: String?
    var account: String?
    var key = "12345"
  }

  static func read(_ bytes: [UInt8]) throws(SeedError) -> Facts {
    let secret = SecretBytes(copying: bytes)
    let seed = try Seed(secret)
    return Facts(
      hash: seed.hash, digits: seed.digits, isSteam: seed.isSteam, factor: seed.factor,
      issuer: seed.issuer,
      account: seed.account, key: seed.key.text)
  }

  @Test(
    "valid seeds are read",
    arguments: [
      ("GEZDGNBV", Facts()), ("gezd gnbv\n", Facts()), (" GEZD-GNBV ", Facts()),
      ("GEZDGNBVGY======", Facts(key: "123456")),
      ("GEZDGNBVGY", Facts(key: "123456")), ("MY==\r\n", Facts(key: "f")), ("MZXW6", Facts(key: "foo")),
      ("otpauth://totp/alice?secret=GEZDGNBV", Facts(account: "alice")),
      ("OTPAuth://TOTP/alice?SECRET=gezdgnbv", Facts(account: "alice")),
      ("otpauth://totp/?secret=GEZDGNBV", Facts()), ("otpauth://totp?secret=GEZDGNBV", Facts()),
      (
        "otpauth://totp/ACME%20Co:alice%40example.org?secret=GEZDGNBV&issuer=ACME%20Co&algorithm=SHA256&digits=8"
          + "&period=60",
        Facts(
          hash: .sha256, digits: 8, factor: .time(period: 60), issuer: "ACME Co", account: "alice@example.org"
        )
      ),
      (
        "otpauth://totp/Old%3A%20alice?issuer=New+One&secret=GEZD+GNBV&algorithm=sha512&digits=7",
        Facts(hash: .sha512, digits: 7, issuer: "New One", account: "alice")
      ),
      (
        "otpauth://hotp/x?counter=7&secret=GEZDGNBV", Facts(factor: .counter(7), account: "x")
      ),
      ("otpauth://hotp/x?secret=GEZDGNBV", Facts(factor: .counter(0), account: "x")),
      ("otpauth://totp/x?image=%zz&secret=GEZDGNBV&foo&=&&bar=1=2#frag?&digits=9", Facts(account: "x")),
      ("otpauth://totp/100%?secret=GEZDGNBV%3D%3D", Facts()),
      ("otpauth://totp/%FF?secret=GEZDGNBV&issuer=%FF", Facts()),
      ("otpauth://totp/a:b:c?secret=GEZDGNBV", Facts(issuer: "a", account: "b:c")),
      ("otpauth://totp/a%3Ab:c?secret=GEZDGNBV&issuer=a:b", Facts(issuer: "a:b", account: "c")),
      ("otpauth://totp/a:%CC%81b?secret=GEZDGNBV", Facts(issuer: "a", account: "\u{301}b")),
    ])
  func read(text: String, facts: Facts) throws {
    #expect(try Self.read(Array(text.utf8)) == facts)
  }

  @Test(
    "a seed is for Steam codes by its type, its encoder or its issuer, unless it has another number of digits",
    arguments: [
      ("steam://GEZDGNBV", true, nil), ("STEAM://gezdgnbv\n", true, nil),
      ("otpauth://steam/x?secret=GEZDGNBV", true, nil),
      ("otpauth://totp/x?secret=GEZDGNBV&encoder=steam&digits=8", true, nil),
      ("otpauth://totp/Steam:x?secret=GEZDGNBV&issuer=Steam", true, "Steam"),
      ("otpauth://totp/steam:x?secret=GEZDGNBV&digits=5", true, "steam"),
      ("otpauth://totp/Steam:x?secret=GEZDGNBV&digits=6", false, "Steam"),
      ("otpauth://totp/Steamboat:x?secret=GEZDGNBV", false, "Steamboat"),
      ("otpauth://totp/Steam?secret=GEZDGNBV", false, nil),
      ("otpauth://hotp/Steam:x?secret=GEZDGNBV", false, "Steam"), ("GEZDGNBV", false, nil),
    ] as [(String, Bool, String?)])
  func steam(text: String, isSteam: Bool, issuer: String?) throws {
    let facts = try Self.read(Array(text.utf8))
    #expect(facts.isSteam == isSteam && facts.digits == (isSteam ? 5 : 6))
    #expect(facts.issuer == issuer && facts.key == "12345")
  }

  @Test(
    "invalid seeds are refused",
    arguments: [
      ("", .empty), (" \r\n\t", .empty), ("====", .empty), ("GEZDGNB8", .base32(.invalidCharacter)),
      ("hunter2!", .base32(.invalidCharacter)),
      ("MY==MY==", .base32(.invalidCharacter)), ("G", .base32(.truncated)), ("GEZ", .base32(.truncated)),
      ("GEZDGN", .base32(.truncated)), ("GEZDGNBVG", .base32(.truncated)),
      ("otpauth://totp/x", .noSecret), ("otpauth://totp/x?secret=", .noSecret),
      ("otpauth://", .unknownType(nil)),
      ("otpauth://yaotp/x?secret=GEZDGNBV", .unknownType("yaotp")),
      ("otpauth://GEZD2GNB/x?secret=GEZDGNBV", .unknownType(nil)),
      ("otpauth://totp/x?secret=%4", .badValue(.secret)), ("otpauth://totp/x?secret=%GG", .badValue(.secret)),
      ("otpauth://totp/x?secret=1", .base32(.invalidCharacter)),
      ("otpauth://totp/x?secret=GEZDGNBV&secret=GEZDGNBV", .repeated(.secret)),
      ("otpauth://totp/x?digits=6&digits=8&secret=GEZDGNBV", .repeated(.digits)),
      ("otpauth://totp/x?secret=GEZDGNBV&digits=0", .badValue(.digits)),
      ("otpauth://totp/x?secret=GEZDGNBV&digits=5", .badValue(.digits)),
      ("otpauth://totp/x?secret=GEZDGNBV&digits=9", .badValue(.digits)),
      ("otpauth://totp/x?secret=GEZDGNBV&digits=-6", .badValue(.digits)),
      ("otpauth://totp/x?secret=GEZDGNBV&digits=", .badValue(.digits)),
      ("otpauth://totp/x?secret=GEZDGNBV&period=0", .badValue(.period)),
      ("otpauth://totp/x?secret=GEZDGNBV&period=99999999999", .badValue(.period)),
      ("otpauth://totp/x?secret=GEZDGNBV&period=1e3", .badValue(.period)),
      ("otpauth://hotp/x?secret=GEZDGNBV&counter=18446744073709551616", .badValue(.counter)),
      ("otpauth://hotp/x?secret=GEZDGNBV&counter=999999999999999999999999999", .badValue(.counter)),
      ("otpauth://hotp/x?secret=GEZDGNBV&counter=+1", .badValue(.counter)),
      ("otpauth://totp/x?secret=GEZDGNBV&algorithm=MD5", .badValue(.algorithm)),
      ("otpauth://totp/x?secret=GEZDGNBV&algorithm=", .badValue(.algorithm)),
      ("steam://", .noSecret), ("steam://GEZD/1", .base32(.invalidCharacter)),
      ("otpauth://totp/Steam:x?secret=GEZDGNBV&digits=9", .badValue(.digits)),
      ("otpauth-migration://offline?data=CjEK", .migration),
      ("GEZDGNBVÄ", .base32(.invalidCharacter)),
    ] as [(String, SeedError)])
  func refused(text: String, error: SeedError) {
    #expect(throws: error) { try Self.read(Array(text.utf8)) }
  }

  @Test("seeds that are not text or too long are refused")
  func hostileBytes() throws {
    #expect(throws: SeedError.notText) { try Self.read([0x47, 0xFF]) }
    #expect(throws: SeedError.base32(.invalidCharacter)) { try Self.read(Array("GEZD\0GNBV".utf8)) }
    #expect(throws: SeedError.tooLong(limit: 8192)) { try Self.read([UInt8](repeating: 0x41, count: 8193)) }
    #expect(try Self.read([UInt8](repeating: 0x41, count: 8192)).key.utf8.count == 5120)
    let long = "otpauth://totp/x?secret=" + String(repeating: "a", count: 8000) + "&&&&&&&&&%"
    #expect(try Self.read(Array(long.utf8)).digits == 6)
  }

  @Test("cutting any bytes out of a seed never crashes the reader")
  func cut() {
    let whole = Array("otpauth://hotp/A%20B:c%40d?secret=GEZDGNBV&counter=12&issuer=A%20B&digits=8#x".utf8)
    for start in whole.indices {
      for end in start...whole.count {
        let part = Array(whole[..<start] + whole[end...])
        do throws(SeedError) { _ = try Self.read(part) } catch { #expect(error != .tooLong(limit: 8192)) }
      }
    }
  }

  @Test(
    "advancing the counter keeps every other byte",
    arguments: [
      (
        "otpauth://hotp/x?secret=GEZDGNBV&counter=9&foo=%zz",
        "otpauth://hotp/x?secret=GEZDGNBV&counter=10&foo=%zz"
      ),
      (" otpauth://hotp/x?COUNTER=0&secret=GEZDGNBV\n", " otpauth://hotp/x?COUNTER=1&secret=GEZDGNBV\n"),
      ("otpauth://hotp/x?secret=GEZDGNBV", "otpauth://hotp/x?secret=GEZDGNBV&counter=1"),
      ("otpauth://hotp/x?secret=GEZDGNBV#f\n", "otpauth://hotp/x?secret=GEZDGNBV&counter=1#f\n"),
      (
        "otpauth://hotp/x?counter=18446744073709551614&secret=GEZDGNBV",
        "otpauth://hotp/x?counter=18446744073709551615&secret=GEZDGNBV"
      ),
    ])
  func advanced(text: String, expected: String) throws {
    let secret = SecretBytes(copying: Array(text.utf8))
    let seed = try Seed(secret)
    let new = seed.advanced(secret)
    let text =
      switch consume new {
      case let new?: new.text
      case nil: ""
      }
    #expect(text == expected)
  }

  @Test("a time-based seed has no counter to advance")
  func noCounter() throws {
    let secret = SecretBytes(copying: Array("otpauth://totp/x?secret=GEZDGNBV&counter=1".utf8))
    let seed = try Seed(secret)
    let isNothing = seed.advanced(secret) == nil
    #expect(isNothing)
  }

  @Test(
    "a seed that is written as a URI reads back unchanged",
    arguments: [
      "GEZDGNBVGY", "otpauth://hotp/A%20B:c%40d?secret=GEZDGNBV&counter=12&digits=8&algorithm=SHA512",
      "otpauth://totp/%C3%A9?secret=MY&period=15&algorithm=SHA256&issuer=x%26y",
      "otpauth://totp/a%3Ab:c?secret=MY&issuer=a%3Ab", "otpauth://totp/a:%CC%81b?secret=MY",
      "otpauth://totp/::b:c?secret=MY", "steam://GEZDGNBV", "otpauth://totp/Steam:x?secret=MY",
      "otpauth://totp/Steam:x?secret=MY&digits=6", "otpauth://steam/x?secret=MY&period=60",
    ])
  func written(text: String) throws {
    let secret = SecretBytes(copying: Array(text.utf8))
    let seed = try Seed(secret)
    let address = seed.address(issuer: seed.issuer ?? "", account: seed.account ?? "")
    let again = try Seed(address)
    #expect(seed.hash == again.hash && seed.digits == again.digits && seed.factor == again.factor)
    #expect(seed.isSteam == again.isSteam)
    #expect(seed.issuer == again.issuer && seed.account == again.account)
    let isSame = seed.key.isEqual(to: again.key)
    #expect(isSame)
  }
}
