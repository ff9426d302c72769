import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

@Suite struct RoundTripTests {
  @Test(arguments: [0, 1, 2, 191, 192, 511, 512, 4095, 4096, 8383, 8384, 65_537, 1 << 20])
  func `Every byte comes back, whatever the size`(size: Int) throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let opened = try engine.opened(try engine.sealed(bytes, to: [.alice], signer: .alice), limit: size)
    #expect(opened.bytes == bytes)
    #expect(opened.signatures.map(\.status) == [.good])
  }

  @Test(arguments: [GnuPGKey.alice, .rsa, .several])
  func `Every kind of key can read, and sign`(key: GnuPGKey) throws {
    let home = try GnuPGHome(secret: [key])
    let engine = Engine(home, people: [key, .bob])
    let opened = try engine.opened(try engine.sealed(to: [key, .bob], signer: key))
    #expect(opened.bytes == Array("hello".utf8))
    #expect(opened.signatures.map(\.primary) == [key.fingerprint])
  }

  @Test func `A message without a signer has no signature`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    #expect(try engine.opened(try engine.sealed(to: [.alice])).signatures.isEmpty)
  }

  @Test func `A person named twice is one recipient`() throws {
    let home = try GnuPGHome()
    let engine = Engine(home, people: [.alice])
    let sealed = try engine.sealed(to: [.alice, .alice])
    #expect(try header(of: sealed).recipients.count == 1)
  }

  @Test func `An empty list of recipients never becomes a passphrase`() throws {
    let home = try GnuPGHome()
    let engine = Engine(home, people: [.alice])
    #expect(throws: EngineError.noRecipients) { try engine.sealed(to: []) }
    #expect(engine.statistics.processes == 0)
  }

  @Test func `What is written names the newest valid subkey of everyone`() throws {
    let home = try GnuPGHome()
    let people: [GnuPGKey] = [.alice, .several, .rsa]
    let engine = Engine(home, people: people)
    let sealed = try engine.sealed(to: people)
    let found = try header(of: sealed).recipients
    let newest = try #require(KeyID("33AD7EB027B7C308"))
    #expect(found.contains(newest))
    #expect(Set(found) == (try engine.expectedRecipients(people.map(\.fingerprint))))
  }

  @Test func `One process is started for a message once the version is known`() throws {
    let home = try GnuPGHome(secret: [.alice])
    // The first engine makes the home.
    let sealed = try Engine(home, people: [.alice]).sealed(to: [.alice], signer: .alice)
    let opening = Engine(home, people: [.alice])
    _ = try opening.opened(sealed)
    // The version has been asked for by the first engine of this test program.
    #expect(opening.statistics == EngineStatistics(decryptions: 1, encryptions: 0, processes: 1))
    let sealing = Engine(home, people: [.alice])
    _ = try sealing.sealed(to: [.alice], signer: .alice)
    #expect(sealing.statistics == EngineStatistics(decryptions: 0, encryptions: 1, processes: 1))
    let looking = Engine(home, people: [.alice])
    _ = try looking.expectedRecipients([GnuPGKey.alice.fingerprint])
    #expect(looking.statistics.processes == 0)
  }

  @Test func `Warming up makes the work of the first call, and no more`() throws {
    let home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    engine.warmUp()
    engine.warmUp()
    #expect(try engine.opened(try engine.sealed(to: [.alice])).bytes == Array("hello".utf8))
  }

  @Test func `Four threads seal and open at once`() async throws {
    let home = try GnuPGHome(secret: [.alice, .bob])
    let engine = Engine(home, people: [.alice, .bob])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for round in 0..<5 {
            let bytes = Array("\(thread)-\(round)".utf8)
            // Two signers, so that the engine home's default is not everyone's.
            let signer: GnuPGKey = thread % 2 == 0 ? .alice : .bob
            let sealed = try engine.sealed(bytes, to: [.alice, .bob], signer: signer)
            let opened = try engine.opened(sealed)
            #expect(opened.bytes == bytes)
            #expect(opened.signatures.map(\.primary) == [signer.fingerprint])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(engine.statistics.decryptions == 20)
  }
}
