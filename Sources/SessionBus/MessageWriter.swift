internal import CSDBus
internal import Secrets

/// Writes the body of a new message.
@safe
struct MessageWriter {
  private let message: OpaquePointer

  init(_ message: OpaquePointer) { unsafe self.message = message }

  /// Writes values in order.
  ///
  /// - Throws: `invalidValue`.
  func write(_ values: [BusValue]) throws(BusError) {
    for value in values { try write(value) }
  }

  private func write(_ value: BusValue) throws(BusError) {
    switch value {
    case .byte(let number): try append("y", number)
    // sd-bus reads an `int`.
    case .boolean(let flag): try append("b", flag ? 1 as Int32 : 0)
    case .int16(let number): try append("n", number)
    case .uint16(let number): try append("q", number)
    case .int32(let number): try append("i", number)
    case .uint32(let number): try append("u", number)
    case .int64(let number): try append("x", number)
    case .uint64(let number): try append("t", number)
    case .double(let number): try append("d", number)
    case .string(let text): try append("s", text: text)
    case .objectPath(let text): try append("o", text: text)
    case .signature(let text): try append("g", text: text)
    case .bytes(let bytes):
      try check(
        unsafe bytes.withBytes { unsafe keytree_bus_append_bytes(message, $0.baseAddress, $0.count) })
    case .array(let element, let members): try write("a", element, members)
    case .structure(let members):
      // sd-bus would send it, and the bus would close the connection.
      guard !members.isEmpty else { throw .invalidValue }
      try write("r", members.map(\.typeSignature).joined(), members)
    case .entry(let key, let value): try write("e", key.typeSignature + value.typeSignature, [key, value])
    case .variant(let value): try write("v", value.typeSignature, [value])
    }
  }

  private func write(_ type: Character, _ contents: String, _ members: [BusValue]) throws(BusError) {
    try check(unsafe keytree_bus_open_container(message, Self.code(type), contents))
    for member in members { try write(member) }
    try check(unsafe keytree_bus_close_container(message))
  }

  private func append<T: BitwiseCopyable>(_ type: Character, _ value: T) throws(BusError) {
    var value = value
    try check(
      unsafe withUnsafeBytes(of: &value) {
        unsafe keytree_bus_append(message, Self.code(type), $0.baseAddress)
      })
  }

  private func append(_ type: Character, text: String) throws(BusError) {
    // C would end the text at the NUL.
    guard !text.utf8.contains(0) else { throw .invalidValue }
    try check(unsafe text.withCString { unsafe keytree_bus_append(message, Self.code(type), $0) })
  }

  private static func code(_ type: Character) -> CChar { CChar(bitPattern: type.asciiValue ?? 0) }

  private func check(_ code: Int32) throws(BusError) {
    guard code >= 0 else { throw .invalidValue }
  }
}
