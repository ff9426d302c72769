public import Foundation

#if os(Linux)
  public import KeychainServices
#else
  public import Security
#endif

/// The errors of the keychain, grouped by how a program handles them.
///
/// An error never contains any part of a secret.
public enum KeychainError: Error, Sendable, Hashable {
  /// No item has this primary key.
  case itemNotFound
  /// An item with this primary key already exists.
  case duplicateItem
  /// Several access groups contain an item with this primary key, and no group was named.
  case ambiguousItem
  /// The user cancelled.
  case userCanceled
  /// The user would have to be asked, which was not allowed.
  case interactionNotAllowed
  /// The passphrase or another credential was wrong.
  case authenticationFailed
  /// No usable keychain is available.
  case notAvailable
  /// The keychain is read-only.
  case readOnly
  /// An attribute has an invalid value, or two different values.
  case invalidParameter
  /// The program has no right to use the access group.
  case missingEntitlement
  /// The item is damaged, or it is not encrypted to any key on this machine.
  case damaged
  /// The secret or the attributes are larger than an item can be.
  case dataTooLarge
  /// The keychain of this system does not support the operation.
  case unimplemented
  /// The value cannot be encoded as JSON. The error does not contain the value.
  case valueNotEncodable
  /// The secret is not JSON of the requested type. The error does not contain the secret.
  case valueNotDecodable
  /// The task was cancelled before the call began; nothing was done.
  case taskCancelled
  /// Any other status.
  case other(OSStatus)

  /// Creates the error for a status.
  ///
  /// - Parameter status: The status of a call that failed.
  public init(status: OSStatus) {
    self = Self.statuses.first { $0.status == status }?.error ?? .other(status)
  }

  /// The status of the call, or the nearest status if no call was made.
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

  /// The errors that correspond to exactly one status.
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
  /// A sentence: the message of `SecCopyErrorMessageString`, or a message of this type if no call was made.
  public var description: String {
    switch self {
    case .ambiguousItem: "Several access groups contain this item; name the group."
    case .valueNotEncodable: "The value cannot be encoded as JSON."
    case .valueNotDecodable: "The secret is not JSON of the requested type."
    case .taskCancelled: "The task was cancelled before the call began."
    default: SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "OSStatus \(status)"
    }
  }

  /// The same sentence as ``description``.
  public var errorDescription: String? { description }
}
