internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The attributes and the protection of a password that are not part of its primary key.
///
/// Two items of one class never differ only in their details. Everything except the secret itself is public to anyone
/// who has the store: put nothing secret here.
public struct PasswordDetails: Sendable, Hashable {
  /// The name that the user sees; nil leaves it unspecified.
  public var label: String?
  /// The kind of secret as text, such as "API token"; nil leaves it unspecified.
  public var kind: String?
  /// A comment for the user; nil leaves it unspecified.
  public var comment: String?
  /// The condition under which the item may be read. For a new item, nil means ``Accessibility/whenUnlocked``; for an
  /// existing item, nil means the current value.
  public var accessibility: Accessibility?
  /// A Boolean value that indicates whether the user has to be asked each time the secret is read. False leaves an
  /// existing item unchanged, unless it is updated from a name for which this is true. In results of the keychain, true
  /// if the item has any condition of that kind.
  public var requiresUserPresence: Bool

  /// Creates details.
  ///
  /// - Parameters:
  ///   - label: The name that the user sees.
  ///   - kind: The kind of secret as text.
  ///   - comment: A comment for the user.
  ///   - accessibility: The condition under which the item may be read.
  ///   - requiresUserPresence: True if the user has to be asked each time.
  public init(
    label: String? = nil, kind: String? = nil, comment: String? = nil, accessibility: Accessibility? = nil,
    requiresUserPresence: Bool = false
  ) {
    self.label = label
    self.kind = kind
    self.comment = comment
    self.accessibility = accessibility
    self.requiresUserPresence = requiresUserPresence
  }
}

extension PasswordDetails {
  /// Returns the texts that are specified.
  func texts<P>(for itemClass: P.Type = P.self) -> [PasswordAttribute<P>] {
    [
      label.map { .label($0) }, kind.map { .kind($0) }, comment.map { .comment($0) },
    ].compactMap { $0 }
  }

  /// A Boolean value that indicates whether any protection is given.
  var isProtected: Bool { accessibility != nil || requiresUserPresence }

  /// Returns the protection as entries for a dictionary of Apple's functions. The accessibility alone does not change
  /// the user presence of an existing item.
  ///
  /// - Parameter fallback: The accessibility if none is specified.
  /// - Throws: `invalidParameter` if no access control can be created from it.
  func protection(fallback: Accessibility) throws(KeychainError) -> [String: Any] {
    let accessibility = accessibility ?? fallback
    guard requiresUserPresence else { return [kSecAttrAccessible as String: accessibility.rawValue] }
    return try Self.control(accessibility, true)
  }

  /// Returns accessibility and user presence as one access control. An access control is also the way to remove the
  /// user presence requirement from an item.
  ///
  /// - Throws: `invalidParameter` if no access control can be created from them.
  static func control(
    _ accessibility: Accessibility, _ requiresUserPresence: Bool
  ) throws(KeychainError) -> [String: Any] {
    guard let control = control(accessibility.rawValue, requiresUserPresence ? .userPresence : []) else {
      throw .invalidParameter
    }
    return [kSecAttrAccessControl as String: control]
  }

  private static func control(_ name: String, _ flags: SecAccessControlCreateFlags) -> SecAccessControl? {
    SecAccessControlCreateWithFlags(nil, name as CFString, flags, nil)
  }

  /// Creates details from the attributes that the keychain returned.
  init(_ found: FoundAttributes) {
    self.init(
      label: found.text(kSecAttrLabel), kind: found.text(kSecAttrDescription),
      comment: found.text(kSecAttrComment),
      accessibility: found.text(kSecAttrAccessible).map { Accessibility(rawValue: $0) })
    if let control = found[kSecAttrAccessControl], let accessibility {
      // The conditions of an access control cannot be read, but a comparison shows whether it has any.
      let plain = Self.control(accessibility.rawValue, [])
      requiresUserPresence = !CFEqual(control as CFTypeRef, plain)
    }
  }
}
