internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// An attribute and its value, as a condition on passwords of one class.
///
/// Only the attributes of the class compile: `.server("example.org")` does not compile for a ``GenericPassword``.
public struct PasswordAttribute<Password: PasswordItem>: Sendable, Hashable {
  let key: String
  let value: PasswordAttributeValue

  init(_ key: CFString, _ value: PasswordAttributeValue) {
    self.key = key as String
    self.value = value
  }
}

/// The value of an attribute. Texts are equal if their bytes are equal, as in the keychain.
enum PasswordAttributeValue: Sendable, Hashable {
  case text(String)
  case number(Int)
  case flag(Bool)

  /// A Boolean value that indicates whether this is the value of a missing attribute of a primary key.
  var isDefault: Bool {
    switch self {
    case .text(let text): text.isEmpty
    case .number(let number): number == 0
    case .flag(let flag): !flag
    }
  }

  /// The value as it appears in a dictionary for Apple's functions.
  var object: Any {
    switch self {
    case .text(let text): text
    case .number(let number): number
    case .flag(let flag): flag
    }
  }

  static func == (first: Self, second: Self) -> Bool {
    switch (first, second) {
    case (.text(let first), .text(let second)): first.utf8.elementsEqual(second.utf8)
    case (.number(let first), .number(let second)): first == second
    case (.flag(let first), .flag(let second)): first == second
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
    case .number(let number): hasher.combine(number)
    case .flag(let flag): hasher.combine(flag)
    }
  }
}

// MARK: Identifying attributes

extension PasswordAttribute {
  /// Selects items with this account or user name.
  public static func account(_ account: String) -> Self { Self(kSecAttrAccount, .text(account)) }

  /// Selects items that this group shares.
  public static func accessGroup(_ group: AccessGroup) -> Self {
    Self(kSecAttrAccessGroup, .text(group.rawValue))
  }

  /// Selects items that are shared between a user's devices, or those that are not. Without this condition, both match.
  public static func synchronizable(_ isSynchronizable: Bool) -> Self {
    Self(kSecAttrSynchronizable, .flag(isSynchronizable))
  }
}

extension PasswordAttribute where Password == GenericPassword {
  /// Selects items of a service.
  public static func service(_ service: String) -> Self { Self(kSecAttrService, .text(service)) }
}

extension PasswordAttribute where Password == InternetPassword {
  /// Selects items with this server name or address.
  public static func server(_ server: String) -> Self { Self(kSecAttrServer, .text(server)) }

  /// Selects items with this port; 0 for items without one.
  public static func port(_ port: Int) -> Self { Self(kSecAttrPort, .number(port)) }

  /// Selects items with this URL path.
  public static func path(_ path: String) -> Self { Self(kSecAttrPath, .text(path)) }

  /// Selects items of a protocol; nil for passwords without one.
  public static func `protocol`(_ name: InternetPassword.NetworkProtocol?) -> Self {
    #if os(Linux)
      let none = PasswordAttributeValue.text("")
    #else
      // This is the only attribute that Apple stores as a number if it is missing, and as text otherwise.
      let none = PasswordAttributeValue.number(0)
    #endif
    return Self(kSecAttrProtocol, name.map { .text($0.rawValue) } ?? none)
  }

  /// Selects items of an authentication method; nil for passwords without one.
  public static func authenticationType(_ type: InternetPassword.AuthenticationType?) -> Self {
    Self(kSecAttrAuthenticationType, .text(type?.rawValue ?? ""))
  }

  /// Selects items with this authentication realm.
  public static func securityDomain(_ domain: String) -> Self { Self(kSecAttrSecurityDomain, .text(domain)) }
}

// MARK: Descriptive attributes

extension PasswordAttribute {
  /// Selects items with this displayed name.
  public static func label(_ label: String) -> Self { Self(kSecAttrLabel, .text(label)) }

  /// Selects items with this kind of secret, given as text.
  public static func kind(_ kind: String) -> Self { Self(kSecAttrDescription, .text(kind)) }

  /// Selects items with this comment.
  public static func comment(_ comment: String) -> Self { Self(kSecAttrComment, .text(comment)) }

  /// Selects items of an accessibility.
  public static func accessibility(_ accessibility: Accessibility) -> Self {
    Self(kSecAttrAccessible, .text(accessibility.rawValue))
  }
}
