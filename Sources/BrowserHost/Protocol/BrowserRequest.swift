internal import Encoding
package import Secrets

/// A request of the extension.
///
/// The extension sends all of its settings and the browser's description of the tab with each request. Everything that
/// is not listed here is skipped: it may have fractional numbers, deep nesting and half surrogate pairs.
package struct BrowserRequest: Sendable {
  /// A store that the user has configured in the extension, or that `configure` has returned.
  package struct Store: Equatable, Sendable {
    /// The name of the store in requests and answers.
    package let id: String
    /// The name that the user sees; empty if there is none.
    package let name: String
    /// The path of its folder, which may begin with `~`; empty if there is none.
    package let path: String

    /// Creates a store.
    package init(id: String, name: String = "", path: String) {
      (self.id, self.name, self.path) = (id, name, path)
    }
  }

  /// The name of the action, as sent.
  package private(set) var action = ""
  /// The stores, sorted by their ids.
  package private(set) var stores: [Store] = []
  /// The origin of the tab, such as `https://github.com`; nil if the request has none.
  package private(set) var origin: [UInt8]?
  /// A Boolean value that indicates whether the extension shows one-time passwords.
  package private(set) var wantsSeed = false
  /// The id of the store that a file belongs to.
  package private(set) var storeID = ""
  /// The name of a login, as `list` returned it; nil if the request has none.
  package private(set) var file: [UInt8]?
  /// The content to save; nil if the request has none.
  package private(set) var contents: SecretSlice?
  /// The value to return, as JSON; nil if the request has none.
  package private(set) var echo: SecretSlice?

  /// The deepest nesting of objects and arrays.
  private static let depth = 64

  /// Reads a request.
  ///
  /// - Parameter message: The JSON of a frame.
  /// - Throws: `requestUnreadable` for anything that is not JSON in UTF-8, for two members with one name in an object
  ///   that is read, and for a value that is nested too deeply.
  package init(_ message: borrowing SecretBytes) throws(BrowserError) {
    do throws(JSONError) {
      self = try unsafe message.withBytes { bytes throws(JSONError) in
        var cursor = try unsafe JSONCursor(
          bytes, limits: JSONLimits(size: NativeFrame.requestLimit, depth: Self.depth))
        var request = BrowserRequest()
        try unsafe request.read(&cursor, bytes)
        try cursor.finish()
        return request
      }
    } catch {
      throw BrowserError(
        .requestUnreadable, "cannot read the request of the browser; reload the extension",
        detail: Self.reason(error))
    }
  }

  private init() {}

  private mutating func read(
    _ cursor: inout JSONCursor, _ bytes: UnsafeRawBufferPointer
  ) throws(JSONError) {
    var keys = try cursor.openObject()
    while let key = try cursor.nextKey(&keys) {
      switch cursor.string(of: key) {
      case "action": action = try Self.text(&cursor) ?? ""
      case "settings": try readSettings(&cursor)
      case "storeId": storeID = try Self.text(&cursor) ?? ""
      case "file": file = try Self.text(&cursor).map { Array($0.utf8) }
      case "contents": contents = try Self.secret(&cursor)
      case "echoResponse":
        let range = try cursor.skipValue()
        echo = unsafe SecretSlice(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[range])))
      default: _ = try cursor.skipValue()
      }
    }
  }

  private mutating func readSettings(_ cursor: inout JSONCursor) throws(JSONError) {
    guard cursor.peek() == UInt8(ascii: "{") else {
      _ = try cursor.skipValue()
      return
    }
    var keys = try cursor.openObject()
    while let key = try cursor.nextKey(&keys) {
      switch cursor.string(of: key) {
      case "stores": stores = try Self.stores(&cursor)
      case "origin": origin = try Self.text(&cursor).map { Array($0.utf8) }
      case "enableOTP":
        if cursor.peek() == UInt8(ascii: "t") {
          try cursor.takeLiteral("true")
          wantsSeed = true
        } else {
          _ = try cursor.skipValue()
        }
      default: _ = try cursor.skipValue()
      }
    }
  }

  private static func stores(_ cursor: inout JSONCursor) throws(JSONError) -> [Store] {
    guard cursor.peek() == UInt8(ascii: "{") else {
      _ = try cursor.skipValue()
      return []
    }
    var stores: [Store] = []
    var keys = try cursor.openObject()
    while let key = try cursor.nextKey(&keys) {
      stores.append(try store(cursor.string(of: key), &cursor))
    }
    return stores.sorted { $0.id.utf8.lexicographicallyPrecedes($1.id.utf8) }
  }

  private static func store(_ id: String, _ cursor: inout JSONCursor) throws(JSONError) -> Store {
    var (name, path) = ("", "")
    guard cursor.peek() == UInt8(ascii: "{") else {
      _ = try cursor.skipValue()
      return Store(id: id, path: "")
    }
    var keys = try cursor.openObject()
    while let key = try cursor.nextKey(&keys) {
      switch cursor.string(of: key) {
      case "name": name = try text(&cursor) ?? ""
      case "path": path = try text(&cursor) ?? ""
      default: _ = try cursor.skipValue()
      }
    }
    return Store(id: id, name: name, path: path)
  }

  /// Reads a string that is not secret. Any other value is skipped and is nil.
  private static func text(_ cursor: inout JSONCursor) throws(JSONError) -> String? {
    guard cursor.peek() == UInt8(ascii: "\"") else {
      _ = try cursor.skipValue()
      return nil
    }
    return cursor.string(of: try cursor.takeText())
  }

  /// Reads a string into memory that is wiped. Any other value is skipped and is nil.
  private static func secret(_ cursor: inout JSONCursor) throws(JSONError) -> SecretSlice? {
    guard cursor.peek() == UInt8(ascii: "\"") else {
      _ = try cursor.skipValue()
      return nil
    }
    var content = SecretBytes()
    cursor.append(try cursor.takeText(), to: &content)
    return SecretSlice(content)
  }

  private static func reason(_ error: JSONError) -> String {
    switch error {
    case .tooLarge(let limit): "it is larger than \(limit) bytes"
    case .tooDeep(let limit): "it is nested more than \(limit) levels deep"
    case .invalidUTF8: "it is not UTF-8"
    case .duplicateKey: "a member occurs twice"
    case .loneSurrogate: "a text contains half of a surrogate pair"
    case .unexpectedEnd: "it is truncated"
    case .byteOrderMark, .unexpectedByte, .controlCharacter, .invalidEscape, .notAnInteger,
      .integerOutOfRange,
      .trailingData, .unexpectedType:
      "it is not JSON"
    }
  }
}
