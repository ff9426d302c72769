#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The name and the description of a password for a server.
///
/// All attributes except the details form the primary key, which must match exactly: a password without a protocol is a
/// different item from the one for HTTPS. ``Passwords/list(_:_:)`` finds the items that have some attributes in common.
public struct InternetPassword: PasswordItem {
  /// The server's name or address; part of the primary key.
  public var server: String
  /// The account at the server, or empty; part of the primary key.
  public var account: String
  /// The protocol of the server; part of the primary key.
  public var `protocol`: NetworkProtocol?
  /// The port, 1 to 65535; part of the primary key.
  public var port: Int?
  /// The path of the URL, or empty; part of the primary key.
  public var path: String
  /// The authentication method; part of the primary key.
  public var authenticationType: AuthenticationType?
  /// The realm of the authentication, or empty; part of the primary key.
  public var securityDomain: String
  /// The group that shares the item, part of the primary key; nil for the group of ``Passwords``.
  public var accessGroup: AccessGroup?
  /// A Boolean value that indicates whether the item is shared between a user's devices; part of the primary key.
  public var isSynchronizable: Bool
  /// The attributes that are not part of the primary key.
  public var details: PasswordDetails

  /// Creates the name and the description of an item.
  ///
  /// - Parameters:
  ///   - server: The server's name or address.
  ///   - account: The account at the server.
  ///   - protocol: The protocol of the server.
  ///   - port: The port, if the item is only for this port.
  ///   - path: The path of the URL, if the item is only for this path.
  ///   - authenticationType: The authentication method.
  ///   - securityDomain: The realm of the authentication.
  ///   - accessGroup: The group that shares the item; nil for the group of ``Passwords``.
  ///   - isSynchronizable: True if the item is shared between the user's devices.
  ///   - details: The description, which is used only when the item is saved or changed.
  public init(
    server: String, account: String = "", protocol: NetworkProtocol? = nil, port: Int? = nil,
    path: String = "",
    authenticationType: AuthenticationType? = nil, securityDomain: String = "",
    accessGroup: AccessGroup? = nil, isSynchronizable: Bool = false,
    details: PasswordDetails = PasswordDetails()
  ) {
    self.server = server
    self.account = account
    self.protocol = `protocol`
    self.port = port
    self.path = path
    self.authenticationType = authenticationType
    self.securityDomain = securityDomain
    self.accessGroup = accessGroup
    self.isSynchronizable = isSynchronizable
    self.details = details
  }

  /// The mapping of internet passwords to the attributes of the keychain.
  public static let schema = PasswordSchema<InternetPassword>(kSecClassInternetPassword) { password in
    [
      .server(password.server), .protocol(password.protocol), .port(password.port ?? 0),
      .path(password.path), .authenticationType(password.authenticationType),
      .securityDomain(password.securityDomain),
    ]
  } read: { found in
    guard let server = found.keyText(kSecAttrServer), let account = found.keyText(kSecAttrAccount),
      let path = found.keyText(kSecAttrPath), let domain = found.keyText(kSecAttrSecurityDomain)
    else { return nil }
    return InternetPassword(
      server: server, account: account,
      protocol: found.code(kSecAttrProtocol).map { NetworkProtocol(rawValue: $0) },
      port: found.number(kSecAttrPort).flatMap { $0 == 0 ? nil : $0 }, path: path,
      authenticationType: found.code(kSecAttrAuthenticationType).map { AuthenticationType(rawValue: $0) },
      securityDomain: domain)
  }
}
