internal import Arguments
internal import Keyring
internal import KeyringModel
internal import Secrets

/// `keytree get`: prints the secret of exactly one item.
enum GetCommand: Command {
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, completion: .item,
    help: "the item: `container/account`, `container`, a reference, or `#` and digits of its id")
  static let attributes = OptionDeclaration(
    "attributes", help: "print the attributes in place of the secret; nothing is decrypted")
  static let out = OptionDeclaration(
    "out", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "write the secret to a new file that only you can read")
  static let reveal = OptionDeclaration("reveal", help: "put the secret into the output of `--json`")

  static let declaration = CommandDeclaration(
    name: "get", summary: "print the secret of one item",
    details: [
      "The secret is printed byte for byte; on a terminal a line feed follows. Exactly one item has to "
        + "match: of several the candidates are listed on standard error, and nothing is decrypted.",
      "`--json` prints the attributes, and with `--reveal` the secret among them: as a string when it is UTF-8, "
        + "else as `{\"base64\":\"...\"}`. Without `--reveal` nothing is decrypted.",
      "`--out` makes a file that only you can read. It never writes to one that exists, nor through a link.",
    ],
    operands: [item], options: [attributes, out, reveal] + AttributeOptions.all,
    examples: [
      Example("keytree get github.com/alice", "prints the secret"),
      Example("keytree get github.com -a alice --attributes", "prints what else is known"),
      Example("keytree get keytree://generic-password/mailer/bot --out token", "writes it to a file"),
    ],
    exitCodes: [3, 4, 6, 7, 8, 9])

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    try refuseContradictions(call)
    let selection = try call.selection(0)
    if call.arguments.has(attributes) || (call.globals.json && !needsSecret(call)) {
      let record = try call.findOne(selection, in: try call.openIndex())
      show(record, call)
      return .done
    }
    let file = call.arguments.text(out).map(SecretFile.init)
    try file?.requireNothingThere()
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    // GnuPG is found and checked while the index is searched.
    keyring.warmUp()
    let record = try call.findOne(selection, in: keyring.index)
    let secret = try keyringCall(keyring.secret(for: record, matching: selection.query(for: record)))
    if let file {
      try file.write(secret)
      if call.globals.json { show(record, call) }
      call.console.say("Wrote \(ErrorReport.show(file.path)).")
    } else if call.globals.json {
      call.console.write(RecordMembers.of(record), secret: secret)
    } else {
      call.console.write(secret: secret)
    }
    return .done
  }

  private static func needsSecret(_ call: CommandCall) -> Bool {
    call.arguments.has(reveal) || call.arguments.has(out)
  }

  private static func refuseContradictions(_ call: CommandCall) throws(Failure) {
    if call.arguments.has(reveal), !call.globals.json {
      throw call.misuse(.other("--reveal is for the output of --json"))
    }
    let exclusive = [attributes, out, reveal].filter(call.arguments.has)
    if exclusive.count > 1 { throw call.misuse(.conflict(exclusive[0].display, exclusive[1].display)) }
  }

  /// The attributes, one to a line, or all in one JSON object.
  private static func show(_ record: ItemRecord, _ call: CommandCall) {
    if call.globals.json {
      call.console.write(RecordMembers.of(record))
      return
    }
    // Whoever asks for the attributes of one item wants all of each.
    var table = Table(
      ["attribute", "value"], isTerminal: call.console.outputIsTerminal, cellWidth: nil)
    let fixed: [AttributeName] = [
      .itemClass, .id, .revision, .group, .created, .modified, .secretModified,
    ]
    table.add(["reference", record.reference.text])
    for name in fixed {
      table.add([Array(name.text.utf8), record.value(of: name)?.shownBytes ?? []])
    }
    for entry in record.attributes.entries {
      table.add([Array(entry.name.text.utf8), entry.value.shownBytes])
    }
    call.console.write(table)
  }
}
