/// An error of the service. The adapter knows the name that each kind has on the bus.
package struct SecretServiceError: Error {
  /// The kinds of errors.
  package enum Kind: Sendable, Equatable {
    /// The collection is locked.
    case isLocked
    /// The session does not exist, was closed, or belongs to another sender.
    case noSession
    /// No object has this path.
    case noSuchObject
    /// An argument is invalid.
    case invalidArguments
    /// The algorithm is unknown, or a store cannot do this.
    case notSupported
    /// The sender has reached a limit.
    case limitsExceeded
    /// The prompt is already running.
    case alreadyExists
    /// Anything else. ``SecretServiceError/cause`` has the error of the store, if it caused this one.
    case failed
  }

  /// The kind.
  package let kind: Kind
  /// An explanation for developers. It never contains a secret.
  package let text: String
  /// The error that caused this one; nil if there is none.
  package let cause: (any Error)?

  init(_ kind: Kind, _ text: String, cause: (any Error)? = nil) {
    self.kind = kind
    self.text = text
    self.cause = cause
  }
}
