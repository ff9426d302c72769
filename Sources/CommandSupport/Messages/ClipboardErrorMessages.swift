internal import Glibc
internal import Terminal

extension ClipboardError: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension ErrorReport {
  fileprivate init(_ error: ClipboardError) {
    var hint =
      error.isRemote
      ? "with ssh, `--clip --osc52` uses the clipboard of your terminal"
      : "run the command in a graphical session; `--clip --osc52` uses the clipboard of the terminal"
    var action = "copy to the clipboard"
    let reason: String
    switch error.problem {
    case .noSession:
      reason = "neither `WAYLAND_DISPLAY` nor `DISPLAY` names a session"
    case .noTerminal:
      action = "use the clipboard of the terminal"
      reason = "this process has no terminal"
      hint = "run the command on a terminal; `ssh -t` allocates one for a command"
    case .noProgram(let ways):
      reason = "no clipboard program was found in `PATH`"
      hint = "\(Self.packages(ways)); `--clip --osc52` needs no program"
    case .tooLong(let limit):
      reason = "the secret is longer than \(limit) bytes"
      hint = "`keytree get ITEM --out FILE` writes it to a file"
    case .notText:
      reason = "the clipboard of Windows holds only text, and the secret is not UTF-8"
      hint = "`keytree get ITEM --out FILE` writes it to a file"
    case .failed(let program, let session):
      reason = "\(program) failed\(Self.place(session))"
    case .timeout(let program, let session):
      reason = "\(program) did not finish in time\(Self.place(session))"
    }
    self.init(.failure, "cannot \(action): \(reason)", hint: hint)
  }

  private static func packages(_ ways: [Clipboard.Way]) -> String {
    if ways.contains(.wayland) { return "install wl-clipboard" }
    return ways.contains(.xclip) ? "install xclip or xsel" : "add the folder of clip.exe to `PATH`"
  }

  private static func place(_ session: String?) -> String {
    session.map { " in the session \(ErrorReport.quote($0))" } ?? ""
  }
}
