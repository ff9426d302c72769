package import Arguments
internal import Encoding
package import KeyringModel

/// An argument of the command line that names an item; CLI.md, "Naming an item".
///
/// - `container/account`, or `container` for any account or none; `container/` is the item without an account. A name
///   with several `/` can be split at each of them.
/// - `class:` in front: `generic:`, `internet:`, `cert:`, `key:`, or the full name of the class. Other text before a
///   colon belongs to the container.
/// - A URL, which contains protocol, account, host, port and path of an internet password.
/// - `host:port/account` or `host:port`.
/// - `keytree://...`, a reference.
/// - `#` and at least eight digits of an id.
///
/// Items of other programs can have any names. Text that looks like one of these forms therefore also means the item with
/// exactly that name, if there is no better match. For a new item it is refused, because a mistyped class would create
/// another item.
package enum ItemName: Hashable, Sendable {
  /// The item at a path or with an id.
  case reference(ItemReference)
  /// The item whose id begins with these digits, lower case.
  case id(prefix: String)
  /// Items that one of these readings describes. The first reading that an item matches applies; a new item has the
  /// first reading that describes new items.
  case named([ItemNameReading])

  /// The reason why an argument is not an item name.
  package enum Problem: Error, Equatable {
    case empty
    /// A name is longer than any item's.
    case tooLong
    case badReference
    case badID
    /// A URL without a host, or with a class whose items have no host.
    case badURL
    /// A host with a port that does not exist.
    case badPort
    /// A URL that contains a password.
    case passwordInURL
    /// A class that does not exist.
    case unknownClass(String)
  }

  /// The largest size of a name in bytes: that of a container and an account, which are at most 4,096 bytes each.
  private static let sizeLimit = 3 * 4096

  /// Parses an argument.
  ///
  /// - Throws: `empty` for an empty argument, a class alone, or two empty parts; `tooLong`; `badReference`;
  ///   `passwordInURL`.
  package init(_ word: Word) throws(Problem) {
    let bytes = word.bytes
    guard bytes.count <= Self.sizeLimit else { throw .tooLong }
    if bytes.starts(with: ItemReference.scheme.utf8) {
      guard let text = word.text, let reference = ItemReference(text) else { throw .badReference }
      self = .reference(reference)
      return
    }
    if let digits = Self.idDigits(word) {
      self = .id(prefix: digits)
      return
    }
    let (itemClass, rest) = Self.split(bytes)
    guard !rest.isEmpty, rest != [UInt8(ascii: "/")] else { throw .empty }
    var readings: [ItemNameReading] = []
    let url = ItemURL(rest)
    if url?.hasPassword == true { throw .passwordInURL }
    if let url, let host = url.host, [nil, .internetPassword].contains(itemClass) {
      readings = ItemNameReading.readings(of: url, host)
    } else if url == nil, Self.problem(ofNew: bytes[...]) == nil {
      readings = ItemNameReading.readings(of: rest, itemClass)
    } else if itemClass != nil {
      readings = ItemNameReading.literalReadings(of: rest, itemClass)
    }
    if itemClass != nil { for index in readings.indices { readings[index].hasTypedClass = true } }
    if url != nil || itemClass != nil || readings.isEmpty {
      readings += ItemNameReading.literalReadings(of: bytes[...])
    }
    self = .named(readings)
  }

  /// Returns the reason why a name cannot be that of a new item; nil if it can.
  ///
  /// - Parameter name: The name on the command line.
  package static func problem(ofNew name: ArraySlice<UInt8>) -> Problem? {
    if name.first == UInt8(ascii: "#") { return .badID }
    let (itemClass, rest) = split(Array(name))
    if let url = ItemURL(rest) {
      return url.host == nil || ![nil, .internetPassword].contains(itemClass) ? .badURL : nil
    }
    guard [nil, .internetPassword].contains(itemClass) else { return nil }
    if rest.starts(with: "//".utf8) { return .badURL }
    if itemClass == nil, let word = wordLikeClass(rest) { return .unknownClass(word) }
    return hasBadPort(rest.prefix { $0 != UInt8(ascii: "/") }) ? .badPort : nil
  }

  /// Returns true for a host, a colon and digits that are no port.
  private static func hasBadPort(_ host: ArraySlice<UInt8>) -> Bool {
    let parts = host.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    return parts.count == 2 && HostName(authority: parts[0]) != nil && parts[1].allSatisfy(isDigit)
      && HostName(authority: host)?.port == nil
  }

  /// Splits a name into its class, if it has one, and the rest.
  private static func split(_ name: [UInt8]) -> (ItemClass?, ArraySlice<UInt8>) {
    guard let colon = name.firstIndex(of: UInt8(ascii: ":")),
      let found = itemClass(of: String(decoding: name[..<colon], as: UTF8.self))
    else { return (nil, name[...]) }
    return (found, name[(colon + 1)...])
  }

  /// Returns the digits of an id in lower case; nil for other text.
  private static func idDigits(_ word: Word) -> String? {
    guard word.bytes.first == UInt8(ascii: "#") else { return nil }
    let digits = word.approximateText.dropFirst().lowercased()
    let isHexadecimal = digits.utf8.allSatisfy { Hexadecimal.value(ofDigit: $0) != nil }
    return isHexadecimal && (8...32).contains(digits.utf8.count) ? digits : nil
  }

  /// Returns the word before the first colon if it looks like a class: letters only, without a port or a second colon
  /// after it.
  private static func wordLikeClass(_ name: ArraySlice<UInt8>) -> String? {
    guard let colon = name.firstIndex(of: UInt8(ascii: ":")), colon > name.startIndex,
      name[..<colon].allSatisfy(ItemURL.isLetter)
    else { return nil }
    if let next = name[(colon + 1)...].first, isDigit(next) || next == UInt8(ascii: ":") { return nil }
    return String(decoding: name[..<colon], as: UTF8.self)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Returns the class with a short name or with the name in the index.
  package static func itemClass(of word: String) -> ItemClass? {
    switch word {
    case "generic": .genericPassword
    case "internet": .internetPassword
    case "cert": .certificate
    case "key": .key
    default: ItemClass(rawValue: word)
    }
  }

  /// The names of classes that the command line accepts.
  package static let classWords =
    ["generic", "internet", "cert", "key"]
    + ItemClass.allCases.map(\.rawValue).filter { $0 != ItemClass.key.rawValue }
}

extension ItemClass {
  /// The attribute that the second part of an item's name contains.
  var accountName: AttributeName {
    switch self {
    case .genericPassword, .internetPassword: .account
    case .certificate: .serialNumber
    case .key: .keyClass
    }
  }
}

extension ItemName {
  /// True if it names one item permanently: by its path or its id.
  package var isByIdentity: Bool {
    switch self {
    case .reference, .id: true
    case .named: false
    }
  }

  /// The reason why no new item can have the name, if it is not the name of an existing one; nil if a new item can.
  package var problem: Problem? {
    guard case .named(let readings) = self, !readings.contains(where: \.describesNewItems) else { return nil }
    return (readings.last?.container).flatMap { Self.problem(ofNew: $0[...]) }
  }

  /// True if it names one item by its id.
  var isID: Bool {
    switch self {
    case .reference(.id), .id: true
    case .reference(.path), .named: false
    }
  }

  /// Returns the name of a field of the item. Only a reference by path is changed.
  package func ofField(_ field: String?) -> ItemName {
    guard let field, case .reference(.path(let path)) = self, path.field == nil else { return self }
    return .reference(.path(path.appending(field: field)))
  }
}
