internal import Arguments
internal import CommandSupport
internal import Encoding
internal import Interchange
internal import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// The contents of files of other programs: decrypts each file, and plans the items and fields that the store gets.
struct AdoptedContents {
  let call: CommandCall
  let keyring: Keyring
  let decryptor: MessageDecryptor
  /// The group of new logins that the user has given; nil for none.
  let group: String?
  /// True if the user is asked before a field is replaced.
  let asks: Bool
  /// The files of changed items as their records describe them, by path.
  let originals: [String: [UInt8]]

  /// Decrypts a file and plans its content.
  ///
  /// - Throws: `AdoptionRefusal` if this file cannot be adopted; any other error concerns all files.
  func content(of entry: ForeignFileEntry) throws -> Adoption.Content {
    if entry.file.digest == nil {
      throw AdoptionRefusal(entry, "it is larger than \(StoreLayout.sealedItemLimit) bytes", .damaged)
    }
    guard let message = try keyring.message(of: entry.file) else { throw AdoptionRefusal.changedSince(entry) }
    if let original = original(of: entry), Keyring.isDamagedCopy(message, of: original) {
      throw AdoptionRefusal(
        entry, "it is a damaged copy of the item's own file (`keytree check --repair` restores it)", .damaged)
    }
    let plaintext = try open(message, entry)
    if let item = entry.file.item { return try change(of: item, entry, plaintext) }
    // A merge may have kept the file at a second path, whose digits are not part of its name.
    let own = entry.file.digest.flatMap { SecondPath.first(of: entry.file.path, $0) } ?? entry.file.path
    let path = own.dropFirst(StoreLayout.items.utf8.count + 1)
      .dropLast(StoreLayout.secretExtension.utf8.count)
    let draft = AdoptedFile.plan(String(path), plaintext: plaintext)
    for finding in draft.findings {
      if case .lost(let loss) = finding.outcome { throw AdoptionRefusal(entry, loss.text, .failure) }
    }
    guard let login = draft.logins.first else { throw AdoptionRefusal(entry, "it is empty", .failure) }
    return .login(try parts(of: login, entry))
  }

  private func open(_ message: [UInt8], _ entry: ForeignFileEntry) throws -> SecretBytes {
    do {
      return try decryptor.open(Armor.binary(message, .message), limit: StoreLayout.secretLimit)
    } catch {
      guard case .engine(let problem, _) = error, let reason = problem.wordsForOneFile else { throw error }
      switch problem {
      case .notARecipient: throw AdoptionRefusal(entry, reason, .cannotDecrypt)
      case .messageOfAStore:
        let store = OtherStores(call).path(containing: message, known: keyring)
        let place = store.map { " (it is in the store \(ErrorReport.quoteCompact($0)))" } ?? ""
        throw AdoptionRefusal(entry, as: "copy", reason + place, .damaged)
      default: throw AdoptionRefusal(entry, reason, .damaged)
      }
    }
  }

  // MARK: New files

  /// Compares a login with those of the store. Without a given group, an item in another group than `default` is neither
  /// changed nor duplicated.
  private func parts(of login: PlannedLogin, _ entry: ForeignFileEntry) throws -> [Adoption.Part] {
    let head = login.head
    let target = group ?? GroupName.default
    if let refusal = keyring.refusal(of: entry, for: target) { throw refusal }
    let fields = Set(login.items.map(\.field))
    let known = try items(like: head).filter { $0.field == nil || fields.contains($0.field) }
    let own = known.filter { $0.group == target }
    // A field alone is added to an existing login.
    let taken = head.field == nil ? own : own.filter { $0.field != nil }
    let mayReplace = call.arguments.has(AdoptCommand.update)
    if let item = taken.first, !mayReplace { throw Self.exists(entry, item.reference, target) }
    if group == nil, let other = known.first(where: { $0.group != target }) {
      throw Self.isInOtherGroup(entry, other, mayReplace: mayReplace)
    }
    // A field can be in another group than its login.
    let places = own.isEmpty && head.field != nil ? known.filter { $0.field == nil } : own
    guard let first = places.first(where: { $0.field == nil }) ?? places.first else {
      return login.items.map { Adoption.Part(new($0, target), secret: $0.secret) }
    }
    guard Set(places.map(\.loginPlace)).count == 1 else {
      throw AdoptionRefusal(entry, "several items have the name of \(call.name(of: first))", .ambiguous)
    }
    let replaced = Dictionary(own.map { ($0.field, $0) }) { first, _ in first }
    return login.items.map { planned in
      var item = planned
      for name in AttributeSchema.primaryKey(of: item.itemClass) where name != .field {
        item.attributes[name] = first.attributes[name]
      }
      return Adoption.Part(
        new(item, target, isLocal: first.isLocal), replacing: replaced[planned.field], secret: item.secret)
    }
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

  /// Returns the refusal of a file with the name of an existing item of its group.
  static func exists(_ entry: ForeignFileEntry, _ item: ItemReference, _ group: String) -> AdoptionRefusal {
    AdoptionRefusal(
      entry, as: "exists",
      "\(item.spokenName) exists already in group \(ErrorReport.quote(group)) (`--update` replaces its secret)",
      .alreadyExists)
  }

  /// Returns the refusal of a file with the name of an item in another group than `default`.
  private static func isInOtherGroup(
    _ entry: ForeignFileEntry, _ item: ItemRecord, mayReplace: Bool
  ) -> AdoptionRefusal {
    let action = mayReplace ? "replaces its secret" : "and `--update` replace its secret"
    return AdoptionRefusal(
      entry, as: "exists",
      "\(item.reference.spokenName) exists in group \(ErrorReport.quote(item.group)), and no group was given "
        + "(`-g \(item.group)` \(action), `-g \(GroupName.default)` adds another item)",
      mayReplace ? .ambiguous : .alreadyExists)
  }

  // MARK: Changed files

  /// Plans the content of the changed file of an item. If the stored secret is one line, or the new content has headers
  /// of gopass, its further lines are fields. Otherwise everything is the secret.
  private func change(
    of item: ItemRecord, _ entry: ForeignFileEntry, _ plaintext: borrowing SecretBytes
  ) throws -> Adoption.Content {
    guard item.field == nil, try AdoptedFile.hasHeaders(plaintext) || hasOneLine(entry) else {
      return .secret(AdoptedFile.secret(plaintext))
    }
    let content = AdoptedFile.changedLogin(
      plaintext, account: item.attributes[.account]?.contentBytes, url: item.attributes["url"]?.contentBytes)
    if content.fields.isEmpty { return .secret(content.secret) }
    let login = try call.login(of: item, in: keyring.index)
    var parts: [Adoption.Part] = []
    for (name, secret) in content.fields {
      // A member of another group must not decide who can read the new content.
      let old = login.fields.first { $0.field == name && $0.group == item.group }
      if let old {
        if SecretSlice(try keyring.secret(for: old)).isEqual(to: secret) { continue }
        try allowReplacement(of: old, entry)
      }
      var attributes = old?.attributes ?? Attributes()
      for key in AttributeSchema.primaryKey(of: item.itemClass) { attributes[key] = item.attributes[key] }
      attributes[AttributeName.field] = .string(name)
      let new = NewItem(
        itemClass: item.itemClass, attributes: attributes, group: item.group, isLocal: item.isLocal)
      parts.append(Adoption.Part(new, replacing: old, secret: secret))
    }
    return .change(content.secret, fields: parts)
  }

  /// Returns true if the secret that the record of a changed item describes has one line; false if it is unknown.
  private func hasOneLine(_ entry: ForeignFileEntry) throws -> Bool {
    guard let original = original(of: entry), let item = entry.file.item else { return false }
    return AdoptedFile.hasOneLine(try keyring.secret(inOriginal: original, of: item))
  }

  /// Returns the file that the record of a changed item describes; nil if it is unknown.
  private func original(of entry: ForeignFileEntry) -> [UInt8]? {
    entry.file.item.flatMap { originals[StoreLayout.itemFile($0.path, isLocal: false)] }
  }

  /// Asks whether a field may be replaced. Without questions, `--update` is needed.
  private func allowReplacement(of field: ItemRecord, _ entry: ForeignFileEntry) throws {
    if let refusal = keyring.refusal(of: entry, for: field.group) { throw refusal }
    if call.arguments.has(AdoptCommand.update) { return }
    guard asks else { throw Self.exists(entry, field.reference, field.group) }
    guard try call.console.confirm("Replace \(call.name(of: field))") else {
      throw AdoptionRefusal(entry, as: AdoptionRefusal.declined, "it stays as it is", .cancelled)
    }
  }
}
