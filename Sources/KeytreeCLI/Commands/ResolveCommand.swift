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
      "Without `--keep` it lists the items that have conflict copies, or the one that is named, and in what they "
        + "differ; nothing is decrypted. `keytree get` with the reference of a copy shows its secret.",
      "With several copies of one item, name the copy by its reference or its id.",
    ],
    operands: [
      OperandDeclaration(
        "ITEM", .bytes, count: .optional, completion: .item, help: "the item, or one of its conflict copies")
    ],
    options: [keep, Widening.option] + AttributeOptions.all,
    examples: [
      Example("keytree resolve", "lists what is in conflict"),
      Example("keytree resolve github.com/alice --keep theirs", "takes the version of the conflict copy"),
    ],
    exitCodes: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12])

  static func run(_ call: CommandCall) throws(Failure) -> ExitCode {
    guard let word = call.arguments.text(keep), let choice = ConflictChoice(rawValue: word) else {
      return try list(call)
    }
    let selection = try call.selection(0)
    let keyring = try call.openKeyring()
    defer { call.explain(keyring.engineStatistics) }
    keyring.warmUp()
    let name = call.nameForMessages(0)
    let copies = try copies(of: selection, call, keyring.index)
    guard let copy = copies.first else { throw noCopy(name) }
    guard copies.count == 1 else { throw .ambiguous(name, candidates: copies.map(\.reference.text)) }
    if choice == .theirs, let id = copy.conflictOf {
      let query = Query(predicates: [.id(id)], limit: .one)
      if let holder = try keyringCall(keyring.find(query)).items.first {
        try call.confirmWidening(holder, to: copy.group, in: keyring)
      }
    }
    let kept = try keyringCall(keyring.resolve(copy, keeping: choice))
    call.console.say(words(choice))
    for record in kept { call.report("Kept", record) }
    return .done
  }

  private static func words(_ choice: ConflictChoice) -> String {
    switch choice {
    case .ours: "Settled: the conflict copy is gone."
    case .theirs: "Settled: the version of the conflict copy has the place now."
    case .both: "Settled: the conflict copy is an item of its own now."
    }
  }

  private static func noCopy(_ name: String) -> Failure {
    .other(
      .notFound, message: "\(ErrorReport.show(name)) has no conflict copy",
      hint: "`keytree resolve` lists what is in conflict")
  }

  /// All conflict copies, in the order of their creation.
  private static func allCopies(_ call: CommandCall, _ index: Index) throws(Failure) -> [ItemRecord] {
    var query = Query(predicates: [Predicate(subject: .attribute(.conflictOf), comparison: .exists)])
    query.includesConflictCopies = true
    let matches = try keyringCall(index.find(query))
    call.tell(matches.problems)
    return matches.items.filter(\.isConflictCopy)
  }

  /// The conflict copies that are meant: themselves, or those of an item.
  private static func copies(
    of selection: ItemSelection, _ call: CommandCall, _ index: Index
  ) throws(Failure) -> [ItemRecord] {
    let all = try allCopies(call, index)
    let ids = Set(selection.settle(try call.find(selection, in: index).items).map(\.id))
    let copies = all.filter { ids.contains($0.id) || $0.conflictOf.map(ids.contains) ?? false }
    if !copies.isEmpty { return copies }
    // The item that had the place may be gone, and its copies have the name still.
    return all.filter { copy in
      var plain = copy
      plain.attributes[.conflictOf] = nil
      return selection.accepts(plain)
    }
  }

  private static func list(_ call: CommandCall) throws(Failure) -> ExitCode {
    let index = try call.openIndex()
    let given = try call.givenAttributes()
    let isNamed = call.arguments.operand(0) != nil || !given.isEmpty
    let copies = try isNamed ? copies(of: call.selection(0), call, index) : allCopies(call, index)
    if copies.isEmpty, isNamed { throw noCopy(call.nameForMessages(0)) }
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
    if copies.isEmpty {
      call.console.say("Nothing is in conflict.")
    } else if !call.globals.json {
      call.console.say(
        "hint: `keytree get COPY` shows its secret; `keytree resolve ITEM --keep ours`, `theirs` or `both` settles it."
      )
    }
    return .done
  }
}

/// A conflict copy beside the item that has its place.
private struct Conflict {
  let copy: ItemRecord
  let holder: ItemRecord?

  /// What differs, for people: the item's value first, then the copy's; escaped.
  var lines: [String] {
    let name = (holder?.reference ?? .path(copy.path.original)).text
    var facts = FactList()
    facts.add("copy", ErrorReport.show(copy.reference.text))
    if let holder {
      let times = [holder, copy].map(\.secretModified.rfc3339)
      facts.add(
        "secret",
        holder.revision == copy.revision
          ? "the same in both" : "another one: of \(times[0]), in the copy of \(times[1])")
      for name in differing(from: holder) {
        facts.add(ErrorReport.show(name.text), "\(shown(name, holder)), in the copy \(shown(name, copy))")
      }
      if holder.group != copy.group { facts.add("group", "\(holder.group), in the copy \(copy.group)") }
    } else {
      facts.add("item", "the one that had its place is gone")
    }
    return [ErrorReport.show(name)] + facts.lines.map { "  \($0)" }
  }

  private func shown(_ name: AttributeName, _ record: ItemRecord) -> String {
    guard let value = record.attributes[name] else { return "none" }
    return ErrorReport.show(String(decoding: value.shownBytes, as: UTF8.self))
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
