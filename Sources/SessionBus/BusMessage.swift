internal import CSDBus
internal import Secrets

/// A message that was received from the bus. It may be used only on the thread of its connection.
@safe
package final class BusMessage {
  let pointer: OpaquePointer

  /// The unique name of the sender; empty if the bus itself is not connected.
  package let sender: String
  /// The object that is called, or that sends a signal.
  package let path: String
  /// The interface; nil if the caller did not name one.
  package let interface: String?
  /// The method or signal.
  package let member: String
  /// The signature of the body.
  package let signature: String
  /// True if the sender waits for a reply.
  package let expectsReply: Bool
  /// True if the bus itself has sent the message. Every program can send signals with the names of the bus, but only the
  /// bus has this sender.
  package var isFromBus: Bool { sender == BusConnection.busName }
  /// The memory that the body takes, in bytes, as far as it was read.
  package private(set) var size = 0

  /// Creates the value from a message of sd-bus, which it retains.
  init(_ pointer: OpaquePointer) {
    unsafe keytree_bus_retain(pointer)
    unsafe self.pointer = pointer
    sender = unsafe Self.text(keytree_bus_sender(pointer)) ?? ""
    path = unsafe Self.text(keytree_bus_path(pointer)) ?? ""
    interface = unsafe Self.text(keytree_bus_interface(pointer))
    member = unsafe Self.text(keytree_bus_member(pointer)) ?? ""
    signature = unsafe Self.text(keytree_bus_signature(pointer)) ?? ""
    expectsReply = unsafe keytree_bus_expects_reply(pointer) != 0
  }

  deinit { unsafe keytree_bus_release(pointer) }

  /// Makes sd-bus wipe this message when it is freed, and the reply to it.
  package func markSensitive() {
    // Fails only for a NULL pointer.
    _ = unsafe keytree_bus_set_sensitive(pointer)
  }

  /// Reads the body.
  ///
  /// Reading stops where a limit is exceeded, so a larger body takes no more memory or time.
  ///
  /// - Parameters:
  ///   - limit: The maximum size of the body in memory, in bytes.
  ///   - elements: The maximum number of elements of an array of anything but bytes.
  ///   - values: The maximum number of values, in all arrays and structures together.
  /// - Returns: The values, in order.
  /// - Throws: `tooLarge`, `tooManyElements`, `malformed`.
  package func values(
    limit: Int, elements: Int = .max, values: Int = .max
  ) throws(BusError) -> [BusValue] {
    var reader = unsafe MessageReader(pointer, limit: limit, elements: elements, values: values)
    defer { size = max(size, limit - reader.rest) }
    return try reader.read()
  }

  private static func text(_ string: UnsafePointer<CChar>?) -> String? {
    guard let string = unsafe string else { return nil }
    return unsafe String(cString: string)
  }
}
