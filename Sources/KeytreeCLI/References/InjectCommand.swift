internal import Arguments
internal import CommandSupport
internal import Glibc
internal import Keyring
internal import Secrets
internal import Terminal

/// `keytree inject`: inserts secrets into a template.
enum InjectCommand: Command {
  static let input = OptionDeclaration(
    "in", short: "i", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "read the template from a file instead of standard input")
  static let output = OptionDeclaration(
    "out", short: "o", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "write to a new file that only you can read, instead of standard output")
  static let force = OptionDeclaration("force", short: "f", help: "replace FILE if it exists")

  static let declaration = CommandDeclaration(
    name: "inject", summary: "insert secrets into a template",
    details: [
      "Every `{{ keytree://CLASS/CONTAINER/NAME }}` in the template is replaced by the secret of that item, byte for "
        + "byte. Other text between `{{` and `}}` is not changed; text that looks like a reference and is not one is an "
        + "error.",
      "Nothing is written until all references are resolved. Each item is decrypted once.",
    ],
    options: [input, output, force],
    examples: [
      Example("keytree inject -i app.conf.template -o app.conf", "creates a file that contains the secrets"),
      Example("printf '{{ keytree://id/%s }}' ID | keytree inject", "reads the template from a pipe"),
    ],
    exitCodes: [3, 4, 7, 8, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let path = call.arguments.text(input)
    let target = try call.secretFile(output)
    if call.arguments.has(force), target == nil { throw call.misuse(.other("--force requires --out")) }
    if let target, !call.arguments.has(force) { try requireNothingThere(target) }
    let template = try template(path, call)
    let secrets = try ResolvedReferences(template.references.map { (.reference($0), $0.text) }, call)
    let text = template.filled(with: secrets)
    guard let target else {
      try call.confirmUnlessText(text, "the filled-in template")
      call.console.writeExactly(text)
      return .done
    }
    if call.arguments.has(force) {
      try target.replace(text)
    } else {
      do { try target.write(text) } catch let error as UserFileError { throw withHint(error) }
    }
    call.console.say("Wrote \(target.path).")
    return .done
  }

  private static func requireNothingThere(_ target: SecretFile) throws {
    do { try target.requireNothingThere() } catch let error as UserFileError { throw withHint(error) }
  }

  /// Returns the error with a hint to `--force`, which other commands that create files do not have.
  private static func withHint(_ error: UserFileError) -> any Error {
    guard error.errno == EEXIST else { return error }
    return CommandError.other(
      .alreadyExists,
      message: "cannot \(error.action) \(error.path): \(ErrorReport.systemMessage(EEXIST))",
      hint: "`--force` replaces it")
  }

  /// The largest size of a template in bytes.
  private static let limit = 8 << 20

  private static func template(_ path: String?, _ call: CommandCall) throws -> SecretTemplate {
    let source: SecretBytes
    if let path {
      source = try UserFile.read(path, limit: limit)
    } else {
      guard !call.console.inputIsTerminal else {
        throw call.misuse(
          .other("standard input is a terminal: give a template with --in"))
      }
      source = try call.console.readAll(limit: limit)
    }
    let bytes = unsafe source.withBytes { unsafe Array($0) }
    let name = path ?? "standard input"
    do {
      return try SecretTemplate(bytes)
    } catch {
      let reason =
        switch error {
        case .notClosed(let line): "line \(line): a reference is not closed by `}}`"
        case .looksLikeReference(let line):
          "line \(line): the text after `{{` looks like a reference but does not begin with `keytree://`"
        case .noReference(let line): "line \(line): the text between `{{` and `}}` is not a valid reference"
        }
      throw CommandError.other(
        .failure, message: "cannot fill in \(name): \(reason)",
        hint:
          "a reference is `{{ keytree://CLASS/CONTAINER/NAME }}`; `keytree get ITEM --attributes` shows it"
      )
    }
  }
}
