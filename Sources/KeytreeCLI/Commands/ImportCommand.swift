internal import Arguments
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets

/// `keytree import`: brings secrets over from other programs.
enum ImportCommand: Command {
  static let history = HistoryUse.after
  static let dryRun = OptionDeclaration(
    "dry-run", help: "only report what becomes what, and what would be lost; nothing is changed")
  static let acceptLoss = OptionDeclaration(
    "accept-loss", help: "import the rest although something would be lost")
  static let map = OptionDeclaration(
    "map", .required(ValueDeclaration("COLUMN=NAME", .text)),
    help: "what a column is: `secret`, `note`, `otp`, `url`, or the attribute it becomes", isRepeatable: true)

  static let pass = CommandDeclaration(
    name: "pass", summary: "bring a store of pass over",
    details: [
      "The first line of a file is the secret, exact to its last byte. Everything after it is kept, byte for "
        + "byte, sealed in an item of its own of kind `note`, and `otpauth` URIs become items as well. "
        + "`folder/host/name` becomes an internet password of that host, anything else a generic one; the "
        + "attribute `pass` keeps the path.",
      "Links are not followed: a link inside of the store is kept as a second name. Files for other people's "
        + "keys, stray files and links that lead out of the store are losses.",
    ],
    operands: [
      OperandDeclaration(
        "DIR", .text, completion: .folder, help: "the folder, most often `~/.password-store`")
    ],
    options: [dryRun, acceptLoss, AttributeOptions.group],
    examples: [
      Example("keytree import pass ~/.password-store --dry-run", "reports, changes nothing"),
      Example("keytree import pass ~/.password-store", "imports everything, or nothing"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12])
  static let csv = CommandDeclaration(
    name: "csv", summary: "bring a CSV file over",
    details: [
      "The program it comes from is told by its first row: Chrome, Edge, Brave, Firefox, Apple Passwords. Notes "
        + "and columns that nobody knows are sealed, each in an item of its own, never made attributes: "
        + "attributes are public."
    ],
    operands: [
      OperandDeclaration("FILE", .text, completion: .file, help: "the file, `-` for standard input")
    ],
    options: [map, dryRun, acceptLoss, AttributeOptions.group],
    examples: [
      Example("keytree import csv passwords.csv", "imports what a browser has exported"),
      Example(
        "keytree import csv vault.csv --map login=account --map pw=secret --map site=url",
        "the columns of another program"),
    ],
    exitCodes: [3, 4, 7, 8, 9, 10, 11, 12])

  static let declaration = CommandDeclaration(
    name: "import", summary: "bring secrets over from another program",
    details: [
      "One step: everything is imported, or nothing. Run twice, it adds nothing the second time. What has the "
        + "name of another secret gets a name beside it; nothing in the store is replaced.",
      "When something would be lost, nothing is imported and the exit code is 1, unless `--accept-loss`.",
    ],
    subcommands: [pass, csv])

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    guard let source = call.arguments.operand(0)?.text else { throw call.misuse(.missingOperand("FILE")) }
    let host = try call.host()
    let keyring = try call.openKeyring()
    let group = try call.givenAttributes().group ?? GroupName.default
    guard keyring.policy.groups[group] != nil else { throw .keyring(.unknownGroup(group)) }
    if let distrust = keyring.distrust { throw .keyring(.policyNotTrusted(distrust)) }
    let run = ImportRun(
      keyring: keyring, host: host, group: group, isDryRun: call.arguments.has(dryRun),
      acceptsLoss: call.arguments.has(acceptLoss), json: call.globals.json, console: call.console)
    let reading = call.path.last?.name == pass.name ? try PassReading(path: source, host: host) : nil
    defer { call.explain(keyring.engineStatistics + (reading?.statistics ?? EngineStatistics())) }
    let draft =
      if let reading { try reading.draft(path: source, console: call.console) } else {
        try csvDraft(source, call)
      }
    try run(draft)
    if reading == nil, source != "-", !run.isDryRun {
      call.console.say(
        "\(ErrorReport.show(source)) still holds these secrets in the open: remove it when all is well.")
    }
    return .done
  }

  private static func csvDraft(_ source: String, _ call: CommandCall) throws(Failure) -> ImportDraft {
    var mapping = CSVMapping()
    for word in call.arguments.values(map) {
      guard let text = word.text, mapping.add(text) else {
        throw call.misuse(
          .other("`--map` takes COLUMN=NAME, where NAME is `secret`, `note`, `otp`, `url` or an attribute"))
      }
    }
    let bytes: SecretBytes
    if source == "-" {
      guard !call.console.inputIsTerminal else {
        throw call.misuse(.other("`-` is standard input, which is a terminal: give a file, or a pipe"))
      }
      do {
        bytes = try call.console.readAll(limit: CSVReader.sizeLimit)
      } catch {
        if case .secretTooLong(let limit) = error { throw Failure(.tooLarge(limit: limit), file: source) }
        throw error
      }
    } else {
      bytes = try UserFile.read(source, limit: CSVReader.sizeLimit)
    }
    do {
      return try CSVImport.plan(bytes, mapping: mapping).draft
    } catch {
      throw Failure(error, file: source)
    }
  }
}
