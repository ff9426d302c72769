import Encoding
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@Suite(.serialized) struct SignatureTests {
  private static let text = Array("policy\n".utf8)

  @Test func `a detached signature is armored, names its signer and matches these bytes only`() throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let engine = Engine(home, people: [.alice, .bob])
    for signer in [GnuPGKey.alice, .bob, .alice] {
      let signature = try engine.signDetached(Self.text, signer: signer.fingerprint)
      #expect(signature.starts(with: Array("-----BEGIN PGP SIGNATURE-----\n".utf8)))
      let facts = try engine.verifyDetached(signature: signature, of: Self.text)
      #expect(facts.map(\.status) == [.good])
      #expect(facts.map(\.primary) == [signer.fingerprint])
      #expect(try #require(facts.first).created > Timestamp(microseconds: 1_700_000_000_000_000))
      let others = try engine.verifyDetached(signature: signature, of: Self.text + [0])
      #expect(others.map(\.status) == [.bad])
    }
  }

  @Test func `a signature by an unknown key names no signer`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let signature = try Engine(home, people: [.alice])
      .signDetached(Self.text, signer: GnuPGKey.alice.fingerprint)
    let facts = try Engine(home, people: [.bob]).verifyDetached(signature: signature, of: Self.text)
    #expect(facts.map(\.status) == [.unknownKey])
    #expect(facts.map(\.primary) == [nil])
  }

  @Test
  func
    `a message with an inner signature by anyone is decrypted, because only the record's signature counts`()
    throws
  {
    let home = try GnuPGHome(secret: [.alice, .bob])
    for signer in [GnuPGKey.alice, .bob] {
      let options = ["--sign", "--local-user", signer.fingerprint.text]
      let message = try home.encrypt(Self.text, to: [.alice], options: options)
      #expect(try Engine(home, people: [.alice]).opened(message) == Self.text)
    }
  }

  @Test func `several signatures give several facts`() throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let users = [
      "--local-user", GnuPGKey.alice.fingerprint.text, "--local-user", GnuPGKey.bob.fingerprint.text,
    ]
    let signature = try home.run(users + ["--detach-sign"], input: Self.text)
    let engine = Engine(home, people: [.alice, .bob])
    let facts = try engine.verifyDetached(signature: signature, of: Self.text)
    #expect(facts.map(\.status) == [.good, .good])
    #expect(Set(facts.map(\.primary)) == [GnuPGKey.alice.fingerprint, GnuPGKey.bob.fingerprint])
  }

  private static let revocation = KeyRevocation(
    created: Timestamp(microseconds: 1_704_412_800_000_000), reason: .unspecified)

  @Test(arguments: [
    (GnuPGKey.expired, SignatureFact.Status.good), (.revoked, .invalidKey(.revoked(revocation))),
  ])
  func `a signature stays valid when its key expires, but not when its key is revoked without a reason`(
    key: GnuPGKey, status: SignatureFact.Status
  ) throws {
    let home = try GnuPGHome()
    let signature = GnuPGKey.signature(by: key)
    let engine = Engine(home, people: [key])
    let facts = try engine.verifyDetached(signature: signature, of: Self.text)
    #expect(facts.map(\.status) == [status])
    #expect(facts.map(\.primary) == [key.fingerprint])
  }

  @Test func `a file that is not a detached signature is never accepted as one`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let inputs = [
      [], [0], Array("-----BEGIN PGP SIGNATURE-----\n\n".utf8), Self.text, GnuPGKey.alice.publicKey,
      try home.run(["--sign"], input: Self.text), try home.run(["--clearsign"], input: Self.text),
      try engine.sealed(Self.text, to: [.alice]),
    ]
    for (number, input) in inputs.enumerated() {
      // No facts or an error are both fine; a good signature is not.
      let facts = (try? engine.verifyDetached(signature: input, of: Self.text)) ?? []
      #expect(!facts.contains { $0.status == .good }, "input \(number)")
    }
  }
}
