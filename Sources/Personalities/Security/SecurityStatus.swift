internal import Arguments
internal import CommandSupport
internal import Keyring
internal import Terminal

extension SecurityStatus {
  /// The command's own status for a failure that has no status of the keychain.
  static let failure = SecurityStatus(rawValue: 1)
  /// The command's own status for a command line that is wrong.
  static let usage = SecurityStatus(rawValue: 2)

  /// The exit status of the process: the lowest eight bits.
  var exitStatus: Int32 { rawValue & 0xFF }

  /// The message of the status. Scripts search for the first two verbatim; the others are our own.
  var message: String {
    switch self {
    case .itemNotFound: "The specified item could not be found in the keychain."
    case .duplicateItem: "The specified item already exists in the keychain."
    case .unimplemented: "This function is not offered here."
    case .diskFull: "The disk is full."
    case .inputOutput: "Reading or writing failed."
    case .parameter: "The parameters make no sense together."
    case .allocation: "There is not enough memory."
    case .userCancelled: "The user has cancelled it."
    case .missingEntitlement: "The group of the item cannot be used."
    case .notAvailable: "The keychain is not available."
    case .readOnly: "The keychain cannot be written to."
    case .authenticationFailed: "The passphrase was wrong."
    case .noSuchKeychain: "The keychain could not be found."
    case .dataTooLarge: "The data is too large."
    case .noSuchAttribute: "The item cannot have this attribute."
    case .noDefaultKeychain: "There is no default keychain."
    case .interactionNotAllowed: "Nobody can be asked."
    case .decode: "The data of the item cannot be read."
    default: "It failed."
    }
  }
}

extension SecurityStatus {
  /// The status that comes nearest to why a command of `keytree` would end.
  init(_ error: any Error) {
    self =
      switch error {
      case is UsageError: .usage
      case CommandError.storeLocationUnknown: .noSuchKeychain
      case CommandError.noMatch: .itemNotFound
      case CommandError.noMatchButDamage: .decode
      case TerminalError.promptImpossible: .interactionNotAllowed
      case TerminalError.cancelled: .userCancelled
      case TerminalError.secretTooLong: .dataTooLarge
      case TerminalError.inputFailed, TerminalError.outputFailed: .inputOutput
      // Apple's functions have no status for a missing store, the command has.
      case KeyringError.noStore: .noSuchKeychain
      case let error as KeyringError: Self(error)
      case let error as FileError: Self(error)
      default: .failure
      }
  }
}

/// The error of a command of `security`, with its messages.
struct SecurityFailure: Error, Equatable {
  let status: SecurityStatus
  /// The lines for standard error, escaped.
  let lines: [String]

  /// A failure with words of its own.
  init(_ status: SecurityStatus, _ lines: [String]) {
    self.status = status
    self.lines = lines
  }

  /// A failure in the words that the command has for a status.
  ///
  /// - Parameters:
  ///   - status: the status.
  ///   - place: the function of Apple's that would have failed, which those who read the words expect in front.
  ///   - more: what else is to be said.
  init(_ status: SecurityStatus, at place: String, _ more: [String] = []) {
    self.init(status, ["security: \(place): \(status.message)"] + more)
  }

  /// The same for why a command of `keytree` would end; its reason and its hint follow.
  init(_ error: any Error, at place: String) {
    let status = SecurityStatus(error)
    let lines = ErrorReport(describing: error).lines
    switch error {
    case TerminalError.outputClosed: self.init(status, [])
    // The report is complete without Apple's message.
    case is NotCommittedError: self.init(status, lines)
    case CommandError.noMatch: self.init(status, at: place)
    default: self.init(status, at: place, lines)
    }
  }

  /// The command line is wrong; how it is used is told by who runs the command.
  static let usage = SecurityFailure(.usage, [])
}

/// Runs something that fails as a command of `keytree` does, in the name of a function of Apple's.
func securityCall<R: ~Copyable>(
  _ place: String, _ body: () throws -> R
) throws -> R {
  do {
    return try body()
  } catch {
    throw SecurityFailure(error, at: place)
  }
}
