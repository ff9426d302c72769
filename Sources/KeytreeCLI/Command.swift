package import Arguments
internal import Keyring
package import KeyringModel

/// One command of the program: its declaration, and what it does.
package protocol Command: Sendable {
  /// Its name, operands, options, examples and exit codes.
  static var declaration: CommandDeclaration { get }
  /// When the store's history is brought up to date; never, unless a command says otherwise.
  static var history: HistoryUse { get }
  /// The same for one command line, where that makes a difference.
  static func history(of call: CommandCall) -> HistoryUse
  /// Does it.
  ///
  /// - Parameter call: the command line and the world it was typed in.
  /// - Returns: the exit code, which need not be success: `check` fails by finding something.
  /// - Throws: what `ErrorReport` has words for.
  static func run(_ call: CommandCall) throws -> ExitCode
}

extension Command {
  package static var history: HistoryUse { .none }
  package static func history(of call: CommandCall) -> HistoryUse { history }
}

/// A command line that follows its declaration, with the world it was typed in.
package struct CommandCall {
  /// The command and those above it, outermost first.
  package let path: [CommandDeclaration]
  /// Its options and operands.
  package let arguments: ParsedArguments
  /// The options that every command has.
  package let globals: GlobalOptions
  /// The variables of the process.
  package let environment: Environment
  /// Where it talks to.
  package let console: Console

  /// Where the store is.
  ///
  /// - Throws: `storeLocationUnknown`.
  package func storePath() throws -> String {
    try environment.storePath(option: globals.store)
  }

  /// A usage error of this command.
  package func misuse(_ problem: UsageError.Problem) -> UsageError {
    UsageError(problem, command: path.map(\.name))
  }

  /// The name of an item in an operand, or nil when the operand was not given.
  ///
  /// - Throws: a usage error when it names no item.
  package func itemName(_ index: Int) throws -> ItemName? {
    guard let word = arguments.operand(index) else { return nil }
    do {
      return try ItemName(word)
    } catch {
      throw misuse(error.usage)
    }
  }

  /// The attributes among the options.
  ///
  /// - Throws: a usage error for one that cannot be used.
  package func givenAttributes() throws -> GivenAttributes {
    do {
      return try GivenAttributes(arguments)
    } catch {
      throw misuse(error.usage)
    }
  }

  /// The items that an operand and the attribute options stand for.
  ///
  /// - Parameters:
  ///   - index: the operand with the name; it may be missing where attributes choose.
  ///   - ignoringCase: true when the case of letters does not count in the attributes.
  /// - Throws: a usage error.
  package func selection(_ index: Int, ignoringCase: Bool = false) throws -> ItemSelection {
    try selection(try itemName(index), of: try givenAttributes(), ignoringCase: ignoringCase)
  }

  /// The items that a name and attributes stand for.
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

  /// The new item that an operand and the attribute options describe.
  ///
  /// - Parameters:
  ///   - name: its name, if it was given.
  ///   - given: its attributes.
  /// - Throws: a usage error, or `keyring` for one that the class cannot have.
  package func draft(_ name: ItemName?, _ given: GivenAttributes) throws -> ItemDraft {
    do {
      return try ItemDraft(name, given)
    } catch {
      throw failure(error)
    }
  }

  /// A new field of a login that exists.
  ///
  /// - Parameters:
  ///   - login: the login.
  ///   - given: the field, and its attributes.
  /// - Throws: `keyring` for an attribute that the class cannot have.
  package func draft(fieldOf login: ItemRecord, _ given: GivenAttributes) throws -> ItemDraft {
    do {
      return try ItemDraft(fieldOf: login, given)
    } catch {
      throw failure(error)
    }
  }

  /// An item under the new name of an operand; attribute options change it further.
  ///
  /// - Parameters:
  ///   - record: the item that exists.
  ///   - index: the operand with its new name, or nil where the attributes alone change it.
  /// - Throws: a usage error, or `keyring` for one that the class cannot have.
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
      misuse(.other("a reference or an id names an item that exists, not a new one"))
    case .contradictingClasses: misuse(.other("the name and the options want different classes"))
    case .contradictingValues(let name): misuse(.other("`\(name.text)` is given two different values"))
    }
  }
}

extension ItemName.Problem {
  /// The usage error it is.
  var usage: UsageError.Problem {
    switch self {
    case .empty: .other("the name of an item is empty")
    case .badReference: .other("a reference is `keytree://CLASS/CONTAINER/NAME` or `keytree://id/DIGITS`")
    case .badID: .other("an id is `#` and 8 to 32 hexadecimal digits; give other names with `--server`")
    case .address:
      .advised(
        "the name of an item is no URL",
        hint: "give host and account, `example.com/alice`; `--server` takes a name with `/` in it")
    case .unknownClass(let word):
      .advised(
        "there is no class \(ErrorReport.quote(word)): it is one of "
          + ItemName.classWords.map { "`" + $0 + "`" }.joined(separator: ", "),
        hint: Suggestion.nearest(to: word, among: ItemName.classWords).map { "did you mean `\($0):`?" }
          ?? "a server or service that is called so is given with `--server` or `--service`")
    }
  }
}

extension GivenAttributes.Problem {
  /// The usage error it is.
  var usage: UsageError.Problem {
    switch self {
    case .notNameAndValue: .other("`--attribute` takes NAME=VALUE")
    case .badGroup: .other("the name of a group is letters, digits, `.`, `_` and `-`")
    case .badField: .other(GivenAttributes.fieldRule)
    case .fieldAsAttribute:
      .advised("a field is not named by `--attribute`", hint: "`--field NAME` means a field of the item")
    case .badClass: .notAChoice("class", choices: ItemName.classWords, suggestion: nil)
    }
  }
}

extension ItemSelection.Problem {
  /// The usage error it is.
  var usage: UsageError.Problem {
    switch self {
    case .nothingGiven: .missingOperand("ITEM")
    case .contradictingClasses: .other("the name and the options want different classes")
    case .noClassHasAll: .other("no class of items has all of these attributes")
    case .fieldOfID:
      .advised(
        "an id means one item, and a field has an id of its own",
        hint: "name the item as `find` shows it, `github.com/alice --field otp`")
    }
  }
}
