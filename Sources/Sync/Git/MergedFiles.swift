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
  /// The reasons why a change is refused.
  package enum Reason: Sendable, Equatable {
    /// The record is not believed: nobody has signed it who is in the item's group, or its files do not fit together.
    case record(RecordProblem)
    /// The file may not be in the store.
    case file(StrayReason)
    /// The file is larger than the limit.
    case tooLarge(size: Int, limit: Int)
    /// The remote has removed the file, and no store can be read without it.
    case needed
    /// The policy cannot be read.
    case policy(PolicyError)
  }

  /// The path in the store: that of the record, or of the file. What is not UTF-8 in it is replaced.
  package let path: String
  /// The reason.
  package let reason: Reason
  /// The committer of the change; nil if unknown.
  package var committer: String?

  /// Makes one; see the properties.
  package init(path: String, reason: Reason) { (self.path, self.reason) = (path, reason) }
}

/// An item that a remote has deleted.
package struct IncomingDeletion: Sendable, Equatable {
  /// The item as it was.
  package let record: ItemRecord
  /// The committer of the deletion; nil if unknown.
  package var committer: String?
}

/// The result of a merge: every file that differs from our side.
package struct MergedFiles: Sendable {
  /// Files of the store by their paths in it.
  package var store: [String: Keyring.NewFile] = [:]
  /// All other files, by their paths from the top of the repository.
  package var others: [String: OtherFile] = [:]
  /// The number of conflict copies that our side does not have.
  package var newCopies = 0
  /// The number of conflict copies that the remote has removed, as `resolve` does.
  package var removedCopies = 0
  /// The number of records that were merged by member and signed.
  package var signed = 0
  /// The changes of the remote that are refused.
  package var refused: [RefusedChange] = []
  /// The items that the remote has deleted.
  package var deletions: [IncomingDeletion] = []
  /// Items of which an older version came in, which is kept as a conflict copy.
  package var olderVersions: [ItemRecord] = []
  /// A Boolean value that indicates whether the result equals the remote's commit, so that no merge commit is
  /// needed.
  package var equalsTheirs = false
}
