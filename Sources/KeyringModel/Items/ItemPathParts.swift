internal import Encoding

/// The container and name of an item path without the digest, and a flag that is true if they do not show the whole
/// primary key.
struct ItemPathParts {
  private(set) var container: [UInt8] = []
  private(set) var name: [UInt8] = []
  private(set) var isLossy = false

  init(_ key: PrimaryKey) {
    // At most five names. The first set of them would make the runtime search all protocol conformances.
    var shown: [AttributeName] = []
    container = show(
      ItemPathParts.container(
        key.itemClass.containerNames.lazy.compactMap { key[$0] }.first, of: key.itemClass))
    switch key.itemClass {
    case .genericPassword:
      name = show(key[.account])
      shown = [.service, .account]
    case .internetPassword:
      name = show(key[.account])
      shown = [.server, .account]
      // A protocol is shown only if it starts with a letter, and a port only if it is a number, so the two cannot be
      // confused.
      if let word = ItemPathParts.shownProtocol(key[.protocol]) {
        name += [UInt8(ascii: "+")] + word
        shown.append(.protocol)
      }
      if case .integer(let port)? = key[.port], port > 0 {
        name += "+\(port)".utf8
        shown.append(.port)
      }
    case .certificate:
      name = show(ItemPathParts.legible(key[.serialNumber]))
      // The hexadecimal digits of bytes look like text, so the path shows a serial number exactly only if it is text.
      shown = [.issuer, .serialNumber]
      if key[.issuer].map(ItemPathParts.isLegible) == false { isLossy = true }
      if key[.serialNumber].map(ItemPathParts.isLegible) == false { isLossy = true }
    case .key:
      name = show(.string(ItemPathParts.keyWord(key[.keyClass])))
      isLossy = true
    }
    if ItemPath.looksLikeFile(name) { isLossy = true }
    shown.append(.field)
    let isHidden = key.values.contains { !shown.contains($0.name) }
    if isHidden || key.isSynchronizable || !key.group.hasSameBytes(as: GroupName.default) {
      isLossy = true
    }
  }

  /// Returns the value that is shown as the container of a path.
  ///
  /// - Parameters:
  ///   - value: The value of one of the class's ``ItemClass/containerNames``. Bytes that are valid UTF-8 must be given
  ///     as text.
  ///   - itemClass: The class of the item.
  static func container(_ value: AttributeValue?, of itemClass: ItemClass) -> AttributeValue? {
    switch itemClass {
    case .genericPassword, .internetPassword: value
    case .certificate, .key: legible(value)
    }
  }

  private mutating func show(_ value: AttributeValue?) -> [UInt8] {
    let component = ReadableComponent(value?.contentBytes ?? [])
    if component.isLossy { isLossy = true }
    // A value that is neither text nor bytes, such as a number, cannot be shown.
    if let value, value.contentBytes == nil { isLossy = true }
    return component.bytes
  }

  private static func shownProtocol(_ value: AttributeValue?) -> [UInt8]? {
    guard case .string(let text)? = value, let first = text.utf8.first,
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
    else { return nil }
    let component = ReadableComponent(text.utf8)
    return component.isLossy ? nil : component.bytes
  }

  /// Returns binary content (a serial number, a hash) as hexadecimal digits, which would otherwise be a row of
  /// underscores.
  private static func legible(_ value: AttributeValue?) -> AttributeValue? {
    guard let value, !isLegible(value), let bytes = value.contentBytes else { return value }
    return .bytes(Hexadecimal.encode(bytes))
  }

  private static func isLegible(_ value: AttributeValue) -> Bool {
    guard case .string(let text) = value else { return false }
    return text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }

  /// Returns the word for a key's class. The numbers are those of Apple's `kSecAttrKeyClass...`.
  private static func keyWord(_ value: AttributeValue?) -> String {
    switch value {
    case nil: "public"
    case .integer(1): "private"
    case .integer(2): "symmetric"
    case .integer(let number): String(number)
    case .string(let text): text
    case .boolean, .date, .bytes: "key"
    }
  }
}
