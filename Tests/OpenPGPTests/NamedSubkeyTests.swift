import Encoding
import KeyringModel
import Secrets
import TestSupport
import Testing

@testable import OpenPGP

/// Tests messages to exactly the subkeys that the caller names.
@Suite(.serialized, .waits) struct NamedSubkeyTests {
  private static let several = GnuPGKey.several.fingerprint
  /// The encryption subkeys of 2021, of 2022 (the newest valid one), and of 2023 (expired).
  private static let subkeys = [
    "53C1DFA456AF5E92BDF87B6035C66D2428E5390D", "91DC20904AAD53985357964133AD7EB027B7C308",
    "64AAA603CD8A78CFEEA2A8D590F0C37E4F1D7A06",
  ].compactMap { Fingerprint($0) }

  private func recipient(_ numbers: [Int]) -> Recipient {
    Recipient(Self.several, subkeys: numbers.map { Self.subkeys[$0] })
  }

  private static func id(_ number: Int) -> KeyID? { KeyID(String(subkeys[number].text.suffix(16))) }

  @Test(arguments: [[], [0], [1], [0, 1], [1, 0], [0, 0]])
  func `a message is encrypted to exactly the subkeys that are named`(numbers: [Int]) throws {
    let home = try GnuPGHome(secret: [.several])
    let engine = Engine(home, people: [.alice, .several])
    let message = try engine.seal(SecretBytes(copying: [1, 2, 3]), to: [recipient(numbers)])
    let expected = Set(numbers.isEmpty ? [1] : numbers).compactMap(Self.id)
    #expect(try header(of: message).recipients.sorted() == expected.sorted())
    #expect(try engine.opened(message) == [1, 2, 3])
  }

  @Test func `nothing is encrypted to a named subkey that has expired`() throws {
    let home = try GnuPGHome()
    let engine = Engine(home, people: [.alice, .several])
    let expected = EngineError.unusableKey(Self.several, .expired(Timestamp(seconds: 1_704_067_200)))
    #expect(throws: expected) { try engine.checkRecipients([recipient([1, 2])]) }
    #expect(throws: expected) {
      try engine.seal(
        SecretBytes(copying: [1]), to: [Recipient(GnuPGKey.alice.fingerprint), recipient([1, 2])])
    }
    #expect(engine.statistics.encryptions == 0)
  }

  @Test func `a named subkey of another key, or without encryption, is refused`() throws {
    let home = try GnuPGHome()
    let engine = Engine(home, people: [.bob, .several])
    let expected = EngineError.unusableKey(Self.several, .cannotEncrypt)
    for name in [GnuPGKey.bob.fingerprint, Self.several] {
      let recipient = Recipient(Self.several, subkeys: [name])
      #expect(throws: expected) { try engine.checkRecipients([recipient]) }
      #expect(throws: expected) { try engine.seal(SecretBytes(copying: [1]), to: [recipient]) }
    }
  }
}
