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
    port = place.host.port.flatMap {
      $0 == HostName.defaultPort(ofScheme: Array(place.scheme.utf8)) ? nil : $0
    }
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

  /// The URL for the line `url:`.
  ///
  /// It is the attribute `url` of a generic password, and of an internet password if its host is that of the item, so
  /// that the login opens the site that it is listed under.
  package var url: [UInt8] {
    let stored = record.attributes[.url]?.contentBytes
    if let stored, record.itemClass == .genericPassword { return stored }
    if let stored, Endpoint(url: stored, scheme: scheme)?.host.host == host { return stored }
    var url = Array("\(scheme)://".utf8) + hostInURL
    if let port { url += ":\(port)".utf8 }
    var path = record.attributes[.path]?.contentBytes ?? []
    if path.first != UInt8(ascii: "/") { path.insert(UInt8(ascii: "/"), at: 0) }
    return url + path
  }

  /// The host as a URL contains it: an IPv6 address is in brackets.
  var hostInURL: [UInt8] { host.contains(UInt8(ascii: ":")) ? [0x5B] + host + [0x5D] : host }

  /// Returns true if a tab's host is this login's host or below it.
  package func isFor(tab: [UInt8]) -> Bool { Self.isBelow(tab, host) }

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
