import Foundation
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Somebody is asked for a passphrase although the agent keeps it.
@Suite struct PresenceTests {
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

  private func openAskingAgain(_ message: [UInt8], _ engine: Engine) throws {
    let opened = try engine.openAskingAgain(message, limit: 1 << 20)
    #expect(opened.count == 5)
  }

  @Test func `One answer does not do for several that ask at once`() throws {
    let engine = engine()
    let message = try engine.sealed(to: [.locked])
    try ThreadGroup.run(4) { _ in
      for _ in 0..<3 { try openAskingAgain(message, engine) }
    }
    #expect(pinentry.count == 12)
  }

  @Test func `The first one asks, also where nothing was made yet, or all was cleaned up`() throws {
    let message = try engine().sealed(to: [.locked])
    let base = home.locations.runtimeBase
    for round in 1...2 {
      try FileManager.default.removeItem(atPath: base)
      try openAskingAgain(message, engine())
      #expect(pinentry.count == round)
    }
  }

  @Test func `The agent asks once, and again after it had to forget`() throws {
    let engine = engine()
    let message = try engine.sealed(to: [.locked])
    for _ in 0..<3 { _ = try engine.opened(message) }
    #expect(pinentry.count == 1, "it keeps what it was told")
    for round in 2...3 {
      try openAskingAgain(message, engine)
      #expect(pinentry.count == round)
    }
  }

  @Test func `A passphrase that was given for signing does not open either`() throws {
    let engine = engine()
    // Both subkeys have one passphrase, which the agent tries on its own.
    let message = try engine.sealed(to: [.locked])
    _ = try engine.signed(by: .locked)
    #expect(pinentry.count == 1)
    _ = try engine.signDetached([1], signer: GnuPGKey.locked.fingerprint)
    try openAskingAgain(message, engine)
    #expect(pinentry.count == 2)
  }

  @Test func `Where nobody may be asked nothing is forgotten`() throws {
    let message = try engine().sealed(to: [.locked])
    _ = try engine().opened(message)
    #expect(throws: EngineError.noPromptPossible) {
      try openAskingAgain(message, engine(.never))
    }
    _ = try engine().opened(message)
    #expect(pinentry.count == 1)
  }

  @Test func `A key without a passphrase is refused, as nobody would be asked`() throws {
    let engine = engine(people: [.locked, .alice])
    let error = EngineError.unusableKey(GnuPGKey.alice.fingerprint, .noPassphrase)
    for people in [[.alice], [.locked, .alice]] as [[GnuPGKey]] {
      let message = try engine.sealed(to: people)
      #expect(throws: error) { try openAskingAgain(message, engine) }
    }
    #expect(throws: error) { try engine.checkPassphrase(of: GnuPGKey.alice.fingerprint) }
    try engine.checkPassphrase(of: GnuPGKey.locked.fingerprint)
  }

  @Test func `A message for somebody else, a damaged one and a missing key are told apart`() throws {
    let engine = engine(people: [.locked, .bob])
    let message = try engine.sealed(to: [.bob])
    #expect { try openAskingAgain(message, engine) } throws: { error in
      if case EngineError.notARecipient = error { true } else { false }
    }
    #expect { try openAskingAgain([1, 2, 3], engine) } throws: { error in
      if case EngineError.message = error { true } else { false }
    }
    #expect(throws: EngineError.unusableKey(GnuPGKey.bob.fingerprint, .noSecretKey)) {
      try engine.checkPassphrase(of: GnuPGKey.bob.fingerprint)
    }
  }

  @Test func `An agent that is not running is started`() throws {
    let engine = engine()
    let message = try engine.sealed(to: [.locked])
    home.stopAgent()
    try openAskingAgain(message, engine)
    #expect(pinentry.count == 1)
  }
}
