#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The name and the description of a secret for a service, such as a token.
///
/// Service, account, access group and synchronization form the primary key, which finds the item. The details are not
/// part of it.
public struct GenericPassword: PasswordItem {
  /// The service that the secret is for; part of the primary key.
  public var service: String
  /// The account at the service, or empty; part of the primary key.
  public var account: String
  /// The group that shares the item, part of the primary key; nil for the group of ``Passwords``.
  public var accessGroup: AccessGroup?
  /// A Boolean value that indicates whether the item is shared between a user's devices; part of the primary key.
  public var isSynchronizable: Bool
  /// The attributes that are not part of the primary key.
  public var details: PasswordDetails

  /// Creates the name and the description of an item.
  ///
  /// - Parameters:
  ///   - service: The service that the secret is for.
  ///   - account: The account at the service.
  ///   - accessGroup: The group that shares the item; nil for the group of ``Passwords``.
  ///   - isSynchronizable: True if the item is shared between the user's devices.
  ///   - details: The description, which is used only when the item is saved or changed.
  public init(
    service: String, account: String = "", accessGroup: AccessGroup? = nil, isSynchronizable: Bool = false,
    details: PasswordDetails = PasswordDetails()
  ) {
    self.service = service
    self.account = account
    self.accessGroup = accessGroup
    self.isSynchronizable = isSynchronizable
    self.details = details
  }

  /// The mapping of generic passwords to the attributes of the keychain.
  public static let schema = PasswordSchema<GenericPassword>(kSecClassGenericPassword) { password in
    [.service(password.service)]
  } read: { found in
    guard let service = found.keyText(kSecAttrService), let account = found.keyText(kSecAttrAccount) else {
      return nil
    }
    return GenericPassword(service: service, account: account)
  }
}
