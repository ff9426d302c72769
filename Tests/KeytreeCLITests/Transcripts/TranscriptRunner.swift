import Arguments
import CommandSupport
import Encoding
import Foundation
import KeyringModel
import KeytreeCLI
import Terminal

/// Runs the commands of a transcript in this process and compares the results with the transcript.
struct TranscriptRunner {
  /// The function that runs the program with words, environment and console.
  let program: ([Word], Environment, Console) -> ExitCode
  /// The folder `<TMP>`; `<HOME>` is `home` in it.
  let folder: String
  /// Variables that every command has.
  private var variables: [String: String]
  private var terminals: Set<String> = []
  private var width = 80
  private var seconds: Int64?
  private var values: [String: String] = [:]

  /// An error that prevents a transcript from being run.
  enum Problem: Error, Equatable {
    case unknownDirective(String)
    case unclosedQuote(line: Int)
    case shellFailed(line: Int, output: String)
    case notTheProgram(line: Int)
  }

  init(
    folder: String, variables: [String: String] = [:],
    program: @escaping ([Word], Environment, Console) -> ExitCode = {
      Program.run($0, environment: $1, console: $2)
    }
  ) {
    self.folder = folder
    self.program = program
    self.variables = [
      "HOME": folder + "/home", "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
      "TERM": "xterm",
    ].merging(variables) { $1 }
    values = ["TMP": folder, "HOME": folder + "/home"]
  }

  /// Runs a transcript.
  ///
  /// - Returns: The transcript with the actual results. A line that matches is unchanged and keeps its placeholders;
  ///   any other line is the actual one.
  mutating func follow(_ transcript: Transcript) throws -> Transcript {
    var happened = transcript
    for index in happened.steps.indices {
      for line in happened.steps[index].preamble where line.hasPrefix("@ ") {
        try obey(String(line.dropFirst(2)))
      }
      if happened.steps[index].isShell {
        try runShell(happened.steps[index])
      } else {
        try run(&happened.steps[index])
      }
    }
    return happened
  }

  private mutating func obey(_ directive: String) throws {
    let words = directive.split(separator: " ", maxSplits: 1).map(String.init)
    switch (words.first, words.dropFirst().first) {
    case ("terminal", nil): terminals = ["in", "out", "err"]
    case ("terminal", "none"): terminals = []
    case ("terminal", let streams?): terminals = Set(streams.split(separator: " ").map(String.init))
    case ("width", let number?): width = Int(number) ?? width
    case ("time", let number): seconds = number.flatMap { Int64($0) }
    case ("env", let variable?):
      let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
        String.init)
      variables[parts[0]] = parts.count == 2 ? Placeholders.fill(parts[1], values) : nil
    default: throw Problem.unknownDirective(directive)
    }
  }

  private mutating func run(_ step: inout Transcript.Step) throws {
    guard let words = TranscriptWords.split(Placeholders.fill(step.line, values)) else {
      throw Problem.unclosedQuote(line: step.number)
    }
    guard words.first == "keytree" else { throw Problem.notTheProgram(line: step.number) }
    let memory = MemoryConsole(
      step.input.lines.map { Placeholders.fill($0, values) }, inputIsTerminal: terminals.contains("in"),
      outputIsTerminal: terminals.contains("out"), diagnosticsIsTerminal: terminals.contains("err"),
      columns: width,
      endsWithLineFeed: step.input.endsWithLineFeed)
    var environment = Environment(variables)
    if let seconds { environment.clock = { Timestamp(microseconds: seconds * 1_000_000) } }
    step.exitCode = program(Array(words.dropFirst()), environment, memory.console).rawValue
    step.output = compare(memory.output.bytes, step.output)
    step.errors = compare(memory.talk.bytes, step.errors)
  }

  private mutating func compare(
    _ bytes: [UInt8], _ expected: Transcript.Expectation
  ) -> Transcript.Expectation {
    var actual = Transcript.Expectation(written: bytes)
    for (index, line) in actual.lines.enumerated() where index < expected.lines.count {
      let wanted = Placeholders.name(
        Placeholders.fill(expected.lines[index], ["TMP": folder, "HOME": folder + "/home"]))
      if let found = Placeholders.match(line, wanted) {
        values.merge(found) { $1 }
        actual.lines[index] = expected.lines[index]
      }
    }
    return actual
  }

  private func runShell(_ step: Transcript.Step) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-ec", Placeholders.fill(step.line, values)]
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = variables
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Problem.shellFailed(line: step.number, output: output)
    }
  }
}

/// The words of a command in a transcript.
enum TranscriptWords {
  /// Returns the words; nil if a quotation mark is not closed.
  static func split(_ line: String) -> [Word]? {
    var words: [Word] = []
    var word: [UInt8]?
    var rest = Substring(line)
    while let character = rest.popFirst() {
      if character == " " {
        if let done = word { words.append(Word(done)) }
        word = nil
      } else if character == "'" || character == "\"" {
        guard let end = rest.firstIndex(of: character) else { return nil }
        word = (word ?? []) + Array(rest[..<end].utf8)
        rest = rest[end...].dropFirst()
      } else if character == "$", rest.first == "'" {
        rest = rest.dropFirst()
        guard let bytes = escaped(&rest) else { return nil }
        word = (word ?? []) + bytes
      } else {
        word = (word ?? []) + Array(String(character).utf8)
      }
    }
    if let done = word { words.append(Word(done)) }
    return words
  }

  /// Returns the bytes of `$'...'` after its opening characters.
  private static func escaped(_ rest: inout Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    while let character = rest.popFirst() {
      guard character != "'" else { return bytes }
      guard character == "\\" else {
        bytes += Array(String(character).utf8)
        continue
      }
      switch rest.popFirst() {
      case "n": bytes.append(10)
      case "t": bytes.append(9)
      case "e": bytes.append(27)
      case "x":
        guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
        bytes.append(byte)
        rest = rest.dropFirst(2)
      case let other?: bytes += Array(String(other).utf8)
      case nil: return nil
      }
    }
    return nil
  }
}
