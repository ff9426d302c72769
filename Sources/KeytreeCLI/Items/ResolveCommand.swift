internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// `keytree resolve`: resolves the conflicts that a merge has left.
enum ResolveCommand: Command {
  static let history = HistoryUse.after

  static let keep = OptionDeclaration(
    "keep",
    .required(
      ValueDeclaration("WHICH", .choice(ConflictChoice.allCases.map(\.rawValue), old: Array(old.keys)))),
    help: "`item` keeps the item, `copy` replaces it with the conflict copy, `both` keeps both as items")
  /// The old words for the choices. They are not offered, because git uses them for another thing.
  private static let old: [String: ConflictChoice] = ["ours": .item, "theirs": .copy]
  static let declaration = CommandDeclaration(
    name: "resolve", summary: "resolve the conflicts that a merge has left",
    details: [
      "Without `--keep`, it lists all items that have conflict copies, or the copies of one item: who signed each "
        + "copy and when, how it differs from the item, and whose value each choice keeps. Nothing is decrypted.",
      "The item is the version that all commands use, on every machine; it need not be the one that was made on this "
        + "machine. The words `ours` and `theirs` of earlier versions mean `item` and `copy`.",
      "A conflict copy that is not signed by a member of its group can only be discarded, with `--keep item`.",
      "You must be in the group of the item and in that of the copy. If nobody is in both, an admin can discard the "
        + "copy with `--keep item --as-admin`.",
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item, help: "the item that has conflict copies")
    ],
    options: [AttributeOptions.field, keep, ConflictSelection.option, Widening.option, RemoveCommand.asAdmin]
      + AttributeOptions.all,
    examples: [
      Example("keytree resolve", "lists the conflicts"),
      Example("keytree resolve github.com/alice --keep copy", "replaces the item with the conflict copy"),
      Example("keytree get github.com/alice --copy 5394d489", "prints the secret of a conflict copy"),
    ],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14])

  static func run(_ call: CommandCall) throws -> ExitCode {
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    guard let word = call.arguments.text(keep), let choice = ConflictChoice(rawValue: word) ?? old[word]
    else {
      return try list(call, keyring)
    }
    let copy = try ConflictSelection(call: call, keyring: keyring).one(of: call.selection(0))
    let conflict = try Conflict(copy, in: keyring)
    if choice == .copy, let holder = conflict.holder {
      try call.confirmWidening(holder, to: copy.record.group, in: keyring)
    }
    let kept = try keyring.resolve(copy, keeping: choice, asAdmin: call.arguments.has(RemoveCommand.asAdmin))
    for record in kept { call.report("Kept", record) }
    call.console.say(conflict.outcome(of: choice))
    return .done
  }

  private static func list(_ call: CommandCall, _ keyring: Keyring) throws -> ExitCode {
    let given = try call.givenAttributes()
    let isNamed = call.arguments.operand(0) != nil || !given.isEmpty
    let conflicts = ConflictSelection(call: call, keyring: keyring)
    let copies = try isNamed ? conflicts.copies(of: call.selection(0)) : conflicts.all()
    if copies.isEmpty, isNamed { throw conflicts.none }
    for copy in copies {
      let conflict = try Conflict(copy, in: keyring)
      if call.globals.json {
        call.console.write(conflict.json)
      } else {
        call.console.print(call.name(of: conflict.holder ?? copy.record))
        call.console.print(conflict.facts, indent: 2)
      }
    }
    if copies.isEmpty {
      call.console.say("The store has no conflicts.")
    } else if !call.globals.json {
      call.console.say(
        "hint: `keytree get ITEM --copy DIGITS` prints the secret of a copy; "
          + "`keytree resolve ITEM --keep item`, `copy` or `both` resolves the conflict.")
    }
    return .done
  }
}

/// A conflict copy and the item that it conflicts with.
private struct Conflict {
  let copy: ConflictCopy
  let holder: ItemRecord?
  let holderSigner: Fingerprint?
  private let policy: Policy
  private let me: Fingerprint

  /// Creates the conflict of a copy.
  ///
  /// - Throws: The errors of `holder(of:)`.
  init(_ copy: ConflictCopy, in keyring: Keyring) throws {
    self.copy = copy
    holder = try keyring.holder(of: copy)
    holderSigner = try holder.flatMap { try keyring.verifiedRecords(of: [$0]).first?.signer }
    (policy, me) = (keyring.policy, keyring.ownFingerprint)
  }

  /// Whose value stays and whose goes after a choice, with the times.
  func outcome(of choice: ConflictChoice) -> String {
    guard let holder else { return "This is \(copyValue); there was no other." }
    let itemValue = value(of: holderSigner, holder)
    return switch choice {
    case .item: "It has \(itemValue). Dropped: \(copyValue)."
    case .copy: "It has \(copyValue). Dropped: \(itemValue)."
    case .both: "The first has \(itemValue), the second \(copyValue)."
    }
  }

  private var copyValue: String { value(of: copy.signer, copy.record) }

  /// Returns the description of a version by its signer and the time at which it changed.
  private func value(of signer: Fingerprint?, _ record: ItemRecord) -> String {
    let isSecret = holder?.revision != copy.record.revision
    let time = (isSecret ? record.secretModified : record.modified).second
    guard let signer else { return "a value that no member of its group has signed, from \(time)" }
    return "the value of \(name(of: signer)) from \(time)"
  }

  /// Returns the name of a person, with a mark for the user.
  private func name(of person: Fingerprint) -> String {
    policy.name(of: person) + (person == me ? " (you)" : "")
  }

  /// The differences as text, not escaped: first the value in the item, then the value in the copy; last the outcome of
  /// each choice.
  var facts: FactList {
    let record = copy.record
    var facts = FactList()
    facts.add("copy", copy.shortName)
    facts.add("signed", signed)
    if let holder {
      let who = holderSigner.map(name)
      facts.add(
        "item",
        who.map { "signed by \($0), changed \(holder.modified.second)" }
          ?? "not signed by a member of its group")
      let times = [holder, record].map(\.secretModified.second)
      facts.add(
        "secret",
        holder.revision == record.revision
          ? "the same in both" : "differs: from \(times[0]), in the copy from \(times[1])")
      for name in differing(from: holder) {
        facts.add(name.text, "\(shown(name, holder)), in the copy \(shown(name, record))")
      }
      if holder.group != record.group {
        facts.add("group", "\(holder.group), in the copy \(record.group)")
      }
    } else {
      facts.add("item", "no longer in the store")
    }
    if let holder {
      let itemValue = value(of: holderSigner, holder)
      facts.add("keep item", "keeps \(itemValue); drops \(copyValue)")
      if copy.signer != nil { facts.add("keep copy", "keeps \(copyValue); drops \(itemValue)") }
    }
    return facts
  }

  private var signed: String {
    guard let signer = copy.signer else { return "not by a member of its group" }
    let name = name(of: signer)
    return copy.signed.map { "by \(name), \($0.second)" } ?? "by \(name)"
  }

  private func shown(_ name: AttributeName, _ record: ItemRecord) -> String {
    guard let value = record.attributes[name] else { return "none" }
    return String(decoding: value.shownBytes, as: UTF8.self)
  }

  private func differing(from holder: ItemRecord) -> [AttributeName] {
    Set(holder.attributes.names + copy.record.attributes.names).sorted()
      .filter { holder.attributes[$0] != copy.record.attributes[$0] }
  }

  /// The differences as JSON.
  var json: [JSONMember] {
    [
      JSONMember("copy", .string(copy.name)),
      JSONMember("copySecretModified", .string(copy.record.secretModified.rfc3339)),
      JSONMember(
        "differs",
        .array(holder.map { holder in differing(from: holder).map { .string($0.text) } } ?? [])),
      JSONMember("id", .string(copy.record.id.hex)),
      JSONMember("item", holder.map { .string($0.reference.text) } ?? .null),
      JSONMember("itemModified", holder.map { .string($0.modified.rfc3339) } ?? .null),
      JSONMember("itemSecretModified", holder.map { .string($0.secretModified.rfc3339) } ?? .null),
      JSONMember("itemSigner", holderSigner.map { .string($0.text) } ?? .null),
      JSONMember("sameSecret", .bool(holder?.revision == copy.record.revision)),
      JSONMember("signed", copy.signed.map { .string($0.rfc3339) } ?? .null),
      JSONMember("signer", copy.signer.map { .string($0.text) } ?? .null),
    ]
  }
}
