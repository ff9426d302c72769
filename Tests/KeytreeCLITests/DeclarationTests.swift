import Arguments
import Foundation
import Testing
@testable import CommandSupport
@testable import KeytreeCLI

@Suite("The declarations of all commands", .serialized)
struct DeclarationTests {
  /// A command and its parent commands, shown by its name in the output of the tests.
  struct CommandPath: CustomTestStringConvertible {
    let commands: [CommandDeclaration]
    var testDescription: String { commands.map(\.name).joined(separator: " ") }
  }

  private static func paths(
    _ commands: [CommandDeclaration], _ above: [CommandDeclaration] = []
  ) -> [CommandPath] {
    commands.flatMap { [CommandPath(commands: above + [$0])] + paths($0.subcommands, above + [$0]) }
  }

  static let all = paths(Program.declaration.commands)

  @Test("the program has exactly the expected commands")
  func list() {
    let names = Program.declaration.commands.flatMap { [$0.name] + $0.aliases }
    #expect(
      Set(names) == [
        "init", "add", "get", "find", "ls", "set", "edit", "generate", "rm", "mv", "cp", "history",
        "undelete", "group", "who", "policy", "rotate",
        "status", "adopt", "resolve", "check", "verify", "audit", "doctor", "trust", "clone", "sync", "git",
        "merge-driver",
        "textconv", "credential", "browser-host", "secret-service", "run", "inject", "read", "import",
        "export", "otp",
        "clear-clipboard",
        "demo", "help",
        "version", "completions", "complete-items", "config", "show", "pick", "insert", "list", "search",
        "delete", "remove", "move", "rename", "copy",
      ])
    #expect(names.count == Set(names).count)
  }

  @Test("the names in the table of commands are those of the declarations")
  func names() {
    for command in Program.commands {
      let declaration = command.type.declaration
      #expect(command.names == [declaration.name] + declaration.aliases)
    }
  }

  @Test("options have unique names and letters", arguments: all)
  func options(path: CommandPath) {
    let options = path.commands.flatMap(\.options) + Program.declaration.globals
    let names = options.compactMap(\.long)
    let letters = options.compactMap(\.short)
    #expect(names.count == Set(names).count)
    #expect(letters.count == Set(letters).count)
  }

  @Test("commands have complete help", arguments: all)
  func help(path: CommandPath) throws {
    let command = try #require(path.commands.last)
    #expect(!command.summary.isEmpty && !command.summary.hasSuffix("."))
    for option in command.options { #expect(!option.help.isEmpty && !option.help.hasSuffix(".")) }
    for operand in command.operands { #expect(!operand.help.isEmpty && !operand.help.hasSuffix(".")) }
    for paragraph in command.details { #expect(paragraph.hasSuffix(".")) }
    #expect(!command.examples.isEmpty || !command.subcommands.isEmpty)
    #expect(command.exitCodes == command.exitCodes.sorted())
    #expect(command.exitCodes.allSatisfy { ExitCode(rawValue: $0) != nil })
    let text = HelpText(Program.declaration, width: 80).command(path.commands)
    for option in command.options { #expect(text.contains(option.display)) }
    #expect(text.hasSuffix("\n"))
  }

  @Test("the examples of a command parse", arguments: all.flatMap { $0.commands.last?.examples ?? [] })
  func examples(example: Example) throws {
    // The parts before a pipe and after a redirection belong to the shell.
    let line = example.line.split(separator: "|").last.map(String.init) ?? ""
    let command = line.replacing("source <(", with: "").replacing(")", with: "")
    let words = command.split(separator: ">")[0].split(separator: " ").map { Word(String($0)) }
    #expect(words.first == "keytree")
    let call = try Program.declaration.parse(Array(words.dropFirst()))
    #expect(!call.path.isEmpty)
  }

  @Test("each attribute option has the letter that macOS security uses, as CLI.md lists them")
  func letters() {
    let letters = AttributeOptions.all.compactMap(\.short).map { String($0) }.sorted()
    #expect(letters == ["D", "P", "a", "d", "g", "j", "l", "p", "r", "s", "t"])
  }

  @Test("each exit code is explained once")
  func exitCodes() {
    #expect(ExitCode.allCases.map(\.rawValue) == Array(0...14))
    #expect(Set(ExitCode.allCases.map(\.meaning)).count == 15)
  }

  /// Returns an article of the documentation, as lines.
  private static func article(_ name: String) throws -> [String] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = root.appendingPathComponent("Sources/Keyring/Keyring.docc/\(name).md")
    return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
  }

  @Test("each command is in the article about commands")
  func articleHasCommands() throws {
    let rows = try Self.article("Commands").filter { $0.hasPrefix("| `") }.compactMap {
      $0.split(separator: "|").first
    }
    let documented = Set(
      rows.flatMap { $0.matches(of: /`([a-z-]+)/) }.map { String($0.output.1) })
    // Git, the clipboard process and the completion scripts call these.
    let hidden: Set = ["textconv", "merge-driver", "clear-clipboard", "complete-items"]
    for command in Program.declaration.commands where !hidden.contains(command.name) {
      #expect(documented.contains(command.name), "\(command.name)")
    }
  }

  @Test("the exit codes are those that the article about them explains")
  func articleHasExitCodes() throws {
    let lines = try Self.article("ExitCodes")
    let head = try #require(lines.firstIndex(of: "| code | meaning |"))
    let codes = lines[(head + 2)...].prefix { $0.hasPrefix("|") }
      .compactMap { Int32($0.split(separator: "|")[0].filter { $0 != " " }) }
    #expect(codes == ExitCode.allCases.map(\.rawValue))
  }
}
