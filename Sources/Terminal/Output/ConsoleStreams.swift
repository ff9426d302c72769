internal import Glibc
package import Secrets

/// An output stream of a console.
package protocol ConsoleOutput: AnyObject {
  /// True if the stream is a terminal.
  var isTerminal: Bool { get }
  /// The columns of the terminal, if they are known.
  var columns: Int? { get }
  /// Writes all the bytes.
  ///
  /// - Returns: 0, or the `errno` of the first write that failed.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int32
}

/// The input stream of a console.
package protocol ConsoleInput: AnyObject {
  /// True if the stream is a terminal.
  var isTerminal: Bool { get }
  /// Asks the user for a secret on one line, without showing it.
  func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes
  /// Reads a line that the user types, shown as usual, without its line feed.
  ///
  /// - Parameter interruption: a descriptor; `interrupted` is thrown when it becomes readable first.
  func readLine(unless interruption: Int32?) throws(SecretInputError) -> String
  /// Reads a line that another program has written, without its line feed; nil at the end.
  func readProgramLine(limit: Int) throws(SecretInputError) -> SecretBytes?
  /// Reads a number of bytes that another program has written; fewer if the input ends before.
  ///
  /// - Parameter seconds: the longest time to wait for all of them; nil to wait without a limit.
  func readBytes(count: Int, within seconds: Double?) throws(SecretInputError) -> SecretBytes
  /// Reads all bytes to the end.
  func readAll(limit: Int) throws(SecretInputError) -> SecretBytes
}

/// An output that writes to an open descriptor with `write(2)`.
package final class DescriptorOutput: ConsoleOutput {
  private let descriptor: Int32
  package let isTerminal: Bool

  /// Creates an output to an open descriptor, which stays open.
  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
  }

  package var columns: Int? {
    guard isTerminal else { return nil }
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  package func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var done = 0
    while done < bytes.count {
      let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = unsafe Glibc.write(descriptor, part.baseAddress, part.count)
      if count < 0 {
        if errno == EINTR { continue }
        return errno
      }
      done += count
    }
    return 0
  }
}

/// An input that reads from an open descriptor.
///
/// Questions use `/dev/tty`, which can be read and written regardless of the mode in which standard input was opened.
package final class DescriptorInput: ConsoleInput {
  private let descriptor: Int32
  package let isTerminal: Bool

  /// Creates an input from an open descriptor, which stays open.
  package init(_ descriptor: Int32) {
    self.descriptor = descriptor
    isTerminal = isatty(descriptor) == 1
  }

  package func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else {
      return try SecretInput.readLine(terminal: descriptor, prompt: prompt, limit: limit)
    }
    defer { close(terminal) }
    return try SecretInput.readLine(terminal: terminal, prompt: prompt, limit: limit)
  }

  package func readLine(unless interruption: Int32?) throws(SecretInputError) -> String {
    // The answer is not a secret. Reads one byte at a time, so that it consumes nothing after the line.
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      if let interruption { try waitForInput(unless: interruption) }
      let count = unsafe read(descriptor, &byte, 1)
      if count < 0 {
        if errno == EINTR { continue }
        throw .readFailed(errno: errno)
      }
      if count == 0, bytes.isEmpty { throw .endOfInput }
      if count == 0 || byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
      if bytes.count > 4096 { throw .tooLong(limit: 4096) }
    }
  }

  /// Polls both descriptors in one call, because a signal that arrives just before a `read` would not interrupt it.
  private func waitForInput(unless interruption: Int32) throws(SecretInputError) {
    var requests = [descriptor, interruption].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while unsafe poll(&requests, 2, -1) < 0 {
      guard errno == EINTR else { throw .readFailed(errno: errno) }
    }
    if requests[1].revents != 0 { throw .interrupted }
  }

  package func readProgramLine(limit: Int) throws(SecretInputError) -> SecretBytes? {
    try SecretInput.readLine(descriptor: descriptor, limit: limit)
  }

  package func readBytes(count: Int, within seconds: Double?) throws(SecretInputError) -> SecretBytes {
    try SecretInput.read(descriptor: descriptor, count: count, within: seconds)
  }

  package func readAll(limit: Int) throws(SecretInputError) -> SecretBytes {
    try SecretInput.read(descriptor: descriptor, limit: limit)
  }
}
