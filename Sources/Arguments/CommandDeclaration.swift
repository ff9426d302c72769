/// One operand: a word of a command line that is not an option.
package struct OperandDeclaration: Equatable, Sendable {
  /// The numbers of words of an operand.
  package enum Count: Equatable, Sendable {
    case one
    case optional
    case oneOrMore
    case any
  }

  /// Its name, what is accepted and what a shell offers.
  package let value: ValueDeclaration
  /// The number of words; only the last operand may have more than one.
  package let count: Count
  /// The description: one sentence without a full stop.
  package let help: String

  /// An operand with its name in capital letters.
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

/// A command line to copy, and what it does.
package struct Example: Equatable, Sendable {
  /// The line without the prompt of the shell.
  package let line: String
  /// The effect: one sentence without a full stop.
  package let explanation: String

  /// An example of a line and its explanation.
  package init(_ line: String, _ explanation: String) {
    self.line = line
    self.explanation = explanation
  }
}

/// One command: the single source of its parsing, usage errors, help, completions and manual section.
package struct CommandDeclaration: Equatable, Sendable {
  /// The word that calls it.
  package let name: String
  /// Other words that call it.
  package let aliases: [String]
  /// The summary: a few words, lower case, without a full stop.
  package let summary: String
  /// The details beyond the summary: paragraphs of whole sentences.
  package let details: [String]
  /// Its operands in order.
  package let operands: [OperandDeclaration]
  /// Its own options, without those that every command has.
  package let options: [OptionDeclaration]
  /// Commands below it; the first operand chooses one.
  package let subcommands: [CommandDeclaration]
  /// Lines to copy.
  package let examples: [Example]
  /// The exit codes it can end with besides success and the usual failures; words come from the program.
  package let exitCodes: [Int32]
  /// True when help and completions do not show it.
  package let isHidden: Bool
  /// True when every word after the name is an operand, whatever it begins with: they are another program's.
  package let takesRest: Bool

  /// A command; everything but its name and summary has an empty default.
  package init(
    name: String, aliases: [String] = [], summary: String, details: [String] = [],
    operands: [OperandDeclaration] = [], options: [OptionDeclaration] = [],
    subcommands: [CommandDeclaration] = [], examples: [Example] = [], exitCodes: [Int32] = [],
    isHidden: Bool = false, takesRest: Bool = false
  ) {
    self.name = name
    self.aliases = aliases
    self.summary = summary
    self.details = details
    self.operands = operands
    self.options = options
    self.subcommands = subcommands
    self.examples = examples
    self.exitCodes = exitCodes
    self.isHidden = isHidden
    self.takesRest = takesRest
  }

  /// True when a word calls this command.
  package func answers(to word: String) -> Bool {
    name == word || aliases.contains(word)
  }

  /// The smallest number of operands.
  package var fewestOperands: Int {
    operands.count { $0.count == .one || $0.count == .oneOrMore }
  }

  /// The largest number of operands, or nil when there is none.
  package var mostOperands: Int? {
    operands.contains { $0.count == .oneOrMore || $0.count == .any } ? nil : operands.count
  }

  /// The declaration of the operand at a position.
  package func operand(at index: Int) -> OperandDeclaration? {
    if index < operands.count { return operands[index] }
    guard mostOperands == nil else { return nil }
    return operands.last
  }
}
