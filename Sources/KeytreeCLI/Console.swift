internal import Glibc
package import Secrets

/// The terminal or the pipes a command talks to. The rules, all kept here:
///
/// - Standard output is data, standard error is talk. `--quiet` silences talk, never errors.
/// - A secret goes to standard output byte for byte; on a terminal a line feed follows.
/// - What is not a terminal never means yes: a question that cannot be asked is an error (exit code 3), and
///   `--no-input` makes every question one that cannot be asked.
/// - Lines, questions and prompts are escaped here (`Escaping.terminal`), whoever reads them. Text in columns is escaped
///   by `Table`, JSON by `print(json:)`. Only `write` and `writeTalk` add text as it is.
/// - Output is collected and written in large pieces. A failing write is remembered and becomes the exit
///   code in `finish`; a reader that went away ends the program without a word.
package final class Console {
  private let input: any ConsoleInput
  private let output: any ConsoleOutput
  private let talk: any ConsoleOutput
  private var pending: [UInt8] = []
  private var outputError: Int32 = 0

  /// True when talk is to be left out.
  package var isQuiet = false
  /// True when nothing may be asked.
  package var refusesInput = false

  /// A console over three streams.
  package init(input: any ConsoleInput, output: any ConsoleOutput, talk: any ConsoleOutput) {
    self.input = input
    self.output = output
    self.talk = talk
  }

  /// The console of the process: descriptors 0, 1 and 2.
  package static func ofProcess() -> Console {
    Console(input: DescriptorInput(0), output: DescriptorOutput(1), talk: DescriptorOutput(2))
  }

  // MARK: - Facts

  /// True when data is read by a person.
  package var outputIsTerminal: Bool { output.isTerminal }
  /// True when talk is read by a person.
  package var talkIsTerminal: Bool { talk.isTerminal }
  /// True when input comes from a person.
  package var inputIsTerminal: Bool { input.isTerminal }
  /// How text from a store is escaped in data.
  package var escaping: Escaping { output.isTerminal ? .terminal : .pipe }
  /// The columns of the terminal that shows data; 80 where there is none.
  package var width: Int { output.columns ?? 80 }
  /// The columns of the terminal that shows talk; 80 where there is none.
  package var talkWidth: Int { talk.columns ?? 80 }
  /// True once nobody reads the data any more, so that a long command can stop early.
  package var outputIsClosed: Bool { outputError == EPIPE }

  // MARK: - Data

  /// Adds text to the data as it is.
  package func write(_ text: String) {
    pending.append(contentsOf: text.utf8)
    if pending.count >= 1 << 15 { flush() }
  }

  /// Adds bytes to the data as they are.
  package func write(_ bytes: [UInt8]) {
    pending.append(contentsOf: bytes)
    if pending.count >= 1 << 15 { flush() }
  }

  /// Adds a line to the data, escaped for output.
  package func print(_ line: String) {
    write(Escaping.terminal.show(line) + "\n")
  }

  /// Adds the lines of a table to the data.
  package func write(_ table: Table) {
    for line in table.lines {
      write(line)
      if outputIsClosed { return }
    }
  }

  /// Writes a secret at once, without a copy in the collected output.
  package func write(secret: borrowing SecretBytes) {
    writeExactly(secret)
    if output.isTerminal { write("\n") }
  }

  /// Writes bytes with a secret among them at once, and nothing more, to a terminal either.
  package func writeExactly(_ bytes: borrowing SecretBytes) {
    flush()
    unsafe bytes.withBytes { unsafe send($0) }
  }

  /// Writes what was collected.
  package func flush() {
    let bytes = pending
    pending.removeAll(keepingCapacity: true)
    unsafe bytes.withUnsafeBytes { unsafe send($0) }
  }

  /// Writes what was collected and says whether all data arrived.
  ///
  /// - Throws: `outputFailed` with the first error of a write; `outputClosed` when the reader went away.
  package func finish() throws {
    flush()
    if outputError == EPIPE { throw TerminalError.outputClosed }
    if outputError != 0 { throw TerminalError.outputFailed(errno: outputError) }
  }

  private func send(_ bytes: UnsafeRawBufferPointer) {
    guard outputError == 0, unsafe !bytes.isEmpty else { return }
    outputError = unsafe output.write(bytes)
  }

  // MARK: - Talk

  /// Says what was done, one line, unless the console is quiet. The line is escaped for output.
  package func say(_ line: String) {
    if !isQuiet { complain(line) }
  }

  /// Says what went wrong, one line, quiet or not. The line is escaped for output.
  package func complain(_ line: String) {
    writeTalk(Escaping.terminal.show(line) + "\n")
  }

  /// Writes to where the talk goes as it is: for a line that is drawn over.
  package func writeTalk(_ text: String) {
    // Data first, so that both appear in the order they were written on one terminal. A failure to talk is
    // not told: there is nowhere left to tell it.
    flush()
    unsafe Array(text.utf8).withUnsafeBytes { bytes in _ = unsafe talk.write(bytes) }
  }

  /// Writes a secret to where the talk goes, for languages that have it so.
  package func writeTalk(secret: borrowing SecretBytes) {
    flush()
    unsafe secret.withBytes { bytes in _ = unsafe talk.write(bytes) }
  }

  // MARK: - Questions

  /// Asks a question whose answer is yes or no; no is what an empty answer and the end of input mean.
  ///
  /// - Parameters:
  ///   - question: without a question mark or a list of answers.
  ///   - interruption: a descriptor; the question ends when it becomes readable.
  /// - Throws: `promptImpossible` without a terminal or when nothing may be asked; `interrupted`.
  package func confirm(_ question: String, unless interruption: Int32? = nil) throws -> Bool {
    try requirePerson(for: question)
    writeTalk(Escaping.terminal.show(question) + "? [y/N] ")
    do {
      let answer = try input.readLine(unless: interruption).lowercased()
      return answer == "y" || answer == "yes"
    } catch .endOfInput {
      writeTalk("\n")
      return false
    } catch {
      throw TerminalError(error)
    }
  }

  /// Asks a question whose answer is a line of text.
  ///
  /// - Parameter question: What is written in front of the answer.
  /// - Returns: The answer without white space around it; nil at the end of input.
  /// - Throws: `promptImpossible` without a terminal or when nothing may be asked; `inputFailed`.
  package func ask(_ question: String) throws -> String? {
    try requirePerson(for: question)
    writeTalk(Escaping.terminal.show(question) + ": ")
    do {
      let answer = try input.readLine(unless: nil)
      guard let first = answer.firstIndex(where: { !$0.isWhitespace }),
        let last = answer.lastIndex(where: { !$0.isWhitespace })
      else { return "" }
      return String(answer[first...last])
    } catch .endOfInput {
      writeTalk("\n")
      return nil
    } catch {
      throw TerminalError(error)
    }
  }

  /// Asks for a secret that exists, once.
  ///
  /// - Throws: `promptImpossible` without a terminal or when nothing may be asked; what `SecretInput` throws.
  package func askSecret(_ prompt: String, limit: Int) throws -> SecretBytes {
    try requirePerson(for: Self.question(of: prompt))
    return try read(prompt, limit: limit)
  }

  /// Takes a new secret: from a person, asked twice, or else all of standard input to the last byte.
  ///
  /// - Parameters:
  ///   - name: what the secret is for, escaped.
  ///   - limit: the largest number of bytes.
  /// - Throws: `emptySecret`; `secretsDiffer` when both entries differ three times; `promptImpossible` on a
  ///   terminal where nothing may be asked; `secretTooLong`.
  package func newSecret(for name: String, limit: Int) throws -> SecretBytes {
    guard input.isTerminal else {
      let secret: SecretBytes
      do {
        secret = try input.readAll(limit: limit)
      } catch {
        throw TerminalError(error)
      }
      guard !secret.isEmpty else { throw TerminalError.emptySecret }
      return secret
    }
    try requirePerson(for: "Secret for \(name)")
    for _ in 0..<3 {
      let first = try read("Secret for \(name): ", limit: limit)
      guard !first.isEmpty else { throw TerminalError.emptySecret }
      let second = try read("Once more: ", limit: limit)
      if first.isEqual(to: second) { return first }
      complain("The two entries differ.")
    }
    throw TerminalError.secretsDiffer
  }

  /// Takes all of standard input, when it is not a person.
  ///
  /// - Parameter limit: the largest number of bytes.
  /// - Throws: `secretTooLong`, `inputFailed`.
  package func readAll(limit: Int) throws -> SecretBytes {
    do {
      return try input.readAll(limit: limit)
    } catch {
      throw TerminalError(error)
    }
  }

  /// Takes a line that another program has written.
  ///
  /// - Parameter limit: the largest number of bytes, the line feed not counted.
  /// - Returns: the line without its line feed; nil at the end.
  /// - Throws: `secretTooLong`, `inputFailed`.
  package func readProgramLine(limit: Int) throws -> SecretBytes? {
    do {
      return try input.readProgramLine(limit: limit)
    } catch {
      throw TerminalError(error)
    }
  }

  /// Asks for a secret on the terminal of the person, while standard input belongs to another program.
  ///
  /// - Throws: `promptImpossible` when nothing may be asked or there is no terminal; what `SecretInput` throws.
  package func askSecretBesideProgram(_ prompt: String, limit: Int) throws -> SecretBytes {
    let question = Self.question(of: prompt)
    if refusesInput { throw TerminalError.promptImpossible(question: question, .inputRefused) }
    do throws(SecretInputError) {
      return try input.readSecret(prompt: Escaping.terminal.show(prompt), limit: limit)
    } catch {
      if error == .endOfInput { writeTalk("\n") }
      if error == .notATerminal {
        throw TerminalError.promptImpossible(question: question, .noTerminalBesideProgram)
      }
      throw TerminalError(error)
    }
  }

  /// What a prompt asks, without what leads to the answer.
  private static func question(of prompt: String) -> String {
    prompt.hasSuffix(": ") ? String(prompt.dropLast(2)) : prompt
  }

  private func requirePerson(for question: String) throws {
    if refusesInput { throw TerminalError.promptImpossible(question: question, .inputRefused) }
    if !input.isTerminal { throw TerminalError.promptImpossible(question: question, .noTerminal) }
  }

  private func read(_ prompt: String, limit: Int) throws -> SecretBytes {
    do {
      return try input.readSecret(prompt: Escaping.terminal.show(prompt), limit: limit)
    } catch {
      // The end of input leaves the prompt's line open.
      if error == .endOfInput { writeTalk("\n") }
      throw TerminalError(error)
    }
  }
}
