package import Encoding

/// The revocation of a key by its owner (RFC 9580, 5.2.3.31).
public struct KeyRevocation: Sendable, Equatable {
  /// The reason that the owner gave.
  package enum Reason: UInt8, Sendable {
    /// The owner chose to give no reason.
    case unspecified = 0
    /// Another key replaces this one.
    case superseded = 1
    /// Another person may have the secret key.
    case compromised = 2
    /// The key is no longer used.
    case retired = 3
    /// A user id of the key is no longer valid.
    case userIDInvalid = 32
  }

  /// The time of the revocation, as claimed by the owner.
  package var created: Timestamp
  /// The reason; nil if the owner stated none, or one that this program does not know.
  package var reason: Reason?

  /// Creates a revocation.
  ///
  /// - Parameters:
  ///   - created: The time of the revocation.
  ///   - reason: The reason, if it is known.
  package init(created: Timestamp, reason: Reason?) {
    self.created = created
    self.reason = reason
  }

  /// True if the signatures of the key are not valid at any time, because anyone may have made them. Otherwise those
  /// from before the revocation stay valid.
  package var isHard: Bool { Self.isHard(reason) }

  static func isHard(_ reason: Reason?) -> Bool {
    switch reason {
    case .superseded, .retired, .userIDInvalid: false
    case .unspecified, .compromised, nil: true
    }
  }

  /// A revocation of which nothing else is known.
  static let unexplained = KeyRevocation(created: Timestamp(microseconds: 0), reason: nil)

  /// Returns the revocation that decides if a key has several: a hard one, otherwise the earliest.
  static func deciding(among revocations: [KeyRevocation]) -> KeyRevocation? {
    revocations.min { left, right in
      left.isHard == right.isHard ? left.created < right.created : left.isHard
    }
  }
}
