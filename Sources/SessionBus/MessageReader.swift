internal import CSDBus
internal import Glibc
internal import Secrets

/// Reads the body of a message, and counts the memory for its values and their number.
@safe
struct MessageReader {
  private let message: OpaquePointer
  /// The memory that is left.
  private(set) var rest: Int
  /// The number of values that are left.
  private var values: Int
  /// The maximum number of elements of an array.
  private let elements: Int

  /// The memory of a value without its content.
  private static let overhead = 8
  /// The memory of an array of bytes without its content: `SecretBytes` uses whole pages.
  private static let page = 4096
  /// The maximum number of nested containers. D-Bus allows 64.
  private static let maximumDepth = 64

  /// - Parameters:
  ///   - limit: The maximum memory for all values, in bytes.
  ///   - elements: The maximum number of elements of an array.
  ///   - values: The maximum number of values.
  init(_ message: OpaquePointer, limit: Int, elements: Int = .max, values: Int = .max) {
    unsafe self.message = message
    rest = limit
    (self.elements, self.values) = (elements, values)
  }

  /// Reads the whole body from its beginning.
  ///
  /// - Throws: `tooLarge`, `tooManyElements`, `malformed`.
  mutating func read() throws(BusError) -> [BusValue] {
    try check(unsafe keytree_bus_rewind(message))
    return try readContainer(depth: 0)
  }

  /// Reads values up to the end of the current container.
  ///
  /// - Parameter element: The signature of an element, if the container is an array.
  private mutating func readContainer(
    depth: Int, arrayOf element: String? = nil
  ) throws(BusError) -> [BusValue] {
    guard depth <= Self.maximumDepth else { throw .malformed }
    var values: [BusValue] = []
    while true {
      var type: CChar = 0
      var contents: UnsafePointer<CChar>?
      let code = unsafe keytree_bus_peek(message, &type, &contents)
      guard code >= 0 else { throw .malformed }
      guard code > 0 else { return values }
      if let element, values.count >= elements { throw .tooManyElements(signature: element) }
      values.append(try unsafe readValue(type, contents, depth: depth))
    }
  }

  private mutating func readValue(
    _ type: CChar, _ contents: UnsafePointer<CChar>?, depth: Int
  ) throws(BusError) -> BusValue {
    try spend(Self.overhead)
    guard values > 0 else { throw .tooLarge }
    values -= 1
    switch Character(UnicodeScalar(UInt8(bitPattern: type))) {
    case "y": return .byte(try fixed(type, 0 as UInt8))
    // sd-bus writes an `int`.
    case "b": return .boolean(try fixed(type, 0 as Int32) != 0)
    case "n": return .int16(try fixed(type, 0 as Int16))
    case "q": return .uint16(try fixed(type, 0 as UInt16))
    case "i": return .int32(try fixed(type, 0 as Int32))
    case "u": return .uint32(try fixed(type, 0 as UInt32))
    case "x": return .int64(try fixed(type, 0 as Int64))
    case "t": return .uint64(try fixed(type, 0 as UInt64))
    case "d": return .double(try fixed(type, 0 as Double))
    case "s": return .string(try text(type))
    case "o": return .objectPath(try text(type))
    case "g": return .signature(try text(type))
    case "a":
      guard let contents = unsafe contents else { throw .malformed }
      let element = unsafe String(cString: contents)
      if element == "y" { return .bytes(try bytes()) }
      let members = try unsafe readContents(type, contents, depth: depth, arrayOf: element)
      return .array(element: element, members)
    case "r": return .structure(try unsafe readContents(type, contents, depth: depth))
    case "e":
      let members = try unsafe readContents(type, contents, depth: depth)
      guard members.count == 2 else { throw .malformed }
      return .entry(members[0], members[1])
    case "v":
      let members = try unsafe readContents(type, contents, depth: depth)
      guard members.count == 1 else { throw .malformed }
      return .variant(members[0])
    default: throw .malformed
    }
  }

  private mutating func readContents(
    _ type: CChar, _ contents: UnsafePointer<CChar>?, depth: Int, arrayOf element: String? = nil
  ) throws(BusError) -> [BusValue] {
    try check(unsafe keytree_bus_enter(message, type, contents))
    let values = try readContainer(depth: depth + 1, arrayOf: element)
    try check(unsafe keytree_bus_exit(message))
    return values
  }

  private func fixed<T: BitwiseCopyable>(_ type: CChar, _ initial: T) throws(BusError) -> T {
    var value = initial
    try check(
      unsafe withUnsafeMutableBytes(of: &value) { unsafe keytree_bus_read(message, type, $0.baseAddress) })
    return value
  }

  private mutating func text(_ type: CChar) throws(BusError) -> String {
    var start: UnsafePointer<CChar>?
    try check(unsafe keytree_bus_read(message, type, &start))
    guard let start = unsafe start else { throw .malformed }
    let string = unsafe UnsafeBufferPointer(start: start, count: strlen(start))
    try spend(string.count)
    guard let text = unsafe String(validating: string, as: UTF8.self) else { throw .malformed }
    return text
  }

  private mutating func bytes() throws(BusError) -> SecretSlice {
    var start: UnsafeRawPointer?
    var count = 0
    try check(unsafe keytree_bus_read_bytes(message, &start, &count))
    if count > 0 { try spend(Self.page + count) }
    return unsafe SecretSlice(SecretBytes(copying: UnsafeRawBufferPointer(start: start, count: count)))
  }

  private mutating func spend(_ count: Int) throws(BusError) {
    guard count <= rest else { throw .tooLarge }
    rest -= count
  }

  private func check(_ code: Int32) throws(BusError) {
    guard code >= 0 else { throw .malformed }
  }
}
