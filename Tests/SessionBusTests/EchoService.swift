import Foundation
import Glibc
import SessionBus
import Synchronization

/// A service on its own thread that answers every call below `/test`.
final class EchoService: Sendable {
  /// The number of elements in an array that `EchoFew` reads.
  static let elements = 8
  /// The name that the service owns.
  static let name = "org.example.Echo"

  private let stopped = Mutex(false)
  private let ready = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)
  private let failures = Mutex<[String]>([])
  private let received = Mutex<[String]>([])

  /// The calls and signals that arrived, as `interface.member path signature`.
  var log: [String] { received.withLock { $0 } }
  /// The errors that occurred in the service.
  var errors: [String] { failures.withLock { $0 } }

  /// Starts the service, and returns when it owns its name.
  ///
  /// - Parameter limit: The maximum memory for the body of a call.
  init(address: String, limit: Int = 4 << 20) {
    Thread { [self] in
      do {
        try serve(address, limit)
      } catch {
        failures.withLock { $0.append("\(error)") }
        ready.signal()
      }
      ended.signal()
    }.start()
    ready.wait()
  }

  private func serve(_ address: String, _ limit: Int) throws {
    let connection = try BusConnection(address: address)
    try connection.handleCalls(below: "/test") { [self] call in
      received.withLock { $0.append("\(call.interface ?? "").\(call.member) \(call.path) \(call.signature)") }
      do {
        try answer(call, connection, limit)
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    let rule = "type='signal',sender='org.freedesktop.DBus',member="
    try connection.handleSignals(matching: [rule + "'NameOwnerChanged'", rule + "'NameLost'"]) {
      [self] signal in
      guard let values = try? signal.values(limit: 1000), case .string(let name)? = values.first else {
        return
      }
      received.withLock { $0.append("\(signal.member) \(name)") }
    }
    guard try connection.requestName(Self.name, replacing: false) == .owned else {
      throw BusError.invalidValue
    }
    ready.signal()
    while !stopped.withLock({ $0 }) {
      while try connection.process() {}
      var request = try connection.pollRequest()
      _ = unsafe poll(&request, 1, 10)
    }
    connection.close()
  }

  private func answer(_ call: BusMessage, _ connection: BusConnection, _ limit: Int) throws {
    switch call.member {
    case "Fail": try connection.reply(to: call, error: "org.example.Error.Refused", "No.")
    case "EchoFew": try answerFew(call, connection, limit)
    case "Wait":
      usleep(300_000)
      try connection.reply(to: call, [.string("done")])
    case "Whisper":
      try connection.signal(
        "Told", of: "org.example.Echo", from: call.path, to: call.sender, [.string("you")])
      try connection.reply(to: call, [])
    case "Shout":
      try connection.signal("Told", of: "org.example.Echo", from: call.path, [.string("all")])
      try connection.reply(to: call, [])
    default:
      call.markSensitive()
      do {
        try connection.reply(to: call, call.values(limit: limit), isSensitive: true)
      } catch BusError.tooLarge {
        try connection.reply(to: call, error: "org.example.Error.TooLarge", "too large")
      }
    }
  }

  /// Answers a call that may have few elements and values.
  private func answerFew(_ call: BusMessage, _ connection: BusConnection, _ limit: Int) throws {
    let values: [BusValue]
    do throws(BusError) {
      values = try call.values(limit: limit, elements: Self.elements, values: 2 * Self.elements)
    } catch {
      return try connection.reply(to: call, error: "org.example.Error.TooMany", "too many")
    }
    try connection.reply(to: call, values)
  }

  /// Stops the service and waits for its thread.
  func stop() {
    stopped.withLock { $0 = true }
    ended.wait()
    ended.signal()
  }

  deinit { stopped.withLock { $0 = true } }
}
