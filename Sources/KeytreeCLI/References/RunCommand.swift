internal import Arguments
internal import CommandSupport
internal import Glibc
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree run`: runs a program with secrets in its environment.
enum RunCommand: Command {
  static let variable = OptionDeclaration(
    "env", short: "e", .required(ValueDeclaration("NAME=ITEM", .bytes)),
    help: "set a variable to the secret of an item: a reference, or any other name", isRepeatable: true)
  static let file = OptionDeclaration(
    "env-file", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "read variables from lines `NAME=VALUE`; values that are references are replaced",
    isRepeatable: true)

  static let declaration = CommandDeclaration(
    name: "run", summary: "run a program with secrets in its environment",
    details: [
      "`--env` sets a variable to the secret of an item. A variable of the environment or of `--env-file` is set to a "
        + "secret only if its value is a reference, `keytree://...`; any other value is passed on unchanged. Variables "
        + "come from the environment, `--env-file` and `--env`; the later ones win. All names are resolved first: if "
        + "one cannot be resolved, nothing is started. Each item is decrypted once.",
      "The program replaces keytree: no shell is started, and the program has its own exit status, signals and "
        + "terminal. Its options follow `--`. If it cannot be started, the status is 127 if it does not exist, else "
        + "126.",
      "Other programs of the same user can read the environment of a process, and child processes inherit it. If the "
        + "program can read a secret from a file or a pipe, use `keytree read` instead.",
    ],
    operands: [
      OperandDeclaration("COMMAND", .bytes, count: .oneOrMore, help: "the program and its arguments")
    ],
    options: [variable, file],
    examples: [
      Example("keytree run --env TOKEN=generic:ci/deploy -- ./deploy --all", "sets one variable"),
      Example("keytree run --env-file app.env -- node server.js", "sets the variables of a file"),
    ],
    exitCodes: [3, 4, 7, 8, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let words = call.arguments.operands.map(\.bytes)
    let inherited = call.environment.launch?.variables ?? call.environment.entries
    var program = ProgramReplacement(words, variables: inherited)
    var items: [(variable: String, item: ItemName, text: String)] = []
    for (name, value, isItem) in try variables(inherited, call) {
      items.removeAll { $0.variable == name }
      if let item = try item(value, isItem: isItem, of: name) {
        items.append((name, item, Escaping.terminal.show(value)))
      } else {
        program.set(name, to: value)
      }
    }
    let secrets = try ResolvedReferences(items.map { ($0.item, $0.text) }, call)
    for (name, item, text) in items {
      let secret = secrets[item]
      guard unsafe !secret.withBytes({ unsafe $0.contains(0) }) else {
        throw CommandError.other(
          .failure, message: "cannot set \(name) to \(text): the secret contains a NUL",
          hint: "pass it in a file: `keytree get ITEM --out FILE`")
      }
      program.set(name, to: secret)
    }
    call.console.flush()
    guard let path = program.file else {
      return try cannotStart(
        words, "no such program exists in `PATH`",
        hint:
          "a name without `/` is searched in the absolute folders of `PATH` that no other user can change",
        127, call)
    }
    let problem = program.run(path, as: call.environment.launch)
    return try cannotStart(
      words, ErrorReport.systemMessage(problem), hint: hint(problem), problem == ENOENT ? 127 : 126, call)
  }

  /// Returns the variables to set, in order, and whether the value is the name of an item in any form. A variable of
  /// the environment is included only if its value is a reference.
  private static func variables(
    _ inherited: [[UInt8]], _ call: CommandCall
  ) throws -> [(name: String, value: [UInt8], isItem: Bool)] {
    var result: [(name: String, value: [UInt8], isItem: Bool)] = []
    for entry in inherited {
      guard let equals = entry.firstIndex(of: UInt8(ascii: "=")),
        entry[(equals + 1)...].starts(with: ItemReference.scheme.utf8)
      else { continue }
      guard let name = String(validating: entry[..<equals], as: UTF8.self) else {
        // Otherwise the program would receive the reference and use it as the secret.
        let shown = Escaping.terminal.show(Array(entry[..<equals]))
        throw CommandError.other(
          .usage, message: "a variable whose value is a reference has a name that is not UTF-8: \(shown)",
          hint: "set another variable with `--env NAME=ITEM`, and unset this one")
      }
      result.append((name, Array(entry[(equals + 1)...]), false))
    }
    for word in call.arguments.values(file) {
      guard let path = word.text else { throw call.misuse(.notText(file.display)) }
      result += try variables(ofFile: path).map { ($0.name, $0.value, false) }
    }
    for word in call.arguments.values(variable) {
      let equals = word.bytes.firstIndex(of: UInt8(ascii: "=")) ?? 0
      let value = word.bytes.dropFirst(equals + 1)
      guard equals > 0, VariableFile.isName(word.bytes[..<equals]), !value.isEmpty else {
        throw call.misuse(.other("`--env` takes NAME=ITEM: the name of a variable and the name of an item"))
      }
      result.append((String(decoding: word.bytes[..<equals], as: UTF8.self), Array(value), true))
    }
    return result
  }

  private static func variables(ofFile path: String) throws -> [(name: String, value: [UInt8])] {
    let content = try UserFile.read(path, limit: 1 << 20)
    do {
      return try VariableFile(unsafe content.withBytes { unsafe Array($0) }).variables
    } catch {
      let reason =
        switch error {
        case .notVariable(let line): "line \(line) is not `NAME=VALUE`"
        case .badQuotes(let line): "line \(line) has a quoted value that is not closed, or text after it"
        case .containsNUL(let line): "line \(line) contains a NUL"
        }
      throw CommandError.other(
        .failure, message: "cannot read \(path): \(reason)",
        hint: "a line is `NAME=VALUE`; `#` begins a comment, quotes keep spaces")
    }
  }

  /// Returns the item that a value names, or nil if the value is anything else.
  ///
  /// - Parameter isItem: true if the value is certainly the name of an item; else only a reference is one.
  /// - Throws: `other` if it is not a valid name, or begins like a reference but is invalid, because the program would
  ///   use it as the secret; a usage error does not repeat the value.
  private static func item(_ value: [UInt8], isItem: Bool, of variable: String) throws -> ItemName? {
    guard isItem || value.starts(with: ItemReference.scheme.utf8) else { return nil }
    do {
      return try ItemName(Word(value))
    } catch {
      let isReference = error == .badReference
      throw CommandError.other(
        .usage,
        message: isReference
          ? "the value of \(variable) begins like a reference but is not a valid one"
          : "the value of \(variable) is not the name of an item",
        hint: "a reference is `keytree://CLASS/CONTAINER/NAME`; `keytree get ITEM --attributes` shows it")
    }
  }

  /// Returns the hint for an error of `execve(2)`.
  private static func hint(_ problem: Int32) -> String {
    switch problem {
    case E2BIG:
      "its arguments and variables are too large: pass the secret in a pipe (`keytree read`) or a file "
        + "(`keytree inject`)"
    case EACCES: "it is a folder, or a file that you are not allowed to execute: `ls -ld` shows which"
    case ENOEXEC: "it is neither a program for this machine nor a script that begins with `#!`"
    default: ErrorReport.hint(problem)
    }
  }

  private static func cannotStart(
    _ words: [[UInt8]], _ reason: String, hint: String, _ status: Int32, _ call: CommandCall
  ) throws -> ExitCode {
    let name = Escaping.terminal.show(words.first ?? [])
    call.console.complain("keytree: cannot run \(name): \(reason)")
    call.console.complain("hint: \(hint)")
    throw CommandError.exit(status: status)
  }
}
