internal import Encoding
internal import KeyringModel

/// The account that an item is for, for the search for other spellings of it.
///
/// Two items may be for the same account although their primary keys differ: the protocol and the path name no account, a
/// server may ignore the case of a user name and the spaces around it, a port or a user name may have been omitted, a host
/// has several spellings (``HostSpelling``), and programs disagree on whether a password is an internet password or a generic one.
struct SimilarAccount {
  /// The attributes that name a host or a service; `ss:` begins the attributes of programs of the desktop.
  private static let placeNames: [AttributeName] = [.server, .service, "url", "ss:server", "ss:service"]
  /// The attributes that name a user.
  private static let userNames: [AttributeName] = [.account, "ss:user", "ss:username"]

  private let itemClass: ItemClass
  private let domain: [UInt8]
  private let places: [Place]
  /// The names of its users, in the form that is compared; empty texts for a missing name.
  let users: [String]

  /// A host with its port; nil for the usual one.
  private struct Place {
    let host: HostSpelling
    let port: Int64?
  }

  /// Finds the account of an item; nil for an item that is no password, and for one that names no host and no service.
  init?(_ itemClass: ItemClass, _ attributes: Attributes) {
    guard [.internetPassword, .genericPassword].contains(itemClass), attributes[.field] == nil else {
      return nil
    }
    func content(_ name: AttributeName) -> [UInt8] { attributes[name]?.contentBytes ?? [] }
    self.itemClass = itemClass
    domain = content(.securityDomain)
    users = Self.userNames.filter { $0 == .account || attributes[$0] != nil }.map {
      Self.userName(content($0))
    }
    let scheme = content(.protocol)
    places = Self.placeNames.compactMap { name in
      guard var place = Self.place(content(name), scheme: scheme) else { return nil }
      if name == .server, case .integer(let port)? = attributes[.port] {
        place.port = Self.port(port, scheme: scheme)
      }
      return Place(host: HostSpelling(place.host), port: place.port)
    }
    if places.isEmpty { return nil }
  }

  /// Returns true if another item may be for the same account.
  func mayBeSame(as other: SimilarAccount) -> Bool {
    guard hasUser(of: other), domain.isEmpty || other.domain.isEmpty || domain == other.domain else {
      return false
    }
    return places.contains { place in
      other.places.contains {
        $0.host == place.host && ($0.port == nil || place.port == nil || $0.port == place.port)
      }
    }
  }

  /// A program that gets a password without a user name asks for one, and stores the password with it.
  private func hasUser(of other: SimilarAccount) -> Bool {
    if users.contains(where: other.users.contains) { return true }
    return itemClass == .internetPassword && other.itemClass == .internetPassword
      && (users == [""] || other.users == [""])
  }

  /// The canonical forms of its hosts, which two items for the same account share.
  var hosts: Set<String> { Set(places.map(\.host.text)) }

  /// The queries that find, among others, all items for the same account.
  var queries: [Query] {
    Set(places.flatMap(\.host.searchTexts)).sorted().map { text in
      Query(predicates: [Predicate(subject: .any, comparison: .contains(.string(text)), ignoresCase: true)])
    }
  }

  /// Returns a user name in lower case, without the spaces around it. The comparison of strings ignores how letters with
  /// accents are composed.
  private static func userName(_ content: [UInt8]) -> String { trimmed(content).lowercased() }

  /// Returns the host and the port of a server, a URL or a service that looks like a host; the whole text, without the
  /// spaces around it, for any other service; nil for no text.
  private static func place(_ content: [UInt8], scheme: [UInt8]) -> HostName? {
    let text = Array(trimmed(content).utf8)
    if text.isEmpty { return nil }
    var (scheme, rest, isURL) = (scheme, text[...], false)
    if let mark = text.indices.first(where: { text[$0...].starts(with: "://".utf8) }) {
      // The index of a registry of cargo is a service such as `cargo-registry:sparse+https://host/`.
      scheme = text[..<mark].split(whereSeparator: { "+:".utf8.contains($0) }).last.map { Array($0) } ?? []
      rest = text[(mark + 3)...]
      isURL = true
    }
    rest = rest.prefix { !"/?#".utf8.contains($0) }
    if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
    guard var host = HostName(authority: rest), isURL || HostName(lookingLike: host.host) != nil else {
      return HostName(anyName: text)
    }
    host.port = host.port.flatMap { port($0, scheme: scheme) }
    return host
  }

  /// Returns a port; nil for 0, and for the one that a URL without a port means.
  private static func port(_ port: Int64, scheme: [UInt8]) -> Int64? {
    let usual = HostName.defaultPort(
      ofScheme: scheme.isEmpty ? Array("https".utf8) : HostName.lowerCase(scheme))
    return port == 0 || port == usual ? nil : port
  }

  private static func trimmed(_ content: [UInt8]) -> String {
    let scalars = Array(String(decoding: content, as: UTF8.self).unicodeScalars)
    let start = scalars.drop(while: \.properties.isWhitespace)
    let end = start.reversed().drop(while: \.properties.isWhitespace)
    var text = String.UnicodeScalarView()
    text.append(contentsOf: end.reversed())
    return String(text)
  }
}
