import Foundation
import OpenPGP
import TestSupport
import Testing

/// Tests a key whose secret half only another agent has, as on a smart card or on the machine at the other end of an ssh
/// connection. The user's home has the public key, and its agent's socket is a redirect to the other agent.
@Suite(.serialized, .waits) struct ForwardedAgentTests {
  private let far: GnuPGHome
  private let near: GnuPGHome

  init() throws {
    far = try GnuPGHome(secret: [.alice])
    near = try GnuPGHome(public: [.alice, .bob])
    // Starts the other agent, which makes its sockets.
    try far.run(["--list-secret-keys"])
    // The import of public keys has started an agent, too.
    near.stopAgent()
    let socket = try Self.socket("agent-socket", of: near)
    if FileManager.default.fileExists(atPath: socket) { try FileManager.default.removeItem(atPath: socket) }
    let text = "%Assuan%\nsocket=\(try Self.socket("agent-socket", of: far))\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: socket))
  }

  private static func socket(_ name: String, of home: GnuPGHome) throws -> String {
    let line = try GnuPGTool.run("gpgconf", ["--homedir", home.home, "--list-dirs", name])
    return String(decoding: line.dropLast(), as: UTF8.self)
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
    far.stopAgent()
    #expect {
      try engine.opened(message)
    } throws: { error in
      guard case EngineError.agentUnreachable = error else { return false }
      return true
    }
  }
}
