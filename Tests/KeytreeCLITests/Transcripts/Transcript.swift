/// A dialogue with the program: the input and the output.
///
///     # A comment. Empty lines are separators.
///     @ terminal                 standard input, output and error are a terminal from here on
///     @ terminal in err          only these are a terminal; `@ terminal none` ends it
///     @ width 60                 the columns of the terminal
///     @ time 59                  the time in seconds since 1970 from here on; `@ time` restores the clock
///     @ env NAME=value           a variable from here on; `@ env NAME` removes it
///     ! printf x > notes         a line for /bin/sh in the folder <TMP>, which must succeed
///     $ keytree add github.com/alice
///     < hunter2                  a line of input; on a terminal one for each question
///     added github.com/alice     a line of standard output
///     1> $ odd                   the same, if it is empty or could be mistaken for another line
///     2> hint: more              a line of standard error
///     ? 5                        the exit code; 0 when it is missing
///
/// `<\ text`, `1\ text` and `2\ text` are last lines without a line feed. The words of a command are separated by
/// spaces; 'single' and "double" quotation marks protect them, and `$'...'` supports `\xNN`, `\n`, `\t`, `\e`, `\\`
/// and `\'`.
///
/// Placeholders: `<ID>` (32 digits), `<COPY>` (12 or 64 digits), `<DATE>` (RFC 3339) and `<ANY>` (anything) in output
/// represent text that varies; in a later command `<ID>` is the most recent id. `<TMP>` and `<HOME>` are folders of the
/// transcript. `<TAB>`, `<CR>`, `<ESC>` and `<x07>` are those characters.
struct Transcript {
  /// One stream's lines as written in the file, without their markers.
  struct Expectation: Equatable {
    var lines: [String] = []
    var endsWithLineFeed = true
  }

  /// One command, or one line for the shell.
  struct Step {
    /// The comments, directives and empty lines before it, as written.
    var preamble: [String] = []
    /// The line after `$ ` or `! `.
    var line = ""
    var isShell = false
    var input = Expectation()
    var output = Expectation()
    var errors = Expectation()
    var exitCode: Int32 = 0
    /// The number of the line in the file.
    var number = 0
  }

  /// The steps in order.
  var steps: [Step] = []
  /// The lines after the last step, as written.
  var rest: [String] = []

  /// An error in the format of a transcript.
  struct FormatError: Error { let line: Int }

  init(parsing text: String) throws {
    var preamble: [String] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = String(line)
      if line.hasPrefix("$ ") || line.hasPrefix("! ") {
        let step = Step(
          preamble: preamble, line: String(line.dropFirst(2)), isShell: line.hasPrefix("!"), number: index + 1
        )
        steps.append(step)
        preamble = []
      } else if line.isEmpty || line.hasPrefix("#") || line.hasPrefix("@ ") {
        preamble.append(line)
      } else if preamble.isEmpty, let last = steps.indices.last, !steps[last].isShell {
        try steps[last].add(line, number: index + 1)
      } else {
        throw FormatError(line: index + 1)
      }
    }
    rest = preamble
  }

  /// The transcript as text; parsing it gives the same transcript.
  var text: String {
    (steps.flatMap(\.lines) + rest).joined(separator: "\n")
  }
}

extension Transcript.Step {
  /// The lines of the step in the file.
  var lines: [String] {
    var lines = preamble + [(isShell ? "! " : "$ ") + line]
    lines += input.lines(marker: "<", plain: "< ")
    lines += output.lines(marker: "1", plain: nil)
    lines += errors.lines(marker: "2", plain: "2> ")
    if exitCode != 0 { lines.append("? \(exitCode)") }
    return lines
  }

  fileprivate mutating func add(_ line: String, number: Int) throws {
    let content = String(line.dropFirst(3))
    switch line.prefix(2) {
    case "<\\":
      input.lines.append(content)
      input.endsWithLineFeed = false
    case "1\\":
      output.lines.append(content)
      output.endsWithLineFeed = false
    case "2\\":
      errors.lines.append(content)
      errors.endsWithLineFeed = false
    case "< ", "<": input.lines.append(String(line.dropFirst(2)))
    case "1>": output.lines.append(content)
    case "2>": errors.lines.append(content)
    case "? ":
      guard let code = Int32(line.dropFirst(2)) else { throw Transcript.FormatError(line: number) }
      exitCode = code
    default: output.lines.append(line)
    }
  }
}

extension Transcript.Expectation {
  /// Returns the lines with their markers. A line of output that cannot be mistaken for another kind of line has none.
  fileprivate func lines(marker: String, plain: String?) -> [String] {
    lines.enumerated().map { index, line in
      if !endsWithLineFeed, index == lines.count - 1 { return marker + "\\ " + line }
      if let plain { return line.isEmpty ? String(plain.dropLast()) : plain + line }
      let markers = ["$ ", "! ", "@ ", "#", "< ", "<\\", "1>", "1\\", "2>", "2\\", "? "]
      let isPlain = !line.isEmpty && line != "<" && !markers.contains { line.hasPrefix($0) }
      return isPlain ? line : marker + (line.isEmpty ? ">" : "> " + line)
    }
  }

  /// Creates an expectation from bytes that were written, with invisible characters as placeholders.
  init(written bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    let text = String(decoding: bytes, as: UTF8.self)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      Placeholders.name(String($0))
    }
    if lines.last == "" { lines.removeLast() } else { endsWithLineFeed = false }
    self.lines = lines
  }
}
