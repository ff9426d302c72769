package import Arguments
package import KeyringModel

/// An argument of the command line that names an item; CLI.md, "Naming an item".
///
/// - `container/account`, split at the first `/`: the account may contain `/`, the container may not. An item whose
///   container contains `/` is named by attributes: `--server` or `--service`, and `-a`.
/// - `container`, with any account or none; `container/` is the item without an account.
/// - `class:` in front: `generic:`, `internet:`, `cert:`, `key:`, or the full name of the class. Other text before a
///   colon belongs to the container, for example `localhost:8080/alice` or `::1`, unless it looks like a class: letters
///   only, without a port or a second colon after it. Such text is refused, because a mistyped class would create
///   another item. A URL is refused as well, because its container would be `https:`. `--server` accepts any container.
/// - `keytree://...`, a reference.
/// - `#` and at least eight digits of an id.
package enum ItemName: Equatable, Sendable {
  /// The item at a path or with an id.
  case reference(ItemReference)
  /// The item whose id begins with these digits, lower case.
  case id(prefix: String)
  /// Items with this container and, if given, this account; bytes, as typed.
  case named(itemClass: ItemClass?, container: [UInt8], account: [UInt8]?)

  /// The reason why an argument is not an item name.
  package enum Problem: Error, Equatable {
    case empty
    case badReference
    case badID
    /// A URL.
    case address
    /// A class that does not exist.
    case unknownClass(String)
  }

  /// Parses an argument.
  ///
  /// - Throws: `empty` for an empty argument, a class alone, or two empty parts; `badReference`; `badID` for fewer
  ///   than eight digits, more than an id has, or other characters; `address`; `unknownClass`.
  package init(_ word: Word) throws(Problem) {
    let bytes = word.bytes
    if bytes.starts(with: ItemReference.scheme.utf8) {
      guard let text = word.text, let reference = ItemReference(text) else { throw .badReference }
      self = .reference(reference)
      return
    }
    if bytes.first == UInt8(ascii: "#") {
      let digits = word.approximateText.dropFirst().lowercased()
      let isHexadecimal = digits.utf8.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      }
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
    guard !Self.isAddress(rest) else { throw .address }
    if itemClass == nil, let word = Self.wordLikeClass(rest) { throw .unknownClass(word) }
    guard !rest.isEmpty, rest != [UInt8(ascii: "/")] else { throw .empty }
    if let slash = rest.firstIndex(of: UInt8(ascii: "/")) {
      self = .named(
        itemClass: itemClass, container: Array(rest[..<slash]), account: Array(rest[(slash + 1)...]))
    } else {
      self = .named(itemClass: itemClass, container: Array(rest), account: nil)
    }
  }

  /// Returns true if a name begins with the scheme of a URL (RFC 3986, section 3.1) and `://`.
  private static func isAddress(_ name: ArraySlice<UInt8>) -> Bool {
    guard let colon = name.firstIndex(of: UInt8(ascii: ":")), let first = name.first, isLetter(first) else {
      return false
    }
    let isScheme = name[..<colon].allSatisfy { byte in
      isLetter(byte) || isDigit(byte) || "+-.".utf8.contains(byte)
    }
    return isScheme && name[colon...].starts(with: "://".utf8)
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
