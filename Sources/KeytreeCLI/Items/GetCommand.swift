internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree get`: prints the secret of exactly one item.
enum GetCommand: Command {
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, completion: .item,
    help: "the item: `container/account`, `container`, a reference, or `#` and digits of its id")
  static let attributes = OptionDeclaration(
    "attributes", help: "print the attributes instead of the secret; nothing is decrypted")
  static let out = OptionDeclaration(
    "out", .required(ValueDeclaration("FILE", .text, completion: .file)),
    help: "write the secret to a new file that only you can read")
  static let at = OptionDeclaration(
    "at", .required(ValueDeclaration("REV|DATE", .text)),
    help: "an older version: a commit in any notation of git, digits of a revision of the secret, or a date")
  static let qr = OptionDeclaration("qr", help: "show the secret as a QR code, for a camera")
  static let reveal = OptionDeclaration("reveal", help: "include the secret in the output of `--json`")

  static let declaration = CommandDeclaration(
    name: "get", summary: "print the secret of one item",
    details: [
      "The secret is printed byte for byte; on a terminal a line feed follows. Exactly one item must match. On "
        + "a terminal, you choose if several match or only items with similar names exist, and a single similar item is "
        + "taken. Otherwise they are listed on standard error and nothing is decrypted.",
      "`--json` prints the attributes, and with `--reveal` also the secret: as a string if it is UTF-8, else as "
        + "`{\"base64\":\"...\"}`. Without `--reveal`, nothing is decrypted.",
      "`--out` creates a file that only you can read. It never overwrites a file and never follows a link.",
      "`--at` reads the store's history: the item is found by its id in that commit, even if it had another name, and "
        + "a deleted item by its name. Give a revision by 8 digits or more, as `keytree history` shows them. A date is "
        + "`yesterday`, `3 days ago`, `2026-11-01` (the end of that day, UTC) or `2026-11-01 14:30`. A secret is "
        + "printed only if a member of the item's group has signed the old record.",
      "`--copy` selects a conflict copy that a merge has kept; `keytree resolve` lists them.",
    ] + ClipboardTarget.details + [
      "`--qr` draws black on white on a terminal, regardless of its colours, and plain blocks in a pipe. A QR code "
        + "can contain up to \(QRCode.limit) bytes."
    ],
    operands: [item],
    options: [AttributeOptions.field, attributes, out] + ClipboardTarget.options + [
      qr, at, ConflictSelection.option, reveal,
    ]
      + AttributeOptions.all,
    examples: [
      Example("keytree get github.com/alice", "prints the secret"),
      Example("keytree get github.com -a alice --attributes", "prints the attributes"),
      Example("keytree get github.com/alice --field note", "prints the field `note`"),
      Example("keytree get keytree://generic-password/mailer/bot --out token", "writes it to a file"),
      Example("keytree get github.com/alice --clip", "copies it to the clipboard for 45 seconds"),
      Example("keytree get wifi/home --qr", "shows it as a QR code"),
      Example("keytree get github.com/alice --at HEAD~3", "prints the secret as it was three commits ago"),
      Example(
        "keytree get github.com/alice --at 2026-11-01", "prints the secret as it was at the end of that day"),
    ],
    exitCodes: [3, 4, 6, 7, 8, 9, 11])

  static func run(_ call: CommandCall) throws -> ExitCode {
    try refuseContradictions(call)
    let selection = try call.selection(0)
    if call.arguments.has(ConflictSelection.option) { return try showCopy(call, selection) }
    var past: PastItem?
    if let revision = call.arguments.text(at) { past = try PastItem(call, selection, at: revision) }
    if call.arguments.has(attributes) || (call.globals.json && !needsSecret(call)) {
      let isForPerson = call.console.outputIsTerminal && !call.globals.json
      call.show(try record(past, call, selection, in: try call.openIndex(), letsChoose: isForPerson))
      if !call.arguments.has(attributes) { call.console.say("hint: `--reveal` includes the secret.") }
      return .done
    }
    let delivery = try Delivery(call)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    // GnuPG is located and checked while the index is searched.
    keyring.warmUp()
    let record = try record(past, call, selection, in: keyring.index, letsChoose: delivery.isForPerson)
    let secret =
      if let past { try past.secret(in: keyring) } else {
        try keyring.secret(for: record, matching: selection.query(forChosen: record))
      }
    try delivery.deliver(secret, of: record)
    return .done
  }

  /// Prints a conflict copy, or its secret.
  private static func showCopy(
    _ call: CommandCall, _ selection: ItemSelection
  ) throws -> ExitCode {
    let delivery = try Delivery(call)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    let copy = try ConflictSelection(call: call, keyring: keyring).one(of: selection)
    if call.arguments.has(attributes) || (call.globals.json && !needsSecret(call)) {
      guard copy.signer != nil else { throw KeyringError.itemDamaged(copy.record.reference, .badSignature) }
      call.show(copy.record)
    } else {
      try delivery.deliver(try keyring.secret(of: copy), of: copy.record)
    }
    return .done
  }

  /// The destination of the secret. It is created before any decryption, so that an error costs no passphrase prompt.
  private struct Delivery {
    private let call: CommandCall
    private let file: SecretFile?
    private let clipboard: ClipboardTarget?
    private let encoder: QREncoder?

    init(_ call: CommandCall) throws {
      self.call = call
      file = try call.secretFile(out)
      try file?.requireNothingThere()
      clipboard = try ClipboardTarget(call)
      encoder = call.arguments.has(qr) ? try QREncoder() : nil
    }

    /// True if only the user sees the secret: on the terminal or in the clipboard.
    var isForPerson: Bool {
      if call.globals.json || file != nil { return false }
      return clipboard != nil || call.console.outputIsTerminal
    }

    func deliver(_ secret: borrowing SecretBytes, of record: ItemRecord) throws {
      if let clipboard {
        if call.globals.json { call.show(record) }
        try clipboard.deliver(secret, as: "the secret of \(call.name(of: record))")
      } else if let encoder {
        try call.console.draw(secret, with: encoder, isPlain: call.environment.terminalKind == "dumb")
      } else if let file {
        try file.write(secret)
        if call.globals.json { call.show(record) }
        call.console.say("Wrote \(file.path).")
      } else if call.globals.json {
        call.console.write(RecordMembers.of(record), secret: secret)
      } else {
        try call.show(secret, of: record)
      }
    }
  }

  /// Returns the past item, if one was requested, else the current one.
  private static func record(
    _ past: PastItem?, _ call: CommandCall, _ selection: ItemSelection, in index: Index,
    letsChoose: Bool = false
  ) throws -> ItemRecord {
    if let past { return past.record }
    return try call.findOne(selection, in: index, letsChoose: letsChoose)
  }

  private static func needsSecret(_ call: CommandCall) -> Bool {
    [reveal, out, ClipboardTarget.clip].contains(where: call.arguments.has)
  }

  private static func refuseContradictions(_ call: CommandCall) throws {
    if call.arguments.has(reveal), !call.globals.json {
      throw call.misuse(.other("--reveal requires --json"))
    }
    if call.arguments.has(qr), call.globals.json {
      throw call.misuse(.conflict(qr.display, GlobalOptions.json.display))
    }
    try ClipboardTarget.refuseContradictions(call)
    if call.arguments.has(at), call.arguments.has(ConflictSelection.option) {
      throw call.misuse(.conflict(at.display, ConflictSelection.option.display))
    }
    let exclusive = [attributes, out, ClipboardTarget.clip, qr, reveal].filter(call.arguments.has)
    if exclusive.count > 1 { throw call.misuse(.conflict(exclusive[0].display, exclusive[1].display)) }
  }
}
