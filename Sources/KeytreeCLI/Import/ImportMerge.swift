package import KeyringModel
package import Secrets

/// Decides for every login of a draft what has to be done, so that nothing is lost and nothing is stored twice.
///
/// For each login the names it may have are tried in a fixed order (``PlannedItem/candidates``):
/// - No item has the name: the item is added.
/// - An item with the same secret has it: they are the same. What only the new one says (another URL, another
///   label) is added to that item's attributes; values that are there are never changed. An item of the store that
///   has a label, a comment or a kind gets no other one.
/// - An item with another secret has it: the next name is tried.
///
/// The fields go where the login goes. A field whose name another secret has is given the next number.
///
/// The order depends on the source alone, so that a second run finds every item where the first one put it.
package struct ImportMerge<Failure: Error> {
  private let group: String
  private let existing: (PrimaryKey) throws(Failure) -> ItemRecord?
  private let hasSecret: (ItemRecord, SecretSlice) throws(Failure) -> Bool

  /// Prepares a merge with a store.
  ///
  /// - Parameters:
  ///   - group: The group that new items belong to.
  ///   - existing: Finds the item of the store that has a primary key.
  ///   - hasSecret: Whether that item has this secret, which means to decrypt it. Asked only when an item
  ///     of the draft has the name of one in the store.
  package init(
    group: String,
    existing: @escaping (PrimaryKey) throws(Failure) -> ItemRecord?,
    hasSecret: @escaping (ItemRecord, SecretSlice) throws(Failure) -> Bool
  ) {
    self.group = group
    self.existing = existing
    self.hasSecret = hasSecret
  }

  /// Compares a draft with itself and with the store.
  ///
  /// - Parameter draft: What was read.
  /// - Returns: What to do, and the report.
  /// - Throws: What the closures throw.
  package func plan(_ draft: ImportDraft) throws(Failure) -> ImportPlan {
    var progress = Progress(plan: ImportPlan(report: ImportReport(entries: draft.findings)))
    for login in draft.logins { try place(login, &progress) }
    return progress.plan
  }

  /// The items of the store that have a name which something in a draft may get: `plan` compares their secrets.
  ///
  /// - Parameter draft: What was read.
  /// - Throws: What the closures throw.
  package func rivals(of draft: ImportDraft) throws(Failure) -> [ItemRecord] {
    var rivals: [ItemRecord] = []
    for login in draft.logins {
      for attributes in login.head.candidates {
        let login = login.placed(attributes)
        for field in login.items.dropFirst() {
          for candidate in field.fieldCandidates {
            guard let record = try existing(candidate.primaryKey(in: group)) else { break }
            rivals.append(record)
          }
        }
        guard let record = try existing(login.head.primaryKey(in: group)) else { break }
        rivals.append(record)
      }
    }
    return rivals
  }

  private func place(_ login: PlannedLogin, _ progress: inout Progress) throws(Failure) {
    var isBeside = false
    for attributes in login.head.candidates {
      let login = login.placed(attributes)
      if try place(login.head, isBeside: isBeside, &progress) {
        // What is kept on this machine alone has its fields here as well.
        let isLocal = try existing(login.head.primaryKey(in: group))?.isLocal == true
        for var field in login.items.dropFirst() {
          if isLocal { field.isLocal = true }
          try place(field: field, &progress)
        }
        return
      }
      isBeside = true
    }
    for item in login.items { progress.note(item, .lost(.noNameLeft), nil) }
  }

  private func place(field: PlannedItem, _ progress: inout Progress) throws(Failure) {
    var isBeside = false
    for candidate in field.fieldCandidates {
      if try place(candidate, isBeside: isBeside, &progress) { return }
      isBeside = true
    }
    progress.note(field, .lost(.noNameLeft), nil)
  }

  /// Adds an item, or completes the one that has its name and its secret; false when another secret has the name.
  private func place(
    _ item: PlannedItem, isBeside: Bool, _ progress: inout Progress
  ) throws(Failure) -> Bool {
    let key = item.primaryKey(in: group)
    if let index = progress.additions[key] { return join(item, key, index, &progress) }
    if let record = try existing(key) { return try complete(item, record, &progress) }
    progress.additions[key] = progress.plan.additions.count
    progress.plan.additions.append(item)
    progress.note(item, isBeside ? .addedBeside : .added, ItemPath(key))
    return true
  }

  private func join(_ item: PlannedItem, _ key: PrimaryKey, _ index: Int, _ progress: inout Progress) -> Bool
  {
    let earlier = progress.plan.additions[index]
    guard earlier.secret.isEqual(to: item.secret),
      let missing = item.attributes.missing(in: earlier.attributes)
    else { return false }
    progress.plan.additions[index].attributes.merge(missing)
    let outcome: ImportOutcome =
      missing.isEmpty ? .duplicate(of: earlier.source) : .joined(earlier.source, adding: missing.names)
    progress.note(item, outcome, ItemPath(key))
    return true
  }

  private func complete(
    _ item: PlannedItem, _ record: ItemRecord, _ progress: inout Progress
  ) throws(Failure) -> Bool {
    guard try hasSecret(record, item.secret) else { return false }
    let index = progress.completions[record.place]
    let pending = index.map { progress.plan.completions[$0].attributes } ?? Attributes()
    guard let missing = item.attributes.missing(in: record.attributes.merging(pending), isStored: true)
    else { return false }
    if missing.isEmpty {
      progress.note(item, .alreadyThere, record.path)
      return true
    }
    if let index {
      progress.plan.completions[index].attributes.merge(missing)
    } else {
      progress.completions[record.place] = progress.plan.completions.count
      progress.plan.completions.append(ImportPlan.Completion(record: record, attributes: missing))
    }
    progress.note(item, .completed(adding: missing.names), record.path)
    return true
  }
}

// What is decided so far, and where in it the item is that has a primary key or an id.
private struct Progress {
  var plan: ImportPlan
  var additions: [PrimaryKey: Int] = [:]
  var completions: [ItemPlace: Int] = [:]

  mutating func note(_ item: PlannedItem, _ outcome: ImportOutcome, _ path: ItemPath?) {
    plan.report.entries.append(
      ImportReport.Entry(
        source: item.source, part: item.part, outcome: outcome, path: path, remarks: item.remarks))
  }
}

/// What an import does to a store.
package struct ImportPlan: Sendable {
  /// Attributes for an item of the store that has the same secret.
  package struct Completion: Sendable {
    /// The item as it is.
    package var record: ItemRecord
    /// What it does not say yet.
    package var attributes: Attributes
  }

  /// The items to add.
  package var additions: [PlannedItem] = []
  /// The attributes to add to items of the store.
  package var completions: [Completion] = []
  /// What became of every entry.
  package var report: ImportReport

  /// Whether nothing is to be done.
  package var isEmpty: Bool { additions.isEmpty && completions.isEmpty }
}
