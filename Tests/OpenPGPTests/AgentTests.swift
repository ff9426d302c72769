import Foundation
import KeyringModel
import OpenPGP
import Secrets
import TestSupport
import Testing

/// The way to the user's agent, and what happens when it is broken.
@Suite struct AgentTests {
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

  @Test func `An agent that is not running is started, for opening and for signing`() throws {
    home.stopAgent()
    #expect(try opens())
    home.stopAgent()
    #expect(try Engine(home, people: [.alice]).signed(by: .alice)?.status == .good)
  }

  @Test func `A redirect that is gone is written again`() throws {
    try FileManager.default.removeItem(atPath: try redirect)
    #expect(try opens())
    #expect(FileManager.default.fileExists(atPath: try redirect))
  }

  @Test func `A redirect to somewhere else is corrected`() throws {
    let text = "%Assuan%\nsocket=/nonexistent/S.gpg-agent\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: try redirect))
    #expect(try opens())
  }

  @Test func `An engine home that was wiped is made again, also under a living engine`() throws {
    let engine = Engine(home, people: [.alice])
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    try FileManager.default.removeItem(atPath: home.locations.runtimeBase)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `A redirect remembered at another place is found again`() throws {
    // As when /run/user comes or goes: GnuPG looks for the socket elsewhere than when the home was made.
    let old = try redirect
    try FileManager.default.removeItem(atPath: old)
    let stamp = try engineHome + "/ready"
    let text = try String(contentsOfFile: stamp, encoding: .utf8)
      .replacingOccurrences(of: old, with: home.folder + "/S.gpg-agent")
    try text.write(toFile: stamp, atomically: false, encoding: .utf8)
    #expect(try opens())
    #expect(try String(contentsOfFile: stamp, encoding: .utf8).contains(old))
  }

  @Test func `A home below a cache folder works as one below a runtime folder`() throws {
    var locations = home.locations
    // Far longer than a socket's name may be: the redirect is a file, so that this does not matter.
    locations.runtimeBase = home.folder + "/cache/" + String(repeating: "long", count: 30) + "/keytree"
    let engine = Engine(
      locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `Without an agent that can be started the error says so`() throws {
    home.stopAgent()
    // No agent can listen where a folder stands that it cannot remove.
    let socket = try #require(Engine(home, people: [.alice]).report().agentSocket)
    try FileManager.default.createDirectory(
      atPath: socket + "/full", withIntermediateDirectories: true)
    let engine = Engine(home, people: [.alice])
    do throws(EngineError) {
      _ = try engine.opened(sealed)
      Issue.record("opened without an agent")
    } catch {
      guard case .agentUnreachable = error else {
        Issue.record("\(error)")
        return
      }
    }
    try FileManager.default.removeItem(atPath: socket)
    #expect(try engine.opened(sealed) == Array("hello".utf8))
  }

  @Test func `Encrypting without a signature needs no agent`() throws {
    home.stopAgent()
    let engine = Engine(home, people: [.alice])
    _ = try engine.sealed(to: [.alice])
    #expect(engine.report().agentIsReachable == false)
  }

  @Test func `Messages for other people make gpgconf be asked once, not for each`() throws {
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
    // A way that breaks later is still mended.
    home.stopAgent()
    let own = try engine.opened(sealed(by: engine))
    #expect(own == Array("hello".utf8))
  }

  private func sealed(by engine: Engine) throws -> [UInt8] { try engine.sealed(to: [.alice]) }

  @Test func `The report tells what there is`() throws {
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
