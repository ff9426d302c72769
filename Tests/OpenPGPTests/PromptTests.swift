import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// A key with a passphrase, and everyone who may be asked for it.
@Suite struct PromptTests {
  private static func home(pinentry: String? = nil) throws -> (GnuPGHome, [UInt8]) {
    let lines = pinentry.map { ["pinentry-program \($0)"] } ?? []
    let home = try GnuPGHome(secret: [.locked], agentConfiguration: lines)
    // Importing may leave the passphrase in the agent's cache.
    home.stopAgent()
    return (home, try Engine(home, people: [.locked]).sealed(to: [.locked]))
  }

  private static func answering(_ text: String?) -> Interaction {
    .loopback { text.map { SecretBytes(copying: Array($0.utf8)) } }
  }

  @Test func `The right passphrase opens, and signs`() throws {
    let (home, sealed) = try Self.home()
    let engine = Engine(home, people: [.locked], interaction: Self.answering(GnuPGKey.passphrase))
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    #expect(try engine.signed(by: .locked)?.status == .good)
  }

  static let answers: [(String?, EngineError)] = [
    ("wrong", .badPassphrase), (nil, .cancelled), ("", .badPassphrase),
  ]

  @Test(arguments: answers)
  func `A wrong passphrase and none are told apart`(answer: String?, error: EngineError) throws {
    let (home, sealed) = try Self.home()
    let engine = Engine(home, people: [.locked], interaction: Self.answering(answer))
    #expect(throws: error) { try engine.opened(sealed) }
    #expect(throws: error) { try engine.signed(by: .locked) }
  }

  @Test func `Where nobody may be asked a locked key is an error at once`() throws {
    let (home, sealed) = try Self.home()
    let engine = Engine(home, people: [.locked], interaction: .never)
    #expect(throws: EngineError.noPromptPossible) { try engine.opened(sealed) }
    #expect(throws: EngineError.noPromptPossible) { try engine.signed(by: .locked) }
    #expect(throws: EngineError.noPromptPossible) {
      try engine.signDetached([1], signer: GnuPGKey.locked.fingerprint)
    }
  }

  @Test func `A dialog that is cancelled is a cancellation`() throws {
    let pinentry = try Pinentry.cancelling()
    let (home, sealed) = try Self.home(pinentry: pinentry.program)
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    #expect(throws: EngineError.cancelled) { try engine.opened(sealed) }
    #expect(throws: EngineError.cancelled) { try engine.signed(by: .locked) }
  }

  @Test func `A dialog that is answered opens`() throws {
    let pinentry = try Pinentry.answering()
    let (home, sealed) = try Self.home(pinentry: pinentry.program)
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `Without a dialog program no prompt is possible`() throws {
    let (home, sealed) = try Self.home(pinentry: "/nonexistent/pinentry")
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    #expect(throws: EngineError.noPromptPossible) { try engine.opened(sealed) }
  }
}
