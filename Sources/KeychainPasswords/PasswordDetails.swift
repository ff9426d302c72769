internal import Foundation

#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The attributes and the protection of a password that are not part of its primary key.
///
/// Two items of one class never differ in this alone. Everything but the secret itself is public to whoever has the
/// store: put nothing secret here.
public struct PasswordDetails: Sendable, Hashable {
  /// The name that people see; nil says nothing about it.
  public var label: String?
  /// The kind of secret in words, such as "API token"; nil says nothing about it.
  public var kind: String?
  /// A remark for people; nil says nothing about it.
  public var comment: String?
  /// The time when the item may be read; nil for ``Accessibility/whenUnlocked`` if the item is new, and for
  /// the current value if it exists.
  public var accessibility: Accessibility?
  /// A Boolean value that indicates whether the user has to be asked each time the secret is read. False
  /// leaves it as it is, unless an update starts from a name that has it. In results of the keychain: whether
  /// the item has any condition of that kind.
  public var requiresUserPresence: Bool

  /// Takes what is known.
  ///
  /// - Parameters:
  ///   - label: The name that people see.
  ///   - kind: The kind of secret in words.
  ///   - comment: A remark for people.
  ///   - accessibility: When the item may be read.
  ///   - requiresUserPresence: Whether somebody has to be asked each time.
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
  /// The texts that are there.
  func texts<P>(for itemClass: P.Type = P.self) -> [PasswordAttribute<P>] {
    [
      label.map { .label($0) }, kind.map { .kind($0) }, comment.map { .comment($0) },
    ].compactMap { $0 }
  }

  /// A Boolean value that indicates whether any protection is given.
  var isProtected: Bool { accessibility != nil || requiresUserPresence }

  /// Returns the protection as a dictionary of Apple's functions has it. The accessibility alone leaves the
  /// user presence of an existing item as it is.
  ///
  /// - Parameter fallback: The accessibility if there is none here.
  /// - Throws: `invalidParameter` when no access control can be made of it.
  func protection(fallback: Accessibility) throws(KeychainError) -> [String: Any] {
    let accessibility = accessibility ?? fallback
    guard requiresUserPresence else { return [kSecAttrAccessible as String: accessibility.rawValue] }
    return try Self.control(accessibility, true)
  }

  /// Accessibility and user presence in one, which is the way to end the user presence of an item, too.
  ///
  /// - Throws: `invalidParameter` when no access control can be made of them.
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

  /// Reads what the keychain returned.
  init(_ found: FoundAttributes) {
    self.init(
      label: found.text(kSecAttrLabel), kind: found.text(kSecAttrDescription),
      comment: found.text(kSecAttrComment),
      accessibility: found.text(kSecAttrAccessible).map { Accessibility(rawValue: $0) })
    if let control = found[kSecAttrAccessControl], let accessibility {
      // What an access control holds cannot be asked, but whether it is more than the accessibility can.
      let plain = Self.control(accessibility.rawValue, [])
      requiresUserPresence = !CFEqual(control as CFTypeRef, plain)
    }
  }
}
