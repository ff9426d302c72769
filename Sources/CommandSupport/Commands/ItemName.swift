package import Arguments
internal import Encoding
package import KeyringModel

/// An argument of the command line that names an item; CLI.md, "Naming an item".
///
/// - `container/account`, or `container` for any account or none; `container/` is the item without an account. A name
///   with several `/` can be split at each of them.
/// - `class:` in front: `generic:`, `internet:`, `cert:`, `key:`, or the full name of the class. Other text before a
///   colon belongs to the container, unless it looks like a class: letters only, without a port or a second colon after
///   it. Such text is refused, because a mistyped class would create another item.
/// - A URL, which contains protocol, account, host, port and path of an internet password.
/// - `host:port/account` or `host:port`.
/// - `keytree://...`, a reference.
/// - `#` and at least eight digits of an id.
package enum ItemName: Hashable, Sendable {
  /// The item at a path or with an id.
  case reference(ItemReference)
  /// The item whose id begins with these digits, lower case.
  case id(prefix: String)
  /// Items of a class, or of any class, that one of these readings describes. The first reading that an item matches
  /// applies; a new item has the first reading.
  case named(itemClass: ItemClass?, [ItemNameReading])

  /// The reason why an argument is not an item name.
  package enum Problem: Error, Equatable {
    case empty
    case badReference
    case badID
    /// A URL without a host, or with a class whose items have no host.
    case badURL
    /// A URL that contains a password.
    case passwordInURL
    /// A class that does not exist.
    case unknownClass(String)
  }

  /// Parses an argument.
  ///
  /// - Throws: `empty` for an empty argument, a class alone, or two empty parts; `badReference`; `badID` for fewer
  ///   than eight digits, more than an id has, or other characters; `badURL`; `passwordInURL`; `unknownClass`.
  package init(_ word: Word) throws(Problem) {
    let bytes = word.bytes
    if bytes.starts(with: ItemReference.scheme.utf8) {
      guard let text = word.text, let reference = ItemReference(text) else { throw .badReference }
      self = .reference(reference)
      return
    }
    if bytes.first == UInt8(ascii: "#") {
      let digits = word.approximateText.dropFirst().lowercased()
      let isHexadecimal = digits.utf8.allSatisfy { Hexadecimal.value(ofDigit: $0) != nil }
      guard isHexadecimal, (8...32).contains(digits.utf8.count) else { throw .badID }
      self = .id(prefix: digits)
      return
    }
    var rest = bytes[...]
    var itemClass: ItemClass?
    if let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
      let found = Self.itemClass(of: String(decoding: bytes[..<colon], as: UTF8.self))
    {
      itemClass = found
      rest = bytes[(colon + 1)...]
    }
    if let url = ItemURL(rest) {
      guard !url.hasPassword else { throw .passwordInURL }
      guard let host = url.host, [nil, .internetPassword].contains(itemClass) else { throw .badURL }
      self = .named(itemClass: itemClass, ItemNameReading.readings(of: url, host))
      return
    }
    if itemClass == nil, let word = Self.wordLikeClass(rest) { throw .unknownClass(word) }
    guard !rest.isEmpty, rest != [UInt8(ascii: "/")] else { throw .empty }
    self = .named(itemClass: itemClass, ItemNameReading.readings(of: rest, itemClass))
  }

  /// Returns the word before the first colon if it can only be meant as a class, else nil.
  private static func wordLikeClass(_ name: ArraySlice<UInt8>) -> String? {
    guard let colon = name.firstIndex(of: UInt8(ascii: ":")), colon > name.startIndex,
      name[..<colon].allSatisfy(isLetter)
    else { return nil }
    if let next = name[(colon + 1)...].first, isDigit(next) || next == UInt8(ascii: ":") { return nil }
    return String(decoding: name[..<colon], as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
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
