internal import CSystem
internal import Glibc

/// Reads a secret from where a person or a program hands it over. It opens nothing by itself.
package enum SecretInput {
  /// Reads everything up to the end of the file, exact to the last byte.
  ///
  /// - Parameters:
  ///   - descriptor: An open file, pipe or socket. It stays open.
  ///   - limit: How many bytes are accepted at most.
  /// - Returns: The bytes; empty when there were none.
  /// - Throws: `tooLong` as soon as one byte more than `limit` arrives; `readFailed` when the system call
  ///   fails. An interruption by a signal that the program survives is not an error: reading goes on.
  package static func read(
    descriptor: Int32, limit: Int
  ) throws(SecretInputError) -> SecretBytes {
    var secret = SecretBytes()
    while true {
      // One byte over the limit tells "exactly at the limit" from "too long".
      let room = min(4096, limit + 1 - secret.count)
      let got = try unsafe secret.append(room: room) { buffer throws(SecretInputError) in
        try unsafe readOnce(descriptor, into: buffer, goesOnWhenInterrupted: true)
      }
      if got == 0 { return secret }
      if secret.count > limit { throw .tooLong(limit: limit) }
    }
  }

  /// Reads up to the next line feed, and nothing that follows it: another program waits for an answer to this line.
  ///
  /// - Parameters:
  ///   - descriptor: An open file, pipe or socket. It stays open.
  ///   - limit: How many bytes are accepted at most, the line feed not counted.
  /// - Returns: The line without its line feed, which the last one may lack; nil at the end.
  /// - Throws: `tooLong`, `readFailed`.
  package static func readLine(descriptor: Int32, limit: Int) throws(SecretInputError) -> SecretBytes? {
    var line = SecretBytes()
    while true {
      // Byte by byte: there is no way to give back what was read too much of a pipe.
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

  /// Asks on a terminal and reads one line without showing it.
  ///
  /// Editing (erase, kill line, UTF-8) stays with the kernel's line discipline. Its line buffer ends at
  /// 4,095 bytes; longer secrets come from a file. The terminal's settings are put back on return and on
  /// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGTSTP, and taken up again, prompt included, after SIGCONT.
  ///
  /// - Parameters:
  ///   - terminal: A terminal open for reading and writing. It stays open.
  ///   - prompt: What to ask, written to the terminal as it is.
  ///   - limit: How many bytes are accepted at most, the line end not counted.
  /// - Returns: The line without its line end.
  /// - Throws: `notATerminal`; `endOfInput` when the input ended before anything was typed; `tooLong`;
  ///   `lineTooLong` when the terminal may have dropped the end of the line;
  ///   `interrupted` when a signal came whose handler let the program live; `readFailed` otherwise.
  package static func readLine(
    terminal: Int32, prompt: String, limit: Int
  ) throws(SecretInputError) -> SecretBytes {
    guard isatty(terminal) == 1 else { throw .notATerminal }
    guard keytree_terminal_hide(terminal) == 0 else { throw .readFailed(errno: errno) }
    defer { keytree_terminal_show() }
    write(prompt, to: terminal)
    let line = try readHiddenLine(terminal: terminal, prompt: prompt, limit: limit)
    // The line end that the person typed was not echoed either.
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
        // A room of 1 would do; a wider one takes the whole line, as the line discipline hands it out.
        got = try unsafe line.append(room: min(4096, limit + 2 - line.count)) {
          buffer throws(SecretInputError) in
          try unsafe readOnce(terminal, into: buffer, goesOnWhenInterrupted: false)
        }
      } catch .interrupted where keytree_terminal_was_suspended() != 0 {
        // The shell has written over the prompt in the meantime. What was typed is gone with it.
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
        // The line discipline drops what it has no room for, and says so with a beep at most.
        if line.count > lineLimit { throw .lineTooLong(limit: lineLimit) }
        return line
      }
      if line.count > limit {
        // The rest of the line must not be left for the shell to run.
        _ = tcflush(terminal, TCIFLUSH)
        throw .tooLong(limit: limit)
      }
    }
  }

  /// The longest line of which it is certain that nothing was dropped: one byte less than what fits beside the
  /// line end into the 4,096 bytes of the line discipline (termios(3), canonical mode).
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

  // A prompt that cannot be written is no reason not to read: the person may know what to type.
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
  /// More bytes came than are accepted.
  case tooLong(limit: Int)
  /// The line is as long as a terminal can hand out, so that its end may be missing.
  case lineTooLong(limit: Int)
  /// The input ended before anything was typed.
  case endOfInput
  /// A signal came while waiting for the person.
  case interrupted
  /// The descriptor is not a terminal, so echo cannot be switched off.
  case notATerminal
  /// `read(2)` or `tcsetattr(3)` failed.
  case readFailed(errno: Int32)
}
