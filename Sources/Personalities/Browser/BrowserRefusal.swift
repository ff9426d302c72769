internal import BrowserHost
internal import CommandSupport
internal import Keyring
internal import Terminal

/// Converts any error to one that the extension shows.
enum BrowserRefusal {
  /// Returns the error for the extension.
  ///
  /// - Parameters:
  ///   - error: the error.
  ///   - action: the action that failed; nil if it is not known.
  static func error(for error: any Error, _ action: BrowserAction?) -> BrowserError {
    if let error = error as? BrowserError { return error }
    let report = ErrorReport(describing: error)
    let detail = ([report.message ?? ""] + report.details).joined(separator: "; ")
    return BrowserError(code(for: error, action), message(report), detail: Escaping.terminal.show(detail))
  }

  /// Returns the message and the hint of a report as one sentence, escaped for output.
  static func message(_ report: ErrorReport) -> String {
    Escaping.terminal.show([report.message, report.hint].compactMap { $0 }.joined(separator: "; "))
  }

  private static func code(for error: any Error, _ action: BrowserAction?) -> BrowserError.Code {
    switch error {
    case KeyringError.noStore, KeyringError.policyNotTrusted, KeyringError.unsafeFolder:
      .defaultStoreInaccessible
    case CommandError.storeLocationUnknown: .defaultStoreUnknown
    case KeyringError.engine(.engineMissing, _): .gnupgMissing
    default: action?.failureCode ?? .requestUnreadable
    }
  }
}
