import Glibc
import KeytreeCLI
import Secrets
import Terminal

/// An output that stores the written bytes.
final class MemoryOutput: ConsoleOutput {
  let isTerminal: Bool
  let columns: Int?
  /// The `errno` of every write.
  var failure: Int32 = 0
  private(set) var bytes: [UInt8] = []

  init(isTerminal: Bool = false, columns: Int? = nil) {
    self.isTerminal = isTerminal
    self.columns = isTerminal ? columns : nil
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    if failure == 0 { unsafe self.bytes.append(contentsOf: bytes) }
    return failure
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// An input with a list of lines: on a terminal one for each question, otherwise all of them at once.
final class MemoryInput: ConsoleInput {
  let isTerminal: Bool
  private var lines: [[UInt8]]
  private let endsWithLineFeed: Bool
  private let screen: MemoryOutput

  init(_ lines: [String] = [], isTerminal: Bool = false, endsWithLineFeed: Bool = true, screen: MemoryOutput)
  {
    self.lines = lines.map { Array($0.utf8) }
    self.isTerminal = isTerminal
    self.endsWithLineFeed = endsWithLineFeed
    self.screen = screen
  }

  func readSecret(prompt: String, limit: Int) throws(SecretInputError) -> SecretBytes {
    show(prompt)
    guard !lines.isEmpty else { throw .endOfInput }
    show("\n")
    let line = lines.removeFirst()
    guard line.count <= limit else { throw .tooLong(limit: limit) }
    return SecretBytes(copying: line)
  }

  func readLine(unless _: Int32?) throws(SecretInputError) -> String {
    guard !lines.isEmpty else { throw .endOfInput }
    // A terminal echoes what the user types.
    let line = String(decoding: lines.removeFirst(), as: UTF8.self)
    show(line + "\n")
    return line
  }

  func readProgramLine(limit: Int) throws(SecretInputError) -> SecretBytes? {
    guard !lines.isEmpty else { return nil }
    return SecretBytes(copying: lines.removeFirst())
  }

  func readBytes(count: Int, within _: Double?) throws(SecretInputError) -> SecretBytes {
    var bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    let taken = bytes.prefix(count)
    bytes.removeFirst(taken.count)
    lines = bytes.isEmpty ? [] : [bytes]
    return SecretBytes(copying: taken)
  }

  func readAll(limit: Int) throws(SecretInputError) -> SecretBytes {
    var bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    if endsWithLineFeed, !lines.isEmpty { bytes.append(UInt8(ascii: "\n")) }
    lines = []
    guard bytes.count <= limit else { throw .tooLong(limit: limit) }
    return SecretBytes(copying: bytes)
  }

  private func show(_ text: String) {
    _ = unsafe Array(text.utf8).withUnsafeBytes { unsafe screen.write($0) }
  }
}

/// A console whose streams are in memory.
struct MemoryConsole {
  let output: MemoryOutput
  let talk: MemoryOutput
  let console: Console

  /// - Parameter isTerminal: True if all three streams are terminals.
  init(_ lines: [String] = [], isTerminal: Bool = false, columns: Int? = 80, endsWithLineFeed: Bool = true) {
    self.init(
      lines, inputIsTerminal: isTerminal, outputIsTerminal: isTerminal, diagnosticsIsTerminal: isTerminal,
      columns: columns, endsWithLineFeed: endsWithLineFeed)
  }

  init(
    _ lines: [String], inputIsTerminal: Bool, outputIsTerminal: Bool, diagnosticsIsTerminal: Bool,
    columns: Int?,
    endsWithLineFeed: Bool
  ) {
    output = MemoryOutput(isTerminal: outputIsTerminal, columns: columns)
    talk = MemoryOutput(isTerminal: diagnosticsIsTerminal, columns: columns)
    let input = MemoryInput(
      lines, isTerminal: inputIsTerminal, endsWithLineFeed: endsWithLineFeed, screen: talk)
    console = Console(input: input, output: output, talk: talk)
  }
}

extension SecretBytes {
  /// The secret's bytes, for comparisons in tests.
  var revealed: [UInt8] { unsafe withBytes { unsafe Array($0) } }
}
