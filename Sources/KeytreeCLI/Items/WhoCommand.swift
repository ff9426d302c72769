internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// `keytree who`: shows who can decrypt an item.
enum WhoCommand: Command {
  static let declaration = CommandDeclaration(
    name: "who", summary: "show who can decrypt an item, or the members of all groups",
    details: [
      "Reads the recipients from the packets of the item's file, as GnuPG does, and then compares them with the "
        + "policy. Nothing is decrypted. Each recipient is one line: the subkey and its owner.",
      "Without an item, it lists the groups with their members, as `keytree group list` does.",
      "The exit code is 13 if the recipients are not exactly the members of the item's group.",
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item, help: "the item; options can replace it")
    ],
    options: AttributeOptions.all,
    examples: [Example("keytree who github.com/alice", "prints one line for each recipient")],
    exitCodes: [4, 6, 8, 9, 13])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let given = try call.givenAttributes()
    guard call.arguments.operand(0) != nil || !given.isEmpty else {
      try GroupList(try call.openKeyring()).print(call)
      return .done
    }
    let selection = try call.selection(0)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    let record = try call.findOne(selection, in: keyring.index)
    let readers = try keyring.readers(of: record)
    if call.globals.json {
      call.console.print(json: json(readers, record))
    } else {
      for reader in readers.readers { call.console.print(wrapping: line(reader, keyring.policy), indent: 2) }
      for member in readers.missing {
        call.console.print(
          wrapping: "-                 \(member.text)  \(keyring.policy.name(of: member)), CANNOT READ IT",
          indent: 2)
      }
    }
    if readers.isRight { return .done }
    call.console.say(
      "hint: the recipients are not exactly the members of group \(ErrorReport.quote(record.group)); "
        + "`keytree group reseal` re-encrypts the item.")
    return .failedChecks
  }

  private static func line(_ reader: ItemReaders.Reader, _ policy: Policy) -> String {
    let names = reader.people.map { "\($0.text)  \(policy.name(of: $0))" }
    let words = names.isEmpty ? "no member has this key" : names.joined(separator: " or ")
    return "\(reader.id.text)  \(words)\(reader.isExpected ? "" : ", NOT IN THE GROUP OR AN OLD SUBKEY")"
  }

  private static func json(_ readers: ItemReaders, _ record: ItemRecord) -> JSONValue {
    .object([
      JSONMember("group", .string(record.group)), JSONMember("item", .string(record.reference.text)),
      JSONMember("missing", .array(readers.missing.map { .string($0.text) })),
      JSONMember(
        "readers",
        .array(
          readers.readers.map { reader in
            .object([
              JSONMember("expected", .bool(reader.isExpected)), JSONMember("keyID", .string(reader.id.text)),
              JSONMember("people", .array(reader.people.map { .string($0.text) })),
            ])
          })),
    ])
  }
}
