import Foundation
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// Tests the connection to the user's agent, including broken connections.
@Suite(.serialized, .waits) struct AgentTests {
  private let home: GnuPGHome
  private let sealed: [UInt8]

  init() throws {
    home = try GnuPGHome(secret: [.alice])
    sealed = try Engine(home, people: [.alice]).sealed(to: [.alice])
  }

  private var engineHome: String {
    get throws {
      home.locations.runtimeBase + "/" + (try #require(try home.engineHomes.first))
    }
  }

  private var redirect: String {
    get throws {
      let places = try GnuPGTool.run("gpgconf", ["--homedir", try engineHome, "--list-dirs", "agent-socket"])
      return String(decoding: places.dropLast(), as: UTF8.self)
    }
  }

  private func opens() throws -> Bool {
    try Engine(home, people: [.alice]).opened(sealed) == Array("hello".utf8)
  }

  @Test func `an agent that is not running is started for decryption and for signing`() throws {
    home.stopAgent()
    #expect(try opens())
    home.stopAgent()
    #expect(try Engine(home, people: [.alice]).signed(by: .alice)?.status == .good)
  }

  @Test func `a missing redirect is written again`() throws {
    try FileManager.default.removeItem(atPath: try redirect)
    #expect(try opens())
    #expect(FileManager.default.fileExists(atPath: try redirect))
  }

  @Test func `a redirect to another place is corrected`() throws {
    let text = "%Assuan%\nsocket=/nonexistent/S.gpg-agent\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: try redirect))
    #expect(try opens())
  }

  @Test func `a removed engine home is created again, even under a running engine`() throws {
    let engine = Engine(home, people: [.alice])
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    try FileManager.default.removeItem(atPath: home.locations.runtimeBase)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `a redirect that is recorded at another place is found again`() throws {
    // This happens when /run/user appears or disappears: GnuPG then looks for the socket at another place than before.
    let old = try redirect
    try FileManager.default.removeItem(atPath: old)
    let stamp = try engineHome + "/ready"
    let text = try String(contentsOfFile: stamp, encoding: .utf8)
      .replacingOccurrences(of: old, with: home.folder + "/S.gpg-agent")
    try text.write(toFile: stamp, atomically: false, encoding: .utf8)
    #expect(try opens())
    #expect(try String(contentsOfFile: stamp, encoding: .utf8).contains(old))
  }

  @Test func `a home below a cache folder works like one below a runtime folder`() throws {
    var locations = home.locations
    // The path is far longer than the name of a socket may be. The redirect is a file, so this does not matter.
    locations.runtimeBase = home.folder + "/cache/" + String(repeating: "long", count: 30) + "/keytree"
    let engine = Engine(
      locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `an agent that cannot be started is reported as such`() throws {
    home.stopAgent()
    // No agent can listen at a path that is a folder which it cannot remove.
    let socket = try #require(Engine(home, people: [.alice]).report().agentSocket)
    try FileManager.default.createDirectory(
      atPath: socket + "/full", withIntermediateDirectories: true)
    let engine = Engine(home, people: [.alice])
    do throws(EngineError) {
      _ = try engine.opened(sealed)
      Issue.record("decrypted without an agent")
    } catch {
      guard case .agentUnreachable = error else {
        Issue.record("\(error)")
        return
      }
    }
    try FileManager.default.removeItem(atPath: socket)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `threads that wait for the same repair do not repeat it if it fails`() async throws {
    let engine = Engine(home, people: [.alice])
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    home.stopAgent()
    let socket = try #require(engine.report().agentSocket)
    try FileManager.default.createDirectory(atPath: socket + "/full", withIntermediateDirectories: true)
    let before = engine.statistics.processes
    let (sealed, threads) = (sealed, 4)
    let refused = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<threads {
        group.addTask {
          await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: isUnreachable(engine, sealed)) }
          }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(refused == threads)
    // One repair asks gpgconf twice and starts the agent. It takes seconds, so all threads wait for it.
    #expect(engine.statistics.processes - before == 3)
  }

  @Test func `encrypting without a signature needs no agent`() throws {
    home.stopAgent()
    let engine = Engine(home, people: [.alice])
    _ = try engine.sealed(to: [.alice])
    #expect(engine.report().agentIsReachable == false)
  }

  @Test func `messages for other people run gpgconf once, not once for each message`() throws {
    let foreign = try Engine(home, people: [.alice, .bob]).sealed(to: [.bob])
    let engine = Engine(home, people: [.alice, .bob])
    func refused() throws(EngineError) -> Int {
      let before = engine.statistics.processes
      #expect {
        _ = try engine.opened(foreign)
      } throws: { error in
        if case EngineError.notARecipient = error { true } else { false }
      }
      return engine.statistics.processes - before
    }
    #expect(try refused() >= 3)
    #expect(try refused() == 1)
    // A connection that breaks later is still repaired.
    home.stopAgent()
    let own = try engine.opened(sealed(by: engine))
    #expect(own == Array("hello".utf8))
  }

  private func sealed(by engine: Engine) throws -> [UInt8] { try engine.sealed(to: [.alice]) }

  @Test func `the report describes the engine, its keys and the agent`() throws {
    let engine = Engine(home, people: [.alice, .expired, .signonly])
    let report = engine.report()
    #expect(report.failure == nil)
    #expect(report.program?.hasSuffix("/gpg") == true)
    #expect(report.version?.split(separator: ".").count == 3)
    #expect(report.libraryVersion.contains("."))
    #expect(report.userHome == home.home)
    #expect(report.agentIsReachable)
    #expect(report.redirect == .inPlace)
    #expect(report.keys.count == 3)
    #expect(report.problems[GnuPGKey.signonly.fingerprint] == .cannotEncrypt)
    #expect(report.problems[GnuPGKey.alice.fingerprint] == nil)
    #expect(report.keys.flatMap(\.userIDs).contains("Alice Example <alice@keytree.example>"))
  }
}

/// Returns true if a message cannot be decrypted because there is no agent.
private func isUnreachable(_ engine: Engine, _ message: [UInt8]) -> Bool {
  do throws(EngineError) {
    _ = try engine.opened(message)
  } catch {
    if case .agentUnreachable = error { return true }
  }
  return false
}
