package import KeyringModel

/// A location on a server that requires a password: protocol, host with port, and path.
package struct Endpoint: Equatable, Sendable {
  /// The protocol in lower case, such as `https`.
  package let scheme: String
  /// The host, and the port unless it is the default of the protocol.
  package private(set) var host: HostName
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
    self.host.port = Self.port(host.port, scheme: self.scheme)
    self.path = path.map(Self.withoutSlash)
  }

  /// Parses a URL. User information before `@`, the query and the fragment are ignored.
  ///
  /// - Parameters:
  ///   - url: A URL, or host and path without a scheme.
  ///   - scheme: The protocol for a URL without a scheme.
  /// - Returns: Nil if the URL has no host, or a scheme with characters that no scheme has.
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
    if let end = Self.endOfScheme(url) {
      scheme = String(decoding: rest[..<end], as: UTF8.self)
      guard Self.isScheme(rest[..<end]) else { return nil }
      rest = rest[(end + 3)...]
    }
    rest = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    let slash = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
    var authority = rest[..<slash]
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    guard !scheme.isEmpty, let host = parse(authority) else { return nil }
    let path = Self.withoutSlash(Array(rest[slash...]))
    self.init(scheme: scheme, host: host, path: path.isEmpty ? nil : path)
  }

  /// Returns true if a URL has a scheme and an authority: `SCHEME://`.
  package static func hasScheme(_ url: [UInt8]) -> Bool {
    endOfScheme(url).map { isScheme(url[..<$0]) } ?? false
  }

  /// Returns the place of `://` in a URL; nil if it has none in front of its path, its query and its fragment.
  private static func endOfScheme(_ url: [UInt8]) -> Int? {
    guard let colon = url.firstIndex(where: { ":/?#".utf8.contains($0) }) else { return nil }
    return url[colon...].starts(with: "://".utf8) ? colon : nil
  }

  /// Returns true if a text may be the scheme of a URL (RFC 3986, 3.1).
  private static func isScheme(_ text: ArraySlice<UInt8>) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
    guard let first = text.first, isLetter(first) else { return false }
    return text.allSatisfy { byte in
      isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }
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
    guard HostName.normalized(server) == host.host, let number = Self.number(attributes[.port]),
      Self.port(number, scheme: scheme) == host.port
    else { return false }
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
  ///
  /// - Parameter url: A URL, or host and path without a scheme.
  package static func publicURL(_ url: [UInt8]) -> [UInt8] {
    var url = Array(url.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
    // The rest can begin like a URL with another user, as in `a@//b:secret@host`.
    while let user = user(of: url) { url.removeSubrange(user) }
    return url
  }

  /// Returns the position of the user information in a URL with its `@`; nil if there is none.
  private static func user(of url: [UInt8]) -> ClosedRange<Int>? {
    // What follows `//` can begin like a URL of its own, as in `//c://bob:secret@host`.
    let begin = url.starts(with: "//".utf8) ? 2 : 0
    let start = begin + (endOfScheme(Array(url[begin...])).map { $0 + 3 } ?? 0)
    let slash = url[start...].firstIndex(of: UInt8(ascii: "/")) ?? url.endIndex
    return url[start..<slash].lastIndex(of: UInt8(ascii: "@")).map { start...$0 }
  }

  /// Returns a port; nil for none, for 0, and for the default of a protocol.
  private static func port(_ port: Int64?, scheme: String) -> Int64? {
    port == 0 || port == HostName.defaultPort(ofScheme: Array(scheme.utf8)) ? nil : port
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
