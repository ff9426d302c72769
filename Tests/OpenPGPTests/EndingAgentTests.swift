import Foundation
import OpenPGP
import Synchronization
import TestSupport
import Testing

/// Tests agents that end or start while an engine uses them.
@Suite(.serialized, .waits) struct EndingAgentTests {
  private let home: GnuPGHome
  private let sealed: [UInt8]

  init() throws {
    home = try GnuPGHome(secret: [.alice])
    sealed = try Engine(home, people: [.alice]).sealed(to: [.alice])
  }

  /// Makes a gpg that starts the user's agent after each operation with a secret key, as another program would that
  /// happens to do so at this moment.
  ///
  /// - Returns: The locations of an engine that uses it.
  private func gpgBeforeAgent() throws -> EngineLocations {
    let folder = home.folder + "/bin"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let gpg = try #require(Engine(home, people: [.alice]).report().program)
    try ExecutableFile.write(
      """
      #!/bin/sh
      \(gpg) "$@"
      status=$?
      case "$*" in
        *--decrypt* | *--sign*) gpgconf --homedir \(home.home) --launch gpg-agent ;;
      esac
      exit $status

      """, to: folder + "/gpg", mode: 0o755)
    var locations = home.locations
    locations.searchPath = folder + ":" + locations.searchPath
    return locations
  }

  @Test(arguments: [false, true])
  func `an agent that is started after gpg failed is used`(wasFound: Bool) throws {
    let foreign = try Engine(home, people: [.alice, .bob]).sealed(to: [.bob])
    let locations = try gpgBeforeAgent()
    for isSigning in [false, true] {
      // An engine that must not prompt would connect to the agent before it runs gpg.
      let engine = Engine(
        locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice, .bob]), interaction: .pinentry)
      // The engine checks the connection when a message is for other people.
      if wasFound { #expect(throws: EngineError.self) { try engine.opened(foreign) } }
      home.stopAgent()
      if isSigning {
        #expect(try engine.signed(by: .alice)?.status == .good)
      } else {
        #expect(try engine.opened(sealed) == Array("hello".utf8))
      }
    }
  }

  @Test func `an agent that ends before it reads a command is reported as unreachable`() throws {
    let engine = Engine(home, people: [.alice])
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    home.stopAgent()
    let agent = try EndingAgent(at: try #require(engine.report().agentSocket))
    defer { agent.stop() }
    #expect {
      try engine.opened(sealed)
    } throws: { error in
      guard case EngineError.agentUnreachable(let detail) = error else { return false }
      return detail.contains("Connection reset by peer")
    }
    #expect(agent.unreadCommands > 0)
  }
}

/// An agent that greets and closes each connection after a command has arrived, without reading it. The client then
/// gets the error `ECONNRESET`, as from an agent that is stopped.
private final class EndingAgent: Sendable {
  private let listener: Int32
  private let path: String
  private let count = Atomic(0)
  var unreadCommands: Int { count.load(ordering: .relaxed) }

  init(at path: String) throws {
    self.path = path
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let status = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    let isListening = status == 0 && listen(listener, 8) == 0
    try #require(isListening)
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        answer(connection)
      }
    }
  }

  /// Ends the thread.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    unsafe unlink(path)
  }

  private func answer(_ connection: Int32) {
    defer { close(connection) }
    let greeting = Array("OK Pleased to meet you\n".utf8)
    let sent = unsafe send(connection, greeting, greeting.count, Int32(MSG_NOSIGNAL))
    guard sent == greeting.count else { return }
    var state = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&state, 1, 60_000) == 1 else { return }
    var first: UInt8 = 0
    // Nothing arrives from a client that only tests whether the agent accepts connections.
    if unsafe recv(connection, &first, 1, Int32(MSG_PEEK)) == 1 { count.add(1, ordering: .relaxed) }
  }
}
