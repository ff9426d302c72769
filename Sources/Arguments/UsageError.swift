/// A command line that does not follow its declaration.
package struct UsageError: Error, Equatable {
  /// The problems of command lines. No case contains the value of an operand or an option that may be a
  /// secret typed in the wrong place, so that no message can repeat it.
  package enum Problem: Equatable, Sendable {
    /// No command has this name.
    case unknownCommand(Word, suggestion: String?)
    /// A command with commands below it was given none.
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
    /// A value is not a number of the range, or none of the words.
    case notInteger(String, ClosedRange<Int>, or: [String])
    /// A value is none of the words.
    case notAChoice(String, choices: [String], suggestion: String?)
    /// Two options exclude each other.
    case conflict(String, String)
    /// Something a declaration cannot express; words for a person.
    case other(String)
    /// The same with advice of its own.
    case advised(String, hint: String)
  }

  /// The kind of problem.
  package let problem: Problem
  /// The names on the way to the command that was meant; empty before one is known.
  package let command: [String]

  /// An error of a command.
  package init(_ problem: Problem, command: [String]) {
    self.problem = problem
    self.command = command
  }
}
