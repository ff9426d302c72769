import Arguments

/// A small program that uses every kind of declaration.
enum Sample {
  static let json = OptionDeclaration("json", help: "print JSON")
  static let store = OptionDeclaration(
    "store", .required(ValueDeclaration("DIR", completion: .folder)), help: "the store", isRepeatable: true)
  static let help = OptionDeclaration("help", short: "h", help: "explain", endsParsing: true)
  static let account = OptionDeclaration(
    "account", short: "a", .required(ValueDeclaration("NAME", .bytes)), help: "the account",
    heading: "Attributes")
  static let serverOrService = OptionDeclaration(
    nil, short: "s", .required(ValueDeclaration("NAME")), help: "server or service", heading: "Attributes")
  static let generate = OptionDeclaration(
    "generate", .optional(ValueDeclaration("N", .integer(1...100))), help: "make the secret")
  static let limit = OptionDeclaration(
    "limit", .required(ValueDeclaration("N|all", .integer(1...100, or: ["all"]))), help: "at most N")
  static let clear = OptionDeclaration(
    "clear", .required(ValueDeclaration("NAME")), help: "remove it's [old]: value", isRepeatable: true)

  static let add = CommandDeclaration(
    name: "add", aliases: ["new"], summary: "store a secret", details: ["The program prompts for it."],
    operands: [
      OperandDeclaration("ITEM", .bytes, completion: .item, help: "the item"),
      OperandDeclaration("N", .integer(1...9), count: .optional, help: "a number"),
    ],
    options: [generate, limit, clear, account, serverOrService],
    examples: [Example("tool add x", "adds it")], exitCodes: [5])
  static let remove = CommandDeclaration(
    name: "remove", summary: "remove items",
    operands: [OperandDeclaration("ITEM", .bytes, count: .oneOrMore, completion: .item, help: "the items")])
  static let importCSV = CommandDeclaration(
    name: "csv", summary: "from CSV",
    operands: [OperandDeclaration("FILE", completion: .file, help: "the file")])
  static let importCommand = CommandDeclaration(
    name: "import", summary: "import items",
    subcommands: [importCSV, CommandDeclaration(name: "pass", summary: "from pass")])
  static let otp = CommandDeclaration(
    name: "otp", summary: "print a code",
    operands: [OperandDeclaration("ITEM", .bytes, completion: .item, help: "the item")],
    subcommands: [CommandDeclaration(name: "add", summary: "store a seed")])
  static let shell = CommandDeclaration(
    name: "shell", summary: "print a script",
    operands: [OperandDeclaration("SHELL", .choice(["bash", "fish"]), help: "which")])
  static let hidden = CommandDeclaration(name: "driver", summary: "for git only", isHidden: true)

  static let program = ProgramDeclaration(
    name: "tool", summary: "a tool", globals: [store, json, help],
    commands: [add, remove, importCommand, otp, shell, hidden].map { CommandEntry($0) },
    exitCodes: [.init(0, "done"), .init(1, "failure"), .init(2, "usage"), .init(5, "exists")],
    variables: [.init("TOOL", "the tool's \"folder\"")])
}
