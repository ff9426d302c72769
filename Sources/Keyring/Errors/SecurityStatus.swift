internal import Glibc
package import OpenPGP

/// A status code of Apple's keychain (`SecBase.h`), for the functions and programs that report one.
package struct SecurityStatus: RawRepresentable, Hashable, Sendable {
  /// The code, an `OSStatus`.
  package let rawValue: Int32

  /// Creates a status from a code.
  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let success = SecurityStatus(rawValue: 0)
  package static let unimplemented = SecurityStatus(rawValue: -4)
  package static let diskFull = SecurityStatus(rawValue: -34)
  package static let inputOutput = SecurityStatus(rawValue: -36)
  package static let parameter = SecurityStatus(rawValue: -50)
  package static let allocation = SecurityStatus(rawValue: -108)
  package static let userCancelled = SecurityStatus(rawValue: -128)
  package static let missingEntitlement = SecurityStatus(rawValue: -34018)
  package static let notAvailable = SecurityStatus(rawValue: -25291)
  package static let readOnly = SecurityStatus(rawValue: -25292)
  package static let authenticationFailed = SecurityStatus(rawValue: -25293)
  package static let noSuchKeychain = SecurityStatus(rawValue: -25294)
  package static let duplicateItem = SecurityStatus(rawValue: -25299)
  package static let itemNotFound = SecurityStatus(rawValue: -25300)
  package static let dataTooLarge = SecurityStatus(rawValue: -25302)
  package static let noSuchAttribute = SecurityStatus(rawValue: -25303)
  package static let noDefaultKeychain = SecurityStatus(rawValue: -25307)
  package static let interactionNotAllowed = SecurityStatus(rawValue: -25308)
  package static let decode = SecurityStatus(rawValue: -26275)
  package static let internalComponent = SecurityStatus(rawValue: -2070)
}

extension SecurityStatus {
  /// Creates the status that is nearest to an error of the store.
  package init(_ error: KeyringError) {
    self =
      switch error {
      case .location, .noStore, .storeExists, .folderNotEmpty, .unsafeFolder, .busy, .history,
        .policyNotTrusted:
        .notAvailable
      case .file(let error): Self(error)
      // The statuses for a full or read-only disk would mean that nothing was stored.
      case .unfinished: .inputOutput
      case .invalidQuery(.wrongClass), .invalidQuery(.noSuchAttribute), .invalidAttribute(.wrongClass):
        .noSuchAttribute
      case .invalidQuery, .invalidAttribute: .parameter
      case .attributesTooLarge, .secretTooLarge: .dataTooLarge
      case .itemNotFound: .itemNotFound
      case .itemExists: .duplicateItem
      case .itemDamaged, .bindingMismatch: .decode
      case .shardDamaged, .shardRefused, .transactionDamaged, .transactionOutdated, .transactionUnknown:
        .notAvailable
      case .engine(let error, _): Self(error)
      case .unknownGroup, .team(.notInGroup): .missingEntitlement
      case .team: .notAvailable
      case .shared(.otherGroup, _): .duplicateItem
      case .shared: .missingEntitlement
      }
  }

  /// Creates the status that is nearest to an error of a file.
  package init(_ error: FileError) {
    self =
      switch error.reason {
      case .system(ENOSPC), .system(EDQUOT): .diskFull
      case .system(EROFS), .system(EACCES), .system(EPERM): .readOnly
      case .system(ENOMEM): .allocation
      case .system: .inputOutput
      case .notARegularFile, .hasOtherNames, .tooLarge: .decode
      }
  }

  /// Creates the status that is nearest to an error of GnuPG.
  package init(_ error: EngineError) {
    self =
      switch error {
      case .cancelled: .userCancelled
      case .noPromptPossible, .restrictedAgent: .interactionNotAllowed
      case .badPassphrase, .unusableKey(_, .noPassphrase): .authenticationFailed
      case .notARecipient, .corrupt, .alteredRecipients, .messageOfAStore, .notEncrypted, .tooLarge, .message:
        .decode
      case .unusableKey(_, .onCard): .unimplemented
      case .unusableKey, .foreignSubkey, .noRecipients, .wrongRecipients, .agentUnreachable, .engineMissing,
        .engineTooOld,
        .unsafeEngine, .incomplete, .other:
        .notAvailable
      }
  }
}
