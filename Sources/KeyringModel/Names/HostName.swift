/// A host with an optional port, from a URL or from the name of a folder.
///
/// ASCII letters become lower case, the dot at the end of a complete name is dropped (RFC 3986, 3.2.2), and an IPv6 address
/// loses its brackets. Everything else is kept: `xn--` names and percent escapes are not decoded.
package struct HostName: Equatable, Sendable {
  /// The name or address.
  package var host: [UInt8]
  /// The port; nil if none is given.
  package var port: Int64?

  /// Parses the host and port of a URL: the text between `//` and the path, without any `user@`.
  ///
  /// - Parameter text: For example `example.com:8443` or `[2001:db8::1]`. The result is nil for an empty host, an
  ///   invalid port, and characters that no host has.
  package init?(authority text: some Collection<UInt8>) {
    guard let (name, digits) = HostName.split(Array(text)) else { return nil }
    if let digits {
      // `http://example.com:/` is legal and means no port.
      if !digits.isEmpty {
        guard let port = HostName.port(digits) else { return nil }
        self.port = port
      }
    }
    host = HostName.normalized(name)
    guard !host.isEmpty, host.allSatisfy(HostName.isHostCharacter) else { return nil }
  }

  /// Parses an IPv6 address without brackets. It has no port, because its end cannot be told from one.
  ///
  /// - Parameter text: For example `2001:db8::1`. The result is nil for any other text.
  package init?(address text: some Collection<UInt8>) {
    guard HostName.isIPv6(text) else { return nil }
    host = text.map(HostName.lowerCase)
  }

  /// Parses any text as a host, if it looks like one.
  ///
  /// - Parameter text: The text. The result is nil unless the text is `localhost`, an IP address, or labels separated
  ///   by dots of which the last has a letter. A port may follow, but a colon without digits may not.
  package init?(lookingLike text: some BidirectionalCollection<UInt8>) {
    if let address = HostName(address: text) {
      self = address
      return
    }
    guard text.last != UInt8(ascii: ":"), let parsed = HostName(authority: text) else { return nil }
    let host = parsed.host
    guard
      HostName.isIPv6(host) || HostName.isIPv4(host) || HostName.isDottedName(host)
        || host.elementsEqual("localhost".utf8)
    else { return nil }
    self = parsed
  }

  /// Takes any text as a host without a port: the attribute `server` of an item need not look like a host.
  ///
  /// - Parameter text: The text.
  package init(anyName text: some Sequence<UInt8>) { host = HostName.normalized(Array(text)) }

  // Splits `name`, `name:port`, `[address]` and `[address]:port` into name and port.
  private static func split(_ text: [UInt8]) -> (name: [UInt8], digits: ArraySlice<UInt8>?)? {
    if text.first == UInt8(ascii: "[") {
      guard let close = text.firstIndex(of: UInt8(ascii: "]")), isIPv6(text[1..<close]) else { return nil }
      let rest = text[(close + 1)...]
      guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return nil }
      return (Array(text[1..<close]), rest.isEmpty ? nil : rest.dropFirst())
    }
    guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return (text, nil) }
    guard !text[(colon + 1)...].contains(UInt8(ascii: ":")) else { return nil }
    return (Array(text[..<colon]), text[(colon + 1)...])
  }

  private static func port(_ digits: ArraySlice<UInt8>) -> Int64? {
    guard digits.count <= 5, digits.allSatisfy(isDigit) else { return nil }
    let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    return (1...65535).contains(value) ? value : nil
  }

  /// The ports of protocols that passwords are used with (IANA, Service Name and Port Number Registry).
  private static let defaultPorts: [String: Int64] = [
    "ftp": 21, "ftps": 990, "http": 80, "https": 443, "imap": 143, "imaps": 993, "ldap": 389, "ldaps": 636,
    "pop3": 110, "pop3s": 995, "smtp": 25, "smtps": 465, "ssh": 22, "telnet": 23,
  ]

  /// Returns the port that a URL without a port means; nil for a scheme without a well-known port.
  ///
  /// - Parameter scheme: The scheme in lower case, such as `https`.
  package static func defaultPort(ofScheme scheme: [UInt8]) -> Int64? {
    defaultPorts[String(decoding: scheme, as: UTF8.self)]
  }

  private static func isDottedName(_ host: [UInt8]) -> Bool {
    let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count >= 2, let last = labels.last, last.count >= 2 else { return false }
    return labels.allSatisfy { !$0.isEmpty && $0.allSatisfy(isLabelCharacter) }
      && last.contains { !isDigit($0) }
  }

  private static func isIPv4(_ host: [UInt8]) -> Bool {
    let parts = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 4
      && parts.allSatisfy { part in
        (1...3).contains(part.count) && part.allSatisfy(isDigit)
          && part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 255
      }
  }

  // This approximation is enough to tell an address from a name, because the host is only stored as text and never
  // connected to.
  private static func isIPv6(_ host: some Collection<UInt8>) -> Bool {
    host.count { $0 == UInt8(ascii: ":") } >= 2
      && host.allSatisfy { isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }
  }

  /// Returns a host with lower-case ASCII letters (RFC 4343).
  package static func lowerCase(_ host: [UInt8]) -> [UInt8] { host.map(lowerCase) }

  /// Returns a host in the form in which hosts are compared and stored: in lower case, without the dot at the end.
  package static func normalized(_ host: [UInt8]) -> [UInt8] {
    let dot = UInt8(ascii: ".")
    let isComplete = host.count > 1 && host.last == dot && host[host.count - 2] != dot
    return lowerCase(isComplete ? host.dropLast() : host)
  }

  private static func lowerCase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lowerCase(byte))
  }

  private static func isLabelCharacter(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowerCase(byte))
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte >= 0x80
  }

  // A host has no characters that delimit the parts of a URL or that are not allowed in a URL (RFC 3986, 3.2.2).
  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && !"/?#@\\<>\"[]{}|^`".utf8.contains(byte)
  }
}
