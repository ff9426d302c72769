internal import Terminal

extension Typist.Problem: ReportableError {
  package var report: ErrorReport {
    switch self {
    case .noSession:
      ErrorReport(
        .failure, "cannot type: neither `WAYLAND_DISPLAY` nor `DISPLAY` is set",
        hint: "run the command in a graphical session, or use the clipboard")
    case .notInstalled(let program):
      ErrorReport(
        .failure, "cannot type: \(program) is not installed", hint: "install the package `\(program)`")
    case .notOneLine:
      ErrorReport(
        .failure, "cannot type: the secret has several lines or control characters",
        hint: "copy it to the clipboard instead")
    case .failed(let program):
      ErrorReport(
        .failure, "cannot type: \(program) failed",
        hint: "the compositor may not support it; copy the secret to the clipboard instead")
    }
  }
}
