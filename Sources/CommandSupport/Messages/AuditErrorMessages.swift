package import Encoding

/// The reason why a list of breached passwords cannot be used.
///
/// No case says where in the list the problem is: the place that a search has reached tells something about the secret
/// that is looked for.
package enum BreachListError: Error, Equatable {
  /// The file is empty, or a file of the folder is.
  case empty(path: String)
  /// The path names neither a file nor a folder.
  case notAFile(path: String)
  /// A line has another form.
  case badLine(path: String)
  /// The lines have the digests of Windows (NTLM), which are not SHA-1.
  case isNTLM(path: String)
  /// The lines are not sorted by their digests.
  case notSorted(path: String)
  /// The folder lacks files.
  case incomplete(path: String)
}

extension BreachListError: ReportableError {
  package var report: ErrorReport {
    let hint = "download the SHA-1 list again with the downloader of Have I Been Pwned"
    return switch self {
    case .empty(let path):
      ErrorReport(.failure, "\(path) contains no list of breached passwords: it is empty", hint: hint)
    case .notAFile(let path):
      ErrorReport(
        .failure, "cannot search \(path): it is neither a file nor a folder",
        hint: "a search needs a file on a disk; write the list to a file first")
    case .badLine(let path):
      ErrorReport(
        .failure,
        "\(path) is not a list of breached passwords: a line is not a count after 40 hexadecimal digits, or after as "
          + "many as the first line has (at least 10)",
        hint: hint)
    case .isNTLM(let path):
      ErrorReport(
        .failure, "\(path) contains NTLM digests, and keytree compares SHA-1 digests",
        hint: "download the SHA-1 list; the option `-n` of the downloader selects NTLM")
    case .notSorted(let path):
      ErrorReport(
        .failure, "\(path) is not sorted by its digests",
        hint: "`LC_ALL=C sort FILE` sorts it; Have I Been Pwned also publishes a list that is ordered by hash"
      )
    case .incomplete(let path):
      ErrorReport(
        .failure, "the folder \(path) lacks files with breached passwords",
        hint: "it must have a file for each range, from `00000` to `FFFFF`; \(hint)")
    }
  }
}

extension CommandError {
  /// Creates the failure for secrets that cannot be compared with each other.
  package init(_ error: KeyedDigest.Failure) {
    self = .other(
      .failure, message: "cannot compare the secrets: libgcrypt: \(error.reason)",
      hint: "a system policy may forbid HMAC with SHA-256")
  }
}
