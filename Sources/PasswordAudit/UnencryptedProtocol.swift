internal import KeyringModel

/// A protocol that sends passwords over the network unencrypted.
package struct UnencryptedProtocol: Equatable, Sendable {
  /// The name of the protocol.
  let name: String

  // Protocols of mail and directories are not listed, because most servers encrypt them with STARTTLS.
  private static let names: Set<String> = ["http", "ws", "ftp", "ftp-account", "telnet", "rlogin", "rsh"]

  /// Returns the first such protocol that an item names, in its attribute `protocol` or in one of its addresses (`url`,
  /// `url-2`, ...); nil if there is none. A connection to this machine itself does not use the network.
  init?(of record: ItemRecord) {
    if let name = Self.text(record.attributes[.protocol]), Self.names.contains(name),
      !Self.isThisMachine(Self.text(record.attributes[.server]) ?? "")
    {
      self.name = name
      return
    }
    for entry in record.attributes.entries where entry.name.text == "url" || entry.name.text.hasPrefix("url-")
    {
      guard let address = Self.text(entry.value), let colon = address.firstIndex(of: ":"),
        address[colon...].hasPrefix("://")
      else { continue }
      let name = String(address[..<colon])
      let authority = address[colon...].dropFirst("://".count).prefix { !"/?#".contains($0) }
      let host = authority.split(separator: "@").last ?? ""
      guard Self.names.contains(name), !Self.isThisMachine(Self.withoutPort(host)) else { continue }
      self.name = name
      return
    }
    return nil
  }

  private static func text(_ value: AttributeValue?) -> String? {
    value?.contentBytes.map { String(decoding: $0, as: UTF8.self).lowercased() }
  }

  private static func withoutPort(_ host: Substring) -> String {
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return String(host.prefix { $0 != ":" })
  }

  /// Returns true for the names and addresses of the loopback interface (RFC 6761, 6.3; RFC 1122, 3.2.1.3).
  private static func isThisMachine(_ host: String) -> Bool {
    if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }
}
