package import KeyringModel
internal import Encoding

/// A path below `/org/freedesktop/secrets`, taken apart but not resolved.
package enum ServicePath: Hashable {
  /// The service.
  case service
  /// A collection.
  case collection(CollectionID)
  /// An item.
  case item(ItemAddress)
  /// A collection by its alias.
  case alias(String)
  /// An item by the alias of its collection.
  case aliasItem(String, ItemID)
  /// A session.
  case session(SessionID)
  /// A prompt.
  case prompt(PromptID)

  /// Takes a path apart.
  ///
  /// - Parameter path: The path. The result is nil if no object can have it.
  package init?(_ path: ObjectPath) {
    let text = path.text
    if path == .service {
      self = .service
    } else if let rest = Self.rest(text, after: ObjectPath.collections) {
      guard let (name, item) = Self.nameAndItem(rest), let collection = CollectionID(pathName: name) else {
        return nil
      }
      self = item.map { .item(ItemAddress(collection, $0)) } ?? .collection(collection)
    } else if let rest = Self.rest(text, after: ObjectPath.aliases) {
      guard let (name, item) = Self.nameAndItem(rest), let alias = PathName.decode(name) else { return nil }
      self = item.map { .aliasItem(alias, $0) } ?? .alias(alias)
    } else if let id = Self.rest(text, after: ObjectPath.sessions).flatMap({ SessionID(hex: $0) }) {
      self = .session(id)
    } else if let id = Self.rest(text, after: ObjectPath.prompts).flatMap({ PromptID(hex: $0) }) {
      self = .prompt(id)
    } else {
      return nil
    }
  }

  private static func rest(_ text: String, after prefix: String) -> String? {
    text.utf8.starts(with: prefix.utf8) ? String(text.utf8.dropFirst(prefix.utf8.count)) : nil
  }

  private static func nameAndItem(_ rest: String) -> (name: String, item: ItemID?)? {
    let parts = rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard let name = parts.first, !name.isEmpty, parts.count <= 2 else { return nil }
    guard parts.count == 2 else { return (String(name) ?? "", nil) }
    guard let item = String(parts[1]).flatMap({ ItemID(hex: $0) }) else { return nil }
    return (String(name) ?? "", item)
  }
}

extension ObjectPath {
  /// Creates the path of a collection.
  package init(_ collection: CollectionID) { self.init(Self.collections + collection.pathName) }

  /// Creates the path of an item.
  package init(_ item: ItemAddress) {
    self.init("\(Self.collections)\(item.collection.pathName)/\(item.id.hex)")
  }

  /// Creates the path of a session.
  init(_ session: SessionID) { self.init(Self.sessions + session.hex) }

  /// Creates the path of a prompt.
  init(_ prompt: PromptID) { self.init(Self.prompts + prompt.hex) }
}

extension CollectionID {
  private static let reservedName = "session"

  /// The name of the collection in paths. A group with the name `session` has another one than the collection in
  /// memory.
  package var pathName: String {
    switch self {
    case .session: Self.reservedName
    case .group(Self.reservedName): PathName.encode(Self.reservedName, escapesFirst: true)
    case .group(let name): PathName.encode(name)
    }
  }

  /// Finds the collection that has a name in paths; nil for text that is not a name.
  init?(pathName: String) {
    if pathName == Self.reservedName {
      self = .session
      return
    }
    guard !pathName.isEmpty, let name = PathName.decode(pathName, escapesFirst: Self.reservedName) else {
      return nil
    }
    self = .group(name)
  }
}

/// Text as a component of a path. Bytes other than ASCII letters and digits are written as `_` and two hexadecimal
/// digits, as gnome-keyring does.
enum PathName {
  /// Encodes text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - escapesFirst: True to escape the first byte even if it is a letter or digit.
  static func encode(_ text: String, escapesFirst: Bool = false) -> String {
    var result = ""
    for (number, byte) in text.utf8.enumerated() {
      if isPlain(byte), !(escapesFirst && number == 0) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "_" + Hexadecimal.text([byte])
      }
    }
    return result
  }

  /// Decodes text that ``encode(_:escapesFirst:)`` has written; nil for any other text.
  ///
  /// - Parameters:
  ///   - name: The encoded text.
  ///   - reserved: The text that is encoded with `escapesFirst`.
  static func decode(_ name: String, escapesFirst reserved: String? = nil) -> String? {
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      if byte != UInt8(ascii: "_") {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(Hexadecimal.value(ofDigit:)),
        let low = rest.popFirst().flatMap(Hexadecimal.value(ofDigit:))
      else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    // Another spelling of the same text is not a name.
    return encode(text, escapesFirst: text == reserved) == name ? text : nil
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}
