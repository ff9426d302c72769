package import KeyringModel

extension Synchronization {
  /// The result of a synchronization.
  package struct Report: Sendable, Equatable {
    /// The number of commits that were fetched and merged.
    package var received = 0
    /// The number of commits that were pushed.
    package var sent = 0
    /// True if a merge commit was created.
    package var hasMerged = false
    /// The conflict copies that the merge created.
    package var copies: [ItemRecord] = []
    /// The number of conflict copies that the merge created.
    package var newCopies: Int { copies.count }
    /// The number of conflict copies that others have removed, as `resolve` does.
    package var removedCopies = 0
    /// The number of items that were re-encrypted for the members of their groups.
    package var resealed = 0
    /// The number of records that both sides had changed and that were merged and signed.
    package var signed = 0
    /// The number of records that were signed again without a change, because the remote's policy has removed their
    /// signers.
    package var signedAgain = 0
    /// The number of records that were signed again without a change, because the keys of their signers, who are members,
    /// are no longer valid for them.
    package var signedAgainForKeys = 0
    /// Changes that were refused, for example because no member of the item's group has signed them.
    package var refused: [RefusedChange] = []
    /// Files that other programs have added or changed and that can be adopted.
    package var foreignFiles: [IncomingForeignFile] = []
    /// Items that another user has deleted.
    package var deletions: [IncomingDeletion] = []
    /// Versions of items in this clone that others have refused, because no member of their group has signed them.
    package var abandoned: [AbandonedItem] = []
    /// Items for which an older version was received, which is kept as a conflict copy.
    package var olderVersions: [ItemRecord] = []
    /// The new name of the branch on the remote, if it was renamed.
    package var renamedBranch: String?
    /// True if a new policy was received.
    package var hasNewPolicy = false
    /// True if nothing was pushed because a new policy was received, so that another run with that policy must push.
    package var isUnsent = false
    /// The number of commits that stay in this clone because the user was removed: every other machine would refuse
    /// their changes.
    package var withheld = 0
    package init() {}

    /// Adds the results of another run.
    package mutating func add(_ other: Report) {
      received += other.received
      sent += other.sent
      hasMerged = hasMerged || other.hasMerged
      copies += other.copies
      removedCopies += other.removedCopies
      resealed += other.resealed
      signed += other.signed
      signedAgain += other.signedAgain
      signedAgainForKeys += other.signedAgainForKeys
      refused += other.refused
      foreignFiles += other.foreignFiles
      deletions += other.deletions
      abandoned += other.abandoned
      olderVersions += other.olderVersions
      renamedBranch = other.renamedBranch ?? renamedBranch
      hasNewPolicy = hasNewPolicy || other.hasNewPolicy
      isUnsent = other.isUnsent
      withheld = other.withheld
    }
  }
}
