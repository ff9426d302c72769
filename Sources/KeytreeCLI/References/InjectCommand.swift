internal import Arguments
internal import CommandSupport
internal import Glibc
internal import Keyring
internal import Secrets
internal import Terminal

/// `keytree inject`: inserts secrets into a text.
enum InjectCommand: Command {
  static let input = OptionDeclaration(
    "in", short: "i", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "read the text from a file, in place of standard input")
  static let output = OptionDeclaration(
    "out", short: "o", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "write it to a new file that only you can read, in place of standard output")
  static let force = OptionDeclaration("force", short: "f", help: "replace FILE when it exists")

  static let declaration = CommandDeclaration(
    name: "inject", summary: "fill secrets into a text",
    details: [
      "Every `{{ keytree://CLASS/CONTAINER/NAME }}` in the text is replaced by the secret of that item, byte for byte. "
        + "Anything else between `{{` and `}}` stays as it is.",
      "Nothing is written before all references are resolved; each item is decrypted once.",
    ],
    options: [input, output, force],
    examples: [
      Example("keytree inject -i app.conf.template -o app.conf", "makes a file with the secrets in it"),
      Example("printf '{{ keytree://id/%s }}' ID | keytree inject", "prints what a pipe hands it"),
    ],
    exitCodes: [3, 4, 7, 8, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let path = call.arguments.text(input)
    let target = try call.secretFile(output)
    if call.arguments.has(force), target == nil { throw call.misuse(.other("--force is for --out")) }
    if let target, !call.arguments.has(force) { try requireNothingThere(target) }
    let template = try template(path, call)
    let secrets = try ResolvedReferences(template.references, call)
    let text = template.filled(with: secrets)
    guard let target else {
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

  /// Returns the failure with a hint to `--force`, which other commands that create files do not have.
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
          .other("the text comes from standard input, which is a terminal: give it with --in"))
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
        case .notClosed(let line): "line \(line): a reference has no `}}` behind it"
        case .noReference(let line): "line \(line): what stands between `{{` and `}}` is no reference"
        }
      throw CommandError.other(
        .failure, message: "cannot fill in \(name): \(reason)",
        hint:
          "a reference is `{{ keytree://CLASS/CONTAINER/NAME }}`, as `keytree get ITEM --attributes` shows it"
      )
    }
  }
}
