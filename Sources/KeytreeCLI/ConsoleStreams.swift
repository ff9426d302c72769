internal import Glibc
package import Secrets

/// Where a console writes to.
package protocol ConsoleOutput: AnyObject {
  /// True when a person looks at it.
  var isTerminal: Bool { get }
  /// The columns of the terminal, where they are known.
  var columns: Int? { get }
  /// Writes bytes, all of them.
  ///
  /// - Returns: 0, or the `errno` of the first write that failed.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int32
}

/// Where a console reads from.
package protocol ConsoleInput: AnyObject {
  /// True when a person types.
  var isTerminal: Bool { get }
  /// Asks a person for a secret on one line, without showing it.
  func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes
  /// Reads a line a person types, shown as usual, without its line feed.
  ///
  /// - Parameter interruption: a descriptor; `interrupted` is thrown when it becomes readable first.
  func readLine(unless interruption: Int32?) throws(SecretInputError) -> String
  /// Reads a line that another program has written, without its line feed; nil at the end.
  func readProgramLine(limit: Int) throws(SecretInputError) -> SecretBytes?
  /// Reads all bytes to the end.
  func readAll(limit: Int) throws(SecretInputError) -> SecretBytes
}

/// An output that is an open file; `write(2)`.
package final class DescriptorOutput: ConsoleOutput {
  private let descriptor: Int32
  package let isTerminal: Bool

  /// An output to an open file, which stays open.
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

/// An input that is an open file.
///
/// A person is asked on `/dev/tty`, which can be read and written however standard input was opened.
package final class DescriptorInput: ConsoleInput {
  private let descriptor: Int32
  package let isTerminal: Bool

  /// An input from an open file, which stays open.
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
    // An answer, not a secret. One byte at a time, so that nothing after the line is swallowed.
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

  /// Looks at both descriptors in one call: a signal that comes just before a read would not end it.
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

  package func readAll(limit: Int) throws(SecretInputError) -> SecretBytes {
    try SecretInput.read(descriptor: descriptor, limit: limit)
  }
}
