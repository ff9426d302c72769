internal import Arguments
internal import CommandSupport
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Sync
internal import Terminal

/// An adoption of files of other programs: asks, decrypts, stores, and reports each file.
struct AdoptionRun {
  let call: CommandCall
  let keyring: Keyring
  /// True if the user is asked about each file.
  let asks: Bool

  /// The outcome of a file for which the answer was no.
  private static let declined = "declined"

  /// A file that was left as it is.
  private struct Refusal {
    let entry: ForeignFileEntry
    let outcome: String
    let message: String
    let code: ExitCode
  }

  // MARK: Adopting

  /// Takes in files.
  ///
  /// - Returns: Success, or the exit code of the first file that was left as it is.
  /// - Throws: An error that concerns all files, such as a cancelled prompt. Nothing was changed then.
  func adopt(_ entries: [ForeignFileEntry]) throws -> ExitCode {
    let group = try call.givenAttributes().group
    for entry in entries { try call.requireWritable(keyring, group: entry.file.item?.group ?? group) }
    var refusals: [Refusal] = []
    let readable = try notCopied(entries, &refusals).filter { entry in
      let readers = readers(of: entry, group)
      guard !asks, !readers.isEmpty, !call.arguments.has(Widening.option) else { return true }
      refusals.append(widens(entry, readers))
      return false
    }
    let agreed = try confirmed(readable, &refusals) { entry in
      let readers = readers(of: entry, group)
      if !readers.isEmpty { call.console.complain("\(readers) will be able to read it.") }
      return "Adopt \(entry.name)"
    }
    if agreed.isEmpty { return finish(refusals) }
    let decryptor = try MessageDecryptor(host: try call.host())
    defer { call.explain(keyring.engineStatistics + decryptor.statistics) }
    var adoptions: [(entry: ForeignFileEntry, adoption: Adoption)] = []
    for entry in agreed {
      switch try content(of: entry, decryptor, group) {
      case .success(let content): adoptions.append((entry, Adoption(entry.file, content)))
      case .failure(let refusal): refusals.append(refusal.value)
      }
    }
    let outcomes = adoptions.isEmpty ? [] : try keyring.adopt(adoptions.map(\.adoption))
    for ((entry, _), outcome) in zip(adoptions, outcomes) {
      switch outcome {
      case .adopted(let records): report(entry, "adopted", records)
      case .exists(let reference):
        refusals.append(exists(entry, reference, group ?? GroupName.default))
      case .changedSince: refusals.append(changedSince(entry))
      }
    }
    return finish(refusals)
  }

  /// Returns the files that are not copies. A copy of a file that only this user can read would give its secret to the
  /// members of the group.
  private func notCopied(
    _ entries: [ForeignFileEntry], _ refusals: inout [Refusal]
  ) throws -> [ForeignFileEntry] {
    let copies = try MessageCopies(among: entries.map(\.file), of: keyring, in: try call.repository())
    return entries.filter { entry in
      guard let origin = copies.origin(of: entry.file) else { return true }
      let reason =
        switch origin {
        case .file(let path): "it is a copy of \(ErrorReport.quoteCompact(path))"
        case .earlierVersion: "it is an older version of this file"
        }
      refusals.append(
        Refusal(
          entry: entry, outcome: "copy", message: "cannot adopt \(entry.name): \(reason)", code: .damaged))
      return false
    }
  }

  /// The number of readers that a question names.
  private static let namedReaders = 10

  /// Returns the other members of the group of a file as text; empty if this user is the only one.
  private func readers(of entry: ForeignFileEntry, _ group: String?) -> String {
    let group = entry.file.item?.group ?? group ?? GroupName.default
    let others = (keyring.policy.groups[group] ?? []).filter { $0 != keyring.ownFingerprint }
    let names = others.prefix(Self.namedReaders).map { ErrorReport.quoteCompact(keyring.policy.name(of: $0)) }
    let rest = others.count - names.count
    return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  private func widens(_ entry: ForeignFileEntry, _ readers: String) -> Refusal {
    Refusal(
      entry: entry, outcome: "widens",
      message: "cannot adopt \(entry.name): \(readers) would be able to read it (`--widen` allows it)",
      code: .cancelled)
  }

  private struct Refused: Error {
    let value: Refusal
    init(_ value: Refusal) { self.value = value }
  }

  /// Decrypts a file and plans its content.
  private func content(
    of entry: ForeignFileEntry, _ decryptor: MessageDecryptor, _ group: String?
  ) throws -> Result<Adoption.Content, Refused> {
    if entry.file.digest == nil {
      let limit = StoreLayout.sealedItemLimit
      return .failure(Refused(unreadable(entry, "it is larger than \(limit) bytes", .damaged)))
    }
    guard let message = try keyring.message(of: entry.file) else {
      return .failure(Refused(changedSince(entry)))
    }
    let plaintext: SecretBytes
    do {
      plaintext = try decryptor.open(ArmoredMessage.binary(message), limit: StoreLayout.secretLimit)
    } catch {
      guard case .engine(let problem, _) = error, let words = problem.wordsForOneFile else { throw error }
      if case .notARecipient = problem { return .failure(Refused(unreadable(entry, words, .cannotDecrypt))) }
      return .failure(Refused(unreadable(entry, words, .damaged)))
    }
    if entry.file.item != nil { return .success(.secret(AdoptedFile.secret(plaintext))) }
    let path = entry.file.path.dropFirst(StoreLayout.items.utf8.count + 1)
      .dropLast(StoreLayout.secretExtension.utf8.count)
    let draft = AdoptedFile.plan(String(path), plaintext: plaintext)
    for finding in draft.findings {
      if case .lost(let loss) = finding.outcome {
        return .failure(Refused(unreadable(entry, loss.text, .failure)))
      }
    }
    guard let login = draft.logins.first else {
      return .failure(Refused(unreadable(entry, "it is empty", .failure)))
    }
    return try parts(of: login, entry, group)
  }

  /// Compares a login with those of the store.
  ///
  /// - Parameters:
  ///   - login: The content of the file.
  ///   - entry: The file.
  ///   - given: The group that the user has given. Without one, an item in another group than `default` is neither
  ///     changed nor duplicated.
  private func parts(
    of login: PlannedLogin, _ entry: ForeignFileEntry, _ given: String?
  ) throws -> Result<Adoption.Content, Refused> {
    let head = login.head
    let group = given ?? GroupName.default
    let known = try items(like: head).filter {
      $0.field == nil || login.items.map(\.field).contains($0.field)
    }
    let own = known.filter { $0.group == group }
    // A field alone is added to an existing login.
    let taken = head.field == nil ? own : own.filter { $0.field != nil }
    let mayReplace = call.arguments.has(AdoptCommand.update)
    if let item = taken.first, !mayReplace {
      return .failure(Refused(exists(entry, item.reference, group)))
    }
    if given == nil, let other = known.first(where: { $0.group != group }) {
      return .failure(Refused(isInOtherGroup(entry, other, mayReplace ? .ambiguous : .alreadyExists)))
    }
    // A field can be in another group than its login.
    let places = own.isEmpty && head.field != nil ? known.filter { $0.field == nil } : own
    guard let first = places.first(where: { $0.field == nil }) ?? places.first else {
      return .success(.login(login.items.map { Adoption.Part(new($0, group), secret: $0.secret) }))
    }
    guard Set(places.map(\.loginPlace)).count == 1 else {
      let text = "several items have the name of \(first.reference.text)"
      return .failure(Refused(unreadable(entry, text, .ambiguous)))
    }
    try call.requireWritable(keyring, group: group)
    let parts = login.items.map { planned in
      var item = planned
      for name in AttributeSchema.primaryKey(of: item.itemClass) where name != .field {
        item.attributes[name] = first.attributes[name]
      }
      let replaced = own.first { $0.field == planned.field }
      return Adoption.Part(
        new(item, group, isLocal: first.isLocal), replacing: replaced, secret: item.secret)
    }
    return .success(.login(parts))
  }

  /// Returns the items of all groups with the class, the container and the account of another one, and their fields.
  private func items(like planned: PlannedItem) throws -> [ItemRecord] {
    let names = planned.itemClass.containerNames + [AttributeName.account]
    let known = names.compactMap { name in planned.attributes[name].map { Predicate.equal(name, $0) } }
    var query = Query(itemClass: planned.itemClass, predicates: known)
    query.includesFields = true
    return try keyring.find(query).items.filter { item in
      names.allSatisfy { item.attributes[$0] == planned.attributes[$0] }
    }
  }

  private func new(_ planned: PlannedItem, _ group: String, isLocal: Bool = false) -> NewItem {
    NewItem(itemClass: planned.itemClass, attributes: planned.attributes, group: group, isLocal: isLocal)
  }

  // MARK: Undoing

  /// Restores the files of changed items, and moves new files to a quarantine folder.
  ///
  /// - Returns: Success, or the exit code of the first file that was left as it is.
  func undo(_ entries: [ForeignFileEntry]) throws -> ExitCode {
    var refusals: [Refusal] = []
    let agreed = try confirmed(entries, &refusals) {
      $0.file.replacesItemFile ? "Restore the old file of \($0.name)" : "Quarantine \($0.name)"
    }
    let items = agreed.compactMap { $0.file.replacesItemFile ? $0.file.item : nil }
    let repository = items.isEmpty ? nil : try call.repository()
    let originals = try repository.map { try HistoricalFiles(in: $0).originals(of: items) } ?? [:]
    let done = agreed.isEmpty ? [] : try keyring.undo(agreed.map(\.file), originals: originals)
    for entry in agreed {
      if done.contains(entry.file.path) {
        report(entry, "undone", [])
      } else if entry.file.replacesItemFile, originals[entry.file.path] == nil {
        let reason =
          repository == nil
          ? "the store has no history with the old file" : "the old file is not in the history"
        refusals.append(
          Refusal(
            entry: entry, outcome: "unreadable", message: "cannot undo \(entry.name): \(reason)",
            code: .damaged))
      } else {
        refusals.append(changedSince(entry))
      }
    }
    return finish(refusals)
  }

  // MARK: Questions and reports

  /// Asks about each file.
  private func confirmed(
    _ entries: [ForeignFileEntry], _ refusals: inout [Refusal], _ question: (ForeignFileEntry) -> String
  ) throws -> [ForeignFileEntry] {
    if !asks { return entries }
    var agreed: [ForeignFileEntry] = []
    for entry in entries {
      call.console.complain(entry.line)
      if try call.console.confirm(question(entry)) {
        agreed.append(entry)
      } else {
        refusals.append(
          Refusal(
            entry: entry, outcome: Self.declined, message: "\(entry.name) stays as it is", code: .cancelled)
        )
      }
    }
    return agreed
  }

  private func exists(_ entry: ForeignFileEntry, _ item: ItemReference, _ group: String) -> Refusal {
    Refusal(
      entry: entry, outcome: "exists",
      message: "cannot adopt \(entry.name): \(item.text) exists already in group \(ErrorReport.quote(group)) "
        + "(`--update` replaces its secret)",
      code: .alreadyExists)
  }

  private func isInOtherGroup(_ entry: ForeignFileEntry, _ item: ItemRecord, _ code: ExitCode) -> Refusal {
    let action = code == .ambiguous ? "replaces its secret" : "and `--update` replace its secret"
    return Refusal(
      entry: entry, outcome: "exists",
      message: "cannot adopt \(entry.name): \(item.reference.text) exists in group "
        + "\(ErrorReport.quote(item.group)), and no group was given (`-g \(item.group)` \(action), "
        + "`-g \(GroupName.default)` adds another item)",
      code: code)
  }

  private func unreadable(_ entry: ForeignFileEntry, _ reason: String, _ code: ExitCode) -> Refusal {
    Refusal(
      entry: entry, outcome: "unreadable", message: "cannot adopt \(entry.name): \(reason)", code: code)
  }

  private func changedSince(_ entry: ForeignFileEntry) -> Refusal {
    Refusal(
      entry: entry, outcome: "changed",
      message: "cannot adopt \(entry.name): it was changed again at the same time", code: .failure)
  }

  private func report(_ entry: ForeignFileEntry, _ outcome: String, _ records: [ItemRecord]) {
    if call.globals.json { print(entry, outcome, records) }
    guard let first = records.first else {
      call.console.say("Undid \(entry.name).")
      return
    }
    call.console.say("Adopted \(entry.name) as \(first.reference.text).")
  }

  private func print(_ entry: ForeignFileEntry, _ outcome: String, _ records: [ItemRecord]) {
    let stored = records.map { JSONValue.string($0.reference.text) }
    call.console.print(
      json: .object(
        entry.members + [JSONMember("outcome", .string(outcome)), JSONMember("stored", .array(stored))]))
  }

  private func finish(_ refusals: [Refusal]) -> ExitCode {
    for refusal in refusals {
      if call.globals.json { print(refusal.entry, refusal.outcome, []) }
      if refusal.outcome != Self.declined {
        call.console.complain("keytree: \(refusal.message)")
      } else {
        call.console.say(refusal.message)
      }
    }
    return refusals.first { $0.code != .cancelled }?.code ?? refusals.first?.code ?? .done
  }
}
