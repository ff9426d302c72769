#if os(Linux)
  internal import KeychainServices
#else
  internal import Security
#endif

/// The time when an item may be read, and whether it may leave the machine.
///
/// The store on Linux has no lock screen: there only the difference between items that stay on the machine and others
/// counts.
public struct Accessibility: RawRepresentable, Sendable, Hashable {
  /// The value of `kSecAttrAccessible`.
  public let rawValue: String

  /// Takes any value; one that the keychain does not know is ``KeychainError/invalidParameter`` when it is used.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// While the device is unlocked; what an item has that was given nothing.
  public static let whenUnlocked = Self(rawValue: kSecAttrAccessibleWhenUnlocked as String)
  /// From the first unlocking after a start, for work in the background.
  public static let afterFirstUnlock = Self(rawValue: kSecAttrAccessibleAfterFirstUnlock as String)
  /// While the device is unlocked; the item never leaves the machine.
  public static let whenUnlockedThisDeviceOnly = Self(
    rawValue: kSecAttrAccessibleWhenUnlockedThisDeviceOnly as String)
  /// From the first unlocking after a start; the item never leaves the machine.
  public static let afterFirstUnlockThisDeviceOnly = Self(
    rawValue: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String)
  /// While the device is unlocked and has a passcode; the item never leaves the machine.
  public static let whenPasscodeSetThisDeviceOnly = Self(
    rawValue: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly as String)
}
