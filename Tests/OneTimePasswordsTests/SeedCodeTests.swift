import Encoding
import Secrets
import Testing

@testable import OneTimePasswords

extension SecretBytes {
  /// The bytes as text, for comparisons in tests.
  var text: String { unsafe withBytes { unsafe String(decoding: $0, as: UTF8.self) } }
}

@Suite("One-time passwords", .serialized)
struct SeedCodeTests {
  /// Returns the seed of RFC 6238, appendix B, in Base32: ASCII digits, as many as the hash has bytes.
  static func seed(_ hash: Seed.Hash) throws -> String {
    var text = SecretBytes()
    let bytes = (0..<hash.size).map { UInt8(ascii: "0") + UInt8(($0 + 1) % 10) }
    unsafe bytes.withUnsafeBytes { unsafe Base32.append($0, to: &text) }
    return text.text
  }

  @Test("codes match RFC 4226, appendix D")
  func counted() throws {
    let codes = [
      "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
    ]
    let secret = SecretBytes(copying: Array("otpauth://hotp/x?secret=\(try Self.seed(.sha1))&counter=0".utf8))
    let seed = try Seed(secret)
    for (counter, expected) in codes.enumerated() {
      let code = try seed.code(counter: UInt64(counter))
      #expect(code.text == expected)
    }
  }

  @Test(
    "codes match RFC 6238, appendix B",
    arguments: [
      (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
      (1_111_111_111, "14050471", "67062674", "99943326"),
      (1_234_567_890, "89005924", "91819424", "93441116"),
      (2_000_000_000, "69279037", "90698825", "38618901"),
      (20_000_000_000, "65353130", "77737706", "47863826"),
    ] as [(Int64, String, String, String)])
  func timed(time: Int64, sha1: String, sha256: String, sha512: String) throws {
    for (hash, expected) in [(Seed.Hash.sha1, sha1), (.sha256, sha256), (.sha512, sha512)] {
      let text = "otpauth://totp/x?digits=8&algorithm=\(hash.name)&secret=\(try Self.seed(hash))"
      let secret = SecretBytes(copying: Array(text.utf8))
      let seed = try Seed(secret)
      let code = try seed.code(counter: Turn(time: time, period: 30).counter)
      #expect(code.text == expected)
    }
  }

  @Test(
    "the key is padded to at least a block of the hash function",
    arguments: [1, 10, 63, 64, 65, 128, 129], Seed.Hash.allCases)
  func padded(length: Int, hash: Seed.Hash) throws {
    var base32 = SecretBytes()
    let bytes = (0..<length).map { UInt8($0 + 1) }
    unsafe bytes.withUnsafeBytes { unsafe Base32.append($0, to: &base32) }
    let text = "otpauth://totp/x?algorithm=\(hash.name)&secret=\(base32.text)"
    let secret = SecretBytes(copying: Array(text.utf8))
    let seed = try Seed(secret)
    let key = seed.paddedKey
    let zeros = [UInt8](repeating: 0, count: max((hash == .sha512 ? 128 : 64) - length, 0))
    let isPadded = unsafe key.withBytes { unsafe Array($0) == bytes + zeros }
    #expect(isPadded)
  }

  @Test(
    "codes match those of other programs with a short key, too",
    arguments: [("GEZDGNBV", 1, "662488"), ("GEZDGNBVGY3TQOJQ", 5, "767654")])
  func short(base32: String, counter: UInt64, expected: String) throws {
    let secret = SecretBytes(copying: Array(base32.utf8))
    let seed = try Seed(secret)
    let code = try seed.code(counter: counter)
    #expect(code.text == expected)
  }

  /// Computed with Python's `hmac`: the truncated number in base 26, the last digit first.
  @Test(
    "Steam codes have five characters of Steam's alphabet",
    arguments: [
      ("JBSWY3DPEHPK3PXP", 59, "2YXGV"), ("JBSWY3DPEHPK3PXP", 1_111_111_109, "CWDGV"),
      ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 1_234_567_890, "VHHQY"),
      ("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 20_000_000_000, "R5DMB"), ("MY", 2_000_000_000, "HCNFY"),
    ] as [(String, Int64, String)])
  func steam(base32: String, time: Int64, expected: String) throws {
    for text in ["steam://\(base32)", "otpauth://totp/Steam:x?secret=\(base32)&issuer=Steam"] {
      let secret = SecretBytes(copying: Array(text.utf8))
      let seed = try Seed(secret)
      let code = try seed.code(counter: Turn(time: time, period: 30).counter)
      #expect(code.text == expected)
    }
  }

  @Test(
    "a code is valid until the end of its period",
    arguments: [
      (0, 30, 0, 30), (1, 30, 0, 29), (29, 30, 0, 1), (30, 30, 1, 30), (59, 60, 0, 1), (-5, 30, 0, 30),
      (.max, 1, UInt64(Int64.max), 1), (.max, 30, UInt64(Int64.max / 30), 30 - Int64.max % 30),
    ] as [(Int64, Int64, UInt64, Int64)])
  func turn(time: Int64, period: Int64, counter: UInt64, seconds: Int64) {
    let turn = Turn(time: time, period: period)
    #expect(turn.counter == counter)
    #expect(turn.seconds == seconds)
  }

  @Test("the largest counter is accepted")
  func largestCounter() throws {
    let secret = SecretBytes(
      copying: Array("otpauth://hotp/x?secret=GEZDGNBV&counter=18446744073709551615".utf8))
    let seed = try Seed(secret)
    #expect(seed.factor == .counter(.max))
    let code = try seed.code(counter: .max)
    #expect(code.count == 6)
    let next = seed.advanced(secret) == nil
    #expect(next)
  }
}
