extension ProgramDeclaration {
  /// A parsed command line.
  package struct Call: Equatable, Sendable {
    /// The command and its parent commands, outermost first; empty if no command was named.
    package let path: [CommandDeclaration]
    /// The options and operands.
    package let arguments: ParsedArguments
    /// True when an option such as `--help` ended the parsing, so operands may be missing.
    package let endedEarly: Bool
  }

  /// Parses a command line.
  ///
  /// Global options are accepted anywhere, a command's own options only after its name. The first operand names the
  /// command, and the next ones name its subcommands, if it has any.
  ///
  /// - Parameter words: the arguments without the name of the program.
  /// - Throws: the first error, with the command that it belongs to.
  package func parse(_ words: [Word]) throws(UsageError) -> Call {
    var parser = CommandParser(program: self, words: words)
    return try parser.parse()
  }
}

/// A single parse of a command line; see `ProgramDeclaration.parse`.
private struct CommandParser {
  let program: ProgramDeclaration
  var reader: ArgumentReader
  var path: [CommandDeclaration] = []
  var arguments = ParsedArguments()

  init(program: ProgramDeclaration, words: [Word]) {
    self.program = program
    reader = ArgumentReader(words)
  }

  mutating func parse() throws(UsageError) -> ProgramDeclaration.Call {
    while let token = try next() {
      switch token {
      case .operand(let word):
        try take(word)
      case .short(let letter):
        let option = try option("-" + String(letter)) { $0.short == letter }
        if try take(option) { return call(endedEarly: true) }
      case .long(let name):
        let option = try option("--" + name) { $0.long == name }
        if try take(option) { return call(endedEarly: true) }
      }
    }
    if arguments.operands.isEmpty, let implied = path.last?.implied { path.append(implied) }
    try checkCompleteness()
    return call(endedEarly: false)
  }

  private func call(endedEarly: Bool) -> ProgramDeclaration.Call {
    ProgramDeclaration.Call(path: path, arguments: arguments, endedEarly: endedEarly)
  }

  private func error(_ problem: UsageError.Problem) -> UsageError {
    UsageError(problem, command: path.map(\.name))
  }

  private mutating func next() throws(UsageError) -> ArgumentReader.Token? {
    do {
      return try reader.next()
    } catch {
      switch error {
      case .unexpectedValue(let option): throw self.error(.unexpectedValue(option: option))
      case .missingValue(let option): throw self.error(.missingValue(option: option, value: "VALUE"))
      }
    }
  }

  /// Takes a word that is not an option: the name of a command, or an operand of the current command.
  private mutating func take(_ word: Word) throws(UsageError) {
    guard let command = path.last else {
      let command = try program.command(word, below: path)
      path.append(command)
      if command.takesRest { for word in reader.rest() { arguments.add(operand: word) } }
      return
    }
    if !command.subcommands.isEmpty, arguments.operands.isEmpty {
      // A command may have both operands and subcommands: `otp ITEM` and `otp add ITEM`. The name of a subcommand takes
      // precedence.
      let isNamed = command.subcommands.contains { $0.answers(to: word.approximateText) }
      if isNamed || command.operands.isEmpty {
        path.append(try program.command(word, below: path))
        return
      }
    }
    guard let operand = command.operand(at: arguments.operands.count) else {
      let allowed = command.operands.count
      guard !command.subcommands.isEmpty else { throw error(.tooManyOperands(allowed: allowed)) }
      // The first operand was probably meant as the name of a subcommand.
      let names = command.subcommands.filter { !$0.isHidden }.map { "`\($0.name)`" }.joined(separator: ", ")
      throw error(
        .advised("too many operands (at most \(allowed))", hint: "before the operand, give one of \(names)"))
    }
    try check(word, operand.value, of: operand.value.name)
    arguments.add(operand: word)
  }

  /// Takes an option and its value. Returns true if the option ends the parsing.
  private mutating func take(_ option: OptionDeclaration) throws(UsageError) -> Bool {
    var value: Word?
    switch option.argument {
    case .none:
      break
    case .required(let declaration):
      do {
        value = try reader.value()
      } catch {
        throw self.error(.missingValue(option: option.display, value: declaration.name))
      }
    case .optional:
      value = reader.optionalValue()
    }
    if let value, let declaration = option.argument.value {
      try check(value, declaration, of: option.display)
    }
    // Two values for one option may contradict each other, so neither is chosen. A repeated flag is harmless.
    if option.argument != .none, !option.isRepeatable, arguments.has(option) {
      throw error(.repeated(option: option.display))
    }
    arguments.add(option, value)
    return option.endsParsing
  }

  private mutating func option(
    _ written: String, where isMeant: (OptionDeclaration) -> Bool
  ) throws(UsageError) -> OptionDeclaration {
    let known = path.flatMap(\.options) + program.globals
    if let found = known.first(where: isMeant) { return found }
    let implied = path.isEmpty ? program.command(impliedBy: isMeant) : path.last?.implied
    if arguments.operands.isEmpty, let implied, let found = implied.options.first(where: isMeant) {
      path.append(implied)
      return found
    }
    let names = known.compactMap { $0.long.map { "--" + $0 } }
    let suggestion = written.hasPrefix("--") ? Suggestion.nearest(to: written, among: names) : nil
    throw error(.unknownOption(written, suggestion: suggestion))
  }

  private func check(_ word: Word, _ value: ValueDeclaration, of name: String) throws(UsageError) {
    switch value.kind {
    case .bytes:
      return
    case .text:
      guard word.text != nil else { throw error(.notText(name)) }
    case .integer(let range, let words):
      guard let text = word.text else { throw error(.notText(name)) }
      if words.contains(text) { return }
      guard let number = Int(text), range.contains(number) else {
        throw error(.notInteger(name, range, or: words))
      }
    case .choice(let choices, let old):
      guard let text = word.text else { throw error(.notText(name)) }
      guard choices.contains(text) || old.contains(text) else {
        let suggestion = Suggestion.nearest(to: text, among: choices)
        throw error(.notAChoice(name, choices: choices, suggestion: suggestion))
      }
    }
  }

  private func checkCompleteness() throws(UsageError) {
    guard let command = path.last else { return }
    let given = arguments.operands.count
    if given == 0, command.operands.isEmpty, !command.subcommands.isEmpty {
      throw error(.missingCommand(choices: command.subcommands.map(\.name)))
    }
    guard given < command.fewestOperands else { return }
    let required = command.operands.filter { $0.count == .one || $0.count == .oneOrMore }
    throw error(.missingOperand(required[given].value.name))
  }
}
