public import KeyringModel
public import FileSystem
public import OpenPGP

/// One thing that is not as it should be in a store.
public struct Finding: Sendable, Equatable {
  /// What is wrong.
  public enum Kind: Sendable, Equatable {
    /// Damage in a shard: a bad line, a double, lines out of order.
    case shard(ShardProblem)
    /// A file or folder that is no part of a store.
    case stray(StrayReason)
    /// The encrypted file of an item is missing.
    case fileMissing
    /// The index has an item whose record is missing, and so is its encrypted file.
    case itemMissing
    /// An encrypted file without a record: another program has made it, or the record was lost.
    case notAdopted
    /// The index does not have an item.
    case notInIndex
    /// The files of an item are damaged, or not signed as they must be.
    case damaged(ItemDamage)
    /// An item is not what its place or the index says.
    case bindingMismatch(BindingMismatch)
    /// The recipients that other programs read are not the members of the default group.
    case passRecipients
    /// An item is sealed to other people only, so that this user cannot look into it.
    case undecryptable(EngineError)
    /// An item is not sealed to exactly the members of its group.
    case wrongRecipients(found: [KeyID], expected: [KeyID])
    /// Nothing can be said about the people an item is sealed to, because it is not known who they should be.
    case recipientsUnknown(RecipientDoubt)
    /// Others can change it, although they should not.
    case unsafe(UnsafeFolderReason)
    /// The policy, or a person's key file, is not trusted.
    case policy(PolicyDistrust)
    /// A person's key cannot be used any more.
    case key(Fingerprint, KeyProblem)
    /// A person's key ends soon; found by `verify` alone.
    case keyEnds(Fingerprint, Timestamp)
    /// A person's key file is not what it should be; found by `verify` alone.
    case keyFile(Fingerprint, KeyFileFault)
    /// A policy does not follow from the one before it; found by `verify` alone.
    case chain(ChainProblem)
    /// A branch would lose commits; found by `verify` alone.
    case branch(BranchLoss)
    /// A transaction's record cannot be read.
    case transaction
    /// A change was decided and then cut off. Whoever searches or writes next finishes it.
    case unfinished
  }

  /// The path it is about, relative to the store.
  public let path: String
  /// What is wrong there.
  public let kind: Kind
  /// The commit that has brought it, where it is about a history; nil for what lies in the store now.
  public let commit: String?

  /// Describes something that is wrong.
  public init(_ path: String, _ kind: Kind, commit: String? = nil) {
    self.path = path
    self.kind = kind
    self.commit = commit
  }
}

/// Why a person's key file is not what it should be.
public enum KeyFileFault: Sendable, Equatable {
  /// It is not the file that the policy names.
  case notInPolicy
  /// GnuPG finds no key in it.
  case empty
  /// It has other keys as well, or instead; their fingerprints.
  case others([Fingerprint])
  /// It has a secret key.
  case secret
  /// It was not looked at, because too many others are not what they should be.
  case notListed
}

/// What a push would take away from a branch.
public enum BranchLoss: Sendable, Equatable {
  /// The branch itself.
  case deleted
  /// The commit that it stood at.
  case rewritten(from: String)
}

/// Why it is not known to whom an item should be sealed.
public enum RecipientDoubt: Sendable, Equatable {
  /// The policy has no such group.
  case unknownGroup(String)
  /// Nothing can be sealed to this member of the group now.
  case unusableKey(Fingerprint, KeyProblem)
}

/// Why something is no part of a store.
public enum StrayReason: String, Sendable, Equatable {
  /// A symbolic link; links are never followed.
  case link
  /// A pipe, socket or device.
  case special
  /// A folder where a file should be.
  case folder
  /// A file where a folder should be.
  case file
  /// A file with other names (hard links).
  case hardLink
  /// A name that no item of ours has.
  case name
  /// Another repository (a module of git).
  case repository
  /// The policy of another store in the same repository.
  case store
  /// A path below `.keytree` or `local`, which stay on each machine.
  case own
  /// A file that can be executed.
  case executable
  /// A file that is no part of a store, and that the policy does not allow.
  case notAllowed
  /// A file that is larger than files of its kind can be.
  case tooLarge
  /// A file in whose place is another one.
  case obstructed
}

/// What a check found.
public struct CheckReport: Sendable {
  /// Everything that is wrong, by path; empty for a clean store.
  public var findings: [Finding] = []
  /// How many items the index has.
  public var items = 0
  /// How many conflict copies there are.
  public var conflictCopies = 0
  /// How many of both were decrypted for the check.
  public var decrypted = 0
  /// What was repaired, in words of the file system.
  public var repairs: [Repair] = []

  /// Whether nothing is wrong.
  public var isClean: Bool { findings.isEmpty }
}

/// One thing that `check --repair` did.
public enum Repair: Sendable, Equatable {
  /// A line was written anew from the record of the item.
  case rebuiltLine(ItemReference)
  /// An item's missing file was brought back from the history.
  case restoredFile(String)
  /// An item went back to the place that its record names.
  case movedItem(from: String, to: String)
  /// An item was at several places: the version at this place gave way, and became a conflict copy.
  case keptAsConflictCopy(path: String)
  /// The recipients that other programs read were written anew.
  case rewrotePassRecipients
  /// Something went into the quarantine folder.
  case quarantined(path: String, to: String)
  /// A damaged or left-over line was taken out; its bytes are in the quarantine folder.
  case removedLine(file: String, number: Int)
  /// A shard was written anew in its canonical form.
  case rewroteShard(file: String)
}
