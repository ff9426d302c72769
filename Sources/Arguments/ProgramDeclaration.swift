/// A whole program: its commands, the options all of them share, and the meaning of its exit codes.
package struct ProgramDeclaration: Sendable {
  /// An exit code and what it says.
  package struct ExitMeaning: Equatable, Sendable {
    /// The number.
    package let code: Int32
    /// The meaning: a few words.
    package let meaning: String

    /// A number and its meaning.
    package init(_ code: Int32, _ meaning: String) {
      self.code = code
      self.meaning = meaning
    }
  }

  /// A variable of the environment and what it does.
  package struct Variable: Equatable, Sendable {
    /// The name without `$`.
    package let name: String
    /// The effect: one sentence without a full stop.
    package let help: String

    /// A name and what it does.
    package init(_ name: String, _ help: String) {
      self.name = name
      self.help = help
    }
  }

  /// The word that calls it.
  package let name: String
  /// The summary: one sentence without a full stop.
  package let summary: String
  /// Options that every command has, usable before and after the name of the command.
  package let globals: [OptionDeclaration]
  /// Its commands in the order of the help text.
  package let commands: [CommandDeclaration]
  /// All its exit codes in ascending order.
  package let exitCodes: [ExitMeaning]
  /// The exit codes that every command can end with.
  package let usualExitCodes: [Int32]
  /// The variables it looks at.
  package let variables: [Variable]

  /// A program.
  package init(
    name: String, summary: String, globals: [OptionDeclaration], commands: [CommandDeclaration],
    exitCodes: [ExitMeaning], usualExitCodes: [Int32] = [0, 1, 2], variables: [Variable] = []
  ) {
    self.name = name
    self.summary = summary
    self.globals = globals
    self.commands = commands
    self.exitCodes = exitCodes
    self.usualExitCodes = usualExitCodes
    self.variables = variables
  }

  /// The commands that help and completions show.
  package var visibleCommands: [CommandDeclaration] {
    commands.filter { !$0.isHidden }
  }

  /// The command a path of names leads to, with every command on the way.
  ///
  /// - Parameter names: names or aliases, `["import", "pass"]`.
  /// - Throws: `unknownCommand` for the first name that leads nowhere.
  package func path(to names: [Word]) throws(UsageError) -> [CommandDeclaration] {
    var path: [CommandDeclaration] = []
    for name in names {
      path.append(try command(name, below: path))
    }
    return path
  }

  /// The command of a name below a path.
  func command(
    _ word: Word, below path: [CommandDeclaration]
  ) throws(UsageError) -> CommandDeclaration {
    let choices = path.last?.subcommands ?? commands
    if let text = word.text, let found = choices.first(where: { $0.answers(to: text) }) { return found }
    let known = choices.filter { !$0.isHidden }.flatMap { [$0.name] + $0.aliases }
    let suggestion = Suggestion.nearest(to: word.approximateText, among: known)
    throw UsageError(.unknownCommand(word, suggestion: suggestion), command: path.map(\.name))
  }
}
