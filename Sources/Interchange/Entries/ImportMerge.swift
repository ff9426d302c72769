package import KeyringModel
package import Secrets

/// A merge that decides for every login of a draft how to store it: nothing is lost and nothing is stored twice.
///
/// For each login the possible names are tried in a fixed order (``PlannedItem/candidates``):
/// - If no item has the name, the item is added.
/// - If an item with the same secret has the name, they are the same. Additional information (another URL, another
///   label) is added to that item's attributes; existing values never change. An item of the store that has a label, a
///   comment or a kind gets no second one.
/// - If an item with another secret has the name, the next name is tried.
///
/// The fields follow their login. A field whose name belongs to another secret gets the next number.
///
/// The order depends on the source alone, so that a second run finds every item at the place from the first run.
package struct ImportMerge<Failure: Error> {
  private let group: String
  private let existing: (PrimaryKey) throws(Failure) -> ItemRecord?
  private let hasSecret: (ItemRecord, SecretSlice) throws(Failure) -> Bool

  /// Prepares a merge with a store.
  ///
  /// - Parameters:
  ///   - group: the group of new items.
  ///   - existing: returns the item of the store that has a primary key.
  ///   - hasSecret: returns true if that item has this secret, which requires decryption. It is called only if an item
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
  /// - Parameter draft: the data of the source.
  /// - Returns: the plan with its report.
  /// - Throws: the errors of the closures.
  package func plan(_ draft: ImportDraft) throws(Failure) -> ImportPlan {
    var progress = Progress(plan: ImportPlan(report: ImportReport(entries: draft.findings)))
    for login in draft.logins { try place(login, &progress) }
    return progress.plan
  }

  /// Returns the items of the store that have a possible name of an item in a draft. `plan` compares their secrets.
  ///
  /// - Parameter draft: the data of the source.
  /// - Throws: the errors of the closures.
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
        // The fields of an item that stays on this machine stay here as well.
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

  /// Adds an item, or completes the one with its name and its secret. Returns false if another secret has the name.
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

// The decisions so far, and the positions of items in them by primary key or place.
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

/// The changes that an import makes to a store.
package struct ImportPlan: Sendable {
  /// Attributes for an item of the store that has the same secret.
  package struct Completion: Sendable {
    /// The existing item.
    package var record: ItemRecord
    /// The attributes that it lacks.
    package var attributes: Attributes
  }

  /// The items to add.
  package var additions: [PlannedItem] = []
  /// The attributes to add to items of the store.
  package var completions: [Completion] = []
  /// The outcomes of all entries.
  package var report: ImportReport

  /// True if nothing changes.
  package var isEmpty: Bool { additions.isEmpty && completions.isEmpty }
}
