import Arguments
import Testing

@Suite("The command parser", .serialized)
struct CommandParserTests {
  private func parse(_ words: [String]) throws(UsageError) -> ProgramDeclaration.Call {
    try Sample.program.parse(words.map { Word($0) })
  }

  private func describe(_ call: ProgramDeclaration.Call) -> String {
    let options = call.arguments.options.map { given in
      given.option.display + (given.value.map { "=" + $0.approximateText } ?? "")
    }
    let operands = call.arguments.operands.map(\.approximateText)
    return (call.path.map(\.name) + options + operands).joined(separator: " ")
      + (call.endedEarly ? " (ended)" : "")
  }

  @Test("only the declaration of the given command is built", arguments: ["one", "first"])
  func givenCommand(word: String) throws {
    let other = CommandEntry(["other"]) {
      Issue.record("the declaration of another command is built")
      return CommandDeclaration(name: "other", summary: "")
    }
    let given = CommandEntry(["one", "first"]) {
      CommandDeclaration(name: "one", aliases: ["first"], summary: "")
    }
    let program = ProgramDeclaration(
      name: "tool", summary: "", globals: [], commands: [other, given], exitCodes: [])
    #expect(try program.parse([Word(word)]).path.map(\.name) == ["one"])
  }

  @Test(
    "the command, its options and operands are found in any order",
    arguments: [
      ([], ""),
      (["--json"], "--json"),
      (["add", "x"], "add x"),
      (["new", "x"], "add x"),
      (["--json", "add", "x", "--store", "d"], "add --json --store=d x"),
      (["add", "x", "--json", "--store=d", "--store=e"], "add --json --store=d --store=e x"),
      (["add", "--generate", "x", "5"], "add --generate x 5"),
      (["add", "--generate=12", "x"], "add --generate=12 x"),
      (["add", "-abob", "-s", "mail", "x"], "add --account=bob -s=mail x"),
      (["add", "--", "-rf"], "add -rf"),
      (["add", "--", "--output=/tmp/x"], "add --output=/tmp/x"),
      (["add", "--limit", "all", "x"], "add --limit=all x"),
      (["add", "--clear", "a", "--clear", "b", "x"], "add --clear=a --clear=b x"),
      (["add", "--json", "--json", "x"], "add --json --json x"),
      (["remove", "a", "b", "c"], "remove a b c"),
      (["import", "csv", "f"], "import csv f"),
      (["import", "--json", "csv", "f"], "import csv --json f"),
      (["otp", "x"], "otp x"),
      (["otp", "add"], "otp add"),
      (["shell", "fish"], "shell fish"),
      (["driver"], "driver"),
      (["add", "--help", "--nonsense"], "add --help (ended)"),
      (["-h"], "--help (ended)"),
      (["import", "--help"], "import --help (ended)"),
    ] as [([String], String)])
  func accepts(words: [String], result: String) throws {
    #expect(try describe(parse(words)) == result)
  }

  @Test(
    "an error names the problem and the command",
    arguments: [
      (["ad"], .unknownCommand("ad", suggestion: "add"), []),
      (["driver2"], .unknownCommand("driver2", suggestion: nil), []),
      (["import"], .missingCommand(choices: ["csv", "pass"]), ["import"]),
      (["import", "cvs"], .unknownCommand("cvs", suggestion: "csv"), ["import"]),
      (["add"], .missingOperand("ITEM"), ["add"]),
      (["remove"], .missingOperand("ITEM"), ["remove"]),
      (["add", "x", "1", "y"], .tooManyOperands(allowed: 2), ["add"]),
      (
        ["otp", "ad", "x"],
        .advised("too many operands (at most 1)", hint: "before the operand, give one of `add`"), ["otp"]
      ),
      (["add", "x", "secret"], .notInteger("N", 1...9, or: []), ["add"]),
      (["add", "x", "--acount", "b"], .unknownOption("--acount", suggestion: "--account"), ["add"]),
      (["add", "x", "--acc=b"], .unknownOption("--acc", suggestion: "--account"), ["add"]),
      (["add", "x", "-z"], .unknownOption("-z", suggestion: nil), ["add"]),
      (["--account", "a", "add"], .unknownOption("--account", suggestion: nil), []),
      (["add", "x", "-a"], .missingValue(option: "--account", value: "NAME"), ["add"]),
      (["add", "x", "--json=1"], .unexpectedValue(option: "--json"), ["add"]),
      (["add", "x", "-a", "b", "-a", "c"], .repeated(option: "--account"), ["add"]),
      (["add", "x", "--generate=0"], .notInteger("--generate", 1...100, or: []), ["add"]),
      (["add", "x", "--limit=many"], .notInteger("--limit", 1...100, or: ["all"]), ["add"]),
      (
        ["shell", "fihs"],
        .notAChoice("SHELL", choices: ["bash", "fish"], suggestion: "fish"), ["shell"]
      ),
    ] as [([String], UsageError.Problem, [String])])
  func refuses(words: [String], problem: UsageError.Problem, command: [String]) {
    #expect(throws: UsageError(problem, command: command)) { try parse(words) }
  }

  @Test("raw bytes are accepted only where bytes are declared")
  func bytes() throws {
    let bytes = Word([0xFF])
    let call = try Sample.program.parse(["add", bytes, "-a", bytes])
    #expect(call.arguments.operand(0) == bytes)
    #expect(call.arguments.value(Sample.account) == bytes)
    #expect(throws: UsageError(.notText("FILE"), command: ["import", "csv"])) {
      try Sample.program.parse(["import", "csv", bytes])
    }
  }

  @Test("values are returned by option")
  func values() throws {
    let call = try parse(["add", "x", "--generate=12", "--clear=a", "--clear=b", "--store=c", "--store=d"])
    #expect(call.arguments.integer(Sample.generate) == 12)
    #expect(call.arguments.values(Sample.clear).map(\.text) == ["a", "b"])
    #expect(call.arguments.text(Sample.store) == "d")
    #expect(call.arguments.has(Sample.json) == false)
    #expect(call.arguments.operand(1) == nil)
  }
}

@Suite("Suggestions", .serialized)
struct SuggestionTests {
  @Test(
    "a suggestion is a similar name or a name with that prefix",
    arguments: [
      ("ad", "add"), ("addd", "add"), ("dad", "add"), ("GET", "get"), ("gte", "get"), ("generat", "generate"),
      ("gen", "get"), ("gene", "generate"), ("versoin", "version"), ("xyz", nil), ("g", nil), ("", nil),
      ("completely", nil),
    ] as [(String, String?)])
  func nearest(typed: String, expected: String?) {
    #expect(Suggestion.nearest(to: typed, among: ["add", "get", "generate", "version"]) == expected)
  }
}
