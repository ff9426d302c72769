import Encoding
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// Tests the check after encryption, with the output of gpg under settings that interfere.
@Suite(.serialized) struct SealedMessageCheckTests {
  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var options: [String]
    var hint: String?
  }

  static let cases = [
    Case(testDescription: "armor", options: ["--armor"], hint: "armor"),
    Case(testDescription: "throw-keyids", options: ["--throw-keyids"], hint: "throw-keyids"),
    Case(testDescription: "rfc2440", options: ["--rfc2440"], hint: "rfc2440"),
    Case(
      testDescription: "group",
      options: ["--group", "\(GnuPGKey.alice.fingerprint.text)=\(GnuPGKey.bob.fingerprint.text)"],
      hint: "group"),
    Case(
      testDescription: "encrypt-to", options: ["--encrypt-to", GnuPGKey.bob.fingerprint.text],
      hint: "encrypt-to"),
    Case(
      testDescription: "symmetric",
      options: ["--symmetric", "--pinentry-mode", "loopback", "--passphrase", "x"], hint: "symmetric"),
  ]

  @Test(arguments: cases)
  func `the effect of a setting on a message is detected, and the error names the setting`(setting: Case)
    throws
  {
    let home = try GnuPGHome(public: [.alice, .bob])
    let bytes = try home.encrypt([1, 2, 3], to: [.alice], options: setting.options)
    #expect(hint(bytes) == setting.hint)
  }

  @Test
  func `an additional subkey of the same person is detected and distinguished from another person's key`()
    throws
  {
    let own = Packets.recipient(0x35C6_6D24_28E5_390D) + Packets.recipient(0x33AD_7EB0_27B7_C308)
    #expect(hint(own + Packets.container, people: [.several]) == "adsk")
  }

  @Test func `a message for exactly the expected subkeys passes`() throws {
    let home = try GnuPGHome(public: [.alice, .bob])
    let bytes = try home.encrypt([1, 2, 3], to: [.alice])
    let table = Self.table
    try SealedMessageCheck.check(
      bytes, expected: try Self.expected([GnuPGKey.alice.fingerprint]),
      people: [GnuPGKey.alice.fingerprint], table: table)
  }

  private static func expected(_ people: [Fingerprint]) throws(EngineError) -> [KeyID] {
    try table.encryptionSubkeys(of: people.map { Recipient($0) }, at: Engine.now).map(\.keyID)
  }

  private func hint(_ bytes: [UInt8], people: [GnuPGKey] = [.alice]) -> String? {
    do {
      let people = people.map(\.fingerprint)
      let expected = try Self.expected(people)
      try SealedMessageCheck.check(bytes, expected: expected, people: people, table: Self.table)
    } catch .wrongRecipients(_, _, let hint) {
      return hint ?? "no hint"
    } catch {
      return "\(error)"
    }
    return "passed"
  }

  // Keys as gpg would list them. The listing is tested elsewhere.
  static let table = KeyTable([
    key(.alice, [("2C8B1CC9CCADBF7D4995E72D7579F5211C2A9AC6", 1_704_067_200)]),
    key(.bob, [("5AC0F82A5B454B4E43C586B2F0896F197DF1FC3C", 1_704_153_600)]),
    key(
      .several,
      [
        ("53C1DFA456AF5E92BDF87B6035C66D2428E5390D", 1_609_459_200),
        ("91DC20904AAD53985357964133AD7EB027B7C308", 1_640_995_200),
      ]),
  ])

  private static func key(_ key: GnuPGKey, _ subkeys: [(String, Int)]) -> PublicKey {
    var all = [subkey(key.fingerprint.text, 1_600_000_000, encrypts: false)]
    all += subkeys.map { subkey($0.0, $0.1, encrypts: true) }
    return PublicKey(
      fingerprint: key.fingerprint, userIDs: [], subkeys: all.compactMap { $0 }, hasSecret: false)
  }

  private static func subkey(_ text: String, _ created: Int, encrypts: Bool) -> PublicKey.Subkey? {
    guard let fingerprint = Fingerprint(text), let keyID = KeyID(String(text.suffix(16))) else { return nil }
    return PublicKey.Subkey(
      fingerprint: fingerprint, keyID: keyID, canEncrypt: encrypts, canSign: !encrypts,
      created: Timestamp(seconds: created))
  }
}
