public import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// A value that names and describes one password.
///
/// Only ``GenericPassword`` and ``InternetPassword`` conform to it, because a schema cannot be created outside of this
/// module. Two values are equal if all of their attributes are equal, byte for byte.
public protocol PasswordItem: Sendable, Hashable {
  /// The account or user name; part of the primary key.
  var account: String { get set }
  /// The group that shares the item, part of the primary key; nil for the group of ``Passwords``.
  var accessGroup: AccessGroup? { get set }
  /// A Boolean value that indicates whether the item is shared between a user's devices; part of the primary key.
  var isSynchronizable: Bool { get set }
  /// The attributes that are not part of the primary key.
  var details: PasswordDetails { get set }
  /// The mapping of items of this class to the attributes of the keychain.
  static var schema: PasswordSchema<Self> { get }
}

/// The mapping of a class of items to the attributes of the keychain.
public struct PasswordSchema<Password: PasswordItem>: Sendable {
  /// The value of `kSecClass`.
  let itemClass: String
  /// Returns the complete primary key except for account, group and synchronization; a missing attribute has its
  /// default value.
  let primaryKey: @Sendable (Password) -> [PasswordAttribute<Password>]
  /// Returns the item for attributes that the keychain returned; nil if its primary key is not text.
  let read: @Sendable (FoundAttributes) -> Password?

  init(
    _ itemClass: CFString, primaryKey: @escaping @Sendable (Password) -> [PasswordAttribute<Password>],
    read: @escaping @Sendable (FoundAttributes) -> Password?
  ) {
    self.itemClass = itemClass as String
    self.primaryKey = primaryKey
    self.read = read
  }
}

extension PasswordItem {
  /// The primary key except for the group, which may be unspecified.
  var primaryKey: [PasswordAttribute<Self>] {
    Self.schema.primaryKey(self) + [.account(account), .synchronizable(isSynchronizable)]
  }

  /// Returns true if both have the same name and the same description, byte for byte.
  public static func == (first: Self, second: Self) -> Bool { first.everything == second.everything }

  /// Hashes the attributes that `==` compares.
  public func hash(into hasher: inout Hasher) { hasher.combine(everything) }

  private var everything: [PasswordAttribute<Self>] {
    primaryKey + details.texts()
      + [
        accessGroup.map { .accessGroup($0) }, details.accessibility.map { .accessibility($0) },
        details.requiresUserPresence ? PasswordAttribute(kSecAttrAccessControl, .flag(true)) : nil,
      ].compactMap { $0 }
  }
}

/// A password in the keychain, without its secret.
public struct StoredPassword<Password: PasswordItem>: Sendable, Hashable {
  /// The name and the description of the item, including the access group.
  public let password: Password
  /// The time when it was added; nil if the keychain does not return it.
  public let created: Date?
  /// The time of the last change; nil if the keychain does not return it.
  public let modified: Date?

  init?(_ found: FoundAttributes) {
    guard var password = Password.schema.read(found) else { return nil }
    password.accessGroup = found.accessGroup
    password.isSynchronizable = found.flag(kSecAttrSynchronizable)
    password.details = PasswordDetails(found)
    self.password = password
    created = found.date(kSecAttrCreationDate)
    modified = found.date(kSecAttrModificationDate)
  }
}
