internal import Arguments
internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// `keytree show`: shows a login with the names of its fields.
enum ShowCommand: Command {
  static let item = OperandDeclaration(
    "ITEM", .bytes, count: .optional, completion: .item, help: "the item; options can replace it")
  static let reveal = OptionDeclaration(
    "reveal", help: "also decrypt the secret and all fields, and print them")

  static let declaration = CommandDeclaration(
    name: "show", summary: "show a login with the names of its fields",
    details: [
      "Shows the attributes, the names of the fields, the group and the dates. Nothing is decrypted. `keytree get "
        + "--attributes` shows the complete record.",
      "`--reveal` prints the secret and the fields of this one login byte for byte, each after its name. With `--json`, "
        + "each is one object: the item with its `secret`, then the fields.",
      "With `--clip`, the secret is copied to the clipboard and nothing is shown, as with `keytree get --clip`.",
    ],
    operands: [item], options: [reveal] + ClipboardTarget.options + AttributeOptions.all,
    examples: [
      Example("keytree show github.com/alice", "shows the login"),
      Example("keytree show github.com/alice --reveal", "also prints its secret and its fields"),
      Example("keytree show -c github.com/alice", "copies its secret to the clipboard"),
    ],
    exitCodes: [3, 4, 6, 7, 8, 9])

  static func run(_ call: CommandCall) throws -> ExitCode {
    try ClipboardTarget.refuseContradictions(call)
    if call.arguments.has(ClipboardTarget.clip) {
      if call.arguments.has(reveal) {
        throw call.misuse(.conflict(ClipboardTarget.clip.display, reveal.display))
      }
      return try GetCommand.run(call)
    }
    let selection = try call.selection(0)
    let isForPerson = call.console.outputIsTerminal && !call.globals.json
    guard call.arguments.has(reveal) else {
      let index = try call.openIndex()
      let record = try call.findOne(selection, in: index, letsChoose: isForPerson)
      let login = try call.login(of: record, in: index)
      if call.globals.json {
        call.console.write(RecordMembers.of(login))
      } else {
        LoginFacts(login).print(call)
      }
      return .done
    }
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let record = try call.findOne(selection, in: keyring.index, letsChoose: isForPerson)
    let login = try call.login(of: record, in: keyring.index)
    if !call.globals.json { LoginFacts(login).print(call) }
    for record in login.records {
      let secret = try keyring.secret(for: record, matching: selection.query(forChosen: record))
      if call.globals.json {
        call.console.write(RecordMembers.of(record), secret: secret)
      } else {
        call.console.print("\(record.field ?? "secret"):")
        try call.show(secret, of: record, endsLine: true)
      }
    }
    return .done
  }
}

/// The public facts about a login, for people.
private struct LoginFacts {
  private let login: Login

  init(_ login: Login) { self.login = login }

  /// Prints the name, and then one fact on each line.
  func print(_ call: CommandCall) {
    call.console.print(login.item.listLine)
    call.console.print(facts, indent: 2)
  }

  private var facts: FactList {
    let item = login.item
    var facts = FactList()
    func add(_ name: String, _ value: AttributeValue?) {
      guard let value else { return }
      facts.add(name, String(decoding: value.shownBytes, as: UTF8.self))
    }
    if item.itemClass != .internetPassword { facts.add("class", item.itemClass.rawValue) }
    let first: [AttributeName] = item.itemClass.containerNames + [.account, .url, .label]
    for name in first { add(name.text, item.attributes[name]) }
    if !item.tags.isEmpty { facts.add("tags", item.tags.joined(separator: ", ")) }
    for entry in item.attributes.entries where !(first + [.tags, .field]).contains(entry.name) {
      add(entry.name.text, entry.value)
    }
    if let field = item.field {
      facts.add("field", field)
    } else if !login.fieldNames.isEmpty {
      facts.add("fields", login.fieldNames.joined(separator: ", "))
    }
    facts.add("group", item.group)
    if item.isLocal { facts.add("local", "only on this machine") }
    facts.add("created", item.created.day)
    facts.add("changed", item.modified.day)
    facts.add("secret from", item.secretModified.day)
    facts.add("reference", item.reference.text)
    return facts
  }
}
