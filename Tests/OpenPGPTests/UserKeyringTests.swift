import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@Suite struct UserKeyringTests {
  @Test func `Secret keys are those with a secret half`() throws {
    let home = try GnuPGHome(secret: [.alice, .expired], public: [.bob])
    let keys = try UserKeyring(locations: home.locations).secretKeys()
    #expect(Set(keys.map(\.fingerprint)) == [GnuPGKey.alice.fingerprint, GnuPGKey.expired.fingerprint])
    #expect(keys.map(\.hasSecret) == [true, true])
    #expect(try UserKeyring(locations: GnuPGHome().locations).secretKeys().isEmpty)
  }

  @Test func `Keys are found by full fingerprint or exact address, never by a part`() throws {
    let home = try GnuPGHome(public: [.alice, .bob])
    let keyring = UserKeyring(locations: home.locations)
    let alice = GnuPGKey.alice.fingerprint
    for text in [alice.text, "alice@keytree.example", "Alice@Keytree.EXAMPLE"] {
      #expect(try keyring.publicKeys(matching: text).map(\.fingerprint) == [alice], "\(text)")
    }
    let others = [
      "", "alice", "Alice Example", "@keytree.example", "lice@keytree.example", "alice@keytree", "7D8856D8",
      "C11945FA7D8856D8", "0x" + alice.text, alice.text.lowercased(), "--list-keys@x", "=Alice Example",
      "<alice@keytree.example>", "alice@keytree.example\n", "2C8B1CC9CCADBF7D4995E72D7579F5211C2A9AC6",
    ]
    for text in others { #expect(try keyring.publicKeys(matching: text).isEmpty, "\(text)") }
  }

  @Test func `A disabled key is seen as one`() throws {
    let home = try GnuPGHome(public: [.alice])
    // The last field of a key's trust record: the flag is the only way to disable it without a dialog.
    try home.run(
      ["--command-fd", "0", "--edit-key", GnuPGKey.alice.fingerprint.text],
      input: Array("disable\nquit\n".utf8))
    let keys = try UserKeyring(locations: home.locations).publicKeys(matching: GnuPGKey.alice.mail)
    #expect(keys.map(\.disabled) == [true])
    #expect(
      keys.first?.problem(for: .encrypt, at: Timestamp(microseconds: 1_800_000_000_000_000)) == .disabled)
  }

  @Test(arguments: [GnuPGKey.alice, .rsa, .several, .expired, .revoked])
  func `What is exported can be used by an engine, with every subkey`(key: GnuPGKey) throws {
    let home = try GnuPGHome(public: [key])
    let exported = try UserKeyring(locations: home.locations).exportMinimal(key.fingerprint)
    #expect(exported.starts(with: Array("-----BEGIN PGP PUBLIC KEY BLOCK-----\n".utf8)))
    let engine = Engine(
      locations: home.locations, keyringID: "test", keys: [key.fingerprint: exported], interaction: .never)
    let whole = Engine(home, people: [key], keyringID: "whole")
    #expect(engine.report().keys == whole.report().keys)
    #expect(engine.report().keys.count == 1)
  }

  @Test func `A key that is not there cannot be exported`() throws {
    let home = try GnuPGHome(public: [.alice])
    let bob = GnuPGKey.bob.fingerprint
    #expect(throws: EngineError.unusableKey(bob, .missing)) {
      try UserKeyring(locations: home.locations).exportMinimal(bob)
    }
  }
}
