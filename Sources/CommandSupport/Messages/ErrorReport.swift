internal import Arguments
internal import Encoding
internal import Glibc
internal import KeyringModel
internal import Terminal

/// The message, the hint and the exit code for an error.
///
/// A report reads `keytree: what failed, on which item, why` and `hint:` with the next step. Names and paths are not
/// escaped here; `lines` escapes them.
package struct ErrorReport: Equatable, Sendable {
  /// The exit code of the program.
  package let exitCode: ExitCode
  /// The message, without the name of the program; nil if nothing is reported.
  package let message: String?
  /// The next step for the user; nil only if nothing is reported.
  package let hint: String?
  /// Further details, one line each, for example the candidates for an ambiguous name.
  package let details: [String]

  package init(_ exitCode: ExitCode, _ message: String, hint: String, details: [String] = []) {
    self.exitCode = exitCode
    self.message = message
    self.hint = hint
    self.details = details
  }

  /// Creates a report that prints nothing.
  package init(silent exitCode: ExitCode) {
    self.exitCode = exitCode
    message = nil
    hint = nil
    details = []
  }

  /// Creates the report for any error.
  package init(describing error: any Error) {
    self =
      (error as? any ReportableError)?.report
      ?? ErrorReport(
        .failure, "an unexpected error: \(String(describing: error))",
        hint: "`keytree doctor` checks everything that keytree depends on")
  }

  /// The lines for standard error. They are escaped even if standard error is not a terminal, because some programs
  /// show them elsewhere.
  package var lines: [String] {
    guard let message else { return [] }
    let lines = ["keytree: " + message] + details + (hint.map { ["hint: " + $0] } ?? [])
    return lines.map(Escaping.terminal.show)
  }

  /// The hint for a secret that is too large.
  static var largeSecretHint: String {
    "encrypt the data with a separate key, and store that key here"
  }

  /// The way to make a key, in all hints. The key has an end, so that a lost key does not stay valid forever.
  package static let newKeyHint =
    "`gpg --quick-generate-key \"NAME <MAIL>\" default default 2y` generates a key that can be used for two years; "
    + "`gpg --quick-set-expire` moves its end at any time"

  /// The rule for the names of fields, as text for messages.
  static let fieldRule =
    "a field name has 1 to \(FieldName.maximumSize) characters: `a` to `z`, `0` to `9` and `-`"

  /// Returns a text in quotation marks. Quotation marks in it are escaped, so that the text cannot end early; then, and
  /// at the end of the text, so are backslashes.
  package static func quote(_ text: String) -> String {
    guard text.contains(bytesOf: "\"") || text.utf8.last == UInt8(ascii: "\\") else { return "\"\(text)\"" }
    return "\"" + text.replacing(bytesOf: "\\", with: "\\\\").replacing(bytesOf: "\"", with: "\\\"") + "\""
  }

  /// Returns a text in quotation marks, with one blank instead of several, so that a long run of blanks cannot move a
  /// part of the text to another line of the terminal.
  package static func quoteCompact(_ text: String) -> String { quote(compact(text)) }

  /// Returns a text with one blank instead of each run of white space.
  package static func compact(_ text: String) -> String {
    var result = ""
    var isAfterBlank = false
    for character in text {
      if !character.isWhitespace { result.append(character) } else if !isAfterBlank { result.append(" ") }
      isAfterBlank = character.isWhitespace
    }
    return result
  }

  /// Returns the hint for an error number of the system.
  package static func hint(_ number: Int32) -> String {
    switch number {
    case ENOENT, ENOTDIR: "check the path with `ls`: every folder in it must exist"
    case EEXIST: "files are never overwritten: give another name, or remove the file first"
    case EISDIR: "give the name of a file in that folder"
    case EACCES, EPERM: "`ls -ld` shows its owner and permissions"
    case ELOOP: "give a path without symbolic links"
    case EFBIG: "make sure that it is the right file"
    case ENOSPC, EDQUOT: "free some disk space (`df` shows how much is left), then run the command again"
    case EROFS: "give a path on a disk that is not mounted read-only"
    default: "`keytree doctor` checks everything that keytree depends on"
    }
  }

  /// Returns the exit code for an error that concerns a file of the user.
  package static func exitCode(_ number: Int32) -> ExitCode {
    switch number {
    case ENOENT: .notFound
    case EEXIST: .alreadyExists
    default: .failure
    }
  }

  /// Returns the system's message for an error number, from `strerror(3)`.
  package static func systemMessage(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}

/// An error with a report that was made for it, for example with the names of items.
package struct ReportedError: ReportableError {
  package let report: ErrorReport

  /// Wraps a report.
  package init(_ report: ErrorReport) { self.report = report }
}

/// An error that can be reported to the user.
package protocol ReportableError: Error {
  /// The message, the hint and the exit code.
  var report: ErrorReport { get }
}
