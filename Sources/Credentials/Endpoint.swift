package import KeyringModel

/// A location on a server that requires a password: protocol, host with port, and path.
package struct Endpoint: Equatable, Sendable {
  /// The protocol in lower case, such as `https`.
  package let scheme: String
  /// The host, and the port if one is given.
  package let host: HostName
  /// The path without the leading `/`; nil if none is given.
  package let path: [UInt8]?

  /// Makes an endpoint from its parts.
  ///
  /// - Parameters:
  ///   - scheme: The protocol, in any case.
  ///   - host: The host with its port.
  ///   - path: The path, with or without a leading `/`; nil for any path.
  package init(scheme: String, host: HostName, path: [UInt8]? = nil) {
    self.scheme = scheme.lowercased()
    self.host = host
    self.path = path.map(Self.withoutSlash)
  }

  /// Parses a URL. User information before `@`, the query and the fragment are ignored.
  ///
  /// - Parameters:
  ///   - url: A URL, or host and path without a scheme.
  ///   - scheme: The protocol for a URL without a scheme.
  /// - Returns: Nil if the URL has no host.
  package init?(url: [UInt8], scheme assumed: String) {
    self.init(url: url, scheme: assumed) { HostName(authority: $0) }
  }

  /// Parses the name of a registry as docker passes it: like a URL, but `//` may be in front of a host without a
  /// scheme, and an IPv6 address may lack its brackets. A number at the end of such an address is part of the address.
  ///
  /// - Parameters:
  ///   - registry: The name.
  ///   - scheme: The protocol for a name without a scheme.
  /// - Returns: Nil if the name has no host.
  init?(registry: [UInt8], scheme assumed: String) {
    let name = registry.starts(with: "//".utf8) ? Array(registry.dropFirst(2)) : registry
    self.init(url: name, scheme: assumed) { HostName(authority: $0) ?? HostName(address: $0) }
  }

  private init?(url: [UInt8], scheme assumed: String, _ parse: (ArraySlice<UInt8>) -> HostName?) {
    var rest = url[...]
    var scheme = assumed
    if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
      scheme = String(decoding: rest[..<colon], as: UTF8.self)
      rest = rest[(colon + 3)...]
    }
    rest = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    var authority = rest[..<slash]
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    guard !scheme.isEmpty, let host = parse(authority) else { return nil }
    let path = Self.withoutSlash(Array(rest[slash...]))
    self.init(scheme: scheme, host: host, path: path.isEmpty ? nil : path)
  }

  /// The port as it is stored in items; 0 for none.
  var port: Int64 { host.port ?? 0 }

  /// Returns true if an item has this server, protocol, port and path.
  ///
  /// An item without a protocol matches `https` only, because the password is then sent over an encrypted connection.
  /// An item with a path matches an endpoint without one, but not vice versa. Items with different ports belong to
  /// different servers.
  func isServed(by record: ItemRecord) -> Bool {
    let attributes = record.attributes
    let server = attributes[.server]?.contentBytes ?? []
    guard HostName.lowerCase(server) == host.host else { return false }
    guard Self.number(attributes[.port]) == port else { return false }
    let known = String(decoding: attributes[.protocol]?.contentBytes ?? [], as: UTF8.self).lowercased()
    guard known == scheme || (known.isEmpty && scheme == "https") else { return false }
    guard let path else { return true }
    return Self.withoutSlash(attributes[.path]?.contentBytes ?? []) == path
  }

  /// Returns true if this endpoint has a path or is below it. Every endpoint is below no path.
  func isBelow(_ path: AttributeValue?) -> Bool {
    let slash = UInt8(ascii: "/")
    let above = (path?.contentBytes ?? []).split(separator: slash)
    return (self.path ?? []).split(separator: slash).starts(with: above)
  }

  /// Returns a URL without the parts that may be secret: user and password, query and fragment. Attributes are public.
  package static func publicURL(_ url: [UInt8]) -> [UInt8] {
    var url = Array(url.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    let colon = url.firstIndex(of: UInt8(ascii: ":")) ?? 0
    let hasScheme = url[colon...].starts(with: "://".utf8)
    let start = hasScheme ? colon + 3 : url.starts(with: "//".utf8) ? 2 : 0
    let slash = url[start...].firstIndex(of: UInt8(ascii: "/")) ?? url.endIndex
    if let at = url[start..<slash].lastIndex(of: UInt8(ascii: "@")) { url.removeSubrange(start...at) }
    return url
  }

  private static func number(_ value: AttributeValue?) -> Int64? {
    switch value {
    case nil: 0
    case .integer(let number): number
    // A value of another type does not match any port.
    case .string, .bytes, .boolean, .date: nil
    }
  }

  private static func withoutSlash(_ path: [UInt8]) -> [UInt8] {
    path.first == UInt8(ascii: "/") ? Array(path.dropFirst()) : path
  }
}
