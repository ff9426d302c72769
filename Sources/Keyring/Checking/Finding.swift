public import KeyringModel
public import OpenPGP

/// One thing that is not as it should be in a store.
public struct Finding: Sendable, Equatable {
  /// What is wrong.
  public enum Kind: Sendable, Equatable {
    /// Damage in a shard: a bad line, a double, lines out of order.
    case shard(ShardProblem)
    /// A file or folder that is no part of a store.
    case stray(StrayReason)
    /// The index has an item whose file is missing.
    case fileMissing
    /// An item's file is not known to the index.
    case notInIndex
    /// An item's file is not the one that the index describes.
    case notAsIndexed
    /// An item's file is damaged.
    case damaged(ItemDamage)
    /// What an item says about itself does not fit the place where it is.
    case bindingMismatch(BindingMismatch)
    /// Another item, which it names, has the same id.
    case sharedID(ItemReference)
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
    /// A transaction's record cannot be read.
    case transaction
    /// A change was decided and then cut off. Whoever searches or writes next finishes it.
    case unfinished
  }

  /// The path it is about, relative to the store.
  public let path: String
  /// What is wrong there.
  public let kind: Kind

  /// Describes something that is wrong.
  public init(_ path: String, _ kind: Kind) {
    self.path = path
    self.kind = kind
  }
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
}

/// What a check found.
public struct CheckReport: Sendable {
  /// Everything that is wrong, by path; empty for a clean store.
  public var findings: [Finding] = []
  /// How many items the index has.
  public var items = 0
  /// How many of them were decrypted for the check.
  public var decrypted = 0
  /// What was repaired, in words of the file system.
  public var repairs: [Repair] = []

  /// Whether nothing is wrong.
  public var isClean: Bool { findings.isEmpty }
}

/// One thing that `check --repair` did.
public enum Repair: Sendable, Equatable {
  /// A line was written anew from what the sealed item says.
  case rebuiltLine(ItemReference)
  /// An item's missing file was brought back from the history.
  case restoredFile(String)
  /// A sealed item went back to the place that it names itself.
  case movedItem(from: String, to: String)
  /// Something went into the quarantine folder.
  case quarantined(path: String, to: String)
  /// A damaged or left-over line was taken out; its bytes are in the quarantine folder.
  case removedLine(file: String, number: Int)
  /// A shard was written anew in its canonical form.
  case rewroteShard(file: String)
}
