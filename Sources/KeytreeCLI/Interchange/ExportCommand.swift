internal import Arguments
internal import CommandSupport
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Terminal

/// `keytree export`: exports secrets from the store for other programs.
enum ExportCommand: Command {
  static let plaintext = OptionDeclaration(
    "plaintext", help: "write the secrets in the open: whoever reads the file has them")
  static let recipient = OptionDeclaration(
    "recipient", .required(ValueDeclaration("FPR", .text)),
    help: "encrypt to this key: somebody of the store, or a key of your own GnuPG keyring", isRepeatable: true
  )
  static let dryRun = OptionDeclaration(
    "dry-run", help: "only report what would not arrive whole; nothing is written")
  static let acceptLoss = OptionDeclaration(
    "accept-loss", help: "export the rest although something would be lost")
  static let csvFormat = format(["chrome", "bitwarden"])
  static let jsonFormat = format(["keytree", "bitwarden"])

  private static func format(_ names: [String]) -> OptionDeclaration {
    OptionDeclaration(
      "format", .required(ValueDeclaration("PROGRAM", .choice(names))),
      help: "the program that is to read it: \(names.joined(separator: " or ")); the first is the default")
  }

  private static let text = OperandDeclaration(
    "TEXT", .bytes, count: .optional, help: "export items with this in any attribute; else all")
  private static let file = OperandDeclaration("FILE", .text, completion: .file, help: "the file to make")
  private static let options =
    [plaintext, recipient, dryRun, acceptLoss, ItemSearch.ignoreCase] + AttributeOptions.all
  private static let codes: [Int32] = [1, 2, 3, 4, 5, 7, 8, 9, 10].filter { $0 > 2 }

  static let pass = CommandDeclaration(
    name: "pass", summary: "make a store of pass",
    details: [
      "A file for each item: its first line is the secret, then come the fields `note` and `otp`. Any other field is a "
        + "file of its own. The files are encrypted to `--recipient`, as `.gpg-id` "
        + "says."
    ],
    operands: [
      OperandDeclaration(
        "DIR", .text, completion: .folder, help: "the folder to make; it may be there, empty"),
      text,
    ],
    options: options,
    examples: [
      Example(
        "keytree export pass store --recipient 0123456789ABCDEF0123456789ABCDEF01234567",
        "what `PASSWORD_STORE_DIR=store pass` reads")
    ],
    exitCodes: codes)
  static let csv = CommandDeclaration(
    name: "csv", summary: "make a CSV file",
    details: [
      "For Chrome, which Edge and Brave read as well, or for Bitwarden. A field that begins with `=`, `+`, `-` or "
        + "`@` is written as it is: do not open the file with a spreadsheet."
    ],
    operands: [file, text], options: [csvFormat] + options,
    examples: [
      Example("keytree export csv out.csv --plaintext --dry-run", "reports what would not arrive whole"),
      Example("keytree export csv out.csv --plaintext --format bitwarden", "what Bitwarden imports"),
    ],
    exitCodes: codes)
  static let json = CommandDeclaration(
    name: "json", summary: "make a JSON file",
    details: [
      "Keytree's own form keeps every attribute and the exact secret, which `import json` reads; Bitwarden's is what "
        + "Bitwarden imports."
    ],
    operands: [file, text], options: [jsonFormat] + options,
    examples: [
      Example(
        "keytree export json backup.json.gpg --recipient 0123456789ABCDEF0123456789ABCDEF01234567",
        "everything, sealed")
    ],
    exitCodes: codes)

  static let declaration = CommandDeclaration(
    name: "export", summary: "take secrets out for another program",
    details: [
      "Nothing is written in the open without `--plaintext`; with `--recipient` the result is encrypted. Files are "
        + "made for you alone, and never over one that is there.",
      "When something would not arrive whole, nothing is written and the exit code is 1, unless `--accept-loss`. Ids "
        + "and times are not taken for a loss.",
    ],
    subcommands: [pass, csv, json])

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard let target = call.arguments.operand(0)?.text, !target.isEmpty else {
      throw call.misuse(.missingOperand("FILE"))
    }
    guard target != "-" else {
      throw call.misuse(
        .advised("an export is a file, not standard output", hint: "`./-` is a file of this name"))
    }
    let isTree = call.path.last?.name == pass.name
    try requireProtection(call, isTree: isTree)
    let search = try ItemSearch(call, operand: 1)
    if isTree {
      try ExportFolder.requireNothingThere(target)
    } else {
      try SecretFile(path: target).requireNothingThere()
    }
    let keyring = try call.openKeyring()
    let sealer = try sealer(call, keyring)
    defer {
      call.explain(keyring.engineStatistics + (sealer?.statistics ?? EngineStatistics()))
    }
    let found = try search.run(in: keyring.index)
    // An export that silently lacks an item would be worse than none.
    guard found.problems.isEmpty else { throw CommandError.noMatchButDamage("all items") }
    guard !found.logins.isEmpty else {
      throw CommandError.other(
        .notFound, message: "no item matches", hint: "`keytree find` lists the items by the same words")
    }
    let run = ExportRun(
      call: call, keyring: keyring, target: target, sealer: sealer, isDryRun: call.arguments.has(dryRun),
      acceptsLoss: call.arguments.has(acceptLoss))
    let items = try run.items(found.logins.flatMap(\.records))
    switch (call.path.last?.name, call.arguments.text(csvFormat)) {
    case (pass.name, _):
      if let sealer { try run.writeTree(ExportEntry.entries(of: items), for: sealer) }
    case (csv.name, "bitwarden"): try run.write(ExportEntry.entries(of: items), as: BitwardenCSVExport())
    case (csv.name, _): try run.write(ExportEntry.entries(of: items), as: ChromeExport())
    case (_, "bitwarden"): try run.write(ExportEntry.entries(of: items), as: BitwardenExport())
    default: try run.write(items.map { ExportEntry(main: $0) }, as: KeytreeExport())
    }
    return .done
  }

  /// Checks that the options determine who can read the result.
  private static func requireProtection(_ call: CommandCall, isTree: Bool) throws {
    let isOpen = call.arguments.has(plaintext)
    let isSealed = call.arguments.has(recipient)
    if isOpen, isSealed { throw call.misuse(.conflict(plaintext.display, recipient.display)) }
    if isTree, isOpen {
      throw call.misuse(
        .advised(
          "a store of pass is always encrypted",
          hint: "give `--recipient FPR`, your own key for one; `keytree status` shows it"))
    }
    if !isOpen, !isSealed {
      throw call.misuse(
        .advised(
          isTree ? "it is not said whom the files are for" : "it is not said who may read the file",
          hint: isTree
            ? "`--recipient FPR` encrypts them to a key"
            : "`--recipient FPR` encrypts it to a key, `--plaintext` writes it in the open"))
    }
  }

  /// Returns a sealer for the keys of `--recipient`: of people of the store, else of the user's own keyring.
  private static func sealer(_ call: CommandCall, _ keyring: Keyring) throws -> MessageEncryptor? {
    let words = call.arguments.values(recipient)
    guard !words.isEmpty else { return nil }
    let people = TeamPeople(call: call, keyring: keyring)
    var keys: [Fingerprint: [UInt8]] = [:]
    for word in words {
      guard let fingerprint = word.text.flatMap(TeamPeople.fingerprint) else {
        throw call.misuse(.other("`--recipient` takes all 40 or 64 digits of a fingerprint"))
      }
      // A person who was removed can no longer read the store, but the user may still want them as a recipient.
      var key = keyring.keyFile(of: fingerprint)
      if key == nil { key = try people.own(fingerprint) }
      guard let key else { throw KeyringError.engine(.unusableKey(fingerprint, .missing), nil) }
      keys[fingerprint] = key
    }
    let sealer = MessageEncryptor(keys: keys, host: try call.host())
    try sealer.check()
    return sealer
  }
}
