internal import Keyring

/// The status of a call that fails.
struct SecItemFailure: Error, Equatable {
  let status: OSStatus
  /// A Boolean value that indicates whether the item was found and then removed, so that another search can help.
  private(set) var isItemMissing = false

  init(_ status: OSStatus) { self.status = status }

  /// The arguments of the call are invalid.
  static let parameter = SecItemFailure(errSecParam)
  /// An attribute that items of the class never have.
  static let noSuchAttribute = SecItemFailure(errSecNoSuchAttr)
}

extension SecItemFailure {
  /// Creates a failure with the status that is nearest to an error of the store.
  init(_ error: any Error) {
    switch error {
    case let failure as SecItemFailure: self = failure
    case let error as KeyringError:
      self.init(SecurityStatus(error).rawValue)
      if case .itemNotFound = error { isItemMissing = true }
    default: self.init(errSecInternalComponent)
    }
  }
}
