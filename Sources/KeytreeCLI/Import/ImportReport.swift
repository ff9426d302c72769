package import KeyringModel

/// What became of one part of an entry.
package enum ImportOutcome: Hashable, Sendable {
  /// It is a new item.
  case added
  /// It is a new item, under a name that tells it from another one with the same account and another secret.
  case addedBeside
  /// An earlier entry has the same secret; its item says what only this entry said as well.
  case joined(ImportSource, adding: [AttributeName])
  /// The store has the item; it gets the attributes that it did not have.
  case completed(adding: [AttributeName])
  /// An earlier entry says exactly the same.
  case duplicate(of: ImportSource)
  /// The store has it.
  case alreadyThere
  /// It needs no item.
  case skipped(ImportSkip)
  /// It will not be in the store.
  case lost(ImportLoss)
}

/// What became of every entry of a source.
package struct ImportReport: Sendable {
  /// One part of one entry.
  package struct Entry: Hashable, Sendable {
    /// Which entry.
    package var source: ImportSource
    /// Which part of it.
    package var part: ImportPart
    /// What became of it.
    package var outcome: ImportOutcome
    /// The item that has it now; nil when none has.
    package var path: ItemPath?
    /// What its owner should know.
    package var remarks: [ImportRemark] = []
  }

  /// How many parts had which outcome.
  package struct Counts: Hashable, Sendable {
    /// New items, those beside another one included.
    package var added = 0
    /// New items that stand beside another one with the same account.
    package var beside = 0
    /// Entries whose secret an earlier entry has.
    package var joined = 0
    /// Items of the store that get attributes.
    package var completed = 0
    /// Entries that an earlier one repeats exactly.
    package var duplicates = 0
    /// What the store has.
    package var alreadyThere = 0
    /// What needs no item.
    package var skipped = 0
    /// What will not be in the store.
    package var lost = 0
  }

  /// All parts of all entries: first what became no item, then the items in the order of the source.
  package var entries: [Entry]

  /// The counts, made from the entries, so that they cannot differ from them.
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
      case .skipped: counts.skipped += 1
      case .lost: counts.lost += 1
      }
    }
  }

  /// Whether something of the source will not be in the store.
  package var hasLoss: Bool { entries.contains { $0.outcome.isLoss } }
}

extension ImportOutcome {
  /// Whether something of the source will not be in the store.
  package var isLoss: Bool {
    if case .lost = self { true } else { false }
  }

  /// One word for programs.
  package var word: String {
    switch self {
    case .added: "added"
    case .addedBeside: "added-beside"
    case .joined: "joined"
    case .completed: "completed"
    case .duplicate: "duplicate"
    case .alreadyThere: "already-there"
    case .skipped: "skipped"
    case .lost: "lost"
    }
  }
}
