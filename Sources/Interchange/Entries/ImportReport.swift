package import KeyringModel

/// The outcome for one part of an entry.
package enum ImportOutcome: Hashable, Sendable {
  /// It is a new item.
  case added
  /// It is a new item. Its name distinguishes it from an item with the same account and a different secret.
  case addedBeside
  /// An earlier entry has the same secret. Its item also gets the additional attributes of this entry.
  case joined(ImportSource, adding: [AttributeName])
  /// The store already has the item. The item gets the attributes that it lacked.
  case completed(adding: [AttributeName])
  /// An earlier entry is identical.
  case duplicate(of: ImportSource)
  /// The store already has it.
  case alreadyThere
  /// It replaces the secret of an item of the store.
  case replaced
  /// The store has the item with another secret, which is not changed.
  case different
  /// It is not imported, because this group has an item of its name and the user has not chosen a group.
  case inOtherGroup(String)
  /// It needs no item.
  case skipped(ImportSkip)
  /// It is not imported.
  case lost(ImportLoss)
}

/// The outcomes of all entries of a source.
package struct ImportReport: Sendable {
  /// One part of one entry.
  package struct Entry: Hashable, Sendable {
    /// The entry.
    package var source: ImportSource
    /// The part of the entry.
    package var part: ImportPart
    /// The outcome.
    package var outcome: ImportOutcome
    /// The primary key of the resulting item; nil if the part became no item.
    package var item: PrimaryKey?
    /// Remarks for the user.
    package var remarks: [ImportRemark] = []

    /// The path of the resulting item; nil if the part became no item.
    package var path: ItemPath? { item.map { ItemPath($0) } }
  }

  /// The numbers of parts with each outcome.
  package struct Counts: Hashable, Sendable {
    /// New items, including those beside another one.
    package var added = 0
    /// New items with the same account as another one.
    package var beside = 0
    /// Entries with the same secret as an earlier entry.
    package var joined = 0
    /// Items of the store that get attributes.
    package var completed = 0
    /// Entries that are identical to an earlier one.
    package var duplicates = 0
    /// Entries that are already in the store.
    package var alreadyThere = 0
    /// Entries that replace the secret of an item of the store.
    package var replaced = 0
    /// Entries that differ from the item of the store, which is not changed.
    package var different = 0
    /// Entries that are not imported because another group has an item of their name.
    package var inOtherGroup = 0
    /// Entries that need no item.
    package var skipped = 0
    /// Entries that will not be in the store.
    package var lost = 0
    /// The lost entries that are passkeys.
    package var passkeys = 0
  }

  /// All parts of all entries: first those that became no item, then the items in the order of the source.
  package var entries: [Entry]

  /// Creates a report.
  package init(entries: [Entry]) { self.entries = entries }

  /// The counts, computed from the entries, so that both always agree.
  package var counts: Counts {
    entries.reduce(into: Counts()) { counts, entry in
      switch entry.outcome {
      case .added: counts.added += 1
      case .addedBeside:
        counts.added += 1
        counts.beside += 1
      case .joined: counts.joined += 1
      case .completed: counts.completed += 1
      case .duplicate: counts.duplicates += 1
      case .alreadyThere: counts.alreadyThere += 1
      case .replaced: counts.replaced += 1
      case .different: counts.different += 1
      case .inOtherGroup: counts.inOtherGroup += 1
      case .skipped: counts.skipped += 1
      case .lost(let loss):
        counts.lost += 1
        if loss == .passkey { counts.passkeys += 1 }
      }
    }
  }

  /// True if a part of the source will not be in the store.
  package var hasLoss: Bool { entries.contains { $0.outcome.isLoss } }
}

extension ImportOutcome {
  /// True if a part of the source will not be in the store.
  package var isLoss: Bool {
    if case .lost = self { true } else { false }
  }

  /// The outcome as one word, for programs.
  package var word: String {
    switch self {
    case .added: "added"
    case .addedBeside: "added-beside"
    case .joined: "joined"
    case .completed: "completed"
    case .duplicate: "duplicate"
    case .alreadyThere: "already-there"
    case .replaced: "replaced"
    case .different: "different"
    case .inOtherGroup: "other-group"
    case .skipped: "skipped"
    case .lost: "lost"
    }
  }
}
