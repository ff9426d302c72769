internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OneTimePasswords
internal import Secrets
internal import Terminal

/// `keytree otp`: generates one-time passwords.
enum OtpCommand: Command {
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, completion: .item, help: "the item")
  static let qr = OptionDeclaration(
    "qr", help: "show the seed as a QR code for an authenticator app; no code is generated")
  static let attributes = OptionDeclaration(
    "attributes", help: "print the attributes instead of a code; nothing is decrypted and no counter changes")

  private static let add = CommandDeclaration(
    name: "add", summary: "store a one-time password seed",
    details: [
      "The seed is an `otpauth://` URI, or base32 alone. On a terminal, it is entered at a prompt; otherwise it is "
        + "all of standard input. It is never an argument. An invalid seed is not stored.",
      "The seed becomes the field `otp` of the item, which does not have to exist. Issuer and account of the URI "
        + "become its label if you give no label; a label is public.",
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item,
        help: "`server/account` or `server`; options can replace it")
    ],
    options: [AddCommand.update, AddCommand.local],
    examples: [
      Example("keytree otp add github.com/alice", "prompts for the seed"),
      Example("zbarimg -q --raw code.png | keytree otp add github.com/alice", "reads it from an image"),
    ],
    exitCodes: [3, 5, 9, 10, 11, 12, 14])

  static let declaration = CommandDeclaration(
    name: "otp", summary: "print a one-time password",
    details: [
      "The code is computed from the time (RFC 6238) or from a counter (RFC 4226), with SHA-1, SHA-256 or SHA-512, and "
        + "has six to eight digits. Steam codes have five letters and digits: their seed begins with `steam://`, or is an "
        + "`otpauth` URI with the type `steam`, `encoder=steam` or the issuer Steam. Standard error shows how long the "
        + "code is valid.",
      "The seed is the field `otp` of the item. If the item has no such field, its own secret may be an `otpauth` URI. "
        + "Base32 alone is accepted only if you name the item by a reference, by its id, or with its class.",
      "With a counter, the next value is stored before the code is shown, so that no code is shown twice. This is a "
        + "change like any other, with a commit.",
      "`--json` prints the attributes, the code and the `seconds` for which it is valid. With `--clip`, the code is "
        + "only copied.",
    ] + ClipboardTarget.details,
    operands: [item], options: ClipboardTarget.options + [qr, attributes] + AttributeOptions.all,
    subcommands: [add],
    examples: [
      Example("keytree otp github.com/alice", "prints the code"),
      Example("keytree otp github.com/alice --clip=20", "copies it to the clipboard for 20 seconds"),
      Example("keytree otp github.com/alice --qr", "shows the seed as a QR code"),
    ],
    exitCodes: [3, 4, 6, 7, 8, 9, 10, 11, 12, 14])

  static func history(of call: CommandCall) -> HistoryUse { isAdding(call) ? .after : .none }

  private static func isAdding(_ call: CommandCall) -> Bool { call.path.last?.name == add.name }

  static func run(_ call: CommandCall) throws -> ExitCode {
    if isAdding(call) {
      if let option = (ClipboardTarget.options + [qr, attributes]).first(where: call.arguments.has) {
        throw call.misuse(.other("\(option.display) applies to a code, not to a new seed"))
      }
      try NewSeed.store(call)
      return .done
    }
    try refuseContradictions(call)
    if call.arguments.has(attributes) {
      let (record, _) = try OneTimePasswordItem.record(
        call, in: try call.openIndex(), letsChoose: isForPerson(call, clipboard: nil))
      call.show(record)
      return .done
    }
    let clipboard = try ClipboardTarget(call)
    let encoder = call.arguments.has(qr) ? try QREncoder() : nil
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    var item = try OneTimePasswordItem(
      call, in: keyring, letsChoose: isForPerson(call, clipboard: clipboard))
    if let encoder {
      let attributes = item.record.attributes
      let seed = try item.seed()
      let address = seed.address(
        issuer: text(attributes[.server] ?? attributes[.service]), account: text(attributes[.account]))
      try call.console.draw(address, with: encoder, isPlain: call.environment.terminalKind == "dumb")
      return .done
    }
    let code = try item.code(at: call.environment.clock())
    try code.deliver(call) { code in try show(code, of: item, call, clipboard) }
    return .done
  }

  /// Returns true if only the user sees the output: on the terminal or in the clipboard.
  private static func isForPerson(_ call: CommandCall, clipboard: ClipboardTarget?) -> Bool {
    !call.globals.json && (clipboard != nil || call.console.outputIsTerminal)
  }

  private static func show(
    _ code: borrowing OneTimePasswordItem.Code, of item: OneTimePasswordItem, _ call: CommandCall,
    _ clipboard: ClipboardTarget?
  ) throws {
    let console = call.console
    if call.globals.json {
      var members = RecordMembers.of(item.record).filter { $0.name != "code" && $0.name != "seconds" }
      if clipboard == nil {
        if let seconds = code.seconds { members.append(JSONMember("seconds", .integer(seconds))) }
        console.write(members, secret: code.digits, named: "code")
      } else {
        console.write(members)
      }
    } else if clipboard == nil {
      console.write(secret: code.digits)
    }
    if let counter = code.counter {
      console.say("Generated with counter \(counter), which is now used up.")
    } else if let seconds = code.seconds {
      console.say("Valid for \(seconds) \(seconds == 1 ? "second" : "seconds").")
    }
    try clipboard?.deliver(code.digits, as: "the code of \(item.name)")
  }

  private static func refuseContradictions(_ call: CommandCall) throws {
    try ClipboardTarget.refuseContradictions(call)
    if call.arguments.has(qr), call.globals.json {
      throw call.misuse(.conflict(qr.display, GlobalOptions.json.display))
    }
    let exclusive = [ClipboardTarget.clip, qr, attributes].filter(call.arguments.has)
    if exclusive.count > 1 { throw call.misuse(.conflict(exclusive[0].display, exclusive[1].display)) }
  }

  /// Returns the text of an attribute, for a label.
  private static func text(_ value: AttributeValue?) -> String {
    value.map { String(decoding: $0.shownBytes, as: UTF8.self) } ?? ""
  }
}
