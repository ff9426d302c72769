internal import Credentials
internal import Keyring
package import KeyringModel

/// A login that a browser may see: an item with the web site that it is for.
package struct WebLogin: Sendable {
  /// The item.
  package let record: ItemRecord
  /// The host in lower case. An IPv6 address has no brackets.
  package let host: [UInt8]
  /// The port; nil if it is the default of the protocol.
  package let port: Int64?
  /// The account; empty if there is none.
  package let account: [UInt8]
  /// The protocol, `https` if the item has none.
  let scheme: String

  /// Examines an item.
  ///
  /// - Parameters:
  ///   - record: The item.
  ///   - protocols: The protocols of logins that a browser sees.
  /// - Returns: Nil for everything that no browser may see: fields, keys, tokens, items of other protocols, generic
  ///   passwords without a `url`, and items of the Secret Service, which are for programs.
  package init?(_ record: ItemRecord, protocols: Set<String>) {
    guard record.field == nil else { return nil }
    let attributes = record.attributes
    let place: Endpoint
    switch record.itemClass {
    case .internetPassword:
      guard LoginItems.isPassword(record), let own = Self.place(of: attributes) else { return nil }
      place = own
    case .genericPassword:
      guard attributes[.kind]?.isSame(as: .string(Self.secretService)) != true,
        let url = attributes[.url]?.contentBytes, let own = Endpoint(url: url, scheme: Self.defaultScheme)
      else { return nil }
      place = own
    case .certificate, .key: return nil
    }
    guard protocols.contains(place.scheme) else { return nil }
    self.record = record
    host = place.host.host
    port = place.host.port
    account = attributes[.account]?.contentBytes ?? []
    scheme = place.scheme
  }

  private static func place(of attributes: Attributes) -> Endpoint? {
    guard let server = attributes[.server]?.contentBytes, !server.isEmpty else { return nil }
    var host = HostName(anyName: server)
    switch attributes[.port] {
    case nil, .integer(0): break
    case .integer(let port): host.port = port
    // A value of another type is no port, so the item is for no known server.
    case .string, .bytes, .boolean, .date: return nil
    }
    guard let name = (attributes[.protocol] ?? .string("")).contentBytes else { return nil }
    let scheme = name.isEmpty ? defaultScheme : String(decoding: name, as: UTF8.self)
    return Endpoint(scheme: scheme, host: host, path: attributes[.path]?.contentBytes)
  }

  /// The protocol of an item without one.
  static let defaultScheme = "https"
  /// The kind of an item that a program has stored through the freedesktop Secret Service.
  private static let secretService = "secret-service"

  /// The URL for the line `url:`; nil if the login is for another protocol than `http` and `https`, or if its host cannot
  /// be part of a URL.
  ///
  /// It is the attribute `url` if a browser opens the site of the login with it, so that the login opens the site that it
  /// is listed under.
  package var url: [UInt8]? {
    guard Self.defaultPorts[scheme] != nil, HostName(authority: hostInURL) != nil else { return nil }
    if let stored = record.attributes[.url]?.contentBytes, let url = ownURL(stored) { return url }
    if record.itemClass == .genericPassword { return site + "/".utf8 }
    var path = record.attributes[.path]?.contentBytes ?? []
    if path.first != UInt8(ascii: "/") { path.insert(UInt8(ascii: "/"), at: 0) }
    return site + path
  }

  /// Returns a stored URL with its protocol; nil if a browser would not open the host of this login with it.
  ///
  /// A browser ignores line breaks and tabs in a URL and takes a backslash for a slash (WHATWG URL, 4.4), so it would read
  /// a URL with them differently from this program.
  private func ownURL(_ stored: [UInt8]) -> [UInt8]? {
    guard let place = Endpoint(url: stored, scheme: scheme), place.host.host == host,
      Self.defaultPorts[place.scheme] != nil,
      stored.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") })
    else { return nil }
    return (Endpoint.hasScheme(stored) ? [] : Array("\(place.scheme)://".utf8)) + stored
  }

  /// The protocols of web sites, with their ports. No other URL is sent: a browser could run it as a script.
  static let defaultPorts: [String: Int64] = ["http": 80, "https": 443]

  /// The protocol, the host and the port, for messages.
  var site: [UInt8] { Array("\(scheme)://".utf8) + hostInURL + (port.map { Array(":\($0)".utf8) } ?? []) }

  /// The host as a URL contains it: an IPv6 address is in brackets.
  var hostInURL: [UInt8] { host.contains(UInt8(ascii: ":")) ? [0x5B] + host + [0x5D] : host }

  /// Returns true if a tab's host is this login's host or below it.
  package func isFor(tab: [UInt8]) -> Bool { Self.isBelow(tab, host) }

  /// Returns true if a tab shows the site of this login: the same protocol and port, and the same host or one below it.
  ///
  /// A login for `http` also belongs to the `https` site of its host, because the password is better protected there. A
  /// login for another protocol, which the user has allowed for browsers, belongs to the `https` site.
  ///
  /// - Parameter tab: The site of the tab.
  func isFor(site tab: TabSite) -> Bool {
    guard isFor(tab: tab.host) else { return false }
    let own = Self.defaultPorts[scheme] == nil ? Self.defaultScheme : scheme
    if own == tab.scheme { return (port ?? Self.defaultPorts[own]) == tab.port }
    return own == "http" && tab.scheme == "https" && port == nil && tab.port == Self.defaultPorts["https"]
  }

  /// Returns true if a host equals another one or is one of its subdomains.
  static func isBelow(_ host: [UInt8], _ domain: [UInt8]) -> Bool {
    if host == domain { return true }
    let tail = [UInt8(ascii: ".")] + domain
    return host.count > tail.count && host.suffix(tail.count).elementsEqual(tail)
  }

  /// Returns true if the extension could take the account for the host of a tab that this login is not for.
  ///
  /// - Parameter tab: The host of the tab.
  package func takesAccountForHost(inTab tab: [UInt8]) -> Bool {
    guard !account.isEmpty, !account.contains(UInt8(ascii: ".")) else { return false }
    return Self.isBelow(tab, HostName.lowerCase(account)) && !isFor(tab: tab)
  }
}

extension AttributeName {
  /// The URL of a login; a custom attribute.
  static let url: AttributeName = "url"
}
