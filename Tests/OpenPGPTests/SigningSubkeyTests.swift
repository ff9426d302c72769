import Foundation
import KeyringModel
import TestSupport
import Testing

@testable import OpenPGP

/// Tests which subkey of a person signs.
@Suite(.serialized, .waits) struct SigningSubkeyTests {
  private static let dave = GnuPGKey.dave.fingerprint
  private static let (first, second) = GnuPGKey.davesSubkeys
  /// The names of the secret keys of dave's signing subkeys in the agent.
  private static let grips = (
    first: "6D9CFF7D0C9F764F14FCBDA5DAA379E45F4DC6CD", second: "D55F92C8C4FD30715DD57A79ADA14CA0A53F7046"
  )
  private let home: GnuPGHome

  init() throws {
    home = try GnuPGHome()
    try home.run(["--import"], input: GnuPGKey.file("dave.renewed.secret"))
  }

  private func engine(_ file: String) -> Engine {
    Engine(
      locations: home.locations, keyringID: "test", keys: [Self.dave: GnuPGKey.file(file)],
      interaction: .never)
  }

  private func signer(_ engine: Engine) throws -> Fingerprint? {
    let message = try engine.signMessage([1], signer: Self.dave)
    let detached = try engine.signDetached([1], signer: Self.dave)
    let fact = try #require(try engine.verifyMessages([message])[0])
    #expect(try engine.verifyDetached(signature: detached, of: [1]).map(\.key) == [fact.key])
    #expect(fact.status == .good && fact.primary == Self.dave)
    return fact.key
  }

  /// Revokes a subkey of the user's own key as superseded.
  private func revoke(subkey number: Int) throws {
    let lines = "key \(number)\nrevkey\ny\n2\n\ny\nsave\n"
    try home.run(
      ["--command-fd", "0", "--pinentry-mode", "loopback", "--edit-key", Self.dave.text],
      input: Array(lines.utf8))
  }

  private func removeSecret(_ grip: String) throws {
    try FileManager.default.removeItem(atPath: "\(home.home)/private-keys-v1.d/\(grip).key")
  }

  @Test func `the newest subkey signs that is valid by the certificate of the store`() throws {
    #expect(try signer(engine("dave.renewed")) == Self.second)
    #expect(try signer(engine("dave.superseded")) == Self.second)
    #expect(try signer(engine("dave.lapsed")) == Self.second)
    // The store does not know the new one yet.
    #expect(try signer(engine("dave.public")) == Self.first)
  }

  @Test func `a subkey that the user's own keyring revokes never signs`() throws {
    // The home exists, and has selected the subkey, before it is revoked.
    #expect(try signer(engine("dave.public")) == Self.first)
    let renewed = engine("dave.renewed")
    #expect(try signer(renewed) == Self.second)
    try revoke(subkey: 3)
    #expect(try signer(engine("dave.renewed")) == Self.first)
    // Also after many signatures in one process.
    for _ in 0..<10 { #expect(try signer(renewed) == Self.first) }
    try revoke(subkey: 2)
    for file in ["dave.public", "dave.renewed"] {
      let id = try #require(KeyID(String((file == "dave.public" ? Self.first : Self.second).text.suffix(16))))
      #expect(throws: EngineError.unusableKey(Self.dave, .revokedHere(id))) { try signer(engine(file)) }
    }
  }

  @Test func `another subkey signs if the secret of the newest one is gone`() throws {
    let renewed = engine("dave.renewed")
    #expect(try signer(renewed) == Self.second)
    try removeSecret(Self.grips.second)
    #expect(try signer(renewed) == Self.first)
    #expect(try signer(engine("dave.renewed")) == Self.first)
    for _ in 0..<10 { #expect(try signer(renewed) == Self.first) }
    try removeSecret(Self.grips.first)
    let id = try #require(KeyID(String(Self.second.text.suffix(16))))
    let expected = EngineError.unusableKey(Self.dave, .noSigningSecret(id))
    #expect(throws: expected) { try signer(renewed) }
    #expect(throws: expected) { try signer(engine("dave.renewed")) }
  }

  @Test func `the selected subkey is known without a process until the user's keyring changes`() throws {
    #expect(try signer(engine("dave.renewed")) == Self.second)
    let next = engine("dave.renewed")
    _ = try next.signMessage([1], signer: Self.dave)
    #expect(next.statistics == EngineStatistics(signatures: 1, processes: 1))
    try home.run(["--import"], input: GnuPGKey.bob.publicKey)
    let other = engine("dave.renewed")
    _ = try other.signMessage([1], signer: Self.dave)
    // The secret keys are listed twice, so that none is missed.
    #expect(other.statistics == EngineStatistics(signatures: 1, processes: 3))
  }

  @Test(arguments: [true, false])
  func `the configuration of a home names the signer and reads it back strictly`(isFixed: Bool) {
    let signer = DefaultSigner(
      person: Self.dave, key: isFixed ? Self.first : nil, userHome: "/home/a b/%\n",
      stamp: "pubring.kbx=1.2.3.4")
    let bytes = EngineConfiguration.bytes(signer: signer)
    #expect(EngineConfiguration.signer(in: bytes) == signer)
    for length in 0..<bytes.count {
      #expect(EngineConfiguration.signer(in: Array(bytes.prefix(length))) == nil)
    }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("\ndefault-key \(isFixed ? Self.first.text + "!" : Self.dave.text)\n"))
    #expect(EngineConfiguration.signer(in: bytes + Array("armor\n".utf8)) == nil)
    #expect(EngineConfiguration.signer(in: EngineConfiguration.bytes(signer: nil)) == nil)
  }
}
