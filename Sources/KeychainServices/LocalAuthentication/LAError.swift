public import Foundation

/// The domain of ``LAError``.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// The reasons why the user could not be asked, or did not authenticate.
public struct LAError: Error, CustomNSError, Hashable, Sendable {
  /// The codes of the errors; the numbers are Apple's.
  public enum Code: Int, Sendable {
    /// The user failed to authenticate.
    case authenticationFailed = -1
    /// The user cancelled.
    case userCancel = -2
    /// The user chose the fallback.
    case userFallback = -3
    /// The system cancelled.
    case systemCancel = -4
    /// The device has no passcode.
    case passcodeNotSet = -5
    /// The device has no biometry.
    case biometryNotAvailable = -6
    /// No finger or face is enrolled.
    case biometryNotEnrolled = -7
    /// Biometry is locked after too many failures.
    case biometryLockout = -8
    /// The application cancelled.
    case appCancel = -9
    /// The context was invalidated.
    case invalidContext = -10
    /// No watch or other device is nearby.
    case watchNotAvailable = -11
    /// The biometric accessory is not paired.
    case biometryNotPaired = -12
    /// The biometric accessory is not connected.
    case biometryDisconnected = -13
    /// The dimensions of the view are not valid.
    case invalidDimensions = -14
    /// The user must not be asked.
    case notInteractive = -1004

    /// The older name of ``biometryNotAvailable``.
    public static let touchIDNotAvailable = biometryNotAvailable
    /// The older name of ``biometryNotEnrolled``.
    public static let touchIDNotEnrolled = biometryNotEnrolled
    /// The older name of ``biometryLockout``.
    public static let touchIDLockout = biometryLockout
    /// The newer name of ``watchNotAvailable``.
    public static let companionNotAvailable = watchNotAvailable

    /// Lets `catch LAError.userCancel` compare with an error.
    ///
    /// - Parameters:
    ///   - code: The code of the pattern.
    ///   - error: Any error.
    public static func ~= (code: Code, error: any Error) -> Bool {
      (error as? LAError)?.code == code
    }
  }

  /// The code.
  public let code: Code

  /// Creates an error.
  ///
  /// - Parameter code: The code of the error.
  public init(_ code: Code) {
    self.code = code
  }

  /// The domain, as `NSError` has it.
  public static var errorDomain: String { LAErrorDomain }
  /// The code, as `NSError` has it.
  public var errorCode: Int { code.rawValue }
}

extension LAError {
  /// The user failed to authenticate.
  public static var authenticationFailed: Code { .authenticationFailed }
  /// The user cancelled.
  public static var userCancel: Code { .userCancel }
  /// The user chose the fallback.
  public static var userFallback: Code { .userFallback }
  /// The system cancelled.
  public static var systemCancel: Code { .systemCancel }
  /// The device has no passcode.
  public static var passcodeNotSet: Code { .passcodeNotSet }
  /// The device has no biometry.
  public static var biometryNotAvailable: Code { .biometryNotAvailable }
  /// The older name of ``biometryNotAvailable``.
  public static var touchIDNotAvailable: Code { .biometryNotAvailable }
  /// No finger or face is enrolled.
  public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
  /// The older name of ``biometryNotEnrolled``.
  public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
  /// Biometry is locked after too many failures.
  public static var biometryLockout: Code { .biometryLockout }
  /// The older name of ``biometryLockout``.
  public static var touchIDLockout: Code { .biometryLockout }
  /// The application cancelled.
  public static var appCancel: Code { .appCancel }
  /// The context was invalidated.
  public static var invalidContext: Code { .invalidContext }
  /// No watch or other device is nearby.
  public static var watchNotAvailable: Code { .watchNotAvailable }
  /// The newer name of ``watchNotAvailable``.
  public static var companionNotAvailable: Code { .watchNotAvailable }
  /// The biometric accessory is not paired.
  public static var biometryNotPaired: Code { .biometryNotPaired }
  /// The biometric accessory is not connected.
  public static var biometryDisconnected: Code { .biometryDisconnected }
  /// The dimensions of the view are not valid.
  public static var invalidDimensions: Code { .invalidDimensions }
  /// The user must not be asked.
  public static var notInteractive: Code { .notInteractive }
}
