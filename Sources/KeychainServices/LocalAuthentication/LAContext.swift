internal import Dispatch
public import Foundation
internal import Synchronization

/// The longest time in seconds for which an unlocking may be used again.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300

/// The actions that can be required of the user.
public enum LAPolicy: Int, Sendable {
  /// Show a finger or the face.
  case deviceOwnerAuthenticationWithBiometrics = 1
  /// Show a finger or the face, or type the passcode.
  case deviceOwnerAuthentication = 2
  /// Use a watch or another device.
  case deviceOwnerAuthenticationWithWatch = 3
  /// Show a finger or the face, or use a watch or another device.
  case deviceOwnerAuthenticationWithBiometricsOrWatch = 4
  /// Wear an unlocked watch.
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

/// The way in which the user may be asked during a query; passed as `kSecUseAuthenticationContext`.
///
/// This system has no fingers and faces to compare: policies can never be evaluated, and a query asks for the
/// passphrase of the key where it has to. What the context says about asking is heeded. It may be used from any
/// thread.
open class LAContext: NSObject, @unchecked Sendable {
  // Unchecked, because of NSObject; everything that changes lies behind the lock.
  private struct State {
    var interactionNotAllowed = false
    var localizedReason = ""
    var localizedFallbackTitle: String?
    var localizedCancelTitle: String?
    var reuseDuration: TimeInterval = 0
    var isInvalidated = false
  }

  private let state = Mutex(State())

  /// Makes a context that may ask.
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

  /// The title of the button for another way; kept, and not shown.
  open var localizedFallbackTitle: String? {
    get { state.withLock { $0.localizedFallbackTitle } }
    set { state.withLock { $0.localizedFallbackTitle = newValue } }
  }

  /// The title of the button that cancels; kept, and not shown.
  open var localizedCancelTitle: String? {
    get { state.withLock { $0.localizedCancelTitle } }
    set { state.withLock { $0.localizedCancelTitle = newValue } }
  }

  /// For how many seconds an unlocking of the device may be used again; kept, and without effect.
  open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
    get { state.withLock { $0.reuseDuration } }
    set { state.withLock { $0.reuseDuration = newValue } }
  }

  /// The state of the enrolled fingers and faces: nil, as there are none.
  open var evaluatedPolicyDomainState: Data? { nil }

  /// The kind of biometry of the device: none.
  open var biometryType: LABiometryType { .none }

  /// Ends the use of the context; what it is passed to fails from then on.
  open func invalidate() {
    state.withLock { $0.isInvalidated = true }
  }

  /// A Boolean value that indicates whether ``invalidate()`` was called.
  var isInvalidated: Bool { state.withLock { $0.isInvalidated } }

  /// Returns true if a policy can be evaluated: never.
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

  /// Evaluates a policy, which fails always.
  ///
  /// - Parameters:
  ///   - policy: Any policy.
  ///   - localizedReason: Why the person would be asked.
  ///   - reply: Called once, on another thread, with `false` and an ``LAError``: `invalidContext`,
  ///     `notInteractive` when nobody may be asked, else `biometryNotAvailable`.
  open func evaluatePolicy(
    _ policy: LAPolicy, localizedReason: String,
    reply: @escaping @Sendable (_ success: Bool, _ error: (any Error)?) -> Void
  ) {
    let error = refusal
    DispatchQueue.global().async { reply(false, error) }
  }

  /// Evaluates a policy, which fails always.
  ///
  /// - Parameters:
  ///   - policy: Any policy.
  ///   - localizedReason: Why the person would be asked.
  /// - Returns: Nothing, as it throws.
  /// - Throws: ``LAError``, as the function with a reply has it.
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    throw refusal
  }

  private var refusal: LAError {
    if isInvalidated { return LAError(.invalidContext) }
    return LAError(interactionNotAllowed ? .notInteractive : .biometryNotAvailable)
  }
}
