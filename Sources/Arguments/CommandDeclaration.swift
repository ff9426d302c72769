/// One operand: a word of a command line that is not an option.
package struct OperandDeclaration: Equatable, Sendable {
  /// The number of words that an operand takes.
  package enum Count: Equatable, Sendable {
    case one
    case optional
    case oneOrMore
    case any
  }

  /// The name, the accepted values and the shell completion.
  package let value: ValueDeclaration
  /// The number of words; only the last operand may have more than one.
  package let count: Count
  /// The description: one sentence without a full stop.
  package let help: String

  /// Creates an operand; its name is in capital letters.
  package init(
    _ name: String, _ kind: ValueDeclaration.Kind = .text, count: Count = .one,
    completion: CompletionKind = .none, help: String
  ) {
    value = ValueDeclaration(name, kind, completion: completion)
    self.count = count
    self.help = help
  }

  /// The operand as a synopsis shows it: `ITEM`, `[N]`, `ITEM...`, `[ITEM...]`.
  package var notation: String {
    switch count {
    case .one: value.name
    case .optional: "[" + value.name + "]"
    case .oneOrMore: value.name + "..."
    case .any: "[" + value.name + "...]"
    }
  }
}

/// A sample command line and its explanation.
package struct Example: Equatable, Sendable {
  /// The line without the shell prompt.
  package let line: String
  /// The effect: one sentence without a full stop.
  package let explanation: String

  /// Creates an example from a line and its explanation.
  package init(_ line: String, _ explanation: String) {
    self.line = line
    self.explanation = explanation
  }
}

/// One command: the single source of its parsing, usage errors, help, completions and manual section.
package struct CommandDeclaration: Equatable, Sendable {
  /// The word that invokes the command.
  package let name: String
  /// Other words that invoke the command.
  package let aliases: [String]
  /// The summary: a few words, lower case, without a full stop.
  package let summary: String
  /// The details beyond the summary: paragraphs of whole sentences.
  package let details: [String]
  /// The operands in order.
  package let operands: [OperandDeclaration]
  /// The command's own options, without the global options.
  package let options: [OptionDeclaration]
  /// The subcommands; the first operand selects one.
  package let subcommands: [CommandDeclaration]
  /// The name of the subcommand that the command means if no subcommand is given; nil if one must be given.
  package let impliedSubcommand: String?
  /// The examples that help shows.
  package let examples: [Example]
  /// The exit codes besides success and the usual failures; their meanings come from the program.
  package let exitCodes: [Int32]
  /// True if help and completions do not show the command.
  package let isHidden: Bool
  /// True if every word after the name is an operand, even one that begins with a hyphen, because the words are for
  /// another program.
  package let takesRest: Bool

  /// Creates a command. Everything except the name and the summary is empty by default.
  package init(
    name: String, aliases: [String] = [], summary: String, details: [String] = [],
    operands: [OperandDeclaration] = [], options: [OptionDeclaration] = [],
    subcommands: [CommandDeclaration] = [], impliedSubcommand: String? = nil, examples: [Example] = [],
    exitCodes: [Int32] = [], isHidden: Bool = false, takesRest: Bool = false
  ) {
    self.name = name
    self.aliases = aliases
    self.summary = summary
    self.details = details
    self.operands = operands
    self.options = options
    self.subcommands = subcommands
    self.impliedSubcommand = impliedSubcommand
    self.examples = examples
    self.exitCodes = exitCodes
    self.isHidden = isHidden
    self.takesRest = takesRest
  }

  /// Returns true if a word invokes this command.
  package func answers(to word: String) -> Bool {
    name == word || aliases.contains(word)
  }

  /// The subcommand that the command means if none is given.
  var implied: CommandDeclaration? { subcommands.first { $0.name == impliedSubcommand } }

  /// The smallest number of operands.
  package var fewestOperands: Int {
    operands.count { $0.count == .one || $0.count == .oneOrMore }
  }

  /// The largest number of operands, or nil if there is no limit.
  package var mostOperands: Int? {
    operands.contains { $0.count == .oneOrMore || $0.count == .any } ? nil : operands.count
  }

  /// Returns the declaration of the operand at a position; nil if the command takes fewer operands.
  package func operand(at index: Int) -> OperandDeclaration? {
    if index < operands.count { return operands[index] }
    guard mostOperands == nil else { return nil }
    return operands.last
  }
}
