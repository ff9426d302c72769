internal import Arguments
internal import Keyring
internal import KeyringModel

/// `keytree resolve`: settles what a merge has left in conflict.
enum ResolveCommand: Command {
  static let history = HistoryUse.after

  static let keep = OptionDeclaration(
    "keep", .required(ValueDeclaration("WHICH", .choice(ConflictChoice.allCases.map(\.rawValue)))),
    help: "`ours`: the item as it is; `theirs`: the conflict copy in its place; `both`: an item for each")

  static let declaration = CommandDeclaration(
    name: "resolve", summary: "settle what a merge has left in conflict",
    details: [
      "Without `--keep` it lists the items that have conflict copies, and in what they differ; nothing is "
        + "decrypted. `keytree get` with the reference of a copy shows its secret.",
      "With several copies of one item, name the copy by its reference or its id.",
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item, help: "the item, or one of its conflict copies")
    ],
    options: [keep] + AttributeOptions.all,
    examples: [
      Example("keytree resolve", "lists what is in conflict"),
      Example("keytree resolve github.com/alice --keep theirs", "takes the version of the conflict copy"),
    ],
    exitCodes: [4, 5, 6, 7, 8, 9, 11, 12])

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    guard let word = call.arguments.text(keep), let choice = ConflictChoice(rawValue: word) else {
      return try list(call)
    }
    let selection = try call.selection(0)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let copy = try copy(selection, call, keyring)
    let kept = try keyringCall(keyring.resolve(copy, keeping: choice))
    call.console.say("Settled: \(ErrorReport.show(copy.reference.text)) is gone.")
    for record in kept { call.report("Kept", record) }
    return .done
  }

  /// The conflict copy that is meant: itself, or the only one of an item.
  private static func copy(
    _ selection: ItemSelection, _ call: CommandCall, _ keyring: Keyring
  ) throws(Failure) -> ItemRecord {
    let name = call.nameForMessages(0)
    let all = try keyringCall(keyring.conflictCopies())
    let named = selection.settle(try call.find(selection, in: keyring.index).items)
    let ids = Set(named.map(\.id))
    var copies = all.filter { ids.contains($0.id) || $0.conflictOf.map(ids.contains) ?? false }
    if copies.isEmpty {
      // The item that had the place may be gone, and its copies have the name still.
      copies = all.filter { copy in
        var plain = copy
        plain.attributes[.conflictOf] = nil
        return selection.accepts(plain)
      }
    }
    guard let first = copies.first else {
      throw .other(
        .notFound, message: "\(ErrorReport.show(name)) has no conflict copy",
        hint: "`keytree resolve` lists what is in conflict")
    }
    guard copies.count == 1 else { throw .ambiguous(name, candidates: copies.map(\.reference.text)) }
    return first
  }

  private static func list(_ call: CommandCall) throws(Failure) -> ExitCode {
    let index = try call.openIndex()
    var query = Query(predicates: [Predicate(subject: .attribute(.conflictOf), comparison: .exists)])
    query.includesConflictCopies = true
    let matches = try keyringCall(index.find(query))
    call.tell(matches.problems)
    let copies = matches.items.filter(\.isConflictCopy)
    for copy in copies {
      guard let id = copy.conflictOf else { continue }
      let holder = try keyringCall(index.find(Query(predicates: [.id(id)], limit: .one))).items.first
      let conflict = Conflict(copy: copy, holder: holder)
      if call.globals.json {
        call.console.write(conflict.json)
      } else {
        for line in conflict.lines { call.console.print(line) }
      }
    }
    if copies.isEmpty { call.console.say("Nothing is in conflict.") }
    return .done
  }
}

/// A conflict copy beside the item that has its place.
private struct Conflict {
  let copy: ItemRecord
  let holder: ItemRecord?

  /// What differs, for people: the item's value first, then the copy's.
  var lines: [String] {
    let name = holder?.reference.text ?? copy.path.original.text
    var lines = [ErrorReport.show(name), "  copy      \(ErrorReport.show(copy.reference.text))"]
    guard let holder else { return lines + ["  the item that had its place is gone"] }
    let sameSecret = holder.revision == copy.revision
    lines.append(
      sameSecret
        ? "  secret    the same in both"
        : "  secret    \(holder.secretModified.rfc3339), in the copy \(copy.secretModified.rfc3339)")
    for name in differing(from: holder) {
      let values = [holder, copy].map { record in
        record.attributes[name].map { ErrorReport.show(String(decoding: $0.shownBytes, as: UTF8.self)) }
          ?? "none"
      }
      lines.append("  \(ErrorReport.show(name.text))    \(values[0]), in the copy \(values[1])")
    }
    if holder.group != copy.group { lines.append("  group     \(holder.group), in the copy \(copy.group)") }
    return lines
  }

  private func differing(from holder: ItemRecord) -> [AttributeName] {
    Set(holder.attributes.names + copy.attributes.names).subtracting([.conflictOf]).sorted()
      .filter { holder.attributes[$0] != copy.attributes[$0] }
  }

  /// The same for programs.
  var json: [JSONMember] {
    [
      JSONMember("copy", .string(copy.reference.text)),
      JSONMember(
        "differs",
        .array(holder.map { holder in differing(from: holder).map { .string($0.text) } } ?? [])),
      JSONMember("item", holder.map { .string($0.reference.text) } ?? .null),
      JSONMember("sameSecret", .bool(holder?.revision == copy.revision)),
    ]
  }
}
