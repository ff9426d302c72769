public import Foundation

#if os(Linux)
  public import KeychainServices
#else
  public import Security
#endif

/// The errors of the keychain, by what a program does about them.
///
/// Nothing of a secret is ever part of an error.
public enum KeychainError: Error, Sendable, Hashable {
  /// No item has this primary key.
  case itemNotFound
  /// An item with this primary key is there already.
  case duplicateItem
  /// Several access groups have an item with this primary key, and nothing said which one is meant.
  case ambiguousItem
  /// The person who was asked cancelled.
  case userCanceled
  /// Somebody would have to be asked, and that was not allowed.
  case interactionNotAllowed
  /// The passphrase or another proof was wrong.
  case authenticationFailed
  /// There is no keychain that can be used.
  case notAvailable
  /// The keychain can only be read.
  case readOnly
  /// An attribute has a value that it cannot have, or two values at once.
  case invalidParameter
  /// The program has no right to the access group.
  case missingEntitlement
  /// The item is damaged, or encrypted to nobody whose key is here.
  case damaged
  /// The secret or the attributes are larger than an item can be.
  case dataTooLarge
  /// The keychain of this system does not do that.
  case unimplemented
  /// The value has no JSON. What it holds is no part of the error.
  case valueNotEncodable
  /// The secret is no JSON of such a value. What it holds is no part of the error.
  case valueNotDecodable
  /// The task was cancelled before the call began; nothing was done.
  case taskCancelled
  /// Any other status.
  case other(OSStatus)

  /// Makes the error of a status.
  ///
  /// - Parameter status: The status of a call that failed.
  public init(status: OSStatus) {
    self = Self.statuses.first { $0.status == status }?.error ?? .other(status)
  }

  /// The status of the call, or the one that comes nearest where no call was made.
  public var status: OSStatus {
    switch self {
    case .ambiguousItem: errSecBadReq
    case .valueNotEncodable: errSecParam
    case .valueNotDecodable: errSecDecode
    case .taskCancelled: errSecUserCanceled
    case .other(let status): status
    default: Self.statuses.first { $0.error == self }?.status ?? errSecInternalComponent
    }
  }

  /// The errors that stand for one status each.
  private static let statuses: [(error: KeychainError, status: OSStatus)] = [
    (.itemNotFound, errSecItemNotFound), (.duplicateItem, errSecDuplicateItem),
    (.userCanceled, errSecUserCanceled), (.interactionNotAllowed, errSecInteractionNotAllowed),
    (.authenticationFailed, errSecAuthFailed), (.notAvailable, errSecNotAvailable),
    (.readOnly, errSecReadOnly), (.invalidParameter, errSecParam),
    (.missingEntitlement, errSecMissingEntitlement), (.damaged, errSecDecode),
    (.dataTooLarge, errSecDataTooLarge), (.unimplemented, errSecUnimplemented),
  ]
}

extension KeychainError: CustomStringConvertible, LocalizedError {
  /// One sentence: that of `SecCopyErrorMessageString`, or one of its own where no call was made.
  public var description: String {
    switch self {
    case .ambiguousItem: "Several access groups have such an item; name the group."
    case .valueNotEncodable: "The value cannot be written as JSON."
    case .valueNotDecodable: "The secret is not the JSON of such a value."
    case .taskCancelled: "The task was cancelled before the call began."
    default: SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "OSStatus \(status)"
    }
  }

  /// The same sentence.
  public var errorDescription: String? { description }
}
