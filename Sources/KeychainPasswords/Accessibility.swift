#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The condition under which an item may be read and may leave the machine.
///
/// The store on Linux has no lock screen. There, the value only decides whether an item stays on the machine.
public struct Accessibility: RawRepresentable, Sendable, Hashable {
  /// The value of `kSecAttrAccessible`.
  public let rawValue: String

  /// Creates an accessibility from any value. Using a value that the keychain does not know throws
  /// ``KeychainError/invalidParameter``.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// While the device is unlocked; the default.
  public static let whenUnlocked = Self(rawValue: kSecAttrAccessibleWhenUnlocked as String)
  /// From the first unlock after a boot, for background work.
  public static let afterFirstUnlock = Self(rawValue: kSecAttrAccessibleAfterFirstUnlock as String)
  /// While the device is unlocked; the item never leaves the machine.
  public static let whenUnlockedThisDeviceOnly = Self(
    rawValue: kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String)
  /// From the first unlock after a boot; the item never leaves the machine.
  public static let afterFirstUnlockThisDeviceOnly = Self(
    rawValue: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String)
  /// While the device is unlocked and has a passcode; the item never leaves the machine.
  public static let whenPasscodeSetThisDeviceOnly = Self(
    rawValue: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String)
}
