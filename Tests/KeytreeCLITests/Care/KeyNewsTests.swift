import Encoding
import KeyringModel
import OpenPGP
import TestSupport
import Testing

@testable import KeytreeCLI

/// Tests what `status` and `doctor` say about a key that has changed in the user's own GnuPG keyring.
@Suite struct KeyNewsTests {
  private static func part(
    _ number: Int, expires: Int64? = nil, revoked: KeyRevocation.Reason? = nil
  ) -> PublicKey.Subkey {
    let fingerprint =
      Fingerprint(String(repeating: "0", count: 39) + "\(number)") ?? GnuPGKey.alice.fingerprint
    return PublicKey.Subkey(
      fingerprint: fingerprint, keyID: KeyID(of: fingerprint), canEncrypt: number == 2,
      canSign: number == 1, created: Timestamp(microseconds: 1000),
      expires: expires.map { Timestamp(microseconds: $0) },
      revocation: revoked.map { KeyRevocation(created: Timestamp(microseconds: 5000), reason: $0) })
  }

  private static func key(_ parts: [PublicKey.Subkey], _ userIDs: [String] = ["A"]) -> PublicKey {
    PublicKey(fingerprint: parts[0].fingerprint, userIDs: userIDs, subkeys: parts, hasSecret: true)
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let stored: PublicKey
    let own: PublicKey
    let news: [String]
  }

  private static let plain = key([part(0), part(1), part(2)])
  private static let ended = key([
    part(0, expires: 86_400_000_000), part(1), part(2, expires: 86_400_000_000),
  ])

  static let cases = [
    Case(testDescription: "the same key", stored: plain, own: plain, news: []),
    Case(
      testDescription: "a new subkey", stored: key([part(0), part(1)]), own: plain,
      news: ["new encryption subkey 0000000000000002"]),
    Case(testDescription: "an older key", stored: plain, own: key([part(0), part(1)]), news: []),
    Case(
      testDescription: "a revoked subkey", stored: plain,
      own: key([part(0), part(1, revoked: .compromised), part(2)]),
      news: ["signing subkey 0000000000000001 revoked (compromised)"]),
    Case(
      testDescription: "a revocation that only the store knows",
      stored: key([part(0), part(1, revoked: .retired), part(2)]), own: plain, news: []),
    Case(
      testDescription: "later ends", stored: ended,
      own: key([part(0), part(1), part(2, expires: 172_800_000_000)]),
      news: ["primary key without an end date", "encryption subkey 0000000000000002 valid until 1970-01-03"]),
    Case(testDescription: "earlier ends", stored: plain, own: ended, news: []),
    Case(
      testDescription: "a new user id", stored: plain, own: key([part(0), part(1), part(2)], ["B", "A"]),
      news: ["new user id \"B\""]),
    Case(
      testDescription: "a user id that only the store knows", stored: key([part(0)], ["A", "B"]),
      own: key([part(0)]),
      news: []),
  ]

  @Test(arguments: cases) func `the news about a key are`(example: Case) {
    #expect(example.own.news(since: example.stored) == example.news)
  }
}
