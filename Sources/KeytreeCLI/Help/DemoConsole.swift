internal import Secrets
internal import Terminal

/// The output of a demo command: indented below the command, with data and diagnostics in the order they are written.
final class DemoScreen {
  private let console: Console
  // The stream that has written an incomplete line.
  private var openLine: ObjectIdentifier?

  /// The prefix of each line.
  static let indent = "    "

  init(_ console: Console) { self.console = console }

  /// The number of columns for a command's output.
  var columns: Int { console.width - Self.indent.utf8.count }

  /// Writes for one stream. An incomplete line of the other stream is ended first.
  func write(_ bytes: UnsafeRawBufferPointer, from stream: ObjectIdentifier) {
    if let openLine, openLine != stream { endLine() }
    var text: [UInt8] = []
    for index in 0..<bytes.count {
      if openLine == nil { text += Self.indent.utf8 }
      let byte = unsafe bytes[index]
      text.append(byte)
      openLine = byte == UInt8(ascii: "\n") ? nil : stream
    }
    console.write(text)
  }

  /// Ends an incomplete line, such as a secret without a line feed.
  func endLine() {
    if openLine != nil { console.write("\n") }
    openLine = nil
  }
}

/// One of the two output streams of a command in the demo.
final class DemoOutput: ConsoleOutput {
  let isTerminal: Bool
  private let screen: DemoScreen

  init(_ screen: DemoScreen, isTerminal: Bool) {
    self.screen = screen
    self.isTerminal = isTerminal
  }

  var columns: Int? { isTerminal ? screen.columns : nil }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    unsafe screen.write(bytes, from: ObjectIdentifier(self))
    return 0
  }
}

/// The input of a command in the demo: fixed bytes, and no terminal.
final class DemoInput: ConsoleInput {
  let isTerminal = false
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes { throw .notATerminal }

  func readLine(unless _: Int32?) throws(SecretInputError) -> String { throw .endOfInput }

  func readProgramLine(limit _: Int) throws(SecretInputError) -> SecretBytes? { nil }

  func readBytes(count: Int, within _: Double?) throws(SecretInputError) -> SecretBytes {
    SecretBytes(copying: bytes.prefix(count))
  }

  func readAll(limit: Int) throws(SecretInputError) -> SecretBytes { SecretBytes(copying: bytes) }
}
