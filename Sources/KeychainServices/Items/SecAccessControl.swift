internal import Encoding
public import Foundation
internal import KeyringModel

/// The conditions for access to an item; raw values are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
  /// The bits.
  public let rawValue: CFOptionFlags

  /// Creates flags from any bits; ``SecAccessControlCreateWithFlags(_:_:_:_:)`` checks the combination.
  ///
  /// - Parameter rawValue: The bits.
  public init(rawValue: CFOptionFlags) {
    self.rawValue = rawValue
  }

  /// The user proves their presence in any way.
  public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
  /// Any enrolled finger or face.
  public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
  /// The older name of ``biometryAny``.
  public static let touchIDAny = biometryAny
  /// A finger or face that was enrolled when the item was created.
  public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
  /// The older name of ``biometryCurrentSet``.
  public static let touchIDCurrentSet = biometryCurrentSet
  /// The passcode of the device.
  public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
  /// A watch or another device of the user.
  public static let watch = SecAccessControlCreateFlags(rawValue: 1 << 5)
  /// The newer name of ``watch``.
  public static let companion = watch
  /// One of the conditions is enough.
  public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
  /// All conditions must hold.
  public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
  /// A private key may be used for signing.
  public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
  /// A password that the application provides.
  public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

  /// All known flags.
  static let known: SecAccessControlCreateFlags = [
    .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .watch, .or, .and, .privateKeyUsage,
    .applicationPassword,
  ]
  /// The conditions that only the user can meet.
  static let asking: SecAccessControlCreateFlags = [
    .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .watch, .applicationPassword,
  ]
}

/// The access control of an item: its accessibility and further conditions.
///
/// Two access controls are equal if their accessibility and conditions are equal.
public final class SecAccessControl: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked because of NSObject; all properties are constant.
  static let typeID: CFTypeID = 0x4B04

  /// The accessibility, as the value of one of the `kSecAttrAccessible...` constants.
  let protection: String
  /// The conditions.
  let flags: SecAccessControlCreateFlags

  /// Creates an access control from an accessibility and conditions.
  ///
  /// - Parameters:
  ///   - protection: The value of a `kSecAttrAccessible...` constant.
  ///   - flags: The conditions.
  /// - Returns: nil if ``fault(protection:flags:)`` returns a reason.
  init?(protection: String, flags: SecAccessControlCreateFlags) {
    guard Self.fault(protection: protection, flags: flags) == nil else { return nil }
    self.protection = protection
    self.flags = flags
  }

  /// A Boolean value that indicates whether the user has to act for each access to the item.
  ///
  /// This system can only ask for the passphrase of the key, which also replaces biometry and passcodes.
  var requiresUserPresence: Bool { !flags.isDisjoint(with: .asking) }

  /// Returns true if an item may be stored only if a passphrase protects the key, which corresponds to a device with a
  /// passcode.
  static func needsPassphrase(_ control: SecAccessControl?, _ protection: String) -> Bool {
    control?.requiresUserPresence == true
      || protection == kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String
  }

  /// Returns true if the other object is equal.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecAccessControl else { return false }
    return protection == other.protection && flags == other.flags
  }

  /// The hash value, which is the same for equal access controls.
  public override var hash: Int { flags.rawValue.hashValue }

  /// The type of the object, the accessibility and the conditions.
  public override var description: String {
    "<SecAccessControl: \(protection), flags \(String(flags.rawValue, radix: 16))>"
  }

  private static let protections: Set<String> = Set(
    [
      kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
      kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    ].map { $0 as String })

  /// Returns a message why an accessibility and conditions cannot be combined; nil if they can.
  static func fault(protection: String, flags: SecAccessControlCreateFlags) -> String? {
    guard protections.contains(protection) else {
      return "The protection is not one of the kSecAttrAccessible constants."
    }
    guard flags.isSubset(of: .known) else { return "A flag is unknown." }
    if flags.isSuperset(of: [.or, .and]) {
      return "Conditions can be combined with `or` or with `and`, but not with both."
    }
    if flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) {
      return "Only one biometry condition is allowed."
    }
    let companions: SecAccessControlCreateFlags = [.userPresence, .applicationPassword, .privateKeyUsage]
    if flags.contains(.userPresence), !flags.isSubset(of: companions) {
      return "User presence can be combined only with an application password and private key usage."
    }
    return nil
  }
}

// MARK: Serialization

extension SecAccessControl {
  /// The serialized form in an item: canonical JSON, `{"flags":1,"format":1,"protection":"ak"}`.
  var serialized: [UInt8] {
    JSONValue.object([
      JSONMember("flags", .integer(Int64(flags.rawValue))), JSONMember("format", .integer(1)),
      JSONMember("protection", .string(protection)),
    ]).canonicalBytes
  }

  /// Decodes the bytes of ``serialized``.
  ///
  /// - Parameter serialized: The bytes. Bytes that are not in this exact form, other formats and invalid combinations
  ///   yield nil.
  convenience init?(serialized: [UInt8]) {
    // The cause of a parsing error does not matter to the caller.
    guard let value = try? JSONValue(parsing: serialized, limits: JSONLimits(size: 256, depth: 1)),
      case .object(let members) = value, members.count == 3,
      case .integer(let bits) = members[0].value, let flags = CFOptionFlags(exactly: bits),
      case .string(let protection) = members[2].value
    else { return nil }
    self.init(protection: protection, flags: SecAccessControlCreateFlags(rawValue: flags))
    guard self.serialized == serialized else { return nil }
  }
}

// MARK: Apple's functions

/// Creates an access control.
///
/// - Parameters:
///   - allocator: Not used.
///   - protection: One of the `kSecAttrAccessible...` constants.
///   - flags: The conditions; may be empty. User presence can be combined only with `applicationPassword` and
///     `privateKeyUsage`; `or` excludes `and`; `biometryAny` excludes `biometryCurrentSet`.
///   - error: Receives the reason on failure, with `errSecParam`.
/// - Returns: The access control, or nil with an error.
public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: SecAccessControlCreateFlags,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
  let protection = protection as? String ?? ""
  if let fault = SecAccessControl.fault(protection: protection, flags: flags) {
    unsafe ErrorPointer.report(error, errSecParam, fault)
  }
  return SecAccessControl(protection: protection, flags: flags)
}

/// Returns the type ID of access controls.
public func SecAccessControlGetTypeID() -> CFTypeID {
  SecAccessControl.typeID
}
