package import Keyring
package import KeyringModel

/// A file that is not part of the store, as a merge leaves it.
package struct OtherFile: Sendable, Equatable {
  /// Its kind, as git writes it.
  package let mode: String
  /// The name of its content; nil when it goes.
  package let name: String?
}

/// A change of a remote that is not taken.
package struct RefusedChange: Sendable, Equatable {
  /// Why it is not taken.
  package enum Reason: Sendable, Equatable {
    /// The record is not believed: nobody has signed it who is in the item's group, or its files do not fit together.
    case record(RecordFault)
    /// The file may not be in the store.
    case file(StrayReason)
    /// The file is larger than the limit.
    case tooLarge(size: Int, limit: Int)
  }

  /// The path in the store: that of the record, or of the file. What is not UTF-8 in it is replaced.
  package let path: String
  /// Why it is not taken.
  package let reason: Reason
  /// Who has committed it; nil when that is not known.
  package var committer: String?

  /// Makes one; see the properties.
  package init(path: String, reason: Reason) { (self.path, self.reason) = (path, reason) }
}

/// An item that a remote has deleted.
package struct IncomingDeletion: Sendable, Equatable {
  /// The item as it was.
  package let record: ItemRecord
  /// Who has committed the deletion; nil when that is not known.
  package var committer: String?
}

/// What a merge comes to: every file that is not any more what our side has.
package struct MergedFiles: Sendable {
  /// Files of the store by their paths in it.
  package var store: [String: Keyring.NewFile] = [:]
  /// All other files, by their paths from the top of the repository.
  package var others: [String: OtherFile] = [:]
  /// How many conflict copies there are that our side does not have.
  package var newCopies = 0
  /// How many conflict copies the remote has removed, as `resolve` does.
  package var removedCopies = 0
  /// How many records were merged by member, and signed.
  package var signed = 0
  /// What is not taken.
  package var refused: [RefusedChange] = []
  /// What the remote has deleted.
  package var deletions: [IncomingDeletion] = []
  /// Items of which an older version came in, which is kept as a conflict copy.
  package var olderVersions: [ItemRecord] = []
  /// Whether the result is exactly what the remote has, so that no commit has to be made.
  package var equalsTheirs = false
}
