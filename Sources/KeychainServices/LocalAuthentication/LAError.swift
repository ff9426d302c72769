public import Foundation

/// The domain of ``LAError``.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// The reasons why the user could not be asked, or did not authenticate.
public struct LAError: Error, CustomNSError, Hashable, Sendable {
  /// The codes of the errors; the numbers are Apple's.
  public enum Code: Int, Sendable {
    /// The person is not who they should be.
    case authenticationFailed = -1
    /// The person cancelled.
    case userCancel = -2
    /// The person wants another way.
    case userFallback = -3
    /// The system cancelled.
    case systemCancel = -4
    /// The device has no passcode.
    case passcodeNotSet = -5
    /// The device knows no fingers or faces.
    case biometryNotAvailable = -6
    /// No finger or face is enrolled.
    case biometryNotEnrolled = -7
    /// There were too many failures.
    case biometryLockout = -8
    /// The application cancelled.
    case appCancel = -9
    /// The context was invalidated.
    case invalidContext = -10
    /// There is no watch or other device near.
    case watchNotAvailable = -11
    /// The accessory that knows fingers is not paired.
    case biometryNotPaired = -12
    /// The accessory that knows fingers is not connected.
    case biometryDisconnected = -13
    /// The view has wrong dimensions.
    case invalidDimensions = -14
    /// Nobody may be asked.
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

  /// Makes an error.
  ///
  /// - Parameter code: What went wrong.
  public init(_ code: Code) {
    self.code = code
  }

  /// The domain, as `NSError` has it.
  public static var errorDomain: String { LAErrorDomain }
  /// The code, as `NSError` has it.
  public var errorCode: Int { code.rawValue }
}

extension LAError {
  /// The person is not who they should be.
  public static var authenticationFailed: Code { .authenticationFailed }
  /// The person cancelled.
  public static var userCancel: Code { .userCancel }
  /// The person wants another way.
  public static var userFallback: Code { .userFallback }
  /// The system cancelled.
  public static var systemCancel: Code { .systemCancel }
  /// The device has no passcode.
  public static var passcodeNotSet: Code { .passcodeNotSet }
  /// The device knows no fingers or faces.
  public static var biometryNotAvailable: Code { .biometryNotAvailable }
  /// The older name of ``biometryNotAvailable``.
  public static var touchIDNotAvailable: Code { .biometryNotAvailable }
  /// No finger or face is enrolled.
  public static var biometryNotEnrolled: Code { .biometryNotEnrolled }
  /// The older name of ``biometryNotEnrolled``.
  public static var touchIDNotEnrolled: Code { .biometryNotEnrolled }
  /// There were too many failures.
  public static var biometryLockout: Code { .biometryLockout }
  /// The older name of ``biometryLockout``.
  public static var touchIDLockout: Code { .biometryLockout }
  /// The application cancelled.
  public static var appCancel: Code { .appCancel }
  /// The context was invalidated.
  public static var invalidContext: Code { .invalidContext }
  /// There is no watch or other device near.
  public static var watchNotAvailable: Code { .watchNotAvailable }
  /// The newer name of ``watchNotAvailable``.
  public static var companionNotAvailable: Code { .watchNotAvailable }
  /// The accessory that knows fingers is not paired.
  public static var biometryNotPaired: Code { .biometryNotPaired }
  /// The accessory that knows fingers is not connected.
  public static var biometryDisconnected: Code { .biometryDisconnected }
  /// The view has wrong dimensions.
  public static var invalidDimensions: Code { .invalidDimensions }
  /// Nobody may be asked.
  public static var notInteractive: Code { .notInteractive }
}
