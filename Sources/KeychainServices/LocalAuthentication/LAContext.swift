internal import Dispatch
public import Foundation
internal import Synchronization

/// The maximum time in seconds for which a device unlock can be reused.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// The ways in which the user can be required to authenticate.
public enum LAPolicy: Int, Sendable {
  /// A finger or the face.
  case deviceOwnerAuthenticationWithBiometrics = 1
  /// A finger, the face or the passcode.
  case deviceOwnerAuthentication = 2
  /// A watch or another device.
  case deviceOwnerAuthenticationWithWatch = 3
  /// A finger, the face, a watch or another device.
  case deviceOwnerAuthenticationWithBiometricsOrWatch = 4
  /// An unlocked watch on the wrist.
  case deviceOwnerAuthenticationWithWristDetection = 5

  /// The newer name of ``deviceOwnerAuthenticationWithWatch``.
  public static let deviceOwnerAuthenticationWithCompanion = deviceOwnerAuthenticationWithWatch
  /// The newer name of ``deviceOwnerAuthenticationWithBiometricsOrWatch``.
  public static let deviceOwnerAuthenticationWithBiometricsOrCompanion =
    deviceOwnerAuthenticationWithBiometricsOrWatch
}

/// The kinds of biometry of a device.
public enum LABiometryType: Int, Sendable {
  /// None.
  case none = 0
  /// A finger.
  case touchID = 1
  /// The face.
  case faceID = 2
  /// The eyes.
  case opticID = 4
}

/// The settings for asking the user during a query; passed as `kSecUseAuthenticationContext`.
///
/// This system has no biometry: policies can never be evaluated, and a query asks for the passphrase of the key if it
/// has to. The context can forbid asking. It may be used from any thread.
open class LAContext: NSObject, @unchecked Sendable {
  // Unchecked because of NSObject; the lock protects all mutable state.
  private struct State {
    var interactionNotAllowed = false
    var localizedReason = ""
    var localizedFallbackTitle: String?
    var localizedCancelTitle: String?
    var reuseDuration: TimeInterval = 0
    var isInvalidated = false
  }

  private let state = Mutex(State())

  /// Creates a context that allows asking the user.
  public override init() {}

  /// A Boolean value that indicates whether the user must not be asked. A query that has to ask then fails
  /// with `errSecInteractionNotAllowed`.
  open var interactionNotAllowed: Bool {
    get { state.withLock { $0.interactionNotAllowed } }
    set { state.withLock { $0.interactionNotAllowed = newValue } }
  }

  /// The reason for asking, in the user's language.
  open var localizedReason: String {
    get { state.withLock { $0.localizedReason } }
    set { state.withLock { $0.localizedReason = newValue } }
  }

  /// The title of the fallback button; stored but not shown.
  open var localizedFallbackTitle: String? {
    get { state.withLock { $0.localizedFallbackTitle } }
    set { state.withLock { $0.localizedFallbackTitle = newValue } }
  }

  /// The title of the cancel button; stored but not shown.
  open var localizedCancelTitle: String? {
    get { state.withLock { $0.localizedCancelTitle } }
    set { state.withLock { $0.localizedCancelTitle = newValue } }
  }

  /// The time in seconds for which a device unlock can be reused; stored but without effect.
  open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
    get { state.withLock { $0.reuseDuration } }
    set { state.withLock { $0.reuseDuration = newValue } }
  }

  /// The state of the enrolled biometry; always nil, because there is none.
  open var evaluatedPolicyDomainState: Data? { nil }

  /// The kind of biometry of the device: none.
  open var biometryType: LABiometryType { .none }

  /// Invalidates the context; calls that receive it fail from then on.
  open func invalidate() {
    state.withLock { $0.isInvalidated = true }
  }

  /// A Boolean value that indicates whether ``invalidate()`` was called.
  var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

  /// Returns false, because no policy can be evaluated.
  ///
  /// - Parameters:
  ///   - policy: Any policy.
  ///   - error: Receives `LAError.biometryNotAvailable`, or `LAError.invalidContext` after ``invalidate()``.
  /// - Returns: `false`.
  open func canEvaluatePolicy(_ policy: LAPolicy, error: UnsafeMutablePointer<NSError?>?) -> Bool {
    let code: LAError.Code = isInvalidated ? .invalidContext : .biometryNotAvailable
    unsafe error?.pointee = NSError(domain: LAErrorDomain, code: code.rawValue)
    return false
  }

  /// Evaluates a policy; always fails.
  ///
  /// - Parameters:
  ///   - policy: Any policy.
  ///   - localizedReason: The reason for asking the user.
  ///   - reply: Called once, on another thread, with `false` and an ``LAError``: `invalidContext`, `notInteractive` if
  ///     the user must not be asked, otherwise `biometryNotAvailable`.
  open func evaluatePolicy(
    _ policy: LAPolicy, localizedReason: String,
    reply: @escaping @Sendable (_ success: Bool, _ error: (any Error)?) -> Void
  ) {
    let error = refusal
    DispatchQueue.global().async { reply(false, error) }
  }

  /// Evaluates a policy; always fails.
  ///
  /// - Parameters:
  ///   - policy: Any policy.
  ///   - localizedReason: The reason for asking the user.
  /// - Returns: Never, because the function always throws.
  /// - Throws: The same ``LAError`` as the function with a reply.
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    throw refusal
  }

  private var refusal: LAError {
    if isInvalidated { return LAError(.invalidContext) }
    return LAError(interactionNotAllowed ? .notInteractive : .biometryNotAvailable)
  }
}
