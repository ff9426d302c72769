internal import Encoding
internal import Glibc
internal import KeyringModel
internal import Secrets

/// The clipboard of the terminal that a person sits at, wherever that is: the sequence OSC 52, which xterm brought
/// up and most terminals know by now; tmux passes it on where `set-clipboard` is on.
///
/// Nothing can be read back, so nobody can tell whether the terminal has obeyed, nor what else came into the clipboard
/// meanwhile. This process therefore waits in the foreground, and clears it at the end in any case.
final class TerminalClipboard {
  private let terminal: Int32

  /// Why the wait ended.
  enum Ending: Equatable {
    /// The time was over, or the person said so.
    case due
    /// A signal that means the end of this process.
    case signal(Int32)
  }

  /// Opens the terminal of the session, `/dev/tty`, wherever standard input and output lead.
  ///
  /// - Throws: `other` when there is none.
  init() throws {
    terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else {
      throw CommandError.other(
        .failure, message: "cannot use the clipboard of the terminal: this process has no terminal",
        hint: "run it on a terminal; `ssh -t` gives a command one")
    }
  }

  deinit { close(terminal) }

  /// Hands a secret to the terminal.
  ///
  /// - Throws: `file` when the terminal cannot be written to; `other` for a secret that no terminal would take.
  func copy(_ secret: borrowing SecretBytes) throws {
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

  /// Empties it. Some ignore a sequence that holds nothing, so there is a space in it for a moment.
  ///
  /// - Throws: `file`.
  func clear() throws {
    var sequence = SecretBytes()
    sequence.append("\u{1B}]52;c;IA==\u{07}\u{1B}]52;c;\u{07}")
    try write(sequence)
  }

  /// Waits until the time is over, the person presses Enter, or a signal comes.
  ///
  /// - Parameters:
  ///   - seconds: how long.
  ///   - asks: whether the terminal is listened to.
  ///   - signals: what came to end this process; Ctrl-C is an answer, not the end.
  func wait(_ seconds: Int, asks: Bool, signals: SignalWatch?) -> Ending {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let rest = end - ContinuousClock.now
      guard rest > .zero else { return .due }
      // A job in the background would be stopped by reading.
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
        // The whole line, so that nothing of it is left for the shell.
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
