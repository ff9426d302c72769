package import Arguments
internal import Encoding
internal import Glibc
internal import KeyringModel
package import Secrets
internal import Subprocess
internal import Terminal

/// The destination of a secret with `--clip`: the clipboard, for a limited time.
///
/// It is created before any decryption, so that a missing clipboard does not cause a passphrase prompt first.
package struct ClipboardTarget {
  package static let clip = OptionDeclaration(
    "clip", short: "c", .optional(ValueDeclaration("N", .integer(Configuration.clipboardSeconds))),
    help:
      "copy it to the clipboard, print nothing, and clear it after N seconds (default 45, or the setting `clipboardSeconds`; 0 "
      + "means never)"
  )
  static let osc52 = OptionDeclaration(
    "osc52",
    help: "with `--clip`: use the clipboard of this terminal, also with ssh; waits until it is cleared")
  /// The options for the clipboard.
  package static let options = [clip, osc52]
  /// The help text about the clipboard, for all commands with `--clip`.
  package static let details = [
    "`--clip` uses wl-copy on Wayland, xclip or xsel on X11, and clip.exe in the Windows Subsystem for Linux. The "
      + "program receives the secret only on its standard input. When the time is over, a background process clears "
      + "the clipboard, unless it contains something else by then. Clipboard managers may have saved the secret. "
      + "Until it is cleared, wl-copy keeps it in a file below /tmp that only you can read. The file is on disk "
      + "unless /tmp is in memory.",
    "`--osc52` sends the secret to the terminal, which also works with ssh if the terminal allows it. The clipboard "
      + "cannot be read back, so keytree waits and clears it when the time is over or you press Enter or Ctrl-C.",
  ]
  /// The name of the command that clears the clipboard.
  package static let clearCommand = "clear-clipboard"

  /// The default number of seconds.
  package static let defaultSeconds = 45

  private let call: CommandCall
  private let clipboard: Clipboard?
  private let terminal: TerminalClipboard?
  private let seconds: Int

  private var time: String { "\(seconds) " + (seconds == 1 ? "second" : "seconds") }

  /// Finds the clipboard, or returns nil if the command line does not request it.
  ///
  /// - Parameters:
  ///   - call: the command line.
  ///   - isImplied: true if the command copies to the clipboard without `--clip`.
  /// - Throws: a usage error for `--osc52` without `--clip`; `ClipboardError` if no clipboard is available.
  package init?(_ call: CommandCall, isImplied: Bool = false) throws {
    if !isImplied { try Self.refuseContradictions(call) }
    guard isImplied || call.arguments.has(Self.clip) else { return nil }
    self.call = call
    seconds =
      try call.arguments.integer(Self.clip) ?? call.configuration().number(.clipboardSeconds)
      ?? Self.defaultSeconds
    if call.arguments.has(Self.osc52) {
      clipboard = nil
      terminal = try TerminalClipboard()
    } else {
      terminal = nil
      clipboard = try Clipboard(call.environment)
    }
  }

  /// Rejects `--osc52` without `--clip`, even if nothing is decrypted.
  ///
  /// - Throws: a usage error.
  package static func refuseContradictions(_ call: CommandCall) throws {
    if call.arguments.has(osc52), !call.arguments.has(clip) {
      throw call.misuse(.other("\(osc52.display) requires \(clip.display)"))
    }
  }

  /// Copies a secret to the clipboard and ensures that it is cleared.
  ///
  /// - Parameters:
  ///   - secret: the bytes.
  ///   - name: a description for the user: `the secret`.
  /// - Throws: `ClipboardError` if the clipboard program fails; `other` if the process that clears the clipboard cannot
  ///   be started; `UserFileError`; `exit` with the status of a signal that arrived during the copy.
  package func deliver(_ secret: borrowing SecretBytes, as name: String) throws {
    if let clipboard {
      try deliver(secret, as: name, to: clipboard)
    } else {
      try deliverToTerminal(secret, as: name)
    }
  }

  private func deliver(
    _ secret: borrowing SecretBytes, as name: String, to clipboard: Clipboard
  ) throws {
    guard let base = call.environment.runtimeBase else {
      throw CommandError.noHome
    }
    let mark = ClipboardMark(of: secret)
    let turns = try ClipboardTurns(session: clipboard.turnSession, in: base)
    // From here on, no signal ends this process before the clearing process exists: programs like xclip keep the
    // content even after this process has ended.
    let interruption = Interruption()
    defer { interruption?.stop() }
    let deadline = seconds > 0 ? call.environment.clock().microseconds / 1_000_000 + Int64(seconds) : nil
    let before = try deadline.map { (time) in try turns.announce(until: time) }
    do {
      try clipboard.copy(secret)
    } catch {
      if let before { try turns.restore(before) }
      throw error
    }
    do {
      try turns.take(mark, until: deadline)
      if seconds > 0 { try startClearing(mark, clipboard) }
    } catch {
      // The content must not stay, because no process would clear it. Clearing is best effort: the first error is
      // reported.
      try? clipboard.clear()
      throw error
    }
    call.console.say(
      "Copied \(name) to the clipboard" + (seconds > 0 ? "; it is cleared in \(time)." : "."))
    if let signal = interruption?.takeSignal() { throw CommandError.exit(status: 128 + signal) }
  }

  /// Starts this program again as the process that clears the clipboard. That process must outlive this one.
  private func startClearing(_ mark: ClipboardMark, _ clipboard: Clipboard) throws {
    var run = ProgramRun(
      "/proc/self/exe", [Self.clearCommand, clipboard.way.rawValue, String(seconds)],
      environment: ProcessEnvironment(entries: call.environment.entries, locale: nil))
    run.folder = "/"
    run.input = .bytes(Array(mark.text.utf8))
    run.output = .discarded
    run.errors = .discarded
    run.timeout = .seconds(5)
    // The process returns as soon as its child waits in the background.
    guard let outcome = try? run.run(), outcome.succeeded else {
      throw CommandError.other(
        .failure, message: "cannot copy to the clipboard: the process that would clear it cannot be started",
        hint: "`--clip=0` copies it and never clears it")
    }
  }

  private func deliverToTerminal(_ secret: borrowing SecretBytes, as name: String) throws {
    guard let terminal else { return }
    // From here on, no signal ends this process before the clipboard is cleared. If signals cannot be blocked, the
    // secret is copied nevertheless: the user sees the time limit, and that the clipboard was not cleared.
    let signals = seconds > 0 ? try? SignalWatch() : nil
    defer { signals?.stop() }
    try terminal.copy(secret)
    guard seconds > 0 else {
      call.console.say("Sent \(name) to the clipboard of the terminal.")
      return
    }
    let asks = !call.globals.noInput
    call.console.say(
      "Sent \(name) to the clipboard of the terminal for \(time)"
        + (asks ? "; press Enter to clear it now." : "."))
    let ending = terminal.wait(seconds, asks: asks, signals: signals)
    try terminal.clear()
    if case .signal(let number) = ending { throw CommandError.exit(status: 128 + number) }
  }
}
