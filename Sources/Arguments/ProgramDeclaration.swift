/// Commands that serve one purpose.
package struct CommandTopic: Equatable, Sendable {
  /// The purpose: one or two words.
  package let title: String
  /// The names of the commands, in the order in which a user needs them.
  package let commands: [String]

  /// Creates a topic from its title and the names of its commands.
  package init(_ title: String, _ commands: [String]) {
    self.title = title
    self.commands = commands
  }
}

/// The names of a command, and a closure that builds its declaration. For a command line, only the declaration of the
/// given command is built.
package struct CommandEntry: Sendable {
  /// The name and the aliases of the declaration.
  let names: [String]
  /// Returns the declaration.
  let declaration: @Sendable () -> CommandDeclaration

  /// Creates an entry.
  ///
  /// - Parameters:
  ///   - names: the name of the declaration, then its aliases.
  ///   - declaration: returns the declaration.
  package init(_ names: [String], declaration: @escaping @Sendable () -> CommandDeclaration) {
    self.names = names
    self.declaration = declaration
  }

  /// Creates the entry of a declaration that has already been built.
  package init(_ declaration: CommandDeclaration) {
    self.init([declaration.name] + declaration.aliases) { declaration }
  }
}

/// A program: its commands, its global options and the meanings of its exit codes.
package struct ProgramDeclaration: Sendable {
  /// An exit code and its meaning.
  package struct ExitMeaning: Equatable, Sendable {
    /// The number.
    package let code: Int32
    /// The meaning: a few words.
    package let meaning: String

    /// Creates an exit code from its number and meaning.
    package init(_ code: Int32, _ meaning: String) {
      self.code = code
      self.meaning = meaning
    }
  }

  /// An environment variable and its effect.
  package struct Variable: Equatable, Sendable {
    /// The name without `$`.
    package let name: String
    /// The effect: one sentence without a full stop.
    package let help: String

    /// Creates a variable from its name and effect.
    package init(_ name: String, _ help: String) {
      self.name = name
      self.help = help
    }
  }

  /// The word that invokes the program.
  package let name: String
  /// The summary: one sentence without a full stop.
  package let summary: String
  /// The options of every command, accepted before and after the command's name.
  package let globals: [OptionDeclaration]
  /// The commands, in the order of the help text.
  let entries: [CommandEntry]
  /// The commands by purpose; empty if help lists them without topics.
  package let topics: [CommandTopic]
  /// The names of options that imply a command if no command precedes them, each with the name of that command:
  /// `-c ITEM` means `get -c ITEM`. Not a dictionary, whose first use would cost time at every start.
  package let impliedCommands: [(option: String, command: String)]
  /// All exit codes in ascending order.
  package let exitCodes: [ExitMeaning]
  /// The exit codes that every command can end with.
  package let usualExitCodes: [Int32]
  /// The environment variables that the program reads.
  package let variables: [Variable]

  /// Creates a program.
  package init(
    name: String, summary: String, globals: [OptionDeclaration], commands: [CommandEntry],
    topics: [CommandTopic] = [], impliedCommands: [(option: String, command: String)] = [],
    exitCodes: [ExitMeaning],
    usualExitCodes: [Int32] = [0, 1, 2],
    variables: [Variable] = []
  ) {
    self.name = name
    self.summary = summary
    self.globals = globals
    entries = commands
    self.topics = topics
    self.impliedCommands = impliedCommands
    self.exitCodes = exitCodes
    self.usualExitCodes = usualExitCodes
    self.variables = variables
  }

  /// The declarations of all commands, in the order of the help text. Each access builds them.
  package var commands: [CommandDeclaration] { entries.map { $0.declaration() } }

  /// The commands that help and completions show.
  package var visibleCommands: [CommandDeclaration] {
    commands.filter { !$0.isHidden }
  }

  /// The visible commands by topic. Those without a topic are at the end, in one that is called `Other`.
  package var commandsByTopic: [(title: String, commands: [CommandDeclaration])] {
    var rest = visibleCommands
    var list = topics.map { topic in
      let found = topic.commands.compactMap { name in rest.first { $0.name == name } }
      rest.removeAll { topic.commands.contains($0.name) }
      return (title: topic.title, commands: found)
    }
    if !rest.isEmpty { list.append((title: topics.isEmpty ? "Commands" : "Other", commands: rest)) }
    return list.filter { !$0.commands.isEmpty }
  }

  /// Returns the commands along a path of names, outermost first.
  ///
  /// - Parameter names: names or aliases, such as `["import", "pass"]`.
  /// - Throws: `unknownCommand` for the first name that does not exist.
  package func path(to names: [Word]) throws(UsageError) -> [CommandDeclaration] {
    var path: [CommandDeclaration] = []
    for name in names {
      path.append(try command(name, below: path))
    }
    return path
  }

  /// Returns the command with a name below a path.
  func command(
    _ word: Word, below path: [CommandDeclaration]
  ) throws(UsageError) -> CommandDeclaration {
    if let text = word.text, let found = find(text, below: path.last) { return found }
    let choices = path.last?.subcommands ?? commands
    let known = choices.filter { !$0.isHidden }.flatMap { [$0.name] + $0.aliases }
    let suggestion = Suggestion.nearest(to: word.approximateText, among: known)
    throw UsageError(.unknownCommand(word, suggestion: suggestion), command: path.map(\.name))
  }

  /// Returns the command that an option implies if no command precedes it.
  ///
  /// - Parameter isMeant: True for the option.
  func command(impliedBy isMeant: (OptionDeclaration) -> Bool) -> CommandDeclaration? {
    for (option, name) in impliedCommands {
      guard let command = find(name, below: nil) else { continue }
      if command.options.contains(where: { $0.name == option && isMeant($0) }) { return command }
    }
    return nil
  }

  private func find(_ name: String, below parent: CommandDeclaration?) -> CommandDeclaration? {
    if let parent { return parent.subcommands.first { $0.answers(to: name) } }
    return entries.first { $0.names.contains(name) }?.declaration()
  }
}
