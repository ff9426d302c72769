import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@Suite(.serialized, .waits) struct RoundTripTests {
  @Test(arguments: [0, 1, 2, 191, 192, 511, 512, 4095, 4096, 8383, 8384, 65_537, 1 << 20])
  func `every byte comes back, whatever the size`(size: Int) throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    #expect(try engine.opened(try engine.sealed(bytes, to: [.alice]), limit: size) == bytes)
  }

  @Test(arguments: [GnuPGKey.alice, .rsa, .several])
  func `every kind of key can decrypt and sign`(key: GnuPGKey) throws {
    let home = try GnuPGHome(secret: [key])
    let engine = Engine(home, people: [key, .bob])
    #expect(try engine.opened(try engine.sealed(to: [key, .bob])) == Array("hello".utf8))
    let fact = try engine.signed(by: key)
    #expect(fact?.status == .good)
    #expect(fact?.primary == key.fingerprint)
  }

  @Test func `an encrypted message is not signed, and gpg prints its exact bytes`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let bytes = Array("no line feed at the end, and \0".utf8)
    let sealed = try Engine(home, people: [.alice]).sealed(bytes, to: [.alice])
    #expect(try home.run(["--decrypt"], input: sealed) == bytes)
    let status = try home.run(
      ["--status-fd", "1", "--output", "\(home.folder)/plain", "--decrypt"], input: sealed)
    #expect(!String(decoding: status, as: UTF8.self).contains("SIG"))
  }

  @Test func `a message whose recipients were changed is not decrypted`() throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let engine = Engine(home, people: [.alice, .bob, .carol])
    let message = try engine.sealed(to: [.alice, .bob])
    let other = try engine.sealed(to: [.carol])
    let packets = [
      Array(message.prefix(Self.size(ofPacketAt: message))),
      Array(other.prefix(Self.size(ofPacketAt: other))),
    ]
    let withoutFirst = Array(message.dropFirst(packets[0].count))
    for changed in [packets[1] + message, packets[0] + message, withoutFirst, packets[1] + withoutFirst] {
      #expect(throws: EngineError.alteredRecipients) { try engine.opened(changed) }
    }
    // The order of the packets does not matter.
    let second = Array(withoutFirst.prefix(Self.size(ofPacketAt: withoutFirst)))
    let turned = second + packets[0] + withoutFirst.dropFirst(second.count)
    #expect(try engine.opened(turned) == Array("hello".utf8))
  }

  /// Returns the size of the session key packet in front of a message; GnuPG writes one or two bytes of length (RFC
  /// 9580, 4.2.2).
  private static func size(ofPacketAt message: [UInt8]) -> Int {
    message[0] == 0x85 ? 3 + Int(message[1]) * 256 + Int(message[2]) : 2 + Int(message[1])
  }

  @Test func `the name of the recipients is the digest of their key ids in ascending order`() throws {
    let ids = try ["FFEEDDCCBBAA9988", "0011223344556677"].map { try #require(KeyID($0)) }
    #expect(RecipientName.of(ids) == "readers-WDBv8lCn3HCb1PRcMXVHB2EE85q-5HkhhYAXbg5Uq3E")
    #expect(RecipientName.of(ids.reversed()) == RecipientName.of(ids))
  }

  @Test func `a message of another program is decrypted only if such messages are accepted`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let message = try home.encrypt(Array("hello".utf8), to: [.alice], namesRecipients: false)
    #expect(throws: EngineError.alteredRecipients) { try Engine(home, people: [.alice]).opened(message) }
    let importing = Engine(
      locations: home.locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never,
      acceptsForeignMessages: true)
    #expect(try importing.opened(message) == Array("hello".utf8))
  }

  @Test func `a person who is named twice is one recipient`() throws {
    let home = try GnuPGHome()
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(to: [.alice, .alice])
    #expect(try header(of: sealed).recipients.count == 1)
  }

  @Test func `an empty list of recipients never leads to encryption with a passphrase`() throws {
    let home = try GnuPGHome()
    let engine = Engine(home, people: [.alice])
    #expect(throws: EngineError.noRecipients) { try engine.sealed(to: []) }
    #expect(engine.statistics.processes == 0)
  }

  @Test func `a message is encrypted to the newest valid subkey of each recipient`() throws {
    let home = try GnuPGHome()
    let people: [GnuPGKey] = [.alice, .several, .rsa]
    let engine = Engine(home, people: people)
    let sealed = try engine.sealed(to: people)
    let found = try header(of: sealed).recipients
    let newest = try #require(KeyID("33AD7EB027B7C308"))
    #expect(found.contains(newest))
    #expect(Set(found) == (try engine.newestRecipients(people)))
  }

  @Test func `each operation starts one process once the version is known`() throws {
    let home = try GnuPGHome(secret: [.alice])
    // The first engine creates the home.
    let sealed = try Engine(home, people: [.alice]).sealed(to: [.alice])
    let opening = Engine(home, people: [.alice])
    _ = try opening.opened(sealed)
    // The first engine of this test program has already asked for the version.
    #expect(opening.statistics == EngineStatistics(decryptions: 1, encryptions: 0, processes: 1))
    let sealing = Engine(home, people: [.alice])
    _ = try sealing.sealed(to: [.alice])
    #expect(sealing.statistics == EngineStatistics(encryptions: 1, processes: 1))
    // The first signature of a home selects the signing subkey.
    _ = try opening.signMessage([1], signer: GnuPGKey.alice.fingerprint)
    let signing = Engine(home, people: [.alice])
    let message = try signing.signMessage(Array("hello".utf8), signer: GnuPGKey.alice.fingerprint)
    #expect(signing.statistics == EngineStatistics(signatures: 1, processes: 1))
    let verifying = Engine(home, people: [.alice])
    _ = try verifying.verifyMessages([message, message, message])
    #expect(verifying.statistics == EngineStatistics(processes: 1))
    let looking = Engine(home, people: [.alice])
    try looking.checkRecipients([Recipient(GnuPGKey.alice.fingerprint)])
    #expect(looking.statistics.processes == 0)
  }

  @Test func `warming up does the work of the first call, and no more`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    engine.warmUp()
    engine.warmUp()
    #expect(try engine.opened(try engine.sealed(to: [.alice])) == Array("hello".utf8))
  }

  @Test func `four threads encrypt, decrypt, sign and verify at once`() async throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let engine = Engine(home, people: [.alice, .bob])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for round in 0..<5 {
            let bytes = Array("\(thread)-\(round)".utf8)
            let opened = try engine.opened(try engine.sealed(bytes, to: [.alice, .bob]))
            #expect(opened == bytes)
            // Two signers, so that the default key of the engine home is not always the signer.
            let signer: GnuPGKey = thread % 2 == 0 ? .alice : .bob
            let fact = try engine.signed(by: signer)
            #expect(fact?.primary == signer.fingerprint)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(engine.statistics.decryptions == 20)
  }
}
