internal import Encoding

extension Configuration.Problem {
  /// The reason as text.
  package var message: String {
    switch self {
    case .notJSON(let error): "it is not JSON: \(error.message)"
    case .badValue(let name, let expected): "`\(name)` must be \(expected)"
    }
  }
}

extension ConfigurationError: ReportableError {
  package var report: ErrorReport {
    switch self {
    case .unusable(let path, let problem):
      ErrorReport(
        .failure, "cannot use the settings in \(path): \(problem.message)",
        hint: "edit the file, or remove it")
    case .noFolder:
      ErrorReport(
        .failure, "the folder for settings is unknown: `HOME` is not set to an absolute path",
        hint: "set `HOME`, or `XDG_CONFIG_HOME`")
    }
  }
}
