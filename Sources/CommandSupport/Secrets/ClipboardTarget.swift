package import Arguments
internal import Encoding
internal import Glibc
internal import KeyringModel
package import Secrets
internal import Subprocess
internal import Terminal

/// The destination of a secret with `--clip`: the clipboard, for a limited time.
///
/// It is created before any decryption, so that a missing clipboard costs no passphrase prompt.
package struct ClipboardTarget {
  package static let clip = OptionDeclaration(
    "clip", .optional(ValueDeclaration("N", .integer(0...86_400))),
    help:
      "put it into the clipboard, print nothing, and clear it after N seconds, 45 when not given, never with 0"
  )
  static let osc52 = OptionDeclaration(
    "osc52",
    help: "with `--clip`: into the clipboard of this terminal, also over ssh; waits until it is cleared")
  /// The options for the clipboard.
  package static let options = [clip, osc52]
  /// The help text about the clipboard, for each of the commands.
  package static let details = [
    "`--clip` uses wl-copy on Wayland, xclip or xsel on X11, and clip.exe in the Windows Subsystem for Linux; each is "
      + "handed the secret on its standard input alone. After the time it is cleared by a process in the background, "
      + "unless something else is in the clipboard by then. Programs that keep a history of the clipboard may have "
      + "taken it. wl-copy itself keeps it, until then, in a file below /tmp that only you can read, which is on disk "
      + "unless /tmp is in memory.",
    "`--osc52` hands it to the terminal itself, which works over ssh where the terminal allows it. It cannot be "
      + "read back, so keytree waits, and clears it when the time is over or at Enter or Ctrl-C.",
  ]
  /// The name of the command that clears the clipboard.
  package static let clearCommand = "clear-clipboard"

  /// The default number of seconds.
  private static let defaultSeconds = 45

  private let call: CommandCall
  private let clipboard: Clipboard?
  private let terminal: TerminalClipboard?
  private let seconds: Int

  private var time: String { "\(seconds) " + (seconds == 1 ? "second" : "seconds") }

  /// Finds the clipboard, or returns nil if the command line does not request it.
  ///
  /// - Throws: a usage error for `--osc52` alone; `other` if there is no clipboard.
  package init?(_ call: CommandCall) throws {
    try Self.refuseContradictions(call)
    guard call.arguments.has(Self.clip) else { return nil }
    self.call = call
    seconds = call.arguments.integer(Self.clip) ?? Self.defaultSeconds
    if call.arguments.has(Self.osc52) {
      clipboard = nil
      terminal = try TerminalClipboard()
    } else {
      terminal = nil
      clipboard = try Clipboard(call.environment)
    }
  }

  /// Refuses `--osc52` without `--clip`, even if nothing is decrypted.
  ///
  /// - Throws: a usage error.
  package static func refuseContradictions(_ call: CommandCall) throws {
    if call.arguments.has(osc52), !call.arguments.has(clip) {
      throw call.misuse(.other("\(osc52.display) goes with \(clip.display)"))
    }
  }

  /// Copies a secret to the clipboard and ensures that it is cleared.
  ///
  /// - Parameters:
  ///   - secret: the bytes.
  ///   - name: a description for the user: `the secret`.
  /// - Throws: `other` if a program fails; `UserFileError`; `exit` with the status of a signal that arrived during
  ///   the copy.
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
      throw CommandError.storeLocationUnknown(reason: "`HOME` is not set")
    }
    let mark = ClipboardMark(of: secret)
    let turns = try ClipboardTurns(session: clipboard.turnSession, in: base)
    // From here on no signal ends this process before the clearing process exists: programs like xclip keep the content
    // even after this process has ended.
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
      // Content that no process would clear must not stay. If this fails as well, there is nothing more to try.
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
    // It exits as soon as its copy waits in the background.
    guard let outcome = try? run.run(), outcome.succeeded else {
      throw CommandError.other(
        .failure, message: "cannot copy to the clipboard: the process that would clear it does not start",
        hint: "`--clip=0` copies it and leaves the clearing to you")
    }
  }

  private func deliverToTerminal(_ secret: borrowing SecretBytes, as name: String) throws {
    guard let terminal else { return }
    // From here on no signal ends this process before the clipboard is cleared. If signals cannot be held back, the
    // secret is copied nevertheless: the user sees how long it should stay, and that it was not cleared.
    let signals = seconds > 0 ? try? SignalWatch() : nil
    defer { signals?.stop() }
    try terminal.copy(secret)
    guard seconds > 0 else {
      call.console.say("Handed \(name) to the clipboard of the terminal.")
      return
    }
    let asks = !call.globals.noInput
    call.console.say(
      "Handed \(name) to the clipboard of the terminal for \(time)"
        + (asks ? "; Enter clears it at once." : "."))
    let ending = terminal.wait(seconds, asks: asks, signals: signals)
    try terminal.clear()
    if case .signal(let number) = ending { throw CommandError.exit(status: 128 + number) }
  }
}
