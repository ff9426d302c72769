internal import Arguments
internal import CommandSupport
internal import Keyring
internal import Terminal

extension SecurityStatus {
  /// The status of the command for a failure without a status code of the keychain.
  static let failure = SecurityStatus(rawValue: 1)
  /// The status of the command for an invalid command line.
  static let usage = SecurityStatus(rawValue: 2)

  /// The exit status of the process: the lowest eight bits.
  var exitStatus: Int32 { rawValue & 0xFF }

  /// The message of the status. Scripts search for the first two verbatim; the others are our own.
  var message: String {
    switch self {
    case .itemNotFound: "The specified item could not be found in the keychain."
    case .duplicateItem: "The specified item already exists in the keychain."
    case .unimplemented: "This function is not supported."
    case .diskFull: "The disk is full."
    case .inputOutput: "Reading or writing failed."
    case .parameter: "The parameters are invalid."
    case .allocation: "Not enough memory is available."
    case .userCancelled: "The user cancelled the operation."
    case .missingEntitlement: "The group of the item cannot be used."
    case .notAvailable: "The keychain is not available."
    case .readOnly: "The keychain cannot be written to."
    case .authenticationFailed: "The passphrase was wrong."
    case .noSuchKeychain: "The keychain could not be found."
    case .dataTooLarge: "The data is too large."
    case .noSuchAttribute: "The item cannot have this attribute."
    case .noDefaultKeychain: "The default keychain could not be found."
    case .interactionNotAllowed: "No prompt is possible."
    case .decode: "The data of the item cannot be read."
    default: "The operation failed."
    }
  }
}

extension SecurityStatus {
  /// Creates the status that is closest to an error of a `keytree` command.
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
      // Apple's functions have no status for a missing store, but the command has one.
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

  /// Creates a failure with its own message.
  init(_ status: SecurityStatus, _ lines: [String]) {
    self.status = status
    self.lines = lines
  }

  /// Creates a failure with the message of a status.
  ///
  /// - Parameters:
  ///   - status: the status.
  ///   - place: the Apple function that fails on macOS. Scripts expect its name before the message.
  ///   - more: further lines.
  init(_ status: SecurityStatus, at place: String, _ more: [String] = []) {
    self.init(status, ["security: \(place): \(status.message)"] + more)
  }

  /// Creates the failure for an error of a `keytree` command. The error's own message and hint follow.
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

  /// The failure for an invalid command line. The caller prints the usage.
  static let usage = SecurityFailure(.usage, [])
}

/// Runs code that throws errors of `keytree` commands, and converts them to failures of an Apple function.
func securityCall<R: ~Copyable>(
  _ place: String, _ body: () throws -> R
) throws -> R {
  do {
    return try body()
  } catch {
    throw SecurityFailure(error, at: place)
  }
}
