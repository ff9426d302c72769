import Arguments
import KeytreeCLI
import Personalities
import Terminal

/// The result of the program under another name.
struct ProgramResult {
  let status: Int32
  let output: [UInt8]
  let talk: String

  var text: String { String(decoding: output, as: UTF8.self) }
}

extension CommandFixture {
  /// Runs the program under one of its other names.
  func run(
    as name: ProgramName, _ words: [String], input: String = "", more: [String: String] = [:]
  ) -> ProgramResult {
    let output = MemoryOutput()
    let talk = MemoryOutput()
    let console = Console(
      input: BytesInput(Array(input.utf8), isTerminal: false, screen: talk), output: output, talk: talk)
    let status = Program.status(
      of: words.map { Word($0) }, calledAs: name, environment: Environment(variables.merging(more) { $1 }),
      console: console, engine: engine)
    return ProgramResult(status: status, output: output.bytes, talk: talk.text)
  }
}
