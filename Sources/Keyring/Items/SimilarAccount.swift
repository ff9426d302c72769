internal import Encoding
internal import KeyringModel

/// The account that an item is for, for the search for other spellings of it.
///
/// Two items may be for the same account although their primary keys differ: the protocol and the path name no account, a
/// server may ignore the case of a user name and the spaces around it, a port or a user name may have been omitted, a host
/// has several spellings (``HostSpelling``), and programs disagree on whether a password is an internet password or a generic one.
///
/// Programs of the desktop choose the names of their attributes. Every value that looks like a host counts as one, and every
/// other value as a possible user.
struct SimilarAccount {
  /// The attributes that name a host or a service; `ss:` begins the attributes of programs of the desktop.
  private static let placeNames: Set<AttributeName> = [.server, .service, "url", "ss:server", "ss:service"]
  /// The attributes that name a user.
  private static let userNames: Set<AttributeName> = [
    .account, "ss:user", "ss:username", "ss:account", "ss:login",
  ]
  /// The names of these attributes begin with it.
  private static let desktopPrefix = "ss:"
  /// The kind of an item of a program of the desktop, which looks like a host.
  private static let schema: AttributeName = "ss:xdg:schema"

  private let itemClass: ItemClass
  private let domain: [UInt8]
  private var places: [Place] = []
  /// The names of its users, in the form that is compared; an empty text for a missing name.
  private var users: [String] = []
  /// Values that may be names of users, in the same form.
  private var values: [String] = []

  /// A host with its port; nil for the usual one.
  private struct Place {
    let host: HostSpelling
    let port: Int64?
    /// True if programs may take it for another host.
    let isUncertain: Bool
  }

  /// Finds the account of an item; nil for an item that is no password, and for one that names no host and no service.
  init?(_ itemClass: ItemClass, _ attributes: Attributes) {
    guard [.internetPassword, .genericPassword].contains(itemClass), attributes[.field] == nil else {
      return nil
    }
    self.itemClass = itemClass
    domain = attributes[.securityDomain]?.contentBytes ?? []
    let desktop = attributes.entries.filter {
      $0.name != Self.schema && $0.name.text.utf8.starts(with: Self.desktopPrefix.utf8)
    }
    // The service and the account of such an item are derived from these attributes.
    for entry in desktop.isEmpty ? attributes.entries : desktop {
      add(entry.name, entry.value.contentBytes ?? [], attributes, isOfDesktop: !desktop.isEmpty)
    }
    if desktop.isEmpty, users.isEmpty { users = [""] }
    if places.isEmpty { return nil }
  }

  private mutating func add(
    _ name: AttributeName, _ content: [UInt8], _ attributes: Attributes, isOfDesktop: Bool
  ) {
    let scheme = attributes[isOfDesktop ? "ss:protocol" : .protocol]?.contentBytes ?? []
    let isPlace = Self.placeNames.contains(name)
    if isPlace || isOfDesktop, let (place, isHost) = Self.place(content, scheme: scheme), isPlace || isHost {
      var port = place.port
      if name == .server, case .integer(let number)? = attributes[.port] {
        port = Self.port(number, scheme: scheme)
      }
      let host = HostSpelling(place.host)
      let isUncertain = host.isUncertain && (isHost || name == .server)
      places.append(Place(host: host, port: port, isUncertain: isUncertain))
    } else if Self.userNames.contains(name) {
      users.append(Self.userName(content))
    } else if isOfDesktop, !content.isEmpty {
      values.append(Self.userName(content))
    }
  }

  /// Returns true if a new item may be for the same account.
  func mayBeSame(as new: SimilarAccount) -> Bool {
    guard hasUser(of: new), domain.isEmpty || new.domain.isEmpty || domain == new.domain else {
      return false
    }
    return places.contains { place in
      new.places.contains {
        ($0.host == place.host || $0.isUncertain)
          && ($0.port == nil || place.port == nil || $0.port == place.port)
      }
    }
  }

  /// A program that gets a password without a user name asks for one, and stores the password with it.
  private func hasUser(of other: SimilarAccount) -> Bool {
    if users.contains(where: other.names.contains) || values.contains(where: other.users.contains) {
      return true
    }
    return itemClass == .internetPassword && other.itemClass == .internetPassword
      && (users == [""] || other.users == [""])
  }

  /// The texts that may name its user.
  var names: [String] { users + values }

  /// The canonical forms of its hosts, which two items for the same account share.
  var hosts: Set<String> { Set(places.map(\.host.text)) }

  /// True if programs may take one of its hosts for any other one.
  var isUncertain: Bool { places.contains(where: \.isUncertain) }

  /// The queries that find, among others, all items for the same account.
  var queries: [Query] {
    let texts = Set(places.flatMap(\.host.searchTexts))
    if isUncertain || texts.contains("") { return [Query()] }
    return texts.sorted().map { text in
      Query(predicates: [Predicate(subject: .any, comparison: .contains(.string(text)), ignoresCase: true)])
    }
  }

  /// Returns a user name in lower case, without the spaces around it. The comparison of strings ignores how letters with
  /// accents are composed.
  private static func userName(_ content: [UInt8]) -> String { trimmed(content).lowercased() }

  /// Returns the host and the port of a server, a URL or a service that looks like a host; the whole text, without the
  /// spaces around it, for any other service; nil for no text.
  private static func place(_ content: [UInt8], scheme: [UInt8]) -> (HostName, isHost: Bool)? {
    let text = Array(trimmed(content).utf8)
    if text.isEmpty { return nil }
    var (scheme, rest, isURL) = (scheme, text[...], false)
    if let mark = text.indices.first(where: { text[$0...].starts(with: "://".utf8) }) {
      // The index of a registry of cargo is a service such as `cargo-registry:sparse+https://host/`.
      scheme = text[..<mark].split(whereSeparator: { "+:".utf8.contains($0) }).last.map { Array($0) } ?? []
      rest = text[(mark + 3)...]
      isURL = true
    } else if let colon = text.firstIndex(of: UInt8(ascii: ":")),
      !text[..<colon].contains(where: { ".[".utf8.contains($0) }),
      HostName(lookingLike: text[(colon + 1)...]) != nil
    {
      // The service of GitHub's program is `gh:github.com`.
      rest = text[(colon + 1)...]
    }
    rest = rest.prefix { !"/?#".utf8.contains($0) }
    if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
    guard var host = HostName(authority: rest), isURL || HostName(lookingLike: host.host) != nil else {
      return (HostName(anyName: text), false)
    }
    host.port = host.port.flatMap { port($0, scheme: scheme) }
    return (host, true)
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
