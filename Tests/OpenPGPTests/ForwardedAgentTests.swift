import Foundation
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests a key whose secret half only another agent has, as on a smart card or on the machine at the other end of an ssh
/// connection. The user's home has the public key, and its agent's socket is a redirect to the other agent.
@Suite(.serialized, .waits) struct ForwardedAgentTests {
  private let agent: ForwardedAgent
  private var near: GnuPGHome { agent.near }

  init() throws {
    agent = try ForwardedAgent(over: "agent-socket", secret: .alice, others: [.bob])
  }

  @Test func `a secret key on another agent decrypts and signs`() throws {
    let secretKeys = FileManager.default.enumerator(atPath: "\(near.home)/private-keys-v1.d")
    #expect(secretKeys?.nextObject() == nil)
    let engine = Engine(near, people: [.alice, .bob])
    let message = try engine.sealed(to: [.alice, .bob])
    #expect(try engine.opened(message) == Array("hello".utf8))
    let fact = try engine.signed(by: .alice)
    #expect(fact?.status == .good && fact?.primary == GnuPGKey.alice.fingerprint)
  }

  @Test func `a message for another person is refused, and nothing is decrypted without the other agent`()
    throws
  {
    let engine = Engine(near, people: [.alice, .bob])
    let (message, other) = (try engine.sealed(to: [.alice]), try engine.sealed(to: [.bob]))
    #expect {
      try engine.opened(other)
    } throws: { error in
      guard case EngineError.notARecipient = error else { return false }
      return true
    }
    #expect(try engine.opened(message) == Array("hello".utf8))
    let socket = try ForwardedAgent.socket("agent-socket", of: agent.far)
    agent.far.stopAgent()
    #expect {
      try engine.opened(message)
    } throws: { error in
      guard case EngineError.agentUnreachable(let detail) = error else { return false }
      return detail.contains(socket)
    }
    #expect(
      !FileManager.default.fileExists(atPath: socket), "an agent of this machine took the place of the other")
  }
}

/// Tests an agent that is reached over its restricted socket, as in GnuPG's instructions for forwarding by ssh.
@Suite(.serialized, .waits) struct RestrictedAgentTests {
  private let pinentry: Pinentry
  private let agent: ForwardedAgent
  private var near: GnuPGHome { agent.near }

  init() throws {
    pinentry = try Pinentry.answering()
    agent = try ForwardedAgent(
      over: "agent-extra-socket", secret: .locked, others: [.bob], pinentry: pinentry)
  }

  private func engine(_ interaction: Interaction) -> Engine {
    Engine(near, people: [.locked, .bob], interaction: interaction)
  }

  @Test func `a secret key decrypts and signs if the agent may prompt`() throws {
    let engine = engine(.pinentry)
    let message = try engine.sealed(to: [.bob, .locked])
    #expect(try engine.opened(message) == Array("hello".utf8))
    let fact = try engine.signed(by: .locked)
    #expect(fact?.status == .good && fact?.primary == GnuPGKey.locked.fingerprint)
    #expect(pinentry.count > 0)
  }

  @Test func `an engine that must not prompt does nothing, whatever the order of the recipients`() throws {
    let engine = engine(.never)
    for people in [[GnuPGKey.locked], [.locked, .bob], [.bob, .locked]] {
      let message = try engine.sealed(to: people)
      #expect(throws: EngineError.restrictedAgent) { try engine.opened(message) }
    }
    #expect(throws: EngineError.restrictedAgent) { try engine.signed(by: .locked) }
    let message = try engine.sealed(to: [.locked])
    let giving = self.engine(.loopback { SecretBytes(copying: Array("wrong".utf8)) })
    #expect(throws: EngineError.restrictedAgent) { try giving.opened(message) }
    #expect(pinentry.count == 0)
  }

  @Test func `what the socket does not allow is an error of its own`() throws {
    let engine = engine(.pinentry)
    let message = try engine.sealed(to: [.locked])
    #expect(throws: EngineError.restrictedAgent) {
      _ = try engine.openWithPrompt(message, limit: 1 << 20)
    }
    #expect(throws: EngineError.restrictedAgent) { try engine.forgetPassphrases() }
    #expect(throws: EngineError.restrictedAgent) {
      _ = try engine.cachedPassphrases(of: Recipient(GnuPGKey.locked.fingerprint))
    }
    #expect(throws: EngineError.restrictedAgent) {
      try engine.checkPassphrase(of: GnuPGKey.locked.fingerprint)
    }
    #expect(throws: EngineError.restrictedAgent) { _ = try engine.confirm("Really?") }
    #expect(pinentry.count == 0)
  }

  @Test func `the key is among the user's secret keys`() throws {
    let keys = try UserKeyring(locations: near.locations).secretKeys()
    #expect(keys.map(\.fingerprint) == [GnuPGKey.locked.fingerprint])
  }
}

/// Two homes: the agent of the far one has the secret key. The near one has the public keys, and its socket is a
/// redirect to that agent.
private struct ForwardedAgent {
  let far: GnuPGHome
  let near: GnuPGHome

  /// - Parameters:
  ///   - name: The name of the far agent's socket, as in `gpgconf --list-dirs`.
  ///   - key: The key of the far agent.
  ///   - others: The other public keys of the near home.
  ///   - pinentry: The program that the far agent starts to ask for a passphrase.
  init(over name: String, secret key: GnuPGKey, others: [GnuPGKey], pinentry: Pinentry? = nil) throws {
    far = try GnuPGHome(
      secret: [key], agentConfiguration: pinentry.map { ["pinentry-program \($0.program)"] } ?? [])
    // The import may have left the passphrase in the agent's cache.
    far.stopAgent()
    near = try GnuPGHome(public: [key] + others)
    // Starts the other agent, which makes its sockets.
    try far.run(["--list-secret-keys"])
    // The import of public keys has started an agent, too.
    near.stopAgent()
    let socket = try Self.socket("agent-socket", of: near)
    if FileManager.default.fileExists(atPath: socket) { try FileManager.default.removeItem(atPath: socket) }
    let text = "%Assuan%\nsocket=\(try Self.socket(name, of: far))\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: socket))
  }

  static func socket(_ name: String, of home: GnuPGHome) throws -> String {
    let line = try GnuPGTool.run("gpgconf", ["--homedir", home.home, "--list-dirs", name])
    return String(decoding: line.dropLast(), as: UTF8.self)
  }
}
