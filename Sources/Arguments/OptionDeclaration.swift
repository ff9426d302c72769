/// The completions that a shell can offer for an operand or a value.
package enum CompletionKind: Equatable, Sendable {
  /// Nothing: any text.
  case none
  /// Names of items in the store.
  case item
  /// Names of groups of the store.
  case group
  /// Names of files.
  case file
  /// Names of folders.
  case folder
  /// The names of the program's commands.
  case command
  /// One of a few fixed words.
  case words([String])
}

/// The value of an option or an operand: its name, the accepted values and the shell completion.
package struct ValueDeclaration: Equatable, Sendable {
  /// The kinds of values that the parser accepts.
  package enum Kind: Equatable, Sendable {
    /// Any bytes.
    case bytes
    /// UTF-8 text.
    case text
    /// A decimal number in a range, or one of a few words instead.
    case integer(ClosedRange<Int>, or: [String] = [])
    /// One of a few words, or one of the old words, which are accepted and not offered.
    case choice([String], old: [String] = [])
  }

  /// The name in help texts, in capital letters, such as `FILE`.
  package let name: String
  /// The kind of value that the parser accepts.
  package let kind: Kind
  /// The completion that a shell offers.
  package let completion: CompletionKind

  /// Creates a value from its name in help texts, the accepted values and the shell completion.
  package init(_ name: String, _ kind: Kind = .text, completion: CompletionKind = .none) {
    self.name = name
    self.kind = kind
    switch kind {
    case .choice(let words, _): self.completion = .words(words)
    case .bytes, .text, .integer: self.completion = completion
    }
  }
}

/// One option: the single source of its parsing, help, completions and manual entry.
package struct OptionDeclaration: Equatable, Sendable {
  /// The argument of an option.
  package enum Argument: Equatable, Sendable {
    /// No value; a value given with `=` is an error.
    case none
    /// A value in the same word or the next one.
    case required(ValueDeclaration)
    /// A value in the same word only.
    case optional(ValueDeclaration)

    /// The declaration of the value; nil if the option takes none.
    package var value: ValueDeclaration? {
      switch self {
      case .none: nil
      case .required(let value), .optional(let value): value
      }
    }
  }

  /// The name after `--`, if it has one.
  package let long: String?
  /// The letter after `-`, if it has one.
  package let short: Unicode.Scalar?
  /// The argument that the option takes.
  package let argument: Argument
  /// The effect: one sentence without a full stop.
  package let help: String
  /// The heading in help texts; nil means `Options`.
  package let heading: String?
  /// True if the option may be given more than once with different values.
  package let isRepeatable: Bool
  /// True if the parser ignores everything after the option, as with `--help`.
  package let endsParsing: Bool

  /// Creates an option, which needs a long name, a letter, or both.
  package init(
    _ long: String?, short: Unicode.Scalar? = nil, _ argument: Argument = .none, help: String,
    heading: String? = nil, isRepeatable: Bool = false, endsParsing: Bool = false
  ) {
    precondition(long != nil || short != nil, "an option has a name")
    self.long = long
    self.short = short
    self.argument = argument
    self.help = help
    self.heading = heading
    self.isRepeatable = isRepeatable
    self.endsParsing = endsParsing
  }

  /// The name that a command uses to look up the option: the long name, or else the letter.
  package var name: String {
    long ?? short.map { String($0) } ?? ""
  }

  /// The option as messages show it: `--name`, or `-n` if it has no long name.
  package var display: String {
    long.map { "--" + $0 } ?? "-" + name
  }

  /// The value as written after the long name in help texts: `=N`, ` FILE`, `[=N]` or nothing.
  package var valueNotation: String {
    switch argument {
    case .none: ""
    case .required(let value): " " + value.name
    case .optional(let value): "[=" + value.name + "]"
    }
  }
}
