package import Arguments
internal import Keyring
package import KeyringModel
package import Terminal

/// One command of the program: its declaration and its implementation.
package protocol Command: Sendable {
  /// The name, operands, options, examples and exit codes of the command.
  static var declaration: CommandDeclaration { get }
  /// The time at which the store's history is brought up to date. The default is never.
  static var history: HistoryUse { get }
  /// Returns the time for one command line, for a command in which it depends on the arguments.
  static func history(of call: CommandCall) -> HistoryUse
  /// Runs the command.
  ///
  /// - Parameter call: the command line and its environment.
  /// - Returns: the exit code, which need not be success: `check` returns a failure if it finds problems.
  /// - Throws: an error, which `ErrorReport` converts to a message.
  static func run(_ call: CommandCall) throws -> ExitCode
}

extension Command {
  package static var history: HistoryUse { .none }
  package static func history(of call: CommandCall) -> HistoryUse { history }
}

/// A command line that follows its declaration, with its environment.
package struct CommandCall {
  /// The command and its parent commands, outermost first.
  package let path: [CommandDeclaration]
  /// The options and operands.
  package let arguments: ParsedArguments
  /// The options that every command has.
  package let globals: GlobalOptions
  /// The variables of the process.
  package let environment: Environment
  /// The console for input and output.
  package let console: Console
  /// The program that the command belongs to.
  package let program: ProgramEntry
  /// The store that the options and the environment name.
  package let store: OpenedStore

  /// Creates a call from a command line that was parsed.
  package init(
    path: [CommandDeclaration], arguments: ParsedArguments, globals: GlobalOptions, environment: Environment,
    console: Console, program: ProgramEntry
  ) {
    self.path = path
    self.arguments = arguments
    self.globals = globals
    self.environment = environment
    self.console = console
    self.program = program
    store = OpenedStore(environment, globals, engine: program.engine)
  }

  /// Returns the same call for another store.
  ///
  /// - Parameter path: the folder of the store, as a path with a `/`.
  package func at(store path: String) -> CommandCall {
    CommandCall(
      path: self.path, arguments: arguments, globals: globals.at(store: path), environment: environment,
      console: console, program: program)
  }

  /// Returns a usage error of this command.
  package func misuse(_ problem: UsageError.Problem) -> UsageError {
    UsageError(problem, command: path.map(\.name))
  }

  /// Returns the item name in an operand, or nil if the operand was not given.
  ///
  /// - Throws: a usage error if the operand is not a valid item name.
  package func itemName(_ index: Int) throws -> ItemName? {
    guard let word = arguments.operand(index) else { return nil }
    do {
      return try ItemName(word)
    } catch {
      throw misuse(error.usage)
    }
  }

  /// Returns the attributes among the options.
  ///
  /// - Throws: a usage error for an option that cannot be used.
  package func givenAttributes() throws -> GivenAttributes {
    do {
      return try GivenAttributes(arguments)
    } catch {
      throw misuse(error.usage)
    }
  }

  /// Returns the file that an option names, or nil without the option.
  ///
  /// - Throws: a usage error for `-`, which means standard output in other programs and is hardly ever a file name.
  package func secretFile(_ option: OptionDeclaration) throws -> SecretFile? {
    guard let path = arguments.text(option) else { return nil }
    guard path != "-" else {
      throw misuse(
        .other("standard output is the default without \(option.display); `./-` is a file with that name"))
    }
    return SecretFile(path: path)
  }

  /// Returns the selection of items that an operand and the attribute options describe.
  ///
  /// - Parameters:
  ///   - index: the position of the operand with the name; the operand may be missing if attributes are given.
  ///   - ignoringCase: true if attributes are compared without regard to case.
  /// - Throws: a usage error.
  package func selection(_ index: Int, ignoringCase: Bool = false) throws -> ItemSelection {
    try selection(try itemName(index), of: try givenAttributes(), ignoringCase: ignoringCase)
  }

  /// Returns the selection of items that a name and attributes describe.
  ///
  /// - Throws: a usage error.
  package func selection(
    _ name: ItemName? = nil, of given: GivenAttributes, ignoringCase: Bool = false
  ) throws -> ItemSelection {
    do {
      return try ItemSelection(name, given, ignoringCase: ignoringCase)
    } catch {
      throw misuse(error.usage)
    }
  }

  /// Returns the draft of a new item from a name and attributes.
  ///
  /// - Parameters:
  ///   - name: the name, if it was given.
  ///   - given: the attributes.
  /// - Throws: a usage error, or `KeyringError` for an attribute that the class cannot have.
  package func draft(_ name: ItemName?, _ given: GivenAttributes) throws -> ItemDraft {
    do {
      return try ItemDraft(name, given)
    } catch {
      throw failure(error)
    }
  }

  /// Returns the draft of a new field of an existing login.
  ///
  /// - Parameters:
  ///   - login: the login.
  ///   - given: the field and its attributes.
  /// - Throws: `KeyringError` for an attribute that the class cannot have.
  package func draft(fieldOf login: ItemRecord, _ given: GivenAttributes) throws -> ItemDraft {
    do {
      return try ItemDraft(fieldOf: login, given)
    } catch {
      throw failure(error)
    }
  }

  /// Returns the draft of an item under the new name in an operand, changed further by the attribute options.
  ///
  /// - Parameters:
  ///   - record: the existing item.
  ///   - index: the position of the operand with the new name, or nil if only attributes change.
  /// - Throws: a usage error, or `KeyringError` for an attribute that the class cannot have.
  package func draft(renaming record: ItemRecord, to index: Int?) throws -> ItemDraft {
    let name = try index.flatMap { index in try itemName(index) }
    let given = try givenAttributes()
    do {
      return try ItemDraft(renaming: record, to: name, given)
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ problem: ItemDraft.Problem) -> any Error {
    switch problem {
    case .attribute(let error): KeyringError.invalidAttribute(error)
    case .nothingGiven: misuse(.missingOperand("ITEM"))
    case .namesAnExistingItem:
      misuse(.other("a reference or an id identifies an existing item, not a new one"))
    case .name(let problem): misuse(problem.usage)
    case .contradictingClasses: misuse(.other("the name and the options specify different classes"))
    case .contradictingValues(let name): misuse(.other("`\(name.text)` has two different values"))
    }
  }
}

extension ItemName.Problem {
  /// The corresponding usage error.
  package var usage: UsageError.Problem {
    switch self {
    case .empty: .other("the name of an item is empty")
    case .tooLong: .other("the name of an item is too long")
    case .badReference: .other("a reference is `keytree://CLASS/CONTAINER/NAME` or `keytree://id/DIGITS`")
    case .badID: .other("an id is `#` and 8 to 32 hexadecimal digits; use `--server` for other names")
    case .badURL:
      .advised(
        "the URL names no item: it has no valid host, or the class has no host",
        hint: "give host and account, for example `example.com/alice`, or `--service` for any other name")
    case .badPort: .other("the port must be a number from 1 to 65535; use `--server` for other names")
    case .passwordInURL:
      .advised(
        "the URL contains a password",
        hint: "other users can see the command line: change that password, and give the URL without it")
    case .unknownClass(let word):
      .advised(
        "unknown class \(ErrorReport.quote(word)): it must be one of "
          + ItemName.classWords.map { "`" + $0 + "`" }.joined(separator: ", "),
        hint: Suggestion.nearest(to: word, among: ItemName.classWords).map { "did you mean `\($0):`?" }
          ?? "if it is the name of a server or service, use `--server` or `--service`")
    }
  }
}

extension GivenAttributes.Problem {
  /// The corresponding usage error.
  package var usage: UsageError.Problem {
    switch self {
    case .notNameAndValue: .other("`--attribute` takes NAME=VALUE")
    case .badGroup: .other("the name of a group consists of letters, digits, `.`, `_` and `-`")
    case .badField: .other(ErrorReport.fieldRule)
    case .badTag:
      .other("a tag is not empty and contains no comma; give `--tag` several times for several tags")
    case .fieldAsAttribute:
      .advised("`--attribute` cannot name a field", hint: "use `--field NAME` for a field of the item")
    case .badClass: .notAChoice("class", choices: ItemName.classWords, suggestion: nil)
    }
  }
}

extension ItemSelection.Problem {
  /// The corresponding usage error.
  package var usage: UsageError.Problem {
    switch self {
    case .nothingGiven: .missingOperand("ITEM")
    case .contradictingClasses: .other("the name and the options specify different classes")
    case .noClassHasAll: .other("no class of items has all of these attributes")
    case .fieldOfID:
      .advised(
        "an id identifies one item, and a field has its own id",
        hint: "use the name that `find` shows, for example `github.com/alice --field otp`")
    }
  }
}
