import Foundation
import KeyringModel
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

  /// Makes a gpg that starts the user's agent after each operation with a secret key, as another program might at
  /// that moment.
  ///
  /// - Returns: The locations of an engine that uses it, and the file that gets a line for each of these operations.
  private func gpgBeforeAgent() throws -> (EngineLocations, log: String) {
    let folder = home.folder + "/bin"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let gpg = try #require(Engine(home, people: [.alice]).report().program)
    try ExecutableFile.write(
      """
      #!/bin/sh
      \(gpg) "$@"
      status=$?
      case "$*" in
        *--decrypt* | *--sign*)
          gpgconf --homedir \(home.home) --launch gpg-agent && echo "$status" >>\(folder)/log ;;
      esac
      exit $status

      """, to: folder + "/gpg", mode: 0o755)
    var locations = home.locations
    locations.searchPath = folder + ":" + locations.searchPath
    return (locations, folder + "/log")
  }

  @Test(arguments: [false, true])
  func `an agent that is started after gpg failed is used`(wasChecked: Bool) throws {
    let foreign = try Engine(home, people: [.alice, .bob]).sealed(to: [.bob])
    let (locations, log) = try gpgBeforeAgent()
    for isSigning in [false, true] {
      // An engine that must not prompt would connect to the agent before it runs gpg.
      let engine = Engine(
        locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice, .bob]), interaction: .pinentry)
      // The first signature of a home lists the secret keys, which starts the agent.
      if isSigning { _ = try engine.signed(by: .alice) }
      if wasChecked { #expect { try engine.opened(foreign) } throws: { isNotARecipient($0) } }
      home.stopAgent()
      try Data().write(to: URL(fileURLWithPath: log))
      if isSigning {
        #expect(try engine.signed(by: .alice)?.status == .good)
      } else {
        #expect(try engine.opened(sealed) == Array("hello".utf8))
      }
      let results = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      #expect(results == ["2", "0"], "gpg failed, and succeeded when it was run again")
    }
  }

  @Test func `a dialog that ends without an answer is not shown again`() throws {
    let pinentry = try Pinentry(answering: "ERR 83886142 Timeout <Pinentry>")
    let home = try GnuPGHome(
      secret: [.locked], agentConfiguration: ["pinentry-program \(pinentry.program)"])
    // The import may have left the passphrase in the agent's cache.
    home.stopAgent()
    try home.run(["--list-secret-keys"])
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    let message = try engine.sealed(to: [.locked])
    #expect(throws: EngineError.self) { try engine.opened(message) }
    #expect(pinentry.count == 1)
  }

  @Test func `a message for a hidden recipient prompts once for each key, even if the user cancels`() throws {
    let pinentry = try Pinentry.cancelling()
    let home = try GnuPGHome(
      secret: [.locked], agentConfiguration: ["pinentry-program \(pinentry.program)"])
    try home.run([
      "--pinentry-mode", "loopback", "--passphrase", GnuPGKey.passphrase,
      "--quick-generate-key", "second@keytree.example", "future-default",
    ])
    let listing = String(decoding: try home.run(["--with-colons", "--list-keys", "second"]), as: UTF8.self)
    let line = try #require(listing.split(separator: "\n").first { $0.hasPrefix("fpr:") })
    let second = try #require(line.split(separator: ":").last.flatMap { Fingerprint(String($0)) })
    let message = try home.run(
      ["--trust-model", "always", "--encrypt", "--hidden-recipient", GnuPGKey.locked.fingerprint.text],
      input: Array("hello".utf8))
    home.stopAgent()
    try home.run(["--list-secret-keys"])
    var keys = GnuPGKey.files([.locked])
    keys[second] = try home.run(["--armor", "--export", second.text])
    let engine = Engine(
      locations: home.locations, keyringID: "test", keys: keys, interaction: .pinentry,
      acceptsForeignMessages: true)
    // GnuPG 2.2 reports that there is no key, and 2.4 that the user cancelled.
    #expect(throws: EngineError.self) { try engine.opened(message) }
    #expect(pinentry.count == 2)
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
    #expect(agent.unreadCommands == 2, "the engine tries twice")
  }

  @Test func `an agent that ends while its dialog is shown does not make a message look damaged`() throws {
    let folder = home.folder + "/pinentry"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try ExecutableFile.write(
      """
      #!/bin/sh
      echo 'OK ready'
      while read -r command rest; do
        case "$command" in
          GETPIN) echo shown >>\(folder)/log; kill -9 $PPID; exit ;;
          *) echo OK ;;
        esac
      done

      """, to: folder + "/pinentry", mode: 0o755)
    let home = try GnuPGHome(secret: [.locked], agentConfiguration: ["pinentry-program \(folder)/pinentry"])
    home.stopAgent()
    let engine = Engine(home, people: [.locked], interaction: .pinentry)
    let message = try engine.sealed(to: [.locked])
    try home.run(["--list-secret-keys"])
    #expect {
      try engine.opened(message)
    } throws: { error in
      guard case EngineError.agentUnreachable = error else { return false }
      return true
    }
    #expect(try String(contentsOfFile: folder + "/log", encoding: .utf8) == "shown\nshown\n")
  }

  private func isNotARecipient(_ error: any Error) -> Bool {
    if case EngineError.notARecipient = error { true } else { false }
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
    guard status == 0, listen(listener, 8) == 0 else {
      close(listener)
      throw POSIXError(.EADDRINUSE)
    }
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0, errno == EINTR { continue }
        guard connection >= 0 else { break }
        answer(connection)
      }
      close(listener)
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
    // A client writes the end of the line separately. If this closed the connection before, that write would fail.
    var command = [UInt8](repeating: 0, count: 64)
    while true {
      let size = unsafe recv(connection, &command, command.count, Int32(MSG_PEEK))
      // Nothing arrives from a client that only tests whether the socket accepts connections.
      guard size > 0 else { return }
      if command[..<size].contains(UInt8(ascii: "\n")) { break }
      usleep(1_000)
    }
    // A client that only tests whether the agent answers takes its leave at once.
    if !command.starts(with: "BYE".utf8) { count.add(1, ordering: .relaxed) }
  }
}
