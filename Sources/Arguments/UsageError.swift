/// A command line that does not follow its declaration.
package struct UsageError: Error, Equatable {
  /// The problems in a command line. No case contains the value of an operand or an option that may be a secret typed
  /// in the wrong place, so no message can repeat it.
  package enum Problem: Equatable, Sendable {
    /// No command has this name.
    case unknownCommand(Word, suggestion: String?)
    /// A command that needs a subcommand was given none.
    case missingCommand(choices: [String])
    /// No option has this name; shown as written, without a value.
    case unknownOption(String, suggestion: String?)
    /// The option needs a value.
    case missingValue(option: String, value: String)
    /// The option takes no value.
    case unexpectedValue(option: String)
    /// The option was given more than once.
    case repeated(option: String)
    /// An operand is missing.
    case missingOperand(String)
    /// There are more operands than the command takes.
    case tooManyOperands(allowed: Int)
    /// A value is not text.
    case notText(String)
    /// A value is neither a number in the range nor one of the words.
    case notInteger(String, ClosedRange<Int>, or: [String])
    /// A value is not one of the words.
    case notAChoice(String, choices: [String], suggestion: String?)
    /// Two options exclude each other.
    case conflict(String, String)
    /// A problem that a declaration cannot express; the value is the message.
    case other(String)
    /// The same with its own hint.
    case advised(String, hint: String)
  }

  /// The kind of problem.
  package let problem: Problem
  /// The path of names of the command that was meant; empty if no command is known yet.
  package let command: [String]

  /// Creates an error of a command.
  package init(_ problem: Problem, command: [String]) {
    self.problem = problem
    self.command = command
  }
}
