import Foundation
import Glibc
import Secrets
import SessionBus
import TestSupport
import Testing

/// Connections to a real `dbus-daemon`.
@Suite(.enabled(if: TestBus.program != nil, Comment(rawValue: TestBus.reason)), .serialized)
struct BusConnectionTests {
  static let interface = "org.example.Echo"

  /// Runs a closure with a client and a service on a bus of their own.
  private func withService(
    limit: Int = 4 << 20, _ body: (BusConnection, EchoService, TestBus) throws -> Void
  ) throws {
    let bus = try TestBus()
    let service = EchoService(address: bus.address, limit: limit)
    defer {
      service.stop()
      bus.close()
    }
    let client = try BusConnection(address: bus.address)
    try body(client, service, bus)
    #expect(service.errors == [])
    client.close()
  }

  private func call(
    _ client: BusConnection, _ member: String, _ values: [BusValue] = [], at path: String = "/test/object",
    interface: String = Self.interface
  ) throws -> [BusValue] {
    try client.call(member, of: interface, at: path, in: EchoService.name, values)
  }

  static let values: [[BusValue]] = [
    [], [.byte(255)], [.boolean(true), .boolean(false)], [.int16(.min)], [.uint16(.max)], [.int32(.min)],
    [.uint32(.max)], [.int64(.min)], [.uint64(.max)], [.double(-0.5)], [.string("")],
    [.string("käse\n\u{202e}")],
    [.objectPath("/")], [.objectPath("/a/b_7f")], [.signature("a{sv}")], [.bytes(secret([]))],
    [.bytes(secret([0, 255, 0]))], [.array(element: "s", [])], [.objectPaths(["/a", "/b"])],
    [.array(element: "ay", [.bytes(secret([1])), .bytes(secret([]))])], [.strings([("a", "b"), ("c", "")])],
    [.dictionary([("a", .uint32(1)), ("b", .strings([]))])], [.variant(.bytes(secret([7])))],
    [.variant(.variant(.structure([.string("x"), .objectPath("/")])))],
    [
      .structure([.objectPath("/s"), .bytes(secret([1])), .bytes(secret([2])), .string("text/plain")]),
      .boolean(true),
    ],
    [
      .array(
        element: "{o(oayays)}",
        [
          .entry(
            .objectPath("/i"),
            .structure([.objectPath("/s"), .bytes(secret([])), .bytes(secret([2])), .string("")]))
        ])
    ],
  ]

  private static func secret(_ bytes: [UInt8]) -> SecretSlice { SecretSlice(SecretBytes(copying: bytes)) }

  @Test("every value survives a call and its reply", arguments: values)
  func echo(_ values: [BusValue]) throws {
    try withService { client, service, _ in
      let echo = try call(client, "Echo", values)
      #expect(echo == values)
      let signature = values.map(\.typeSignature).joined()
      #expect(service.log.contains("org.example.Echo.Echo /test/object \(signature)"))
    }
  }

  @Test("100,000 object paths survive")
  func manyPaths() throws {
    try withService(limit: 16 << 20) { client, _, _ in
      let paths = BusValue.objectPaths((0..<100_000).map { "/org/freedesktop/secrets/\($0)" })
      let echo = try call(client, "Echo", [paths])
      #expect(echo == [paths])
    }
  }

  @Test(
    "a body that needs more memory than allowed is not read",
    arguments: [
      [BusValue.string(String(repeating: "x", count: 200_000))],
      [.bytes(secret([UInt8](repeating: 1, count: 200_000)))],
      [.objectPaths((0..<20_000).map { "/\($0)" })],
      // Each array of bytes takes a page of memory.
      [.array(element: "ay", (0..<100).map { _ in .bytes(secret([1])) })],
      [.array(element: "b", (0..<50_000).map { _ in .boolean(true) })],
    ])
  func limit(_ values: [BusValue]) throws {
    try withService(limit: 100_000) { client, _, _ in
      #expect(throws: BusError.errorReply(name: "org.example.Error.TooLarge", text: "too large")) {
        try call(client, "Echo", values)
      }
    }
  }

  @Test(
    "a body with more elements or values than allowed is not read",
    arguments: [
      (count: EchoService.elements, strings: 0, fits: true),
      (count: EchoService.elements + 1, strings: 0, fits: false),
      (count: EchoService.elements, strings: EchoService.elements, fits: false),
    ])
  func counts(_ count: Int, _ strings: Int, _ fits: Bool) throws {
    let values =
      [BusValue.array(element: "b", (0..<count).map { _ in .boolean(true) })]
      + (0..<strings).map { .string("\($0)") }
    try withService { client, _, _ in
      if fits {
        let reply = try call(client, "EchoFew", values)
        #expect(reply == values)
      } else {
        #expect(throws: BusError.errorReply(name: "org.example.Error.TooMany", text: "too many")) {
          try call(client, "EchoFew", values)
        }
      }
    }
  }

  @Test("an error reply has a name and a text")
  func errorReply() throws {
    try withService { client, _, _ in
      #expect(throws: BusError.errorReply(name: "org.example.Error.Refused", text: "No.")) {
        try call(client, "Fail")
      }
    }
  }

  @Test("the handler receives introspection and properties; sd-bus answers a ping and other paths")
  func builtIn() throws {
    try withService { client, service, _ in
      let standard = "org.freedesktop.DBus."
      _ = try call(client, "Introspect", interface: standard + "Introspectable")
      _ = try call(client, "Get", [.string("i"), .string("p")], interface: standard + "Properties")
      _ = try call(client, "GetAll", [.string("i")], at: "/test", interface: standard + "Properties")
      #expect(try call(client, "Ping", interface: standard + "Peer") == [])
      #expect(throws: BusError.self) { try call(client, "Echo", at: "/testing") }
      #expect(
        service.log.filter { $0.hasPrefix(standard) } == [
          standard + "Introspectable.Introspect /test/object ", standard + "Properties.Get /test/object ss",
          standard + "Properties.GetAll /test s",
        ])
    }
  }

  @Test(
    "an invalid value is refused before it is sent",
    arguments: [
      BusValue.string("a\0b"), .objectPath("a"), .objectPath(""), .objectPath("/a/"), .signature("a"),
      .array(element: "s", [.boolean(true)]), .structure([]), .array(element: "{vs}", []),
    ])
  func invalid(_ value: BusValue) throws {
    try withService { client, service, _ in
      #expect(throws: BusError.invalidValue) { try call(client, "Echo", [value]) }
      #expect(!service.log.contains { $0.hasPrefix("org.example") })
    }
  }

  @Test("a signal to one receiver reaches nobody else")
  func unicast() throws {
    try withService { client, _, bus in
      let (mine, other) = (Signals(client), Signals(try BusConnection(address: bus.address)))
      try mine.subscribe()
      try other.subscribe()
      _ = try call(client, "Whisper")
      _ = try call(client, "Shout")
      #expect(try mine.texts(2) == ["you", "all"])
      #expect(try other.texts(1) == ["all"])
    }
  }

  @Test("a name has one owner, and its owner gives it up to one who asks for it")
  func names() throws {
    try withService { client, service, bus in
      #expect(try client.owner(of: "org.example.Nobody") == nil)
      let owner = try client.owner(of: EchoService.name)
      #expect(owner?.hasPrefix(":") == true && owner != client.uniqueName)
      #expect(try client.requestName(EchoService.name, replacing: false) == .taken)
      #expect(try client.owner(of: EchoService.name) == owner)
      #expect(try client.requestName(EchoService.name, replacing: true) == .owned)
      #expect(try client.owner(of: EchoService.name) == client.uniqueName)
      wait { service.log.contains("NameLost \(EchoService.name)") }
      #expect(service.log.contains("NameLost \(EchoService.name)"))
    }
  }

  @Test("the bus reports the process behind a name, and when it leaves")
  func clients() throws {
    try withService { client, service, bus in
      let credentials = try client.client(EchoService.name)
      #expect(credentials.user == geteuid())
      #expect(credentials.process == UInt32(getpid()))
      #expect(credentials.executable?.isEmpty == false)
      let visitor = try BusConnection(address: bus.address)
      let name = visitor.uniqueName
      visitor.close()
      wait { service.log.contains("NameOwnerChanged \(name)") }
      #expect(service.log.contains("NameOwnerChanged \(name)"))
      #expect(throws: BusError.self) { try client.client(name) }
    }
  }

  @Test("a bus that ends is an error of the loop")
  func endOfBus() throws {
    let bus = try TestBus()
    let client = try BusConnection(address: bus.address)
    bus.close()
    #expect(throws: BusError.self) {
      for _ in 0..<1000 where try !client.process() { usleep(1000) }
    }
    #expect(throws: BusError.self) { try client.owner(of: "a.b") }
  }

  @Test("an address without a bus, and a closed connection, are errors")
  func noBus() throws {
    #expect(throws: BusError.cannotConnect(address: "unix:path=/nonexistent/bus", errno: ENOENT)) {
      try BusConnection(address: "unix:path=/nonexistent/bus")
    }
    #expect(throws: BusError.self) { try BusConnection(address: "nonsense") }
  }

  @Test("a signal to the process ends neither a connection that is being made nor a call")
  func interruption() throws {
    SignalTestLock.begin()
    defer { SignalTestLock.end() }
    var (action, old) = (sigaction(), sigaction())
    unsafe action.__sigaction_handler.sa_handler = { _ in }
    unsafe sigaction(SIGUSR2, &action, &old)
    defer { unsafe sigaction(SIGUSR2, &old, nil) }
    // Threads of tests may have blocked signals.
    var (signals, mask) = (sigset_t(), sigset_t())
    unsafe sigaddset(&signals, SIGUSR2)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &mask)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
    try withService { client, service, bus in
      let caller = pthread_self()
      func interrupted<R>(_ body: () throws -> R) throws -> R {
        let thread = Thread {
          for _ in 0..<20 {
            usleep(10_000)
            pthread_kill(caller, SIGUSR2)
          }
          bus.resume()
        }
        thread.start()
        defer { while !thread.isFinished { usleep(1000) } }
        return try body()
      }
      let reply = try interrupted { try call(client, "Wait") }
      #expect(reply == [.string("done")])
      bus.pause()
      let connection = try interrupted { try BusConnection(address: bus.address) }
      #expect(!connection.uniqueName.isEmpty)
    }
  }

  /// Waits for an event in another thread, at most 10 seconds.
  private func wait(for event: () -> Bool) {
    for _ in 0..<1000 where !event() { usleep(10_000) }
  }
}

/// Collects the signals that a connection receives.
private final class Signals {
  private let connection: BusConnection
  private var received: [String] = []

  init(_ connection: BusConnection) { self.connection = connection }

  func subscribe() throws {
    try connection.handleSignals(matching: ["type='signal',interface='org.example.Echo'"]) { [self] signal in
      guard case .string(let text)? = try? signal.values(limit: 1000).first else { return }
      received.append(text)
    }
  }

  /// Returns the texts of the signals, after waiting for a number of them.
  func texts(_ count: Int) throws -> [String] {
    for _ in 0..<1000 where received.count < count {
      while try connection.process() {}
      usleep(1000)
    }
    // Another one would be a mistake, and would have been sent before.
    while try connection.process() {}
    return received
  }
}
