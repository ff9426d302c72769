internal import Arguments
internal import CommandSupport

/// `keytree generate`: stores a generated secret.
enum GenerateCommand: Command {
  static let history = HistoryUse.after
  static let item = OperandDeclaration(
    "ITEM", .bytes, completion: .item, help: "the item; it may exist only with `--update`")
  static let count = OperandDeclaration(
    "N", .integer(SecretGenerator.lengths), count: .optional,
    help: "the number of characters or words (default: \(SecretGenerator.defaultLength) characters or "
      + "\(SecretGenerator.defaultWords) words)")
  static let words = OptionDeclaration(
    "words", help: "use words from a list of \(WordList.count), joined by hyphens")
  static let charset = OptionDeclaration(
    "charset", .required(ValueDeclaration("SET", .text, completion: .words(GeneratorCharset.names))),
    help: "the characters: names from \(GeneratorCharset.names.joined(separator: ", ")), joined by commas, "
      + "and other characters after `=` (default: all)")
  static let noSymbols = OptionDeclaration(
    "no-symbols", short: "n", help: "use letters and digits only, as `--charset letters,digits`")

  static let declaration = CommandDeclaration(
    name: "generate", summary: "store a generated secret",
    details: [
      "Every character or word is chosen with the same probability, from the random source of the system. The "
        + "strength of the secret is printed on standard error. The secret itself is not printed: `keytree get` "
        + "prints it, and `--clip` copies it to the clipboard like `keytree get --clip`.",
      "Without `--update`, an existing item is not changed (exit code 5). If an item with this name exists in another "
        + "group, the group must be given with `--group`.",
    ],
    operands: [item, count],
    options: [words, charset, noSymbols, AddCommand.update, AddCommand.local] + ClipboardTarget.options
      + AttributeOptions.all,
    examples: [
      Example("keytree generate github.com/alice", "generates 24 characters, 157 bits"),
      Example(
        "keytree generate github.com/alice --update --clip",
        "replaces the secret, and copies it to the clipboard"),
      Example("keytree generate wifi/home 6 --words", "generates six words, 62 bits"),
      Example(
        "keytree generate bank.example/4711 12 --charset letters,digits,=-_",
        "uses only characters that the bank allows"),
    ],
    exitCodes: [3, 5, 6, 9, 10, 11, 12, 14])

  /// Returns the generator for the operands and options.
  ///
  /// - Parameter position: the position of the operand with the number.
  /// - Throws: a usage error for an invalid set, and for words together with a set.
  static func generator(_ call: CommandCall, count position: Int = 1) throws -> SecretGenerator {
    let number = call.arguments.operand(position)?.text.flatMap { Int($0) }
    let sets = [words, charset, noSymbols].filter(call.arguments.has)
    if sets.count > 1 { throw call.misuse(.conflict(sets[0].display, sets[1].display)) }
    if call.arguments.has(words) { return SecretGenerator(.words(number ?? SecretGenerator.defaultWords)) }
    let characters = call.arguments.has(noSymbols) ? "letters,digits" : call.arguments.text(charset)
    return try call.characterGenerator(length: number, charset: characters)
  }

  /// Returns the characters that a description names.
  ///
  /// - Throws: a usage error.
  static func charset(_ description: String, _ call: CommandCall) throws -> GeneratorCharset {
    do {
      return try GeneratorCharset(description)
    } catch {
      switch error {
      case .unknownName:
        throw call.misuse(.notAChoice(charset.display, choices: GeneratorCharset.names, suggestion: nil))
      case .notPrintable: throw call.misuse(.other("--charset takes printable ASCII characters after `=`"))
      case .tooFew: throw call.misuse(.other("--charset needs at least two different characters"))
      }
    }
  }

  static func run(_ call: CommandCall) throws -> ExitCode {
    let generator = try generator(call)
    let clipboard = try ClipboardTarget(call)
    let storage = try NewItemStorage(
      call, mayReplace: call.arguments.has(AddCommand.update), isLocal: call.arguments.has(AddCommand.local))
    try storage.storeGenerated(by: generator, call, clipboard: clipboard)
    return .done
  }
}

extension CommandCall {
  /// Returns the generator of secrets from characters.
  ///
  /// - Parameters:
  ///   - length: the number of characters; nil for the setting or the default.
  ///   - charset: the characters, as for `--charset`; nil for the setting or the default.
  /// - Throws: a usage error; the errors of `configuration()`.
  func characterGenerator(length: Int?, charset: String? = nil) throws -> SecretGenerator {
    let configuration = try configuration()
    let description = charset ?? configuration.text(.generateCharset)
    return SecretGenerator(
      .characters(
        try description.map { try GenerateCommand.charset($0, self) } ?? .standard,
        length: length ?? configuration.number(.generateLength) ?? SecretGenerator.defaultLength))
  }
}
