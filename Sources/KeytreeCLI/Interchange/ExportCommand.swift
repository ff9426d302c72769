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
    "plaintext", help: "write the secrets unencrypted: anyone who can read the file can read them")
  static let recipient = OptionDeclaration(
    "recipient", .required(ValueDeclaration("FPR", .text)),
    help: "encrypt to this key of a person in the store, or of your own GnuPG keyring", isRepeatable: true)
  static let dryRun = OptionDeclaration(
    "dry-run", help: "only report what would be lost; nothing is decrypted or written")
  static let acceptLoss = OptionDeclaration(
    "accept-loss", help: "export even if some data is lost")
  static let verbose = OptionDeclaration(
    "verbose", short: "v", help: "list each item that loses data, instead of their number")
  static let csvFormat = format(["chrome", "bitwarden"])
  static let jsonFormat = format(["keytree", "bitwarden"])

  private static func format(_ names: [String]) -> OptionDeclaration {
    OptionDeclaration(
      "format", .required(ValueDeclaration("PROGRAM", .choice(names))),
      help:
        "the program that will read the file: \(names.joined(separator: " or ")); the first is the default")
  }

  private static let text = OperandDeclaration(
    "TEXT", .bytes, count: .optional, help: "export only items with this text in any attribute")
  private static let file = OperandDeclaration("FILE", .text, completion: .file, help: "the file to create")
  private static let options =
    [
      plaintext, recipient, dryRun, acceptLoss, verbose, ItemSearch.ignoreCase,
      ItemSearch.caseSensitive,
    ]
    + AttributeOptions.all
  private static let codes: [Int32] = [1, 2, 3, 4, 5, 7, 8, 9, 10].filter { $0 > 2 }

  static let pass = CommandDeclaration(
    name: "pass", summary: "create a pass store",
    details: [
      "Creates one file for each item: the first line is the secret, followed by lines `login:`, `url:` and `otpauth:` "
        + "where they are needed, and by the field `note`. Each other field is a separate file. The files are encrypted "
        + "to the keys of `--recipient`, which `.gpg-id` lists."
    ],
    operands: [
      OperandDeclaration(
        "DIR", .text, completion: .folder, help: "the folder to create; an empty folder may exist"),
      text,
    ],
    options: options,
    examples: [
      Example(
        "keytree export pass store --recipient 0123456789ABCDEF0123456789ABCDEF01234567",
        "creates a store that `PASSWORD_STORE_DIR=store pass` can read")
    ],
    exitCodes: codes)
  static let csv = CommandDeclaration(
    name: "csv", summary: "create a CSV file",
    details: [
      "For Chrome, Edge and Brave, or for Bitwarden. A value that begins with `=`, `+`, `-` or `@` is written "
        + "unchanged: do not open the file in a spreadsheet."
    ],
    operands: [file, text], options: [csvFormat] + options,
    examples: [
      Example("keytree export csv out.csv --plaintext --dry-run", "reports what would be lost"),
      Example(
        "keytree export csv out.csv --plaintext --format bitwarden",
        "creates a file that Bitwarden can import"),
    ],
    exitCodes: codes)
  static let json = CommandDeclaration(
    name: "json", summary: "create a JSON file",
    details: [
      "The format of keytree keeps every attribute and the exact secret; `import json` reads it. The format of "
        + "Bitwarden can be imported by Bitwarden."
    ],
    operands: [file, text], options: [jsonFormat] + options,
    examples: [
      Example(
        "keytree export json backup.json.gpg --recipient 0123456789ABCDEF0123456789ABCDEF01234567",
        "exports everything, encrypted")
    ],
    exitCodes: codes)

  static let bitwarden = CommandDeclaration(
    name: "bitwarden", summary: "create a JSON file for Bitwarden",
    details: [
      "The same as `export json --format bitwarden`. Encrypted fields become hidden fields, attributes become text fields."
    ],
    operands: [file, text], options: options,
    examples: [
      Example(
        "keytree export bitwarden out.json --plaintext", "creates a file that Bitwarden can import")
    ],
    exitCodes: codes)

  static let declaration = CommandDeclaration(
    name: "export", summary: "export secrets for other programs",
    details: [
      "Secrets are written unencrypted only with `--plaintext`; with `--recipient`, the result is encrypted. Only you "
        + "can access the new files. Existing files are never overwritten.",
      "If some data would be lost, nothing is written and the exit code is 1, unless you give `--accept-loss`. Losses "
        + "of attributes are reported before anything is decrypted; a secret that the format cannot contain, such as "
        + "one that is not text, is found afterwards. Ids and times do not count as lost data.",
    ],
    subcommands: [pass, csv, json, bitwarden])

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard let target = call.arguments.operand(0)?.text, !target.isEmpty else {
      throw call.misuse(.missingOperand("FILE"))
    }
    guard target != "-" else {
      throw call.misuse(
        .advised("an export cannot be written to standard output", hint: "`./-` is a file with this name"))
    }
    let isTree = call.path.last?.name == pass.name
    try requireProtection(call, isTree: isTree)
    let search = try ItemSearch(call, words: call.arguments.operands.dropFirst())
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
    // An export must not silently omit an item.
    guard found.problems.isEmpty else { throw CommandError.noMatchButDamage("all items") }
    guard !found.logins.isEmpty else {
      throw CommandError.other(
        .notFound, message: "no item matches",
        hint: "`keytree find` lists the items, with the same TEXT and options")
    }
    let run = ExportRun(
      call: call, keyring: keyring, target: target, sealer: sealer, format: format(of: call),
      isDryRun: call.arguments.has(dryRun), acceptsLoss: call.arguments.has(acceptLoss),
      isVerbose: call.arguments.has(verbose))
    try run(found.logins.flatMap(\.records))
    return .done
  }

  /// Returns the format of the file; nil for a pass store.
  private static func format(of call: CommandCall) -> (any ExportFile)? {
    switch (call.path.last?.name, call.arguments.text(csvFormat)) {
    case (pass.name, _): nil
    case (bitwarden.name, _): BitwardenExport()
    case (csv.name, "bitwarden"): BitwardenCSVExport()
    case (csv.name, _): ChromeExport()
    case (_, "bitwarden"): BitwardenExport()
    default: KeytreeExport()
    }
  }

  /// Checks that the options determine who can read the result.
  private static func requireProtection(_ call: CommandCall, isTree: Bool) throws {
    let isOpen = call.arguments.has(plaintext)
    let isSealed = call.arguments.has(recipient)
    if isOpen, isSealed { throw call.misuse(.conflict(plaintext.display, recipient.display)) }
    if isTree, isOpen {
      throw call.misuse(
        .advised(
          "a pass store is always encrypted",
          hint: "give `--recipient FPR`, for example your own key; `keytree status` shows it"))
    }
    if !isOpen, !isSealed {
      throw call.misuse(
        .advised(
          isTree ? "`--recipient` is missing" : "`--recipient` or `--plaintext` is missing",
          hint: isTree
            ? "`--recipient FPR` encrypts the files to a key"
            : "`--recipient FPR` encrypts the file to a key, `--plaintext` writes it unencrypted"))
    }
  }

  /// Returns an encryptor for the keys of `--recipient`, from the store or else from the user's own keyring.
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
