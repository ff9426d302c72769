internal import Encoding
public import Foundation
internal import KeyringModel

/// The conditions for access to an item; raw values are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Sendable {
  /// The bits.
  public let rawValue: CFOptionFlags

  /// Takes any bits; ``SecAccessControlCreateWithFlags(_:_:_:_:)`` says which go together.
  ///
  /// - Parameter rawValue: The bits.
  public init(rawValue: CFOptionFlags) {
    self.rawValue = rawValue
  }

  /// The person shows to be there, in whichever way.
  public static let userPresence = SecAccessControlCreateFlags(rawValue: 1 << 0)
  /// Any enrolled finger or face.
  public static let biometryAny = SecAccessControlCreateFlags(rawValue: 1 << 1)
  /// The older name of ``biometryAny``.
  public static let touchIDAny = biometryAny
  /// A finger or face that was enrolled when the item was made.
  public static let biometryCurrentSet = SecAccessControlCreateFlags(rawValue: 1 << 3)
  /// The older name of ``biometryCurrentSet``.
  public static let touchIDCurrentSet = biometryCurrentSet
  /// The passcode of the device.
  public static let devicePasscode = SecAccessControlCreateFlags(rawValue: 1 << 4)
  /// A watch or another device that belongs to the person.
  public static let watch = SecAccessControlCreateFlags(rawValue: 1 << 5)
  /// The newer name of ``watch``.
  public static let companion = watch
  /// One of the conditions is enough.
  public static let or = SecAccessControlCreateFlags(rawValue: 1 << 14)
  /// All conditions must hold.
  public static let and = SecAccessControlCreateFlags(rawValue: 1 << 15)
  /// A private key may be used for signing.
  public static let privateKeyUsage = SecAccessControlCreateFlags(rawValue: 1 << 30)
  /// A password that the application adds.
  public static let applicationPassword = SecAccessControlCreateFlags(rawValue: 1 << 31)

  /// All of them.
  static let known: SecAccessControlCreateFlags = [
    .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .watch, .or, .and, .privateKeyUsage,
    .applicationPassword,
  ]
  /// Those that only a person can fulfil.
  static let asking: SecAccessControlCreateFlags = [
    .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .watch, .applicationPassword,
  ]
}

/// The access control of an item: its accessibility and further conditions.
///
/// Two are equal when both are.
public final class SecAccessControl: NSObject, CoreFoundationType, @unchecked Sendable {
  // Unchecked, because of NSObject; everything here is constant.
  static let typeID: CFTypeID = 0x4B04

  /// The accessibility, as the value of one of the `kSecAttrAccessible...` constants.
  let protection: String
  /// The conditions.
  let flags: SecAccessControlCreateFlags

  /// Checks and takes an accessibility and conditions.
  ///
  /// - Parameters:
  ///   - protection: The value of a `kSecAttrAccessible...` constant.
  ///   - flags: The conditions.
  /// - Returns: nil when ``fault(protection:flags:)`` has something to say.
  init?(protection: String, flags: SecAccessControlCreateFlags) {
    guard Self.fault(protection: protection, flags: flags) == nil else { return nil }
    self.protection = protection
    self.flags = flags
  }

  /// A Boolean value that indicates whether the user has to act for each access to the item.
  ///
  /// This system knows one way of asking, the passphrase of the key: it stands for fingers and passcodes, too.
  var requiresUserPresence: Bool { !flags.isDisjoint(with: .asking) }

  /// Returns true if an item may be stored only where a passphrase protects the key, as with a device that
  /// has a passcode.
  static func needsPassphrase(_ control: SecAccessControl?, _ protection: String) -> Bool {
    control?.requiresUserPresence == true
      || protection == kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String
  }

  /// Returns true if the other object is equal.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? SecAccessControl else { return false }
    return protection == other.protection && flags == other.flags
  }

  /// A number that equal access controls have in common.
  public override var hash: Int { flags.rawValue.hashValue }

  /// The kind of object, the accessibility and the conditions.
  public override var description: String {
    "<SecAccessControl: \(protection), flags \(String(flags.rawValue, radix: 16))>"
  }

  private static let protections: Set<String> = Set(
    [
      kSecAttrAccessibleWhenUnlocked, kSecAttrAccessibleAfterFirstUnlock, kSecAttrAccessibleAlways,
      kSecAttrAccessibleWhenUnlockedThisDeviceOnly, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      kSecAttrAccessibleAlwaysThisDeviceOnly, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
    ].map { $0 as String })

  /// Returns the reason why an accessibility and conditions cannot be combined, for people; nil if they can.
  static func fault(protection: String, flags: SecAccessControlCreateFlags) -> String? {
    guard protections.contains(protection) else {
      return "The protection is none of the kSecAttrAccessible constants."
    }
    guard flags.isSubset(of: .known) else { return "A flag is not known." }
    if flags.isSuperset(of: [.or, .and]) { return "Conditions are joined by one of or and and." }
    if flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) {
      return "There can be one condition about biometry only."
    }
    let companions: SecAccessControlCreateFlags = [.userPresence, .applicationPassword, .privateKeyUsage]
    if flags.contains(.userPresence), !flags.isSubset(of: companions) {
      return "User presence goes together with an application password and with private key usage only."
    }
    return nil
  }
}

// MARK: In a store

extension SecAccessControl {
  /// The form in which an item keeps it: canonical JSON, `{"flags":1,"format":1,"protection":"ak"}`.
  var serialized: [UInt8] {
    JSONValue.object([
      JSONMember("flags", .integer(Int64(flags.rawValue))), JSONMember("format", .integer(1)),
      JSONMember("protection", .string(protection)),
    ]).canonicalBytes
  }

  /// Reads what ``serialized`` writes.
  ///
  /// - Parameter serialized: Exactly those bytes; nil comes of others, of other formats, and of what does not go
  ///   together.
  convenience init?(serialized: [UInt8]) {
    // What is wrong with the bytes does not matter to whoever reads a store.
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

/// Makes an access control.
///
/// - Parameters:
///   - allocator: Not used.
///   - protection: One of the `kSecAttrAccessible...` constants.
///   - flags: The conditions; none is allowed. User presence goes together with `applicationPassword` and
///     `privateKeyUsage` only; `or` excludes `and`; `biometryAny` excludes `biometryCurrentSet`.
///   - error: Receives why not, with `errSecParam`.
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

/// The number of the type of access controls.
public func SecAccessControlGetTypeID() -> CFTypeID {
  SecAccessControl.typeID
}
