internal import CSDBus
package import Glibc

/// A connection to a D-Bus bus through sd-bus. It is not thread-safe: one thread owns it and everything it returns.
@safe
package final class BusConnection {
  private var bus: OpaquePointer?
  private var onCall: (BusMessage) -> Void = { _ in }
  private var onSignal: (BusMessage) -> Void = { _ in }

  /// The unique name of this connection.
  package private(set) var uniqueName = ""

  /// The libraries with the functions of sd-bus, in the order in which they are tried.
  package static let libraries = ["libsystemd.so.0", "libelogind.so.0", "libbasu.so.0"]

  /// Loads the library and connects to a bus.
  ///
  /// - Parameters:
  ///   - address: The address of the bus, as in `DBUS_SESSION_BUS_ADDRESS`.
  ///   - libraries: The libraries to try.
  /// - Throws: `libraryMissing`, `cannotConnect`.
  package init(address: String, libraries: [String] = BusConnection.libraries) throws(BusError) {
    guard Self.load(libraries) else { throw .libraryMissing(names: libraries) }
    var opened: OpaquePointer?
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let code = unsafe keytree_bus_open(address, context, &opened)
    guard code >= 0 else { throw .cannotConnect(address: address, errno: -code) }
    unsafe bus = opened
    var name: UnsafePointer<CChar>?
    // Waits for the reply of the bus, which is the first proof that it is one.
    let named = unsafe keytree_bus_unique_name(opened, &name)
    guard named >= 0, let name = unsafe name else {
      close()
      throw .cannotConnect(address: address, errno: -named)
    }
    uniqueName = unsafe String(cString: name)
  }

  deinit { close() }

  /// Sends what is queued, and closes the connection. Later calls of other methods fail.
  package func close() {
    unsafe keytree_bus_close(bus)
    unsafe bus = nil
  }

  private static func load(_ libraries: [String]) -> Bool {
    var names: [UnsafePointer<CChar>?] = unsafe libraries.map { unsafe UnsafePointer(strdup($0)) } + [nil]
    defer { unsafe names.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
    return unsafe keytree_bus_load(&names) == 0
  }

  // MARK: Handlers

  /// Passes all calls of an object path and the paths below it to a closure. sd-bus itself answers the calls of
  /// `org.freedesktop.DBus.Peer`, and the calls of all other paths with errors.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - handler: Called by ``process()``. It must reply to each call, now or later.
  /// - Throws: `system`.
  package func handleCalls(below path: String, _ handler: @escaping (BusMessage) -> Void) throws(BusError) {
    onCall = handler
    try check(
      unsafe keytree_bus_handle_calls(
        bus, path,
        { message, context in
          guard let message = unsafe message, let context = unsafe context else { return }
          let connection = unsafe Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
          connection.onCall(unsafe BusMessage(message))
        }), "sd_bus_add_fallback")
  }

  /// Passes all signals that match a rule to a closure.
  ///
  /// - Parameters:
  ///   - rules: Match rules of the bus (D-Bus specification, "Match Rules").
  ///   - handler: Called by ``process()``.
  /// - Throws: `system`.
  package func handleSignals(
    matching rules: [String], _ handler: @escaping (BusMessage) -> Void
  ) throws(BusError) {
    onSignal = handler
    for rule in rules {
      try check(
        unsafe keytree_bus_handle_signals(
          bus, rule,
          { message, context in
            guard let message = unsafe message, let context = unsafe context else { return }
            let connection = unsafe Unmanaged<BusConnection>.fromOpaque(context).takeUnretainedValue()
            connection.onSignal(unsafe BusMessage(message))
          }), "sd_bus_add_match")
    }
  }

  // MARK: Sending

  /// Sends the reply to a call. Does nothing if the caller does not want one.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - values: The result.
  ///   - isSensitive: True if the reply contains a secret, so that sd-bus wipes it.
  /// - Throws: `invalidValue`, `system`.
  package func reply(to call: BusMessage, _ values: [BusValue], isSensitive: Bool = false) throws(BusError) {
    guard call.expectsReply else { return }
    var made: OpaquePointer?
    try check(unsafe keytree_bus_new_reply(call.pointer, &made), "sd_bus_message_new_method_return")
    try unsafe send(made, values, isSensitive: isSensitive)
  }

  /// Sends an error as the reply to a call. Does nothing if the caller does not want one.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - name: The name of the error.
  ///   - text: The message.
  /// - Throws: `invalidValue`, `system`.
  package func reply(to call: BusMessage, error name: String, _ text: String) throws(BusError) {
    guard call.expectsReply else { return }
    var made: OpaquePointer?
    try check(
      unsafe keytree_bus_new_error(call.pointer, name, text, &made), "sd_bus_message_new_method_error")
    try unsafe send(made, [])
  }

  /// Sends a signal.
  ///
  /// - Parameters:
  ///   - member: The signal.
  ///   - interface: Its interface.
  ///   - path: The object that sends it.
  ///   - receiver: The only receiver; nil to send it to everyone who has subscribed to it.
  ///   - values: The content.
  /// - Throws: `invalidValue`, `system`.
  package func signal(
    _ member: String, of interface: String, from path: String, to receiver: String? = nil,
    _ values: [BusValue]
  ) throws(BusError) {
    var made: OpaquePointer?
    try check(unsafe keytree_bus_new_signal(bus, path, interface, member, &made), "sd_bus_message_new_signal")
    if let receiver {
      let code = unsafe keytree_bus_set_destination(made, receiver)
      guard code >= 0 else {
        unsafe keytree_bus_release(made)
        throw .system(function: "sd_bus_message_set_destination", errno: -code)
      }
    }
    try unsafe send(made, values)
  }

  /// Calls a method and waits for the reply. Messages that arrive before it are kept for ``process()``.
  ///
  /// - Parameters:
  ///   - member: The method.
  ///   - interface: Its interface.
  ///   - path: The object.
  ///   - destination: The name of the program.
  ///   - values: The arguments.
  ///   - isSensitive: True if the call or its reply contain a secret.
  ///   - seconds: The maximum time to wait.
  /// - Returns: The body of the reply.
  /// - Throws: `errorReply`, `invalidValue`, `system`, `malformed`.
  package func call(
    _ member: String, of interface: String, at path: String, in destination: String,
    _ values: [BusValue] = [],
    isSensitive: Bool = false, seconds: Int = 25
  ) throws(BusError) -> [BusValue] {
    var made: OpaquePointer?
    try check(
      unsafe keytree_bus_new_call(bus, destination, path, interface, member, &made),
      "sd_bus_message_new_method_call")
    defer { unsafe keytree_bus_release(made) }
    if isSensitive { _ = unsafe keytree_bus_set_sensitive(made) }
    guard let call = unsafe made else { throw .invalidValue }
    try unsafe MessageWriter(call).write(values)
    var (answer, name, text) = unsafe (
      nil as OpaquePointer?, nil as UnsafeMutablePointer<CChar>?, nil as UnsafeMutablePointer<CChar>?
    )
    let code = unsafe keytree_bus_call(bus, call, UInt64(seconds) * 1_000_000, &answer, &name, &text)
    defer {
      unsafe free(name)
      unsafe free(text)
    }
    guard code >= 0, let reply = unsafe answer else {
      guard let name = unsafe name else { throw .system(function: "sd_bus_call", errno: -code) }
      throw .errorReply(
        name: unsafe String(cString: name), text: unsafe text.map { unsafe String(cString: $0) } ?? "")
    }
    defer { unsafe keytree_bus_release(reply) }
    var reader = unsafe MessageReader(reply, limit: .max)
    return try reader.read()
  }

  /// Writes the body, sends the message, and releases it.
  private func send(
    _ made: OpaquePointer?, _ values: [BusValue], isSensitive: Bool = false
  ) throws(BusError) {
    guard let message = unsafe made else { throw .invalidValue }
    defer { unsafe keytree_bus_release(message) }
    if isSensitive { _ = unsafe keytree_bus_set_sensitive(message) }
    try unsafe MessageWriter(message).write(values)
    try check(unsafe keytree_bus_send(bus, message), "sd_bus_send")
  }

  // MARK: Loop

  /// Handles at most one message that has arrived.
  ///
  /// - Returns: True if there may be more to do without waiting.
  /// - Throws: `system` if the connection is broken.
  package func process() throws(BusError) -> Bool {
    let code = unsafe keytree_bus_process(bus)
    try check(code, "sd_bus_process")
    return code > 0
  }

  /// Waits until all messages were written.
  ///
  /// - Throws: `system` if the connection is broken.
  package func flush() throws(BusError) { try check(unsafe keytree_bus_flush(bus), "sd_bus_flush") }

  /// The descriptor and the events to wait for with `poll(2)`.
  ///
  /// - Throws: `system` if the connection is broken.
  package func pollRequest() throws(BusError) -> pollfd {
    let descriptor = unsafe keytree_bus_descriptor(bus)
    try check(descriptor, "sd_bus_get_fd")
    let events = unsafe keytree_bus_events(bus)
    try check(events, "sd_bus_get_events")
    return pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0)
  }

  /// The time on `CLOCK_MONOTONIC` at which ``process()`` must be called even if nothing arrives, in microseconds; nil if
  /// there is none.
  package var deadline: UInt64? {
    var time = UInt64.max
    // A broken connection is reported by `process`.
    guard unsafe keytree_bus_timeout(bus, &time) >= 0, time != .max else { return nil }
    return time
  }

  private func check(_ code: Int32, _ function: String) throws(BusError) {
    guard code >= 0 else { throw .system(function: function, errno: -code) }
  }
}
