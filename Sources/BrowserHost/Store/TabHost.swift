internal import KeyringModel

/// The host of a browser's tab.
enum TabHost {
  /// Returns the host of an origin in lower case, without port and brackets; nil if it has none.
  ///
  /// - Parameter origin: The origin, such as `https://github.com:8443`, or `null`.
  static func host(ofOrigin origin: [UInt8]) -> [UInt8]? {
    guard let colon = origin.firstIndex(of: UInt8(ascii: ":")), origin[colon...].starts(with: "://".utf8)
    else {
      return nil
    }
    let authority = origin[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }
    return HostName(authority: authority)?.host
  }
}
