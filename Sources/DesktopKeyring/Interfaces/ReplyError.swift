internal import SecretService
internal import SessionBus

/// An error as the reply to a call.
struct ReplyError: Error, Equatable {
  /// The name on the bus.
  let name: String
  /// The message for developers. It never contains a secret.
  let text: String

  private init(_ name: String, _ text: String) { (self.name, self.text) = (name, text) }

  private static let secret = "org.freedesktop.Secret.Error."
  private static let standard = "org.freedesktop.DBus.Error."

  static func invalidArguments(_ text: String) -> ReplyError { ReplyError(standard + "InvalidArgs", text) }
  static func unknownMethod(_ text: String) -> ReplyError { ReplyError(standard + "UnknownMethod", text) }
  static func unknownInterface(_ text: String) -> ReplyError {
    ReplyError(standard + "UnknownInterface", text)
  }
  static func unknownProperty(_ text: String) -> ReplyError { ReplyError(standard + "UnknownProperty", text) }
  static func readOnly(_ text: String) -> ReplyError { ReplyError(standard + "PropertyReadOnly", text) }
  static func limitsExceeded(_ text: String) -> ReplyError { ReplyError(standard + "LimitsExceeded", text) }
  static func accessDenied(_ text: String) -> ReplyError { ReplyError(standard + "AccessDenied", text) }
  static func failed(_ text: String) -> ReplyError { ReplyError(standard + "Failed", text) }

  /// Creates the reply for an error of the service.
  init(_ error: SecretServiceError) {
    let name =
      switch error.kind {
      case .isLocked: Self.secret + "IsLocked"
      case .noSession: Self.secret + "NoSession"
      case .noSuchObject: Self.secret + "NoSuchObject"
      case .alreadyExists: Self.secret + "AlreadyExists"
      case .invalidArguments: Self.standard + "InvalidArgs"
      case .notSupported: Self.standard + "NotSupported"
      case .limitsExceeded: Self.standard + "LimitsExceeded"
      case .failed: Self.standard + "Failed"
      }
    self.init(name, error.text)
  }

  /// Creates the reply for any error.
  init(describing error: any Error) {
    switch error {
    case let error as ReplyError: self = error
    case let error as SecretServiceError: self.init(error)
    case BusError.tooLarge: self = .limitsExceeded("the message is too large")
    case BusError.tooManyElements(let signature):
      // A dictionary with too many entries is a wrong value, and a list of objects is too much work.
      self =
        signature.hasPrefix("{")
        ? .invalidArguments("the dictionary has too many entries")
        : .limitsExceeded("the array has too many elements")
    case BusError.malformed: self = .invalidArguments("the message is malformed")
    // The texts of other errors are for the user, and may name files.
    default: self = .failed("the store reported an error")
    }
  }
}
