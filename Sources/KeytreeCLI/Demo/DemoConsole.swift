internal import Secrets

/// What a command of the demo prints: indented below the command, data and talk in the order they come.
final class DemoScreen {
  private let console: Console
  // Which of the two streams has a line open.
  private var openLine: ObjectIdentifier?

  /// What stands in front of each line.
  static let indent = "    "

  init(_ console: Console) { self.console = console }

  /// The columns that are left for a command.
  var columns: Int { console.width - Self.indent.utf8.count }

  /// Writes for one stream; a line that the other one has left open is ended first.
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

  /// Ends a line that a secret without a line feed has left open.
  func endLine() {
    if openLine != nil { console.write("\n") }
    openLine = nil
  }
}

/// One of the two streams of a command in the demo.
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

/// The input of a command in the demo: bytes, and nobody to ask.
final class DemoInput: ConsoleInput {
  let isTerminal = false
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes { throw .notATerminal }

  func readLine(unless _: Int32?) throws(SecretInputError) -> String { throw .endOfInput }

  func readProgramLine(limit _: Int) throws(SecretInputError) -> SecretBytes? { nil }

  func readAll(limit: Int) throws(SecretInputError) -> SecretBytes { SecretBytes(copying: bytes) }
}
