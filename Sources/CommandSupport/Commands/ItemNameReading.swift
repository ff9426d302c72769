internal import Encoding
package import KeyringModel

/// One way to read the name of an item: a container, an account, and attributes that the name contains.
package struct ItemNameReading: Hashable, Sendable {
  /// The container, as typed or, for a host, in lower case.
  package let container: [UInt8]
  /// The account; nil for any account or none.
  package let account: [UInt8]?
  /// The attributes, such as the port. An item must have all of them.
  package var attributes: [GivenAttributes.Entry] = []
  /// Further attributes. An item must have one of the given values of each, or no value.
  package var optionalAttributes: [AttributeName: [[UInt8]]] = [:]
  /// The class; nil for any.
  package var itemClass: ItemClass?
  /// True if the class was typed in front of the name.
  package var hasTypedClass = false
  /// True if the container is compared without regard to case.
  package var ignoresCase = false
  /// True if the reading can describe a new item. The others only find items.
  package var describesNewItems = true

  /// Creates a reading of a name without attributes.
  package init(
    _ container: some Sequence<UInt8>, _ account: (some Sequence<UInt8>)?, _ itemClass: ItemClass? = nil
  ) {
    (self.container, self.account) = (Array(container), account.map { Array($0) })
    self.itemClass = itemClass
  }

  /// The largest number of `/` at which a name is split.
  package static let splitLimit = 16

  /// Returns the readings of a name, the preferred one first: as a host and port, split at each `/` from left to right,
  /// as a container with `/`, and last as a host in any case.
  ///
  /// - Parameters:
  ///   - name: The name without its class.
  ///   - itemClass: The class; nil for any.
  static func readings(of name: ArraySlice<UInt8>, _ itemClass: ItemClass?) -> [ItemNameReading] {
    let plain = splits(of: name, itemClass)
    guard itemClass ?? .internetPassword == .internetPassword, let first = plain.first else { return plain }
    var readings: [ItemNameReading] = []
    if let host = HostName(authority: first.container), let port = host.port {
      readings.append(.host(host.host, first.account, [.init(name: .port, number: port)]))
    }
    let host = HostName.normalized(first.container)
    readings += plain
    if host != first.container { readings.append(.host(host, first.account, [])) }
    return readings + [ItemNameReading.host(host, first.account, []).inAnyCase]
  }

  /// Returns the readings of a URL, the preferred one first: with everything that it contains, without the path, and
  /// last also for items without a protocol or a port. An item with another protocol or port never matches.
  static func readings(of url: ItemURL, _ host: HostName) -> [ItemNameReading] {
    let port = host.port ?? HostName.defaultPort(ofScheme: url.scheme)
    let ports = port.map { [Array(String($0).utf8)] } ?? []
    var attributes = [GivenAttributes.Entry(name: .protocol, bytes: url.scheme)]
    if let port = host.port { attributes.append(GivenAttributes.Entry(name: .port, number: port)) }
    var exact = ItemNameReading.host(host.host, url.account, attributes)
    if host.port == nil { exact.optionalAttributes = [.port: ports] }
    var loose = ItemNameReading.host(host.host, url.account, [])
    loose.optionalAttributes = [.protocol: [url.scheme], .port: ports]
    loose.describesNewItems = false
    var readings = [exact, loose, loose.inAnyCase]
    if !url.path.isEmpty {
      var withPath = exact
      withPath.attributes.append(GivenAttributes.Entry(name: .path, bytes: url.path))
      readings.insert(withPath, at: 0)
    }
    return readings
  }

  /// Returns the readings of text that looks like a class, a URL or an id: as a name without these. They find the items
  /// of other programs, and do not describe new items.
  static func literalReadings(of text: ArraySlice<UInt8>, _ itemClass: ItemClass? = nil) -> [ItemNameReading]
  {
    splits(of: text, itemClass).map { reading in
      var literal = reading
      literal.describesNewItems = false
      return literal
    }
  }

  /// Returns the ways to split a name at `/`, and last the whole name as a container.
  private static func splits(of name: ArraySlice<UInt8>, _ itemClass: ItemClass?) -> [ItemNameReading] {
    let slashes = name.indices.filter { name[$0] == UInt8(ascii: "/") }.prefix(splitLimit)
    return slashes.map { ItemNameReading(name[..<$0], name[($0 + 1)...], itemClass) }
      + [ItemNameReading(name, [UInt8]?.none, itemClass)]
  }

  /// The same reading for a host in any case. Other programs, such as those that use SecItem, can have stored the host
  /// in another case.
  private var inAnyCase: ItemNameReading {
    var reading = self
    reading.ignoresCase = true
    reading.describesNewItems = false
    return reading
  }

  private static func host(
    _ host: [UInt8], _ account: [UInt8]?, _ attributes: [GivenAttributes.Entry]
  ) -> ItemNameReading {
    var reading = ItemNameReading(host, account, .internetPassword)
    reading.attributes = attributes
    return reading
  }
}

/// A URL as the name of an item (RFC 3986). The query and the fragment are not used.
struct ItemURL {
  /// The scheme in lower case.
  let scheme: [UInt8]
  /// The user name before `@`, without percent escapes; nil if there is none.
  let account: [UInt8]?
  /// True if a password follows the user name.
  let hasPassword: Bool
  /// The host and the port; nil if the text contains no valid host.
  let host: HostName?
  /// The path; empty for none and for `/`.
  let path: [UInt8]

  /// Parses a text. The result is nil unless it begins with a scheme and `://`.
  init?(_ text: ArraySlice<UInt8>) {
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")), let first = text.first,
      Self.isLetter(first), text[..<colon].allSatisfy(Self.isSchemeCharacter),
      text[colon...].starts(with: "://".utf8)
    else { return nil }
    scheme = text[..<colon].map { $0 < 0x41 ? $0 : $0 | 0x20 }
    let rest = text[(colon + 3)...].prefix { !"?#".utf8.contains($0) }
    var authority = rest.prefix { $0 != UInt8(ascii: "/") }
    let path = rest[authority.endIndex...]
    self.path = path.count > 1 ? Array(path) : []
    var user: ArraySlice<UInt8>?
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
      user = authority[..<at]
      authority = authority[(at + 1)...]
    }
    hasPassword = user?.contains(UInt8(ascii: ":")) ?? false
    account = user.map { PercentEscapes.decode($0) ?? Array($0) }
    host = HostName(authority: authority)
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
    isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
  }
}
