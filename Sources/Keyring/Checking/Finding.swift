package import KeyringModel
package import FileSystem
package import OpenPGP

/// A problem that a check found in a store.
package struct Finding: Sendable, Equatable {
  /// The kind of problem.
  package enum Kind: Sendable, Equatable {
    /// Damage in a shard, such as a bad line, a duplicate line, or lines out of order.
    case shard(ShardFinding)
    /// A file or folder does not belong to a store.
    case stray(StrayReason)
    /// The encrypted file of an item is missing.
    case fileMissing
    /// The index has an item whose record is missing, and so is its encrypted file.
    case itemMissing
    /// An encrypted file has no record: another program created it, or the record was lost.
    case notAdopted
    /// Another program has changed the encrypted file of an item: the record, from this time, names another file. The
    /// second time is that of the file or its commit, if it is known.
    case changed(recorded: Timestamp, found: Timestamp?)
    /// The index has no line for an item.
    case notInIndex
    /// The files of an item are damaged, or lack a valid signature.
    case damaged(ItemDamage)
    /// An item contradicts its path or the index.
    case bindingMismatch(BindingMismatch)
    /// The file with the recipients for other programs does not list the members of the default group.
    case passRecipients
    /// An item is encrypted to other people only, so this user cannot decrypt it.
    case undecryptable(EngineError)
    /// An item is not encrypted to exactly the members of its group.
    case wrongRecipients(found: [KeyID], expected: [KeyID])
    /// The policy does not have the group of an item.
    case unknownGroup(String)
    /// Other users of the machine can change the file or folder.
    case unsafe(UnsafeFolderReason)
    /// The policy, or a person's key file, is not trusted.
    case policy(PolicyDistrust)
    /// A person's key can no longer be used.
    case key(Fingerprint, KeyProblem)
    /// A person's key expires soon; found by `verify` only.
    case keyEnds(Fingerprint, Timestamp)
    /// A person's key file does not have the expected content; found by `verify` only.
    case keyFile(Fingerprint, KeyFileProblem)
    /// A policy is not a valid successor of the one before it; found by `verify` only.
    case chain(ChainProblem)
    /// A branch would lose commits; found by `verify` only.
    case branch(BranchLoss)
    /// A transaction's record cannot be read.
    case transaction
    /// A transaction was committed but not applied completely. The next search or write finishes it.
    case unfinished
  }

  /// The affected path, relative to the store.
  package let path: String
  /// The kind of problem.
  package let kind: Kind
  /// The commit that introduced the problem, if it is in the history; nil for the current state of the store.
  package let commit: String?

  /// Creates a finding.
  package init(_ path: String, _ kind: Kind, commit: String? = nil) {
    self.path = path
    self.kind = kind
    self.commit = commit
  }
}

extension Finding.Kind {
  /// True if another program has added or changed the file, so that a member can adopt it.
  package var isAdoptable: Bool {
    switch self {
    case .notAdopted, .changed: true
    default: false
    }
  }
}

/// A fault of a person's key file.
package enum KeyFileProblem: Sendable, Equatable {
  /// The digest of the file differs from the one in the policy.
  case notInPolicy
  /// GnuPG finds no key in the file.
  case empty
  /// The file contains other keys, in addition to the person's key or instead of it. The value lists their
  /// fingerprints.
  case others([Fingerprint])
  /// The file contains a secret key.
  case secret
  /// The file was not checked, because too many other files are faulty.
  case notListed
}

/// Data that a push would remove from a branch.
package enum BranchLoss: Sendable, Equatable {
  /// The branch itself.
  case deleted
  /// The commit that the branch pointed to.
  case rewritten(from: String)
}

/// The reason why something does not belong to a store.
package enum StrayReason: String, Sendable, Equatable {
  /// A symbolic link; links are never followed.
  case link
  /// A pipe, socket or device.
  case special
  /// A folder where a file should be.
  case folder
  /// A file where a folder should be.
  case file
  /// A file with several names (hard links).
  case hardLink
  /// A name that no file of a store has.
  case name
  /// Another repository (a submodule of git).
  case repository
  /// The policy of another store in the same repository.
  case store
  /// A path below `.keytree` or `local`, which stay on each machine.
  case own
  /// An executable file.
  case executable
  /// A file that does not belong to a store and that the policy does not allow.
  case notAllowed
  /// A file that exceeds the size limit of its kind.
  case tooLarge
  /// A file whose path is taken by another file.
  case obstructed
  /// A folder that names far more files than its size in the history allows.
  case tooManyFiles
  /// The key file of no person in the policy.
  case stranger
}

/// The result of a check.
package struct CheckReport: Sendable {
  /// The problems, sorted by path; empty for a clean store.
  package var findings: [Finding] = []
  /// The number of items in the store.
  package var items = 0
  /// The number of conflict copies.
  package var conflictCopies = 0
  /// The number of items and conflict copies that were decrypted for the check.
  package var decrypted = 0
  /// The repairs that were made.
  package var repairs: [Repair] = []

  /// True if there are no findings.
  package var isClean: Bool { findings.isEmpty }
}

/// A change that `check --repair` made.
package enum Repair: Sendable, Equatable {
  /// An index line was rebuilt from the record of the item.
  case rebuiltLine(ItemReference)
  /// A missing or damaged file of an item was restored from the history.
  case restoredFile(String)
  /// A missing or damaged key file was replaced by the one that the policy names.
  case restoredKeyFile(String)
  /// An item was moved to the path that its record names.
  case movedItem(from: String, to: String)
  /// An item was at several paths. The version at this path became a conflict copy.
  case keptAsConflictCopy(path: String)
  /// The file with the recipients for other programs was rewritten.
  case rewrotePassRecipients
  /// A file or folder was moved to the quarantine folder.
  case quarantined(path: String, to: String)
  /// A damaged or obsolete line was removed. Its bytes are in the quarantine folder.
  case removedLine(file: String, number: Int)
  /// A shard was rewritten in its canonical form.
  case rewroteShard(file: String)
}

extension KeyProblem {
  /// True if the key has expired or was revoked, which is no fault of the store.
  var hasEnded: Bool {
    switch self {
    case .expired, .revoked: true
    default: false
    }
  }
}

extension Finding.Kind {
  /// True if a member's key or its signing subkeys have expired or were revoked, which is no fault of the store.
  package var isOfKeyThatEnded: Bool {
    guard case .key(_, let problem) = self else { return false }
    return problem.hasEnded || problem == .cannotSign
  }
}
