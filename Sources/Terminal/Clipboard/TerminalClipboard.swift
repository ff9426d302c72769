internal import Clocks
internal import Encoding
internal import Glibc
package import Secrets

/// The clipboard of the user's terminal, which may be on another machine. It uses the sequence OSC 52, which xterm
/// introduced and most terminals support; tmux passes it on if `set-clipboard` is on.
///
/// The clipboard cannot be read back, so it is unknown whether the terminal accepted the content, and whether the
/// content has changed since. This process therefore waits in the foreground, and always clears the clipboard at the
/// end.
package final class TerminalClipboard {
  private let terminal: Int32

  /// The reason why the wait ended.
  package enum Ending: Equatable {
    /// The time expired, or the user pressed Enter or Ctrl-C.
    case due
    /// A signal that should end this process.
    case signal(Int32)
  }

  /// Opens the terminal of the session, `/dev/tty`, even if standard input and output are redirected.
  ///
  /// - Throws: `ClipboardError` if the session has no terminal.
  package init() throws {
    terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else {
      throw ClipboardError(.noTerminal)
    }
  }

  deinit { close(terminal) }

  /// Copies a secret to the terminal's clipboard.
  ///
  /// - Throws: `UserFileError` if the terminal cannot be written to; `ClipboardError` for a secret that is too long.
  package func copy(_ secret: borrowing SecretBytes) throws {
    guard secret.count <= Clipboard.limit else {
      throw ClipboardError(.tooLong(limit: Clipboard.limit))
    }
    var sequence = SecretBytes(capacity: secret.count * 4 / 3 + 16)
    sequence.append("\u{1B}]52;c;")
    unsafe secret.withBytes { bytes in
      unsafe Base64.encode(bytes, as: .standard) { sequence.append($0) }
    }
    sequence.append("\u{07}")
    try write(sequence)
  }

  /// Empties the clipboard. Some terminals ignore a sequence without content, so a space is copied first.
  ///
  /// - Throws: `UserFileError`.
  package func clear() throws {
    var sequence = SecretBytes()
    sequence.append("\u{1B}]52;c;IA==\u{07}\u{1B}]52;c;\u{07}")
    try write(sequence)
  }

  /// Waits until the time expires, the user presses Enter, or a signal arrives.
  ///
  /// - Parameters:
  ///   - seconds: the number of seconds to wait.
  ///   - asks: true if Enter on the terminal ends the wait.
  ///   - signals: the watch for signals that should end this process; Ctrl-C only ends the wait.
  package func wait(_ seconds: Int, asks: Bool, signals: SignalWatch?) -> Ending {
    let end = SystemClock.elapsed + .seconds(seconds)
    while true {
      let rest = end - SystemClock.elapsed
      guard rest > .zero else { return .due }
      // Reading from the terminal would stop a background job.
      let listens = asks && tcgetpgrp(terminal) == getpgrp()
      var requests = [listens ? terminal : -1, signals?.descriptor ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      let time = min(rest.components.seconds * 1000 + 1000, 60_000)
      guard unsafe poll(&requests, 2, Int32(time)) > 0 else { continue }
      for signal in signals?.take() ?? [] where signal != SIGCHLD {
        return signal == SIGINT ? .due : .signal(signal)
      }
      if requests[0].revents != 0 {
        // Discard the whole line, so that the shell does not read the rest.
        _ = tcflush(terminal, TCIFLUSH)
        return .due
      }
    }
  }

  private func write(_ sequence: borrowing SecretBytes) throws {
    let problem = unsafe sequence.withBytes { unsafe DescriptorOutput(terminal).write($0) }
    guard problem == 0 else { throw UserFileError(action: "write to", path: "/dev/tty", errno: problem) }
  }
}
