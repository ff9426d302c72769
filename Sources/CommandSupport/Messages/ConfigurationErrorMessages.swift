internal import Encoding
internal import Keyring

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

extension StoreLocationError {
  /// The reason as text.
  var message: String {
    switch self {
    case .homeUnknown: "`HOME` is not set to an absolute path"
    case .settings(let error): ErrorReport(error).message ?? "cannot read the settings"
    case .unsafeSettings(let path, _): "another user can change the settings in \(path)"
    case .settingsNotJSON(let path, let error):
      "cannot use the settings in \(path): \(Configuration.Problem.notJSON(error).message)"
    case .badSetting(let name, let expected, let path):
      "cannot use the settings in \(path): \(Configuration.Problem.badValue(name, mustBe: expected).message)"
    }
  }
}
