package import KeyringModel

/// A note of a merge by plain git, and the outcome of the merge.
package struct PlainMerge: Sendable {
  /// The outcome of a merge.
  package enum End: Equatable, Sendable {
    /// Git used the result of the driver. If the commit that contains it has one parent, as with `revert`,
    /// `cherry-pick` and `rebase`, the user wanted that version even if it is older.
    case taken(acceptsOlderTheirs: Bool)
    /// Something else replaced both versions. Our version is kept as a conflict copy.
    case replaced
  }

  /// The note of the driver.
  package let note: PendingMergeFiles.Note
  /// The outcome of the merge.
  package let end: End

  /// Creates a merge.
  package init(_ note: PendingMergeFiles.Note, _ end: End) { (self.note, self.end) = (note, end) }
}

/// The versions of items that are in the history but not in the store. They are not verified yet.
package struct HistoricalVersions: Sendable {
  /// The record files by the digests of their first lines.
  package var records: [ContentDigest: [UInt8]] = [:]
  /// The encrypted files by their digests.
  package var messages: [ContentDigest: [UInt8]] = [:]

  /// Creates an empty set.
  package init() {}
}

/// The versions of items that a merge by plain git needs.
package struct WantedVersions: Sendable {
  /// The digests of the first lines of records, by the item paths at which they were stored.
  package var records: [ItemPath: Set<ContentDigest>] = [:]
  /// The item paths at which encrypted files were stored, by their digests.
  package var messages: [ContentDigest: Set<ItemPath>] = [:]

  /// Creates an empty set.
  package init() {}

  /// True if nothing is missing.
  package var isEmpty: Bool { records.isEmpty && messages.isEmpty }
}

/// The result of finishing merges by plain git.
package struct FinishedMerges: Sendable, Equatable {
  /// The number of item paths that were written or freed.
  package var items = 0
  /// The number of conflict copies that were created.
  package var copies = 0
  /// The paths of changes that were undone because no member of the item's group signed them.
  package var refused: [ItemPath] = []

  /// Creates an empty result.
  package init() {}
}

extension Keyring {
  /// Returns the bytes of the record at a path; empty if it is not a readable record, nil if there is none.
  ///
  /// - Throws: A file error.
  package func recordBytes(at path: ItemPath) throws(KeyringError) -> [UInt8]? {
    try ItemReader(keyring: self).readableRecord(at: path, isLocal: false)
  }

  /// Lists the versions that finishing merges needs and that are neither in the store nor in the notes.
  ///
  /// - Throws: A file error.
  package func wantedVersions(for merges: [PlainMerge]) throws(KeyringError) -> WantedVersions {
    let resolution = try PlainMergeResolution(of: merges, HistoricalVersions(), in: self)
    return try resolution.wantedVersions(for: merges)
  }

  /// Merges, in one transaction, the items for which merge drivers have written notes.
  ///
  /// - Parameters:
  ///   - merges: The merges, the latest first.
  ///   - versions: The wanted versions that were found in the history.
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
    // Git has merged files outside of our transactions, so the next commit must compare the whole store.
    try CommitJournal(of: tree).forget()
    return finished
  }
}
