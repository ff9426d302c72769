import Encoding
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

@Suite(.serialized) struct PublicKeyTests {
  private static let now = Timestamp(seconds: 1_800_000_000)
  private static let person = GnuPGKey.alice.fingerprint

  private static func subkey(
    _ id: UInt64, created: Int = 1000, expires: Int? = nil, encrypts: Bool = true, signs: Bool = false,
    revoked: Bool = false, disabled: Bool = false, invalid: Bool = false
  ) -> PublicKey.Subkey {
    PublicKey.Subkey(
      fingerprint: person, keyID: KeyID(value: id), canEncrypt: encrypts, canSign: signs,
      created: Timestamp(seconds: created), expires: expires.map { Timestamp(seconds: $0) },
      revocation: revoked ? KeyRevocation(created: Timestamp(seconds: 5000), reason: .retired) : nil,
      disabled: disabled, invalid: invalid)
  }

  private static func key(_ subkeys: [PublicKey.Subkey], primary: PublicKey.Subkey? = nil) -> PublicKey {
    let primary = primary ?? subkey(1, encrypts: false, signs: true)
    return PublicKey(fingerprint: person, userIDs: [], subkeys: [primary] + subkeys, hasSecret: false)
  }

  struct Choice: CustomTestStringConvertible {
    var testDescription: String
    var key: PublicKey
    var chosen: UInt64?
    var problem: KeyProblem?
  }

  static let choices = [
    Choice(testDescription: "the only one", key: key([subkey(2)]), chosen: 2),
    Choice(testDescription: "the newest", key: key([subkey(2), subkey(3, created: 2000)]), chosen: 3),
    Choice(
      testDescription: "the newest, listed first",
      key: key([subkey(3, created: 2000), subkey(2)]), chosen: 3),
    Choice(
      testDescription: "the first of two that were created in the same second",
      key: key([subkey(2), subkey(3)]), chosen: 2),
    Choice(
      testDescription: "not an expired one",
      key: key([subkey(2), subkey(3, created: 2000, expires: 3000)]), chosen: 2),
    Choice(
      testDescription: "not a revoked one",
      key: key([subkey(2), subkey(3, created: 2000, revoked: true)]), chosen: 2),
    Choice(
      testDescription: "not an invalid one",
      key: key([subkey(2), subkey(3, created: 2000, invalid: true)]), chosen: 2),
    Choice(
      testDescription: "one with a date in the future, which means that the clock is behind",
      key: key([subkey(2), subkey(3, created: 1_900_000_000)]), chosen: 3,
      problem: .fromFuture(Timestamp(seconds: 1_900_000_000))),
    Choice(
      testDescription: "one from five minutes in the future, since clocks differ a little",
      key: key([subkey(2), subkey(3, created: 1_800_000_300)]), chosen: 3),
    Choice(
      testDescription: "not one from the future that has expired",
      key: key([subkey(2), subkey(3, created: 1_900_000_000, expires: 5)]), chosen: 2),
    Choice(
      testDescription: "not one for signing",
      key: key([subkey(2), subkey(3, created: 2000, encrypts: false, signs: true)]), chosen: 2),
    Choice(
      testDescription: "the primary key when it encrypts and nothing else does",
      key: key([], primary: subkey(1, encrypts: true, signs: true)), chosen: 1),
    Choice(
      testDescription: "a subkey rather than the primary key",
      key: key([subkey(2)], primary: subkey(1, created: 2000, encrypts: true)), chosen: 2),
    Choice(testDescription: "none without encryption", key: key([]), problem: .cannotEncrypt),
    Choice(
      testDescription: "none when all have expired, with the last expiry date",
      key: key([subkey(2, expires: 3000), subkey(3, expires: 2000)]),
      problem: .expired(Timestamp(seconds: 3000))),
    Choice(
      testDescription: "none when all are revoked",
      key: key([subkey(2, revoked: true)]), problem: .revoked),
    Choice(
      testDescription: "none of a revoked key",
      key: key([subkey(2)], primary: subkey(1, revoked: true)), problem: .revoked),
    Choice(
      testDescription: "none of an expired key",
      key: key([subkey(2)], primary: subkey(1, expires: 3000)),
      problem: .expired(Timestamp(seconds: 3000))),
    Choice(
      testDescription: "none of a disabled key",
      key: key([subkey(2)], primary: subkey(1, disabled: true)), problem: .disabled),
    Choice(
      testDescription: "none of an invalid key",
      key: key([subkey(2)], primary: subkey(1, invalid: true)), problem: .invalid),
    Choice(
      testDescription: "the primary key with a date in the future",
      key: key([], primary: subkey(1, created: 1_900_000_000, encrypts: true)), chosen: 1,
      problem: .fromFuture(Timestamp(seconds: 1_900_000_000))),
  ]

  @Test(arguments: choices)
  func `the subkey that gpg will use is known in advance`(choice: Choice) {
    #expect(choice.key.subkey(for: .encrypt, at: Self.now)?.keyID.value == choice.chosen)
    #expect(choice.key.problem(for: .encrypt, at: Self.now) == choice.problem)
  }

  @Test func `a key expires in the second of its expiry`() {
    let key = Self.key([Self.subkey(2, expires: 5000)])
    #expect(key.problem(for: .encrypt, at: Timestamp(microseconds: 4_999_999_999)) == nil)
    #expect(key.problem(for: .encrypt, at: Timestamp(seconds: 5000)) == .expired(Timestamp(seconds: 5000)))
  }

  @Test func `a key that claims another key's subkey makes only that subkey ambiguous`() throws {
    var shared = Self.subkey(7)
    shared.fingerprint = try #require(Fingerprint(String(repeating: "B", count: 40)))
    let other = try #require(Fingerprint(String(repeating: "A", count: 40)))
    var thief = Self.key([shared], primary: Self.subkey(8, encrypts: false))
    thief.fingerprint = other
    let table = KeyTable([Self.key([shared]), thief])
    #expect(table.owner(of: shared.fingerprint) == nil)
    #expect(table.owner(of: other) == other)
    #expect(table.owner(of: Self.person) == Self.person)
    #expect(table.claims(KeyID(value: 7), by: other))
  }

  @Test(
    "a key table in another spelling than the written one is refused",
    arguments: [
      ("3000", "+3000"), ("3000", "03000"), ("3000", "9000000000000000"), ("%0A", "%0a"), (" -e ", " -ee "),
      (" 5000,3", " 5000,4"), (" 5000,3", " 05000,3"), (" 5000,3", " 5000,03"), (" 5000,3", " 5000,3,3"),
      (" -\n", " 0,\n"),
    ])
  func otherSpelling(_ old: String, _ new: String) {
    let keys = [Self.key([Self.subkey(2, expires: 3000, revoked: true), Self.subkey(3)])].map { key in
      PublicKey(fingerprint: key.fingerprint, userIDs: ["a\nb"], subkeys: key.subkeys, hasSecret: false)
    }
    let bytes = KeyTableFile.encode(keys)
    #expect(KeyTableFile.decode(bytes) == keys)
    let changed = String(decoding: bytes, as: UTF8.self).replacing(old, with: new)
    #expect(Array(changed.utf8) != bytes && KeyTableFile.decode(Array(changed.utf8)) == nil)
  }

  @Test func `the key table reads back unchanged, and a damaged one is refused`() throws {
    let keys = [
      Self.key([Self.subkey(2, expires: 3000, revoked: true, disabled: true, invalid: true), Self.subkey(3)]),
      PublicKey(
        fingerprint: Self.person, userIDs: ["A % B\n end 1\u{0}", "é <x@y>", ""],
        subkeys: [Self.subkey(1)], hasSecret: false),
    ]
    let bytes = KeyTableFile.encode(keys)
    #expect(KeyTableFile.decode(bytes) == keys)
    #expect(KeyTableFile.decode(KeyTableFile.encode([])) == [])
    for length in 0..<bytes.count { #expect(KeyTableFile.decode(Array(bytes.prefix(length))) == nil) }
    let text = String(decoding: bytes, as: UTF8.self)
    for (old, new) in [
      ("keys 2", "keys 3"), ("key ", "kex "), (" -e ", " e- "), ("end", "End"), ("%0A", "%0"),
    ] {
      let changed = text.replacing(old, with: new)
      #expect(changed != text)
      #expect(KeyTableFile.decode(Array(changed.utf8)) == nil, "\(old)")
    }
  }
}
