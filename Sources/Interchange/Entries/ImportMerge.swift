package import KeyringModel
package import Secrets

/// A merge that decides for every login of a draft how to store it: nothing is lost and nothing is stored twice.
///
/// For each login the possible names are tried in a fixed order (``PlannedItem/candidates``):
/// - If no item has the name, the item is added.
/// - If an item with the same secret has the name, they are the same. Additional information (another URL, another
///   label) is added to that item's attributes; existing values never change. An item of the store that has a label, a
///   comment or a kind gets no second one.
/// - An empty secret says nothing about the identity of two logins. They are the same only if all attributes and fields
///   are the same. If there is no such item in the store, the first one whose attributes differ at most in dates is the
///   login, with other fields.
/// - An archived login and an active one are never the same. The active logins of a draft are placed first.
/// - If an item of an earlier entry of the draft has the name, and another secret, the next name is tried.
/// - If only items of the store with other secrets have the names, the first of them is the login with another secret.
///   It is replaced or reported, as the caller has chosen. An item of the store that belongs to an earlier entry is left
///   out.
///
/// The fields follow their login, by the same rules. A field whose name belongs to an earlier entry gets the next
/// number.
///
/// The order depends on the source alone, so that a second run finds every item at the place from the first run.
package struct ImportMerge<Failure: Error> {
  private let group: String
  private let replaces: Bool
  private let existing: (PrimaryKey) throws(Failure) -> ItemRecord?
  private let otherGroup: (PlannedItem) -> String?
  private let hasSecret: (ItemRecord, SecretSlice) throws(Failure) -> Bool

  /// Prepares a merge with a store.
  ///
  /// - Parameters:
  ///   - group: the group of new items.
  ///   - replaces: true if a different secret replaces the one of the store; false if it is only reported.
  ///   - existing: returns the item of the store that has a primary key.
  ///   - otherGroup: returns another group that has an item with the name of a new one; nil to add the item.
  ///   - hasSecret: returns true if that item has this secret, which requires decryption. It is called only if an item
  ///     of the draft has the name of one in the store.
  package init(
    group: String, replaces: Bool = false,
    existing: @escaping (PrimaryKey) throws(Failure) -> ItemRecord?,
    otherGroup: @escaping (PlannedItem) -> String? = { _ in nil },
    hasSecret: @escaping (ItemRecord, SecretSlice) throws(Failure) -> Bool
  ) {
    self.group = group
    self.replaces = replaces
    self.existing = existing
    self.otherGroup = otherGroup
    self.hasSecret = hasSecret
  }

  /// Compares a draft with itself and with the store.
  ///
  /// - Parameter draft: the data of the source.
  /// - Returns: the plan with its report.
  /// - Throws: the errors of the closures.
  package func plan(_ draft: ImportDraft) throws(Failure) -> ImportPlan {
    var progress = Progress(plan: ImportPlan(report: ImportReport(entries: draft.findings)))
    let archived = draft.logins.filter(\.head.attributes.isArchived)
    for login in draft.logins.filter({ !$0.head.attributes.isArchived }) + archived {
      try place(login, &progress)
    }
    return progress.plan
  }

  /// Returns the items of the store that have a possible name of an item in a draft, each with the secret that `plan`
  /// compares it with.
  ///
  /// - Parameter draft: the data of the source.
  /// - Throws: the errors of the closures.
  package func itemsToCompare(with draft: ImportDraft) throws(Failure) -> [(
    record: ItemRecord, secret: SecretSlice
  )] {
    var items: [(record: ItemRecord, secret: SecretSlice)] = []
    for login in draft.logins {
      for attributes in login.head.candidates {
        let login = login.placed(attributes)
        for field in login.items.dropFirst() {
          for candidate in field.fieldCandidates {
            guard let record = try existing(candidate.primaryKey(in: group)) else { break }
            items.append((record, field.secret))
          }
        }
        guard let record = try existing(login.head.primaryKey(in: group)) else { break }
        items.append((record, login.head.secret))
      }
    }
    return items
  }

  private func place(_ login: PlannedLogin, _ progress: inout Progress) throws(Failure) {
    let heads = login.head.candidates.lazy.map { attributes in
      var head = login.head
      head.attributes = attributes
      return head
    }
    switch try place(heads, of: login, &progress) {
    case .placed(let head):
      // The fields of an item that stays on this machine stay here as well.
      let isLocal = try existing(head.primaryKey(in: group))?.isLocal == true
      for var field in login.placed(head.attributes).items.dropFirst() {
        if isLocal { field.isLocal = true }
        guard case .refused(let outcome) = try place(field.fieldCandidates, &progress) else { continue }
        progress.note(field, outcome, nil)
      }
    case .refused(let outcome):
      for item in login.items { progress.note(item, outcome, nil) }
    }
  }

  /// The result for one item.
  private enum Placement {
    /// It has an outcome and this form.
    case placed(PlannedItem)
    /// It has no name in the store.
    case refused(ImportOutcome)
  }

  /// Adds an item under the first possible name, or compares it with the item that has its name.
  ///
  /// - Parameters:
  ///   - candidates: the item under each of its possible names.
  ///   - login: the login whose head the item is; nil for a field.
  ///   - progress: the decisions so far.
  private func place(
    _ candidates: some Sequence<PlannedItem>, of login: PlannedLogin? = nil, _ progress: inout Progress
  ) throws(Failure) -> Placement {
    var other: (item: PlannedItem, record: ItemRecord)?
    var similar: (item: PlannedItem, record: ItemRecord)?
    var isBeside = false
    for item in candidates {
      let key = item.primaryKey(in: group)
      if let index = progress.additions[key] {
        if join(item, of: login, key, index, &progress) { return .placed(item) }
      } else if let record = try existing(key) {
        switch try compare(item, of: login, record, &progress) {
        case .same:
          accept(item, of: login, record, &progress)
          return .placed(item)
        case .repeated: return .placed(item)
        case .similar: similar = similar ?? (item, record)
        case .different: other = other ?? (item, record)
        case .taken: break
        }
      } else if let similar {
        accept(similar.item, of: login, similar.record, &progress)
        return .placed(similar.item)
      } else if let other {
        differ(other.item, other.record, &progress)
        return .placed(other.item)
      } else {
        if !isBeside, item.group == nil, let group = otherGroup(item) {
          return .refused(.inOtherGroup(group))
        }
        progress.additions[key] = progress.plan.additions.count
        progress.owners[key] = login
        progress.plan.additions.append(item)
        progress.note(item, isBeside ? .addedBeside : .added, key)
        return .placed(item)
      }
      isBeside = true
    }
    if let similar {
      accept(similar.item, of: login, similar.record, &progress)
      return .placed(similar.item)
    }
    guard let other else { return .refused(.lost(.noNameLeft)) }
    differ(other.item, other.record, &progress)
    return .placed(other.item)
  }

  private func join(
    _ item: PlannedItem, of login: PlannedLogin?, _ key: PrimaryKey, _ index: Int, _ progress: inout Progress
  ) -> Bool {
    let earlier = progress.plan.additions[index]
    guard earlier.secret.isEqual(to: item.secret),
      earlier.attributes.isArchived == item.attributes.isArchived,
      login.map({ $0.isIdentified || progress.owners[key]?.isIdentical(to: $0) == true }) ?? true,
      let missing = item.attributes.missing(in: earlier.attributes)
    else { return false }
    progress.plan.additions[index].attributes.merge(missing)
    let outcome: ImportOutcome =
      missing.isEmpty ? .duplicate(of: earlier.source) : .joined(earlier.source, adding: missing.names)
    progress.note(item, outcome, key)
    return true
  }

  /// The result of a comparison with an item of the store.
  private enum Comparison {
    /// It is the same.
    case same
    /// An earlier entry with the same secret differs from it; the outcome is noted.
    case repeated
    /// It has the same empty secret and attributes that differ at most in dates, but other fields.
    case similar
    /// It has another secret and belongs to no earlier entry.
    case different
    /// It belongs to another entry, or has no room for the attributes.
    case taken
  }

  private func compare(
    _ item: PlannedItem, of login: PlannedLogin?, _ record: ItemRecord, _ progress: inout Progress
  ) throws(Failure) -> Comparison {
    if record.attributes.isArchived != item.attributes.isArchived { return .taken }
    if let claim = progress.claims[record.place] {
      if claim.secret.isEqual(to: item.secret) {
        progress.note(item, .duplicate(of: claim.source), record.primaryKey)
        return .repeated
      }
      // The secret that is in the store now will be replaced.
      if replaces { return .taken }
    }
    let missing = missing(item, in: record, progress)
    let isFree = progress.claims[record.place] == nil && !progress.matched.contains(record.place)
    guard try hasSecret(record, item.secret) else {
      return isFree && missing != nil ? .different : .taken
    }
    guard let missing else { return .taken }
    guard let login, !login.isIdentified else { return .same }
    if !isFree {
      return progress.holders[record.place]?.isIdentical(to: login) == true ? .same : .taken
    }
    let hasSameAttributes =
      missing.isEmpty && Set(record.attributes.names).isSubset(of: item.attributes.names)
    if hasSameAttributes, try hasFields(login.placed(item.attributes)) { return .same }
    return missing.names.allSatisfy(\.isDate) ? .similar : .taken
  }

  /// Returns true if the store has all fields of a login.
  private func hasFields(_ login: PlannedLogin) throws(Failure) -> Bool {
    for field in login.items.dropFirst() {
      var isFound = false
      for candidate in field.fieldCandidates where !isFound {
        guard let record = try existing(candidate.primaryKey(in: group)) else { break }
        isFound = try hasSecret(record, field.secret)
      }
      if !isFound { return false }
    }
    return true
  }

  /// Returns the attributes of an item that an item of the store will lack; nil if they do not fit.
  private func missing(_ item: PlannedItem, in record: ItemRecord, _ progress: Progress) -> Attributes? {
    let pending = progress.completions[record.place].map { progress.plan.completions[$0].attributes }
    return item.attributes.missing(
      in: record.attributes.merging(pending ?? Attributes()), isStored: true)
  }

  /// Takes an item of the store for an item of the draft, and plans the attributes that it lacks.
  private func accept(
    _ item: PlannedItem, of login: PlannedLogin?, _ record: ItemRecord, _ progress: inout Progress
  ) {
    progress.matched.insert(record.place)
    progress.holders[record.place] = login
    // A comparison before this call has found that they fit.
    let missing = missing(item, in: record, progress) ?? Attributes()
    if missing.isEmpty { return progress.note(item, .alreadyThere, record.primaryKey) }
    if let index = progress.completions[record.place] {
      progress.plan.completions[index].attributes.merge(missing)
    } else {
      progress.completions[record.place] = progress.plan.completions.count
      progress.plan.completions.append(ImportPlan.Completion(record: record, attributes: missing))
    }
    progress.note(item, .completed(adding: missing.names), record.primaryKey)
  }

  /// Replaces the secret of an item of the store, or reports that it differs.
  private func differ(_ item: PlannedItem, _ record: ItemRecord, _ progress: inout Progress) {
    progress.claims[record.place] = item
    if replaces {
      let missing = item.attributes.missing(in: record.attributes, isStored: true) ?? Attributes()
      progress.plan.replacements.append(
        ImportPlan.Replacement(record: record, attributes: missing, secret: item.secret))
    }
    progress.note(item, replaces ? .replaced : .different, record.primaryKey)
  }
}

// The decisions so far, and the positions of items in them by primary key or place.
private struct Progress {
  var plan: ImportPlan
  var additions: [PrimaryKey: Int] = [:]
  /// The logins of the additions that are not fields.
  var owners: [PrimaryKey: PlannedLogin] = [:]
  /// The logins that items of the store were taken for.
  var holders: [ItemPlace: PlannedLogin] = [:]
  var completions: [ItemPlace: Int] = [:]
  /// The items of the store whose secret is that of an entry.
  var matched: Set<ItemPlace> = []
  /// The entries that differ from an item of the store, by the place of that item.
  var claims: [ItemPlace: PlannedItem] = [:]

  mutating func note(_ item: PlannedItem, _ outcome: ImportOutcome, _ key: PrimaryKey?) {
    plan.report.entries.append(
      ImportReport.Entry(
        source: item.source, part: item.part, outcome: outcome, item: key, remarks: item.remarks))
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

  /// Another secret for an item of the store.
  package struct Replacement: Sendable {
    /// The existing item.
    package var record: ItemRecord
    /// The attributes that it lacks.
    package var attributes: Attributes
    /// The new secret, in plain text.
    package var secret: SecretSlice
  }

  /// The items to add.
  package var additions: [PlannedItem] = []
  /// The attributes to add to items of the store.
  package var completions: [Completion] = []
  /// The secrets to replace.
  package var replacements: [Replacement] = []
  /// The outcomes of all entries.
  package var report: ImportReport

  /// True if nothing changes.
  package var isEmpty: Bool { additions.isEmpty && completions.isEmpty && replacements.isEmpty }
}
