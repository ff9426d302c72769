import Encoding
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@Suite(.serialized) struct UnusableKeyTests {
  @Test func `a key that cannot encrypt is reported with its problem before anything else happens`() throws {
    let home = try GnuPGHome()
    let people = GnuPGKey.allCases
    let engine = Engine(home, people: people.filter { $0 != .carol })
    // This creates the home, so that the calls below start no process.
    try engine.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
    let before = engine.statistics.processes
    let problems: [(GnuPGKey, KeyProblem)] = [
      (.expired, .expired(Timestamp(microseconds: 1_640_908_800_000_000))), (.revoked, .revoked),
      (.signonly, .cannotEncrypt), (.carol, .missing),
    ]
    for (key, problem) in problems {
      let expected = EngineError.unusableKey(key.fingerprint, problem)
      #expect(throws: expected) { try engine.sealed(to: [.alice, key]) }
      #expect(throws: expected) { try engine.checkRecipients([Recipient(key.fingerprint)]) }
    }
    #expect(engine.statistics == EngineStatistics(processes: before))
  }

  @Test func `a key that cannot sign is reported with its problem`() throws {
    let home = try GnuPGHome(secret: [.alice, .expired, .revoked])
    let engine = Engine(home, people: [.alice, .bob, .expired, .revoked])
    let problems: [(GnuPGKey, KeyProblem)] = [
      (.expired, .expired(Timestamp(microseconds: 1_640_908_800_000_000))), (.revoked, .revoked),
      (.carol, .missing), (.bob, .noSecretKey),
    ]
    for (key, problem) in problems {
      let expected = EngineError.unusableKey(key.fingerprint, problem)
      #expect(throws: expected, "\(key)") { try engine.signMessage([1], signer: key.fingerprint) }
      #expect(throws: expected, "\(key)") { try engine.signDetached([1], signer: key.fingerprint) }
    }
  }

  @Test func `a signer without a secret key is refused even if another key is the default`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice, .bob])
    // Bob comes first, and takes the place of the default that he cannot fill.
    let expected = EngineError.unusableKey(GnuPGKey.bob.fingerprint, .noSecretKey)
    #expect(throws: expected) { try engine.signed(by: .bob) }
    #expect(try engine.signed(by: .alice)?.primary == GnuPGKey.alice.fingerprint)
    #expect(throws: expected) { try engine.signed(by: .bob) }
  }

  @Test func `a key file with another person's key does not make that person a recipient`() throws {
    let home = try GnuPGHome()
    let engine = Engine(
      locations: home.locations, keyringID: "test",
      keys: [GnuPGKey.alice.fingerprint: GnuPGKey.bob.publicKey], interaction: .never)
    let alice = GnuPGKey.alice.fingerprint
    #expect(throws: EngineError.unusableKey(alice, .missing)) {
      try engine.checkRecipients([Recipient(alice)])
    }
    let bob = GnuPGKey.bob.fingerprint
    #expect(throws: EngineError.unusableKey(bob, .missing)) { try engine.checkRecipients([Recipient(bob)]) }
  }

  @Test func `further keys in a key file, including secret ones, are not imported`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let file = GnuPGKey.alice.publicKey + GnuPGKey.bob.secretKey + GnuPGKey.carol.publicKey
    let engine = Engine(
      locations: home.locations, keyringID: "test", keys: [GnuPGKey.alice.fingerprint: file],
      interaction: .never)
    #expect(engine.report().keys.map(\.fingerprint) == [GnuPGKey.alice.fingerprint])
    let secrets = try UserKeyring(locations: home.locations).secretKeys()
    #expect(secrets.map(\.fingerprint) == [GnuPGKey.alice.fingerprint])
    // The agent did not get Bob's key either: a message for him still cannot be decrypted.
    let forBob = try Engine(home, people: [.bob]).sealed(to: [.bob])
    #expect(throws: EngineError.notARecipient(recipients: try header(of: forBob).recipients)) {
      try Engine(home, people: [.bob]).opened(forBob)
    }
  }

  @Test func `a damaged key file does not affect the others`() throws {
    let home = try GnuPGHome()
    var keys = GnuPGKey.files([.alice, .bob, .carol, .rsa])
    for key in [GnuPGKey.alice, .bob, .carol] where keys[key.fingerprint] != nil {
      keys[key.fingerprint] = Array("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmDMEZ".utf8)
      let engine = Engine(
        locations: home.locations, keyringID: "\(key)", keys: keys, interaction: .never)
      let report = engine.report()
      #expect(report.problems[key.fingerprint] == .missing)
      #expect(report.problems[GnuPGKey.rsa.fingerprint] == nil)
      #expect(report.keys.count == 3)
      keys[key.fingerprint] = key.publicKey
    }
  }

  /// Recipient entries of threat T3. None of them becomes a fingerprint, so none can reach the engine.
  @Test(arguments: [
    "--file", "--hidden", "-o/x", "--", "", " ", "exam", "alice@keytree.example",
    "C86E40475C0FBD627777428CC11945FA7D8856D8!", "0xC86E40475C0FBD627777428CC11945FA7D8856D8",
    "c86e40475c0fbd627777428cc11945fa7d8856d8", "C86E40475C0FBD627777428CC11945FA7D8856D8\u{A0}",
    "C86E40475C0FBD627777428CC11945FA7D8856D8\r\n", "C86E40475C0FBD627777428CC11945FA7D8856D",
    "C86E40475C0FBD627777428CC11945FA7D8856D88", "Ϲ86E40475C0FBD627777428CC11945FA7D8856D8",
    "C86E40475C0FBD627777428CC11945FA7D8856D\0", "C86E 4047 5C0F BD62 7777 428C C119 45FA 7D88 56D8",
    "7D8856D8", "C11945FA7D8856D8", "８86E40475C0FBD627777428CC11945FA7D8856D8",
  ])
  func `only a full fingerprint in one spelling names a recipient`(entry: String) {
    #expect(Fingerprint(entry) == nil)
  }
}
