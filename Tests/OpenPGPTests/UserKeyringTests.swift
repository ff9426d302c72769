import Encoding
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@Suite(.serialized) struct UserKeyringTests {
  @Test func `the secret keys are the keys with a secret half`() throws {
    let home = try GnuPGHome(secret: [.alice, .expired], public: [.bob])
    let keys = try UserKeyring(locations: home.locations).secretKeys()
    #expect(Set(keys.map(\.fingerprint)) == [GnuPGKey.alice.fingerprint, GnuPGKey.expired.fingerprint])
    #expect(keys.map(\.hasSecret) == [true, true])
    #expect(try UserKeyring(locations: GnuPGHome().locations).secretKeys().isEmpty)
  }

  @Test func `a key is found by its primary fingerprint, and not by that of a subkey`() throws {
    let home = try GnuPGHome(public: [.alice, .bob])
    let keyring = UserKeyring(locations: home.locations)
    let alice = GnuPGKey.alice.fingerprint
    #expect(try keyring.publicKey(alice)?.fingerprint == alice)
    let subkey = try #require(Fingerprint("2C8B1CC9CCADBF7D4995E72D7579F5211C2A9AC6"))
    #expect(try keyring.publicKey(subkey) == nil)
    #expect(try keyring.publicKey(GnuPGKey.carol.fingerprint) == nil)
  }

  @Test func `a disabled key is recognized`() throws {
    let home = try GnuPGHome(public: [.alice])
    // The flag is the last field of the key's trust record. These commands are the only way to set it without a dialog.
    try home.run(
      ["--command-fd", "0", "--edit-key", GnuPGKey.alice.fingerprint.text],
      input: Array("disable\nquit\n".utf8))
    let key = try UserKeyring(locations: home.locations).publicKey(GnuPGKey.alice.fingerprint)
    #expect(key?.disabled == true)
    #expect(
      key?.problem(for: .encrypt, at: Timestamp(microseconds: 1_800_000_000_000_000)) == .disabled)
  }

  @Test(arguments: [GnuPGKey.alice, .rsa, .several, .expired, .revoked])
  func `an exported key can be used by an engine, with every subkey`(key: GnuPGKey) throws {
    let home = try GnuPGHome(public: [key])
    let exported = try UserKeyring(locations: home.locations).exportMinimal(key.fingerprint)
    #expect(exported.starts(with: Array("-----BEGIN PGP PUBLIC KEY BLOCK-----\n".utf8)))
    let engine = Engine(
      locations: home.locations, keyringID: "test", keys: [key.fingerprint: exported], interaction: .never)
    let whole = Engine(home, people: [key], keyringID: "whole")
    #expect(engine.report().keys == whole.report().keys)
    #expect(engine.report().keys.count == 1)
  }

  @Test func `a missing key cannot be exported`() throws {
    let home = try GnuPGHome(public: [.alice])
    let bob = GnuPGKey.bob.fingerprint
    #expect(throws: EngineError.unusableKey(bob, .missing)) {
      try UserKeyring(locations: home.locations).exportMinimal(bob)
    }
  }
}
