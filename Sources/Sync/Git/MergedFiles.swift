package import Keyring
package import KeyringModel

/// The merged state of a file that is not part of the store.
package struct OtherFile: Sendable, Equatable {
  /// The git mode of the file.
  package let mode: String
  /// The object name of its content; nil if the file is removed.
  package let name: String?
}

/// A change of a remote that is not accepted.
package struct RefusedChange: Sendable, Equatable {
  /// The reasons why a change is refused.
  package enum Reason: Sendable, Equatable {
    /// The record is not verified: no member of the item's group has signed it, or the files of the item do not match.
    case record(RecordProblem)
    /// The file may not be in the store.
    case file(StrayReason)
    /// The file of the store may not be executable. Its content is accepted.
    case executable
    /// The file is larger than the limit.
    case tooLarge(size: Int, limit: Int)
    /// The remote has removed the file, and no store can be read without it.
    case needed
    /// The policy cannot be read.
    case policy(PolicyError)
    /// The policy is older than the accepted one, which follows it.
    case restored(generation: Int, newer: Int)
    /// The key file is not the one that the policy names.
    case keyFile(KeyFileProblem)
  }

  /// The path of the record or file in the store. Invalid UTF-8 is replaced.
  package let path: String
  /// The reason for the refusal.
  package let reason: Reason
  /// The committer of the change; nil if unknown.
  package var committer: String?
  /// The abbreviated name of the commit of a folder with too many files; nil for other changes.
  package var commit: String?

  /// Creates a refused change without a committer.
  package init(path: String, reason: Reason) { (self.path, self.reason) = (path, reason) }
}

/// An item that the remote has deleted.
package struct IncomingDeletion: Sendable, Equatable {
  /// The record before the deletion.
  package let record: ItemRecord
  /// True if another item now has the name of the deleted one.
  package let isReplaced: Bool
  /// The committer of the deletion; nil if unknown.
  package var committer: String?
}

/// A local version of an item that the remote has refused, because no member of the group of the item has signed it, for
/// example after its author has left the group. The history keeps it.
package struct AbandonedItem: Sendable, Equatable {
  /// The record of the version.
  package let record: ItemRecord
  /// True if the remote has another version, which replaces this one; false if the item is removed.
  package let isReplaced: Bool
}

/// A file that another program has added or changed and that the remote has sent. No member has signed it.
package struct IncomingForeignFile: Sendable, Equatable {
  /// The path of the file in the store.
  package let path: String
  /// The path of the file in the commit of the remote. It is another one if the merge has kept the file beside that
  /// of an item or of another program.
  package let origin: String
  /// The item that the file changes; nil for a new file.
  package var item: ItemPath?
  /// The committer of the file; nil if unknown.
  package var committer: String?
}

/// The result of a merge: every file that differs from the local commit.
package struct MergedFiles: Sendable {
  /// Files of the store, by path in the store.
  package var store: [String: Keyring.NewFile] = [:]
  /// All other files, by path relative to the top of the repository.
  package var others: [String: OtherFile] = [:]
  /// The conflict copies that the local store does not have.
  package var newCopies: [ItemRecord] = []
  /// The number of conflict copies that the remote has removed, as `resolve` does.
  package var removedCopies = 0
  /// The number of records whose members were merged and that were signed again.
  package var signed = 0
  /// The number of records that were signed again without a change, because their signers are no longer members.
  package var signedAgain = 0
  /// The number of records that were signed again without a change, because the keys of their signers, who are members,
  /// are no longer valid for them.
  package var signedAgainForKeys = 0
  /// The changes of the remote that are refused.
  package var refused: [RefusedChange] = []
  /// The items that the remote has deleted.
  package var deletions: [IncomingDeletion] = []
  /// The local versions of items that the remote has refused.
  package var abandoned: [AbandonedItem] = []
  /// The files of the remote that other programs have added or changed and that can be adopted.
  package var foreignFiles: [IncomingForeignFile] = []
  /// Items for which the remote has an older version, which is kept as a conflict copy.
  package var olderVersions: [ItemRecord] = []
  /// True if the result equals the remote's commit, so no merge commit is needed.
  package var equalsTheirs = false

  /// Counts a record that was signed again without a change.
  ///
  /// - Parameters:
  ///   - signer: The person who had signed it.
  ///   - judge: The keyring with the policy that does not accept that signature.
  mutating func countRenewal(of record: ItemRecord, signedBy signer: Fingerprint?, _ judge: Keyring) {
    if let signer, judge.policy.isMember(signer, ofAny: [record.group]) {
      signedAgainForKeys += 1
    } else {
      signedAgain += 1
    }
  }

  /// Adds a file of another program that the remote has sent.
  ///
  /// - Parameters:
  ///   - bytes: Its content.
  ///   - path: Its path in the store.
  ///   - origin: Its path in the commit of the remote; nil for the same path.
  mutating func receive(_ bytes: [UInt8], asForeignFile path: String, from origin: String? = nil) {
    store[path] = .bytes(bytes)
    foreignFiles.append(IncomingForeignFile(path: path, origin: origin ?? path))
  }
}
