import Foundation
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests that the user is asked for a passphrase although the agent has it in its cache.
@Suite(.serialized, .waits) struct PresenceTests {
  private let pinentry: Pinentry
  private let home: GnuPGHome

  init() throws {
    pinentry = try Pinentry.answering()
    home = try GnuPGHome(
      secret: [.locked, .alice], agentConfiguration: ["pinentry-program \(pinentry.program)"])
    // Importing may leave the passphrase in the agent's cache.
    home.stopAgent()
  }

  private func engine(_ interaction: Interaction = .pinentry, people: [GnuPGKey] = [.locked]) -> Engine {
    Engine(home, people: people, interaction: interaction)
  }

  private func openWithPrompt(_ message: [UInt8], _ engine: Engine) throws {
    let opened = try engine.openWithPrompt(message, limit: 1 << 20)
    #expect(opened.count == 5)
  }

  @Test func `each of several concurrent requests needs its own answer`() throws {
    let engine = engine()
    let message = try engine.sealed(to: [.locked])
    try ThreadGroup.run(4) { _ in
      for _ in 0..<3 { try openWithPrompt(message, engine) }
    }
    #expect(pinentry.count == 12)
  }

  @Test func `the first request asks, even if the engine home is new or was removed`() throws {
    let message = try engine().sealed(to: [.locked])
    let base = home.locations.runtimeBase
    for round in 1...2 {
      try FileManager.default.removeItem(atPath: base)
      try openWithPrompt(message, engine())
      #expect(pinentry.count == round)
    }
  }

  @Test func `the agent asks once, and again after its cache was cleared`() throws {
    let engine = engine()
    let message = try engine.sealed(to: [.locked])
    for _ in 0..<3 { _ = try engine.opened(message) }
    #expect(pinentry.count == 1, "the agent keeps the passphrase")
    for round in 2...3 {
      try openWithPrompt(message, engine)
      #expect(pinentry.count == round)
    }
  }

  @Test func `a passphrase that was entered for signing is not enough for decryption`() throws {
    let engine = engine()
    // Both subkeys have the same passphrase, which the agent tries without asking.
    let message = try engine.sealed(to: [.locked])
    _ = try engine.signed(by: .locked)
    #expect(pinentry.count == 1)
    _ = try engine.signDetached([1], signer: GnuPGKey.locked.fingerprint)
    try openWithPrompt(message, engine)
    #expect(pinentry.count == 2)
  }

  @Test func `nothing is removed from the cache if no prompt is possible`() throws {
    let message = try engine().sealed(to: [.locked])
    _ = try engine().opened(message)
    #expect(throws: EngineError.noPromptPossible) {
      try openWithPrompt(message, engine(.never))
    }
    _ = try engine().opened(message)
    #expect(pinentry.count == 1)
  }

  @Test func `a key without a passphrase is refused, because the user would not be asked`() throws {
    let engine = engine(people: [.locked, .alice])
    let error = EngineError.unusableKey(GnuPGKey.alice.fingerprint, .noPassphrase)
    for people in [[.alice], [.locked, .alice]] as [[GnuPGKey]] {
      let message = try engine.sealed(to: people)
      #expect(throws: error) { try openWithPrompt(message, engine) }
    }
    #expect(throws: error) { try engine.checkPassphrase(of: GnuPGKey.alice.fingerprint) }
    try engine.checkPassphrase(of: GnuPGKey.locked.fingerprint)
  }

  @Test func `a message for another person, a damaged one and a missing key give different errors`() throws {
    let engine = engine(people: [.locked, .bob])
    let message = try engine.sealed(to: [.bob])
    #expect { try openWithPrompt(message, engine) } throws: { error in
      if case EngineError.notARecipient = error { true } else { false }
    }
    #expect { try openWithPrompt([1, 2, 3], engine) } throws: { error in
      if case EngineError.message = error { true } else { false }
    }
    #expect(throws: EngineError.unusableKey(GnuPGKey.bob.fingerprint, .noSecretKey)) {
      try engine.checkPassphrase(of: GnuPGKey.bob.fingerprint)
    }
  }

  @Test func `the passphrase of the subkey that items are encrypted to counts, not that of a newer one`()
    throws
  {
    let person = GnuPGKey.locked.fingerprint
    let subkey = try #require(try engine().publicKeys().first?.subkeys.first { $0.canEncrypt }).fingerprint
    try home.run(
      [
        "--pinentry-mode", "loopback", "--passphrase", GnuPGKey.passphrase, "--quick-add-key", person.text,
        "cv25519", "encr",
      ])
    home.stopAgent()
    let renewed = Engine(
      locations: home.locations, keyringID: "test", keys: [person: try home.run(["--export", person.text])],
      interaction: .pinentry)
    let user = Recipient(person, subkeys: [subkey])
    let message = try renewed.seal(SecretBytes(copying: [1]), to: [user])
    #expect(try renewed.cachedPassphrases(of: user) == .none)
    _ = try renewed.opened(message)
    #expect(try renewed.cachedPassphrases(of: user) == .some(keys: [subkey]))
    #expect(try renewed.cachedPassphrases(of: Recipient(person)) == .none)
  }

  @Test func `an agent that is not running is started`() throws {
    let engine = engine()
    let message = try engine.sealed(to: [.locked])
    home.stopAgent()
    try openWithPrompt(message, engine)
    #expect(pinentry.count == 1)
  }
}
