internal import CSystem
internal import Clocks
internal import Glibc

/// Reads a secret that a user or a program enters, from a descriptor that is already open.
package enum SecretInput {
  /// Reads all bytes up to the end of the file.
  ///
  /// - Parameters:
  ///   - descriptor: An open file, pipe or socket. It stays open.
  ///   - limit: The maximum number of bytes.
  /// - Returns: The bytes; empty if there are none.
  /// - Throws: `tooLong` as soon as more than `limit` bytes have been read; `readFailed` if the system call fails.
  ///   Reading continues if a signal interrupts it without ending the program.
  package static func read(
    descriptor: Int32, limit: Int
  ) throws(SecretInputError) -> SecretBytes {
    var secret = SecretBytes()
    while true {
      // One extra byte distinguishes an input that has exactly the maximum size from one that is too long.
      let room = min(4096, limit + 1 - secret.count)
      let got = try unsafe secret.append(room: room) { buffer throws(SecretInputError) in
        try unsafe readOnce(descriptor, into: buffer, goesOnWhenInterrupted: true)
      }
      if got == 0 { return secret }
      if secret.count > limit { throw .tooLong(limit: limit) }
    }
  }

  /// Reads a number of bytes, and nothing after them.
  ///
  /// - Parameters:
  ///   - descriptor: An open file, pipe or socket. It stays open.
  ///   - count: The number of bytes.
  ///   - seconds: The longest time to wait for all of them; nil to wait without a limit.
  /// - Returns: The bytes; fewer if the input ends before.
  /// - Throws: `timedOut` if they did not arrive in time; `readFailed`.
  package static func read(
    descriptor: Int32, count: Int, within seconds: Double?
  ) throws(SecretInputError) -> SecretBytes {
    let end = seconds.map { SystemClock.elapsed + .seconds($0) }
    var secret = SecretBytes(capacity: count)
    while secret.count < count {
      if let end { try wait(for: descriptor, until: end) }
      let got = try unsafe secret.append(room: min(count - secret.count, 1 << 16)) {
        buffer throws(SecretInputError) in
        try unsafe readOnce(descriptor, into: buffer, goesOnWhenInterrupted: true)
      }
      if got == 0 { break }
    }
    return secret
  }

  /// Waits until a descriptor can be read.
  ///
  /// - Throws: `timedOut`, `readFailed`.
  private static func wait(
    for descriptor: Int32, until end: Duration
  ) throws(SecretInputError) {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let left = max((end - SystemClock.elapsed) / .milliseconds(1), 0)
      let ready = unsafe poll(&request, 1, Int32(left.rounded(.up)))
      if ready > 0 { return }
      if ready == 0 { throw .timedOut }
      guard errno == EINTR else { throw .readFailed(errno: errno) }
    }
  }

  /// Reads up to the next line feed, and nothing after it, because the other program waits for a reply to this line.
  ///
  /// - Parameters:
  ///   - descriptor: An open file, pipe or socket. It stays open.
  ///   - limit: The maximum number of bytes, without the line feed.
  /// - Returns: The line without its line feed, which is optional in the last line; nil at the end of the input.
  /// - Throws: `tooLong`, `readFailed`.
  package static func readLine(descriptor: Int32, limit: Int) throws(SecretInputError) -> SecretBytes? {
    var line = SecretBytes()
    while true {
      // Byte by byte, because excess bytes that were read from a pipe cannot be put back.
      let got = try unsafe line.append(room: 1) { buffer throws(SecretInputError) in
        try unsafe readOnce(descriptor, into: buffer, goesOnWhenInterrupted: true)
      }
      if got == 0 {
        guard !line.isEmpty else { return nil }
        return line
      }
      if unsafe line.withBytes({ unsafe $0.last }) == UInt8(ascii: "\n") {
        line.removeLast()
        return line
      }
      if line.count > limit { throw .tooLong(limit: limit) }
    }
  }

  /// Prompts on a terminal and reads one line without echo.
  ///
  /// The kernel's line discipline does the editing (erase, kill line, UTF-8). Its line buffer holds 4,095 bytes; longer
  /// secrets have to be read from a file. The terminal's settings are restored on return and on SIGINT, SIGTERM,
  /// SIGHUP, SIGQUIT and SIGTSTP. After SIGCONT, echo is disabled and the prompt is written again.
  ///
  /// - Parameters:
  ///   - terminal: A terminal open for reading and writing. It stays open.
  ///   - prompt: The prompt, written to the terminal unchanged.
  ///   - limit: The maximum number of bytes, without the line end.
  /// - Returns: The line without its line end.
  /// - Throws: `notATerminal`; `endOfInput` if the input ended before anything was typed; `tooLong`; `lineTooLong` if
  ///   the terminal may have dropped the end of the line; `interrupted` if a signal arrived whose handler did not end
  ///   the program; `readFailed` otherwise.
  package static func readLine(
    terminal: Int32, prompt: String, limit: Int
  ) throws(SecretInputError) -> SecretBytes {
    guard isatty(terminal) == 1 else { throw .notATerminal }
    guard keytree_terminal_hide(terminal) == 0 else { throw .readFailed(errno: errno) }
    defer { keytree_terminal_show() }
    write(prompt, to: terminal)
    let line = try readHiddenLine(terminal: terminal, prompt: prompt, limit: limit)
    // The line end that the user typed was not echoed either.
    write("\n", to: terminal)
    return line
  }

  private static func readHiddenLine(
    terminal: Int32, prompt: String, limit: Int
  ) throws(SecretInputError) -> SecretBytes {
    var line = SecretBytes()
    while true {
      let got: Int
      do {
        // One byte at a time would be enough; a larger buffer receives the whole line in one call.
        got = try unsafe line.append(room: min(4096, limit + 2 - line.count)) {
          buffer throws(SecretInputError) in
          try unsafe readOnce(terminal, into: buffer, goesOnWhenInterrupted: false)
        }
      } catch .interrupted where keytree_terminal_was_suspended() != 0 {
        // The shell has overwritten the prompt, and the input typed so far is lost.
        line = SecretBytes()
        write(prompt, to: terminal)
        continue
      }
      if got == 0 {
        if line.isEmpty { throw .endOfInput }
        return line
      }
      if unsafe line.withBytes({ unsafe $0.last }) == UInt8(ascii: "\n") {
        line.removeLast()
        if line.count > limit { throw .tooLong(limit: limit) }
        // The line discipline drops excess input and reports this at most with a beep.
        if line.count > lineLimit { throw .lineTooLong(limit: lineLimit) }
        return line
      }
      if line.count > limit {
        // Otherwise the shell would run the rest of the line.
        _ = tcflush(terminal, TCIFLUSH)
        throw .tooLong(limit: limit)
      }
    }
  }

  /// The longest line that is certainly complete. The line discipline has 4,096 bytes (termios(3), canonical mode), one
  /// of which is the line end, and a line that fills the rest may have been cut off.
  private static let lineLimit = 4094

  private static func readOnce(
    _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, goesOnWhenInterrupted: Bool
  ) throws(SecretInputError) -> Int {
    while true {
      let got = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if got >= 0 { return got }
      let problem = errno
      if problem != EINTR { throw .readFailed(errno: problem) }
      if !goesOnWhenInterrupted { throw .interrupted }
    }
  }

  // Errors are ignored: the user may know what to type without the prompt.
  private static func write(_ text: String, to terminal: Int32) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(terminal, $0.baseAddress, $0.count) }
      if written < 0, errno == EINTR { continue }
      if written <= 0 { return }
      bytes = bytes.dropFirst(written)
    }
  }
}

/// The reasons why no secret could be read.
package enum SecretInputError: Error, Equatable {
  /// The input is longer than the limit.
  case tooLong(limit: Int)
  /// The line has the maximum length of a terminal line, so its end may be missing.
  case lineTooLong(limit: Int)
  /// The input ended before anything was typed.
  case endOfInput
  /// A signal arrived while the program waited for input.
  case interrupted
  /// The input did not arrive in time.
  case timedOut
  /// The descriptor is not a terminal, so echo cannot be disabled.
  case notATerminal
  /// `read(2)` or `tcsetattr(3)` failed.
  case readFailed(errno: Int32)
}
