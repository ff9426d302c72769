import Foundation
import KeyringModel
import OpenPGP
import Secrets
import Synchronization
import TestSupport
import Testing

/// Tests a key with a passphrase, with every kind of interaction.
@Suite(.serialized, .waits) struct PromptTests {
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

  @Test func `the right passphrase decrypts and signs`() throws {
    let (home, sealed) = try Self.home()
    let engine = Engine(home, people: [.locked], interaction: Self.answering(GnuPGKey.passphrase))
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    #expect(try engine.signed(by: .locked)?.status == .good)
  }

  static let answers: [(String?, EngineError)] = [
    ("wrong", .badPassphrase), (nil, .cancelled), ("", .badPassphrase),
  ]

  @Test(arguments: answers)
  func `a wrong passphrase and a missing one give different errors`(answer: String?, error: EngineError)
    throws
  {
    let (home, sealed) = try Self.home()
    let engine = Engine(home, people: [.locked], interaction: Self.answering(answer))
    #expect(throws: error) { try engine.opened(sealed) }
    #expect(throws: error) { try engine.signed(by: .locked) }
  }

  @Test func `a locked key is an error at once if no prompt is possible`() throws {
    let (home, sealed) = try Self.home()
    let engine = Engine(home, people: [.locked], interaction: .never)
    #expect(throws: EngineError.noPromptPossible) { try engine.opened(sealed) }
    #expect(throws: EngineError.noPromptPossible) { try engine.signed(by: .locked) }
    #expect(throws: EngineError.noPromptPossible) {
      try engine.signDetached([1], signer: GnuPGKey.locked.fingerprint)
    }
  }

  @Test func `a cancelled dialog is reported as a cancellation`() throws {
    let pinentry = try Pinentry.cancelling()
    let (home, sealed) = try Self.home(pinentry: pinentry.program)
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    #expect(throws: EngineError.cancelled) { try engine.opened(sealed) }
    #expect(throws: EngineError.cancelled) { try engine.signed(by: .locked) }
  }

  @Test func `an answered dialog decrypts`() throws {
    let pinentry = try Pinentry.answering()
    let (home, sealed) = try Self.home(pinentry: pinentry.program)
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `no prompt is possible without a dialog program`() throws {
    let (home, sealed) = try Self.home(pinentry: "/nonexistent/pinentry")
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    #expect(throws: EngineError.noPromptPossible) { try engine.opened(sealed) }
  }

  /// Returns the processes with a text in their arguments.
  private static func processes(with text: String) throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { number in
      // A process may end meanwhile.
      let words = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
      return words.range(of: Data(text.utf8)) != nil
    }
  }

  /// No program waits for the answer then, and GnuPG 2.2 leaves the dialog open.
  @Test func `a dialog ends if gpg is killed`() throws {
    let pinentry = try Pinentry(answering: "", waits: true)
    let (home, sealed) = try Self.home(pinentry: pinentry.program)
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    let error = Mutex<EngineError?>(nil)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      do throws(EngineError) {
        _ = try engine.opened(sealed)
      } catch let failure {
        error.withLock { $0 = failure }
      }
      ended.signal()
    }
    for _ in 0..<3000 where pinentry.count == 0 { usleep(10_000) }
    #expect(try Self.processes(with: pinentry.program).count == 1)
    let clients = try Self.processes(with: home.locations.runtimeBase)
    try #require(clients.count == 1)
    kill(clients[0], SIGKILL)
    ended.wait()
    #expect(error.withLock { $0 } != nil)
    #expect(try Self.processes(with: pinentry.program) == [])
  }
}
