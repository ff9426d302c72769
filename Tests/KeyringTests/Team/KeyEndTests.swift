import Encoding
import KeyringModel
import TestSupport
import Testing

@testable import Keyring
@testable import OpenPGP

/// Tests which parts of a key its owner has to extend, and when a key ends.
@Suite struct KeyEndTests {
  private static let now = Timestamp(microseconds: 10_000)

  private static func fingerprint(_ number: Int) -> Fingerprint {
    Fingerprint(String(repeating: "0", count: 39) + "\(number)") ?? GnuPGKey.alice.fingerprint
  }

  /// A part of a key: 0 is the primary key, smaller than 5 signs, others encrypt. Those with higher numbers are newer.
  private static func part(
    _ number: Int, expires: Int64? = nil, revoked: Bool = false, signs: Bool? = nil
  ) -> PublicKey.Subkey {
    PublicKey.Subkey(
      fingerprint: fingerprint(number), keyID: KeyID(value: UInt64(number)), canEncrypt: number >= 5,
      canSign: signs ?? (1..<5).contains(number), created: Timestamp(microseconds: Int64(1000 + number)),
      expires: expires.map { Timestamp(microseconds: $0) },
      revocation: revoked ? KeyRevocation(created: Timestamp(microseconds: 5000), reason: .retired) : nil)
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The primary key and the subkeys.
    let parts: [PublicKey.Subkey]
    /// The subkeys that the policy names for encryption.
    var listed = [5]
    /// The parts that have to be extended now.
    var extended: [Int] = []
    /// The end of the key; nil if it never ends.
    let end: Int64?
  }

  static let cases = [
    Case(testDescription: "a key without an end", parts: [part(0), part(1), part(5)], end: nil),
    Case(
      testDescription: "the primary key ends first",
      parts: [part(0, expires: 9000), part(1), part(5, expires: 20_000)],
      end: 9000),
    Case(
      testDescription: "the signing subkey has expired", parts: [part(0), part(1, expires: 9000), part(5)],
      extended: [1],
      end: 9000),
    Case(
      testDescription: "the newest of two expired signing subkeys",
      parts: [part(0), part(1, expires: 8000), part(2, expires: 9000), part(5)], extended: [2], end: 9000),
    Case(
      testDescription: "an older signing subkey has expired",
      parts: [part(0), part(1, expires: 9000), part(2), part(5)],
      end: nil),
    Case(
      testDescription: "the primary key signs, too",
      parts: [part(0, signs: true), part(1, expires: 9000), part(5)],
      end: nil),
    Case(
      testDescription: "the listed encryption subkey has expired",
      parts: [part(0), part(1), part(5, expires: 9000), part(6)], extended: [5], end: 9000),
    Case(
      testDescription: "an encryption subkey that is not listed has expired",
      parts: [part(0), part(1), part(5), part(6, expires: 9000)], end: nil),
    Case(
      testDescription: "one of two listed subkeys has expired",
      parts: [part(0), part(1), part(5), part(6, expires: 9000)],
      listed: [5, 6], extended: [6], end: nil),
    Case(
      testDescription: "both have expired", parts: [part(0), part(1, expires: 8000), part(5, expires: 9000)],
      extended: [1, 5], end: 8000),
    Case(
      testDescription: "a revoked subkey does not count",
      parts: [part(0), part(1), part(2, expires: 9000, revoked: true), part(5)], end: nil),
  ]

  @Test(arguments: cases) func `the owner extends exactly what has expired`(example: Case) {
    let key = PublicKey(
      fingerprint: Self.fingerprint(0), userIDs: [], subkeys: example.parts, hasSecret: false)
    let listed = example.listed.map(Self.fingerprint)
    let ended = key.expiredSubkeys(listed: listed, at: Self.now)
    #expect(ended.map(\.subkey.fingerprint) == example.extended.map(Self.fingerprint))
    #expect(ended.allSatisfy { ($0.use == .encryption) == $0.subkey.canEncrypt })
    #expect(key.end(listed: listed) == example.end.map { Timestamp(microseconds: $0) })
  }
}
