internal import Glibc
package import Secrets

/// The terminal or the pipes of a command. It implements these rules:
///
/// - Standard output is for data, standard error is for diagnostics. `--quiet` silences diagnostics, never errors.
/// - A secret is written to standard output byte for byte; a terminal gets an additional line feed.
/// - Input that is not a terminal never means yes: a question that cannot be asked is an error (exit code 3), and
///   `--no-input` makes every question an error.
/// - Lines, questions and prompts are escaped here (`Escaping.terminal`), for a terminal and for a pipe. `Table`
///   escapes text in columns, `print(json:)` escapes JSON. Only `write` and `writeDiagnostics` add text unchanged.
/// - Output is collected and written in large pieces. The error of a failed write is remembered and becomes the exit
///   code in `finish`. If the reader closes the pipe, the program ends without a message.
package final class Console {
  private let input: any ConsoleInput
  private let output: any ConsoleOutput
  private let talk: any ConsoleOutput
  private var pending: [UInt8] = []
  private var outputError: Int32 = 0

  /// True if diagnostics other than errors are omitted.
  package var isQuiet = false
  /// True if text for people is wrapped between words on a terminal. Programs whose text scripts read wrap nothing.
  package var wrapsText = true
  /// True if questions are refused.
  package var refusesInput = false

  /// Creates a console with three streams.
  package init(input: any ConsoleInput, output: any ConsoleOutput, talk: any ConsoleOutput) {
    self.input = input
    self.output = output
    self.talk = talk
  }

  /// Returns the console of the process: descriptors 0, 1 and 2.
  package static func ofProcess() -> Console {
    Console(input: DescriptorInput(0), output: DescriptorOutput(1), talk: DescriptorOutput(2))
  }

  // MARK: - Properties

  /// True if data goes to a terminal.
  package var outputIsTerminal: Bool { output.isTerminal }
  /// True if diagnostics go to a terminal.
  package var diagnosticsIsTerminal: Bool { talk.isTerminal }
  /// True if input comes from a terminal.
  package var inputIsTerminal: Bool { input.isTerminal }
  /// True if the user can be asked a question.
  package var canAsk: Bool { input.isTerminal && !refusesInput }
  /// The form in which text from a store is escaped in data.
  package var escaping: Escaping { output.isTerminal ? .terminal : .pipe }
  /// The columns of the terminal that shows data; 80 if the output is not a terminal.
  package var width: Int { output.columns ?? 80 }
  /// The columns of the terminal that shows diagnostics; 80 if standard error is not a terminal.
  package var diagnosticsWidth: Int { talk.columns ?? 80 }
  /// True once the reader of the data has closed the pipe, which lets a long command stop early.
  package var outputIsClosed: Bool { outputError == EPIPE }

  // MARK: - Data

  /// Adds text to the data unchanged.
  package func write(_ text: TerminalText) {
    pending.append(contentsOf: text.text.utf8)
    if pending.count >= 1 << 15 { flush() }
  }

  /// Adds bytes to the data unchanged.
  package func write(_ bytes: [UInt8]) {
    pending.append(contentsOf: bytes)
    if pending.count >= 1 << 15 { flush() }
  }

  /// Adds a line to the data, escaped for output.
  package func print(_ line: String) {
    write("\(line)\n")
  }

  /// Adds a line of a report to the data, escaped for output, and wrapped between words on a terminal.
  ///
  /// - Parameter indent: the indentation of all lines but the first; nil for that of the first.
  package func print(wrapping line: String, indent: Int? = nil) {
    write(wrapped("\(line)", to: output.columns, indent: indent) + "\n")
  }

  /// Adds a list of facts to the data, wrapped between words on a terminal.
  ///
  /// - Parameter indent: the indentation of the lines.
  package func print(_ facts: FactList, indent: Int = 0) {
    for line in facts.lines(width: output.columns, indent: indent) { print(line) }
  }

  /// Adds the lines of a table to the data.
  package func write(_ table: Table) {
    for line in table.lines {
      write(line)
      if outputIsClosed { return }
    }
  }

  /// Writes a secret immediately, without a copy in the collected output.
  package func write(secret: borrowing SecretBytes) {
    writeExactly(secret)
    if output.isTerminal { write("\n") }
  }

  /// Writes bytes that contain a secret immediately, without an additional line feed even on a terminal.
  package func writeExactly(_ bytes: borrowing SecretBytes) {
    flush()
    unsafe bytes.withBytes { unsafe send($0) }
  }

  /// Writes the collected output.
  package func flush() {
    let bytes = pending
    pending.removeAll(keepingCapacity: true)
    unsafe bytes.withUnsafeBytes { unsafe send($0) }
  }

  /// Writes the collected output and checks that all data was written.
  ///
  /// - Throws: `outputFailed` with the first error of a write; `outputClosed` if the reader closed the pipe.
  package func finish() throws {
    flush()
    if outputError == EPIPE { throw TerminalError.outputClosed }
    if outputError != 0 { throw TerminalError.outputFailed(errno: outputError) }
  }

  private func send(_ bytes: UnsafeRawBufferPointer) {
    guard outputError == 0, unsafe !bytes.isEmpty else { return }
    outputError = unsafe output.write(bytes)
  }

  // MARK: - Diagnostics

  /// Writes one line about what was done, unless the console is quiet. The line is escaped for output.
  package func say(_ line: String) {
    if !isQuiet { complain(line) }
  }

  /// Writes one line about a problem, even if the console is quiet. The line is escaped for output, and wrapped between
  /// words on a terminal.
  package func complain(_ line: String) {
    writeDiagnostics(wrapped("\(line)", to: talk.columns) + "\n")
  }

  /// Writes a list of facts to standard error, wrapped between words on a terminal.
  package func complain(_ facts: FactList) {
    for line in facts.lines(width: talk.columns) { complain(line) }
  }

  /// Returns escaped text wrapped to the width of a terminal; the text as it is without a width, or if nothing is wrapped.
  private func wrapped(_ text: TerminalText, to columns: Int?, indent: Int? = nil) -> TerminalText {
    guard wrapsText, let columns else { return text }
    return TerminalText(
      composed: DisplayWidth.wrap(text.text, to: columns, indent: indent).joined(separator: "\n"))
  }

  /// Writes text to standard error unchanged, for example a line that is redrawn.
  package func writeDiagnostics(_ text: TerminalText) {
    // Data first, so that both appear on one terminal in the order in which they were written. A failed write to
    // standard error is ignored, because there is no other place to report it.
    flush()
    unsafe Array(text.text.utf8).withUnsafeBytes { bytes in _ = unsafe talk.write(bytes) }
  }

  /// Writes a secret to standard error, for protocols that require it.
  package func writeDiagnostics(secret: borrowing SecretBytes) {
    flush()
    unsafe secret.withBytes { bytes in _ = unsafe talk.write(bytes) }
  }

  // MARK: - Questions

  /// Asks a yes-or-no question. An empty answer and the end of input mean no.
  ///
  /// - Parameters:
  ///   - question: the question, without a question mark and without a list of answers.
  ///   - interruption: a descriptor; the question ends when it becomes readable.
  /// - Throws: `promptImpossible` without a terminal or if questions are refused; `interrupted`.
  package func confirm(_ question: String, unless interruption: Int32? = nil) throws -> Bool {
    try requirePerson(for: question)
    writeDiagnostics(wrapped("\(question)? [y/N]", to: talk.columns) + " ")
    do {
      let answer = try input.readLine(unless: interruption).lowercased()
      return answer == "y" || answer == "yes"
    } catch .endOfInput {
      writeDiagnostics("\n")
      return false
    } catch {
      throw TerminalError(error)
    }
  }

  /// Asks a yes-or-no question, and throws an error unless the answer is yes.
  ///
  /// - Parameters:
  ///   - question: as for ``confirm(_:unless:)``.
  ///   - action: what was not done, if the answer is no.
  ///   - refusal: the error if the question cannot be asked.
  /// - Throws: `cancelled` with the action; `refusal`.
  package func require(
    _ question: String, otherwise action: String, ifImpossible refusal: @autoclosure () -> any Error
  ) throws {
    let isConfirmed: Bool
    do {
      isConfirmed = try confirm(question)
    } catch TerminalError.promptImpossible {
      throw refusal()
    }
    guard isConfirmed else { throw TerminalError.cancelled(action: action) }
  }

  /// Asks a question whose answer is a line of text.
  ///
  /// - Parameter question: the text in front of the answer.
  /// - Returns: the answer without white space around it; nil at the end of input.
  /// - Throws: `promptImpossible` without a terminal or if questions are refused; `inputFailed`.
  package func ask(_ question: String) throws -> String? {
    try requirePerson(for: question)
    writeDiagnostics(wrapped("\(question):", to: talk.columns) + " ")
    do {
      let answer = try input.readLine(unless: nil)
      guard let first = answer.firstIndex(where: { !$0.isWhitespace }),
        let last = answer.lastIndex(where: { !$0.isWhitespace })
      else { return "" }
      return String(answer[first...last])
    } catch .endOfInput {
      writeDiagnostics("\n")
      return nil
    } catch {
      throw TerminalError(error)
    }
  }

  /// Asks for an existing secret, once.
  ///
  /// - Throws: `promptImpossible` without a terminal or if questions are refused; the errors of `SecretInput`.
  package func askSecret(_ prompt: String, limit: Int) throws -> SecretBytes {
    try requirePerson(for: Self.question(of: prompt))
    return try read(prompt, limit: limit)
  }

  /// Reads a new secret: on a terminal it asks twice, otherwise it reads all of standard input to the last byte.
  ///
  /// - Parameters:
  ///   - name: the name of the item, escaped.
  ///   - limit: the largest number of bytes.
  ///   - allowsEmpty: true if the secret may be empty.
  /// - Throws: `emptySecret`; `secretsDiffer` if the two entries differ three times; `promptImpossible` on a terminal
  ///   if questions are refused; `secretTooLong`.
  package func newSecret(for name: String, limit: Int, allowsEmpty: Bool = false) throws -> SecretBytes {
    guard input.isTerminal else {
      let secret = try readAll(limit: limit)
      guard allowsEmpty || !secret.isEmpty else { throw TerminalError.emptySecret }
      noteLineFeed(at: secret)
      return secret
    }
    try requirePerson(for: "Secret for \(name)")
    for _ in 0..<3 {
      let first = try read("Secret for \(name): ", limit: limit)
      guard allowsEmpty || !first.isEmpty else { throw TerminalError.emptySecret }
      let second = try read("Retype the secret: ", limit: limit)
      if first.isEqual(to: second) { return first }
      complain("The two entries differ.")
    }
    throw TerminalError.secretsDiffer
  }

  /// Mentions a line feed at the end of a secret, because most programs add one that is not part of it.
  private func noteLineFeed(at secret: borrowing SecretBytes) {
    guard unsafe secret.withBytes({ unsafe $0.last }) == UInt8(ascii: "\n") else { return }
    say("The secret ends with a line feed, which is stored, too; `printf %s` prints none.")
  }

  /// Reads all of standard input, which is not a terminal.
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

  /// Reads a line that another program has written.
  ///
  /// - Parameter limit: the largest number of bytes, without the line feed.
  /// - Returns: the line without its line feed; nil at the end.
  /// - Throws: `secretTooLong`, `inputFailed`.
  package func readProgramLine(limit: Int) throws -> SecretBytes? {
    do {
      return try input.readProgramLine(limit: limit)
    } catch {
      throw TerminalError(error)
    }
  }

  /// Reads a number of bytes that another program has written.
  ///
  /// - Parameters:
  ///   - count: the number of bytes.
  ///   - seconds: the longest time to wait for all of them; nil to wait without a limit.
  /// - Returns: the bytes; fewer if the input ends before.
  /// - Throws: `inputFailed`, with `ETIMEDOUT` if they did not arrive in time.
  package func readBytes(count: Int, within seconds: Double?) throws -> SecretBytes {
    do {
      return try input.readBytes(count: count, within: seconds)
    } catch {
      throw TerminalError(error)
    }
  }

  /// Asks for a secret on the user's terminal, while standard input belongs to another program.
  ///
  /// - Throws: `promptImpossible` if questions are refused or there is no terminal; the errors of `SecretInput`.
  package func askSecretBesideProgram(_ prompt: String, limit: Int) throws -> SecretBytes {
    let question = Self.question(of: prompt)
    if refusesInput { throw TerminalError.promptImpossible(question: question, .inputRefused) }
    do throws(SecretInputError) {
      return try input.readSecret(prompt: Escaping.terminal.show(prompt), limit: limit)
    } catch {
      if error == .endOfInput { writeDiagnostics("\n") }
      if error == .notATerminal {
        throw TerminalError.promptImpossible(question: question, .noTerminalBesideProgram)
      }
      throw TerminalError(error)
    }
  }

  /// Returns the text of a prompt without the colon and the space at its end.
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
      // At the end of input the cursor is still on the line of the prompt.
      if error == .endOfInput { writeDiagnostics("\n") }
      throw TerminalError(error)
    }
  }
}
