internal import Credentials
internal import KeyringModel

/// The site that a browser's tab shows.
struct TabSite: Equatable {
  /// The protocol in lower case.
  let scheme: String
  /// The host in lower case. An IPv6 address has no brackets.
  let host: [UInt8]
  /// The port, also if it is the default one; nil if the protocol has none that is known.
  let port: Int64?

  /// Reads an origin.
  ///
  /// - Parameter origin: The origin, such as `https://github.com:8443`. The result is nil for one without a host, such as
  ///   `null`.
  init?(origin: [UInt8]) {
    guard Endpoint.hasScheme(origin), let place = Endpoint(url: origin, scheme: "") else { return nil }
    scheme = place.scheme
    host = place.host.host
    port = place.host.port ?? WebLogin.defaultPorts[place.scheme]
  }
}
