internal import Glibc
internal import Keyring

/// The status of a call that fails.
struct SecItemFailure: Error, Equatable {
  let status: OSStatus
  /// A Boolean value that indicates whether the item was found and then removed, so that another search can help.
  private(set) var isOfItemGone = false

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
      self.init(Self.status(of: error))
      if case .itemNotFound = error { isOfItemGone = true }
    default: self.init(errSecInternalComponent)
    }
  }

  private static func status(of error: KeyringError) -> OSStatus {
    switch error {
    case .noStore, .storeExists, .folderNotEmpty, .unsafeFolder, .busy, .policyNotTrusted: errSecNotAvailable
    case .file(let error): status(of: error)
    case .invalidQuery(let error): status(of: error)
    case .invalidAttribute(.wrongClass): errSecNoSuchAttr
    case .invalidAttribute: errSecParam
    case .attributesTooLarge, .secretTooLarge: errSecDataTooLarge
    case .itemNotFound: errSecItemNotFound
    case .itemExists: errSecDuplicateItem
    case .itemDamaged, .bindingMismatch: errSecDecode
    case .shardDamaged, .shardRefused, .transactionDamaged, .transactionOutdated, .transactionUnknown:
      errSecNotAvailable
    case .engine(let error, _): status(of: error)
    case .unknownGroup, .team(.notInGroup): errSecMissingEntitlement
    case .team: errSecNotAvailable
    }
  }

  private static func status(of error: QueryError) -> OSStatus {
    switch error {
    case .wrongClass, .noSuchAttribute: errSecNoSuchAttr
    case .secretOfAllMatches, .limitNotPositive, .notADate, .badIDPrefix: errSecParam
    }
  }

  private static func status(of error: FileError) -> OSStatus {
    switch error.reason {
    case .system(ENOSPC), .system(EDQUOT): errSecDiskFull
    case .system(EROFS), .system(EACCES), .system(EPERM): errSecReadOnly
    case .system(ENOMEM): errSecAllocate
    case .system: errSecIO
    case .notARegularFile, .hasOtherNames, .tooLarge: errSecDecode
    }
  }

  private static func status(of error: EngineError) -> OSStatus {
    switch error {
    case .cancelled: errSecUserCanceled
    case .noPromptPossible: errSecInteractionNotAllowed
    case .badPassphrase: errSecAuthFailed
    case .notARecipient, .corrupt, .alteredRecipients, .notEncrypted, .tooLarge, .message: errSecDecode
    case .unusableKey(_, .noPassphrase): errSecAuthFailed
    case .unusableKey(_, .onCard): errSecUnimplemented
    case .unusableKey, .noRecipients, .wrongRecipients, .agentUnreachable, .engineMissing, .engineTooOld,
      .unsafeEngine, .other:
      errSecNotAvailable
    }
  }
}
