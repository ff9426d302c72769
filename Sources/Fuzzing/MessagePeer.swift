internal import Foundation
internal import SessionBus

/// A connection to a bus that exists only in this process, so that any bytes can be received as the body of a message.
///
/// The bus is the other end of a socket. Messages are written into it before sd-bus reads them, on the same thread.
final class MessagePeer {
  /// The peer of this process. libFuzzer uses one thread.
  @safe nonisolated(unsafe) static let shared = MessagePeer()

  /// The largest body. It fits into the buffer of the socket, so that writing never waits.
  private static let limit = 16 << 10
  /// The limit for the values of a message in memory, as in the service.
  private static let memoryLimit = 1 << 20

  private var link = BusLink()

  /// Receives a message and reads its body.
  ///
  /// - Parameter input: One byte with the length of the signature, the signature, and the body.
  /// - Returns: The values; nil if sd-bus or the reader refuses the message.
  func values(of input: [UInt8]) -> [BusValue]? {
    var reader = InputReader(input)
    let signature = reader.string().filter { $0 != 0 }
    let body = reader.bytes(Self.limit)
    let call = BusFrame.call(signature: signature, body: body)
    if !link.send(call) {
      // sd-bus closes the connection for some invalid messages.
      link = BusLink()
      expect(link.send(BusFrame.call(signature: [], body: [])), "a new connection accepts a message")
    }
    guard let message = link.take() else { return nil }
    let values = parsed { () throws(BusError) in try message.values(limit: Self.memoryLimit) }
    expect(message.size <= Self.memoryLimit, "the values are within the limit")
    let again = parsed { () throws(BusError) in try message.values(limit: Self.memoryLimit) }
    expect((values == nil) == (again == nil), "a body can be read twice")
    return values
  }
}

/// One connection with both of its ends.
private final class BusLink {
  private let connection: BusConnection
  private let socket: Int32
  private let received = Inbox()

  private final class Inbox {
    var message: BusMessage?
  }

  init() {
    let name = "/keytree-fuzz-\(getpid())-\(UUID().uuidString)"
    let listener = Self.listen(name)
    defer { close(listener) }
    let accepted = Accepted()
    let ready = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      accepted.socket = Self.welcome(listener)
      ready.signal()
    }
    do {
      connection = try BusConnection(address: "unix:abstract=" + name)
      ready.wait()
      socket = accepted.socket
      let received = received
      try connection.handleCalls(below: "/") { received.message = $0 }
    } catch {
      fatalError("cannot connect to the bus of the fuzzer: \(error)")
    }
  }

  deinit {
    close(socket)
    connection.close()
  }

  /// The result of the thread that accepts the connection. It is read after the semaphore was signalled.
  private final class Accepted: @unchecked Sendable {
    var socket: Int32 = -1
  }

  /// Writes a message, and lets sd-bus handle it. Returns false if the connection is closed.
  func send(_ message: [UInt8]) -> Bool {
    received.message = nil
    guard unsafe Glibc.send(socket, message, message.count, Int32(MSG_NOSIGNAL)) == message.count
    else { return false }
    do {
      // Reading the header, reading the body and handling are separate steps.
      for _ in 0..<8 where received.message == nil { _ = try connection.process() }
      return true
    } catch {
      return false
    }
  }

  /// Returns the message that was received last, if there is one.
  func take() -> BusMessage? {
    defer { received.message = nil }
    return received.message
  }

  private static func listen(_ name: String) -> Int32 {
    let listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // The name of an abstract socket follows a zero byte.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.dropFirst().copyBytes(from: name.utf8) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    let status = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(listener, $0, size) }
    }
    guard listener >= 0, status == 0, Glibc.listen(listener, 1) == 0 else {
      fatalError("cannot listen: \(errno)")
    }
    return listener
  }

  /// Accepts the connection of sd-bus, and replies as a bus does: to the authentication and to `Hello`.
  private static func welcome(_ listener: Int32) -> Int32 {
    let socket = accept(listener, nil, nil)
    var text: [UInt8] = []
    func read(until part: String) {
      while !Data(text).contains(Data(part.utf8)) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(socket, &buffer, buffer.count)
        if count <= 0 { fatalError("the connection to the bus of the fuzzer was closed") }
        text += buffer[..<count]
      }
    }
    func write(_ bytes: [UInt8]) { _ = unsafe Glibc.write(socket, bytes, bytes.count) }
    read(until: "AUTH EXTERNAL")
    write(Array("DATA\r\nOK 0123456789abcdef0123456789abcdef\r\n".utf8))
    read(until: "Hello")
    write(BusFrame.reply(to: 1, text: ":1.1"))
    return socket
  }
}

extension Data {
  fileprivate func contains(_ part: Data) -> Bool { range(of: part) != nil }
}

/// Messages in the form of the D-Bus specification, "Message Format".
private struct BusFrame {
  private var bytes: [UInt8] = []

  /// Returns a call of a method that expects no reply.
  static func call(signature: [UInt8], body: [UInt8]) -> [UInt8] {
    var fields = BusFrame()
    fields.field(1, "o", "/f")
    fields.field(2, "s", "org.example.F")
    fields.field(3, "s", "F")
    // sd-bus ignores a call without a destination.
    fields.field(6, "s", ":1.1")
    fields.field(7, "s", ":1.2")
    if !signature.isEmpty { fields.signature(signature) }
    return message(type: 1, flags: 1, fields, body: body)
  }

  /// Returns the reply of the bus with one text.
  static func reply(to serial: UInt32, text: String) -> [UInt8] {
    var fields = BusFrame()
    fields.begin(5, "u")
    fields.align(4)
    fields.number(serial)
    fields.field(7, "s", "org.freedesktop.DBus")
    fields.signature(Array("s".utf8))
    var body = BusFrame()
    body.text(Array(text.utf8))
    return message(type: 2, flags: 1, fields, body: body.bytes)
  }

  private static func message(type: UInt8, flags: UInt8, _ fields: BusFrame, body: [UInt8]) -> [UInt8] {
    var frame = BusFrame()
    frame.bytes = [UInt8(ascii: "l"), type, flags, 1]
    frame.number(UInt32(body.count))
    frame.number(1)
    frame.number(UInt32(fields.bytes.count))
    frame.bytes += fields.bytes
    frame.align(8)
    return frame.bytes + body
  }

  private mutating func align(_ size: Int) { while bytes.count % size != 0 { bytes.append(0) } }

  private mutating func number(_ value: UInt32) {
    for shift in stride(from: UInt32(0), to: 32, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  private mutating func text(_ text: [UInt8]) {
    number(UInt32(text.count))
    bytes += text + [0]
  }

  /// Begins a field of the header: its code and the signature of its value. The header's array of fields starts at a
  /// multiple of eight, so positions in this value have the same alignment.
  private mutating func begin(_ code: UInt8, _ type: Unicode.Scalar) {
    align(8)
    bytes += [code, 1, UInt8(ascii: type), 0]
  }

  private mutating func field(_ code: UInt8, _ type: Unicode.Scalar, _ value: String) {
    begin(code, type)
    text(Array(value.utf8))
  }

  private mutating func signature(_ signature: [UInt8]) {
    begin(8, "g")
    bytes += [UInt8(signature.count)] + signature + [0]
  }
}
