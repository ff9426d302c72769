import Encoding
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// Tests the choice of the subkeys that items are encrypted to.
@Suite struct EncryptionChoiceTests {
  private static let now = Timestamp(microseconds: 1_800_000_000_000_000)

  /// Returns a fingerprint that ends with a digit.
  private static func fingerprint(_ number: Int) -> Fingerprint {
    Fingerprint(String(repeating: "0", count: 39) + "\(number)") ?? GnuPGKey.alice.fingerprint
  }

  /// A subkey that encrypts; those with higher numbers are newer.
  private static func subkey(
    _ number: Int, expires: Int64? = nil, revoked: Bool = false, future: Bool = false
  ) -> PublicKey.Subkey {
    PublicKey.Subkey(
      fingerprint: fingerprint(number), keyID: KeyID(value: UInt64(number)), canEncrypt: number > 0,
      canSign: number == 0,
      created: Timestamp(microseconds: future ? 1_900_000_000_000_000 : Int64(1000 + number)),
      expires: expires.map { Timestamp(microseconds: $0) },
      revocation: revoked ? KeyRevocation(created: Timestamp(microseconds: 5000), reason: .retired) : nil)
  }

  struct Choice: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The subkeys that encrypt.
    let subkeys: [PublicKey.Subkey]
    var listed: [Int] = []
    /// The subkeys whose secrets are here; nil for the key of another person.
    var here: [Int]?
    /// The subkeys that the store knows; nil for a new person.
    var known: [Int]?
    let chosen: [Int]?
    var skipped: Int?
    /// The subkey whose secret is here, if that of the chosen one is not.
    var reported: Int?
  }

  private static let three = (1...3).map { subkey($0) }

  static let choices = [
    Choice(testDescription: "the newest of a new person", subkeys: three, chosen: [3]),
    Choice(
      testDescription: "the newest valid one",
      subkeys: [subkey(1), subkey(2, revoked: true), subkey(3, expires: 9)],
      chosen: [1]),
    Choice(testDescription: "none", subkeys: [subkey(1, revoked: true)], chosen: nil),
    Choice(
      testDescription: "none from the future", subkeys: [subkey(1), subkey(2, future: true)], chosen: [1]),
    Choice(
      testDescription: "the newest of the own ones here", subkeys: three, here: [1, 2], chosen: [2],
      skipped: 3),
    Choice(testDescription: "the newest if no own one is here", subkeys: three, here: [], chosen: [3]),
    Choice(
      testDescription: "the listed one of another person", subkeys: three, listed: [2], known: [1, 2, 3],
      chosen: [2]),
    Choice(
      testDescription: "a new one of another person", subkeys: three, listed: [2], known: [1, 2], chosen: [3]),
    Choice(
      testDescription: "the newest if the listed one of another person is not valid",
      subkeys: [subkey(1), subkey(2), subkey(3, revoked: true)], listed: [3], known: [1, 2, 3], chosen: [2]),
    Choice(
      testDescription: "the listed own one, while the newest is elsewhere", subkeys: three, listed: [1],
      here: [1],
      known: [1, 2, 3], chosen: [1], skipped: 3),
    Choice(
      testDescription: "a newer own one whose secret is here now", subkeys: three, listed: [1], here: [1, 3],
      known: [1, 2, 3], chosen: [3]),
    Choice(
      testDescription: "the listed own one that was chosen although it is elsewhere", subkeys: three,
      listed: [3],
      here: [1, 2], known: [1, 2, 3], chosen: [3], reported: 2),
    Choice(
      testDescription: "an older own one that was chosen although it is elsewhere", subkeys: three,
      listed: [1],
      here: [2, 3], known: [1, 2, 3], chosen: [1], reported: 3),
    Choice(
      testDescription: "a new own one instead of one that is elsewhere", subkeys: three, listed: [2],
      here: [3],
      known: [1, 2], chosen: [3]),
    Choice(
      testDescription: "not one that is elsewhere and has expired",
      subkeys: [subkey(1), subkey(2, expires: 9)],
      listed: [2], here: [1], known: [1, 2], chosen: [1]),
    Choice(
      testDescription: "all that were chosen", subkeys: three, listed: [1, 3], here: [2], known: [1, 2, 3],
      chosen: [1, 3]),
    Choice(
      testDescription: "the valid ones of all that were chosen",
      subkeys: [subkey(1), subkey(2, expires: 9), subkey(3)],
      listed: [1, 2], known: [1, 2, 3], chosen: [1]),
  ]

  @Test(arguments: choices) func `items are encrypted to`(choice: Choice) {
    let key = PublicKey(
      fingerprint: Self.fingerprint(0), userIDs: [], subkeys: [Self.subkey(0)] + choice.subkeys,
      hasSecret: false)
    let secrets = choice.here.map { here in
      Dictionary(uniqueKeysWithValues: here.map { (Self.fingerprint($0), SecretPlace.here) })
    }
    let result = key.encryptionChoice(
      listed: choice.listed.map(Self.fingerprint), secrets: secrets,
      known: choice.known.map { Set($0.map(Self.fingerprint)) }, at: Self.now)
    #expect(result?.subkeys == choice.chosen?.map(Self.fingerprint))
    #expect(result?.skipped == choice.skipped.map(Self.fingerprint))
    #expect(result?.here == choice.reported.map(Self.fingerprint))
  }
}
