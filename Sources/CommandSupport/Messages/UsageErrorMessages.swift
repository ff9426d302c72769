package import Arguments

extension ErrorReport {
  /// Creates the report for a command line that does not follow its declaration.
  ///
  /// The message repeats an argument only if it was read as the name of a command or an option. Any other argument may
  /// be a secret typed in the wrong place.
  package init(_ error: UsageError) {
    let prefix = error.command.isEmpty ? "" : error.command.joined(separator: " ") + ": "
    let help = (["keytree", "help"] + error.command).joined(separator: " ")
    var hint = "`\(help)` shows the usage"
    let message: String
    switch error.problem {
    case .unknownCommand(let word, let suggestion):
      message = "\(prefix)unknown command \(Self.quote(word.approximateText))"
      let name = word.approximateText
      let isItem = error.command.isEmpty && (name.contains("/") || name.contains("."))
      let advice = "`keytree show ITEM` shows a login, `keytree get ITEM` prints its secret"
      hint = Self.meant(suggestion) ?? (isItem ? advice : "`\(help)` lists the commands")
    case .missingCommand(let choices):
      message = "\(prefix)a command is missing: one of \(Self.list(choices))"
    case .unknownOption(let written, let suggestion):
      message = "\(prefix)unknown option \(written)"
      // A long option is hardly an operand.
      let advice = written.hasPrefix("--") ? hint : "put `--` before an operand that begins with `-`; \(hint)"
      hint = Self.meant(suggestion) ?? advice
    case .missingValue(let option, let value):
      message = "\(prefix)\(option) needs a value: \(value)"
    case .unexpectedValue(let option):
      message = "\(prefix)\(option) takes no value"
    case .repeated(let option):
      message = "\(prefix)\(option) is given more than once"
    case .missingOperand(let name):
      message = "\(prefix)\(name) is missing"
    case .tooManyOperands(let allowed):
      message = "\(prefix)too many operands (at most \(allowed))"
      if Self.storesSecret(error.command) {
        hint = "a secret is never an operand: keytree prompts for it or reads it from standard input; \(hint)"
      }
    case .notText(let name):
      message = "\(prefix)\(name) is not UTF-8"
    case .notInteger(let name, let range, let words):
      message = "\(prefix)\(name) must be \(Self.describe(range, or: words))"
    case .notAChoice(let name, let choices, let suggestion):
      message = "\(prefix)\(name) must be one of \(Self.list(choices))"
      hint = Self.meant(suggestion) ?? hint
    case .conflict(let one, let other):
      message = "\(prefix)\(one) and \(other) cannot be used together"
    case .other(let words):
      message = "\(prefix)\(words)"
    case .advised(let words, let advice):
      message = "\(prefix)\(words)"
      hint = advice
    }
    self.init(.usage, message, hint: hint)
  }

  /// Returns true for a command to which a user could give a secret as an operand, as to commands of other programs.
  private static func storesSecret(_ command: [String]) -> Bool {
    ["add", "set", "edit"].contains(command.first) || command == ["otp", "add"]
  }

  private static func meant(_ suggestion: String?) -> String? {
    suggestion.map { "did you mean `\($0)`?" }
  }

  private static func list(_ words: [String]) -> String {
    words.map { "`" + $0 + "`" }.joined(separator: ", ")
  }

  private static func describe(_ range: ClosedRange<Int>, or words: [String]) -> String {
    let number =
      switch (range.lowerBound, range.upperBound) {
      case (.min, .max): "a number"
      case (let low, .max): "a number from \(low) up"
      case (let low, let high): "a number from \(low) to \(high)"
      }
    return words.isEmpty ? number : number + " or " + list(words)
  }
}
