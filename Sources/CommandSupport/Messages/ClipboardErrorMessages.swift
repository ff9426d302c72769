internal import Glibc
internal import Terminal

// The messages for clipboards that cannot be used.

extension ClipboardError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension ErrorReport {
  fileprivate init(_ error: ClipboardError) {
    var hint =
      error.isRemote
      ? "over ssh, `--clip --osc52` uses the clipboard of your terminal"
      : "run it in a graphical session; `--clip --osc52` uses the clipboard of the terminal"
    var action = "copy to the clipboard"
    let reason: String
    switch error.problem {
    case .noSession:
      reason = "neither `WAYLAND_DISPLAY` nor `DISPLAY` names a session"
    case .noTerminal:
      action = "use the clipboard of the terminal"
      reason = "this process has no terminal"
      hint = "run it on a terminal; `ssh -t` gives a command one"
    case .noProgram(let ways):
      reason = "there is no program for it in `PATH`"
      hint = "install \(Self.packages(ways)); `--clip --osc52` needs no program"
    case .tooLong(let limit):
      reason = "the secret is longer than \(limit) bytes"
      hint = "`keytree get ITEM --out FILE` writes it to a file"
    case .notText:
      reason = "the clipboard of Windows holds text, and the secret is not UTF-8"
      hint = "`keytree get ITEM --out FILE` writes it to a file"
    case .failed(let program, let session):
      reason = "\(program) failed\(Self.place(session))"
    case .timeout(let program, let session):
      reason = "\(program) did not end in time\(Self.place(session))"
    }
    self.init(.failure, "cannot \(action): \(reason)", hint: hint)
  }

  private static func packages(_ ways: [Clipboard.Way]) -> String {
    if ways.contains(.wayland) { return "wl-clipboard" }
    return ways.contains(.xclip) ? "xclip or xsel" : "clip.exe's folder into `PATH`"
  }

  private static func place(_ session: String?) -> String {
    session.map { " in the session \(ErrorReport.quote($0))" } ?? ""
  }
}
