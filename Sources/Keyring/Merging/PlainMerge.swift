package import KeyringModel

/// A note of a merge by plain git, and how the merge has ended.
package struct PlainMerge: Sendable {
  /// How a merge has ended.
  package enum End: Equatable, Sendable {
    /// The result of the driver was taken. If a commit with one parent brought it, as `revert`, `cherry-pick` and
    /// `rebase` do, the user meant that version even if it is older.
    case taken(acceptsOlderTheirs: Bool)
    /// Something else has taken the place of both versions. The version of our side is kept as a conflict copy.
    case replaced
  }

  /// What the driver saw.
  package let note: PendingMergeFiles.Note
  /// How the merge has ended.
  package let end: End

  /// Describes a merge.
  package init(_ note: PendingMergeFiles.Note, _ end: End) { (self.note, self.end) = (note, end) }
}

/// Versions of items that the history has and the store has not. Nothing is believed because it is here.
package struct HistoricalVersions: Sendable {
  /// The files of records by the digests of their first lines.
  package var records: [ContentDigest: [UInt8]] = [:]
  /// The encrypted files by their digests.
  package var messages: [ContentDigest: [UInt8]] = [:]

  /// Makes an empty set.
  package init() {}
}

/// The versions of items that a merge by plain git needs.
package struct WantedVersions: Sendable {
  /// The digests of the first lines of records, by the places where they lay.
  package var records: [ItemPath: Set<ContentDigest>] = [:]
  /// The places where encrypted files lay, by their digests.
  package var messages: [ContentDigest: Set<ItemPath>] = [:]

  /// Makes an empty set.
  package init() {}

  /// True if the store and the notes have everything.
  package var isEmpty: Bool { records.isEmpty && messages.isEmpty }
}

/// The result of finishing merges by plain git.
package struct FinishedMerges: Sendable, Equatable {
  /// How many places were written or freed.
  package var items = 0
  /// How many conflict copies were made.
  package var copies = 0
  /// The places of changes that were undone because no member of the item's group signed them.
  package var refused: [ItemPath] = []

  /// Makes an empty result.
  package init() {}
}

extension Keyring {
  /// The bytes of the record at a place; empty for something that is not a record, nil for nothing.
  ///
  /// - Throws: a file error.
  package func recordBytes(at path: ItemPath) throws(KeyringError) -> [UInt8]? {
    try ItemReader(keyring: self).readableRecord(at: path, isLocal: false)
  }

  /// Lists the versions that finishing merges needs and that neither the store nor the notes have.
  ///
  /// - Throws: a file error.
  package func wantedVersions(for merges: [PlainMerge]) throws(KeyringError) -> WantedVersions {
    let resolution = try PlainMergeResolution(of: merges, HistoricalVersions(), in: self)
    return try resolution.wantedVersions(for: merges)
  }

  /// Merges the items that merge drivers have noted, in one transaction.
  ///
  /// - Parameters:
  ///   - merges: The merges, the latest first.
  ///   - versions: What the history has of the wanted versions.
  /// - Throws: `KeyringError.policyNotTrusted`, `.busy`, `.engine`, or a file error.
  package func finish(
    _ merges: [PlainMerge], with versions: HistoricalVersions
  ) throws(KeyringError) -> FinishedMerges {
    if merges.isEmpty { return FinishedMerges() }
    try requireTrust()
    let finished = try transaction(subject: "merge items") { changes throws(KeyringError) in
      changes.dependOnSearch()
      var resolution = try PlainMergeResolution(of: merges, versions, in: self)
      for merge in merges { try resolution.apply(merge) }
      return try resolution.write(to: &changes)
    }
    // The files that git has merged are not those of our last transaction.
    try CommitJournal(of: tree).forget()
    return finished
  }
}
