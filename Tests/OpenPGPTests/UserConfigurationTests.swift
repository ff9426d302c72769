import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests that the user's own gpg.conf does not change what is written. Each setting is first shown to affect plain gpg
/// in the same home.
@Suite(.serialized) struct UserConfigurationTests {
  private static let text = Array("hello".utf8)

  private func written(with lines: [String], harm: ([UInt8]) throws -> Bool) throws {
    let home = try GnuPGHome(secret: [.alice], public: [.bob], configuration: lines)
    #expect(
      try harm(home.encrypt(Self.text, to: [.alice])), "gpg does not show the effect that this test is about")
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(Self.text, to: [.alice])
    let found = try header(of: sealed)
    #expect(Set(found.recipients) == (try engine.newestRecipients([.alice])))
    #expect(try engine.opened(sealed) == Self.text)
    let signed = try engine.signMessage(Self.text, signer: GnuPGKey.alice.fingerprint)
    #expect(SignedMessage(signed)?.content == Self.text)
    #expect(try engine.verifyMessages([signed])[0]?.status == .good)
  }

  @Test func `armor in the user's gpg.conf changes nothing`() throws {
    try written(with: ["armor"]) { bytes in
      #expect(throws: MessageError.notBinary) { try header(of: bytes) }
      return true
    }
  }

  @Test func `throw-keyids in the user's gpg.conf changes nothing`() throws {
    try written(with: ["throw-keyids"]) { try header(of: $0).recipients == [.hidden] }
  }

  @Test func `group in the user's gpg.conf changes nothing`() throws {
    let line = "group \(GnuPGKey.alice.fingerprint.text)=\(GnuPGKey.bob.fingerprint.text)"
    try written(with: [line]) { try header(of: $0).recipients == [KeyID("F0896F197DF1FC3C")] }
  }

  @Test func `rfc2440 in the user's gpg.conf changes nothing`() throws {
    try written(with: ["rfc2440"]) { bytes in
      #expect(throws: MessageError.noIntegrityProtection) { try header(of: bytes) }
      return true
    }
  }

  @Test func `encrypt-to in the user's gpg.conf changes nothing`() throws {
    try written(with: ["encrypt-to \(GnuPGKey.bob.fingerprint.text)"]) {
      try header(of: $0).recipients.count == 2
    }
  }

  @Test func `hidden-encrypt-to in the user's gpg.conf changes nothing`() throws {
    try written(with: ["hidden-encrypt-to \(GnuPGKey.bob.fingerprint.text)"]) {
      try header(of: $0).recipients.contains(.hidden)
    }
  }

  @Test func `default-key in the user's gpg.conf does not select the signer`() throws {
    let home = try GnuPGHome(
      secret: [.alice, .bob], configuration: ["default-key \(GnuPGKey.bob.fingerprint.text)"])
    let engine = Engine(home, people: [.alice, .bob])
    #expect(try engine.signed(by: .alice)?.primary == GnuPGKey.alice.fingerprint)
  }
}
