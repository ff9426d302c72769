public import KeyringModel
public import FileSystem
public import OpenPGP

/// An error of a keyring: its kind and the object that it concerns, without advice.
public enum KeyringError: Error, Equatable, Sendable {
  // MARK: The store

  /// The path of the store is not known.
  case location(StoreLocationError)
  /// There is no store at this path.
  case noStore(path: String)
  /// There already is a store at this path.
  case storeExists(path: String)
  /// The folder contains other files, so no store is created in it.
  case folderNotEmpty(path: String)
  /// Another user owns or can write to the folder or one of its parent folders.
  case unsafeFolder(path: String, UnsafeFolderReason)
  /// Another process holds the store's lock.
  case busy(holder: Int32?)
  /// A file operation failed. The call has changed nothing.
  case file(FileError)
  /// The change is stored, but a file operation failed while it was being finished: a file was not flushed to the disk,
  /// moved to its place or removed. The next call that opens the store finishes the change. Until then, a power cut may
  /// undo it.
  case unfinished(FileError)

  /// Git could not commit changes. If a change fails with this error, it was not made: it would have replaced or
  /// removed a version that is not in the history yet.
  case history(HistoryError)

  // MARK: Queries

  /// The query breaks a rule. Requesting the secrets of *all* matches is Apple's `errSecParam`.
  case invalidQuery(QueryError)
  /// An attribute cannot be stored.
  case invalidAttribute(AttributeError)
  /// The attributes together do not fit into a line of the index.
  case attributesTooLarge(IndexLineError)
  /// The secret is larger than 1 MiB.
  case secretTooLarge(limit: Int)

  // MARK: Items

  /// No item matches.
  case itemNotFound
  /// An item with the same primary key exists.
  case itemExists(ItemReference)
  /// The item's file is damaged or does not match the index.
  case itemDamaged(ItemReference, ItemDamage)
  /// The item differs from the item that was requested.
  case bindingMismatch(ItemReference, BindingMismatch)
  /// A line or a shard of the index is damaged, so nothing is written to it.
  case shardDamaged(file: String, [ShardFinding])
  /// A line cannot be added to a shard.
  case shardRefused(file: String, ShardError)
  /// A transaction's record cannot be read. Nothing is written until the user has examined it.
  case transactionDamaged(folder: String)
  /// The store has changed since a transaction was interrupted, so it is not finished. The record may be from another
  /// machine.
  case transactionOutdated(folder: String)
  /// A newer version of Keytree was interrupted while it changed the store. Only that version or a newer one can finish
  /// the change.
  case transactionUnknown(folder: String)

  // MARK: Keys and policy

  /// A GnuPG operation failed, for the given item if it concerned one.
  case engine(EngineError, ItemReference?)
  /// The policy is not the one that this machine has accepted.
  case policyNotTrusted(PolicyDistrust)
  /// The item's group is not in the policy.
  case unknownGroup(String)
  /// The membership of the keyring does not allow the operation, or cannot be changed.
  case team(TeamError)
  /// A program that named no group wanted to store or remove a secret, and that would concern other people. The items
  /// are the ones that it has to name.
  case shared(SharedItemConflict, [ItemReference])
}

/// The reasons why a secret is neither stored nor removed for a program that names no group.
public enum SharedItemConflict: Sendable, Equatable {
  /// Items of several groups match.
  case severalGroups
  /// An item with the name is in this group and not in that of new items, which could have other readers.
  case otherGroup(String)
  /// An item of another group may be for the same account, in another spelling, and members of this group cannot read it.
  /// The values are the class, the attributes and the group of the item that was not stored.
  case similar(ItemClass, Attributes, group: String)
  /// Another person has removed an item that may be for the same account from this group, and members of the other group
  /// could not read it. The values are the class, the attributes and the group of the item that was not stored.
  case removed(ItemClass, Attributes, group: String, from: String)
  /// This person has signed the item last. They could read the new secret only because the item is in its group.
  case plantedBy(Fingerprint, name: String)
  /// The current secret of the item was not stored from this machine, and so many of its readers could read the new
  /// secret only because the item is in its group. One of them may have added the item.
  case storedElsewhere(readers: Int)
  /// The other members of this group use the item to be removed.
  case removal(group: String)
  /// The program would store the item to be removed again in this group, where other people could read it.
  case newReaders(group: String)
}

/// The kinds of damage to the files of an item.
public enum ItemDamage: Error, Sendable, Equatable {
  /// The encrypted file is missing.
  case missing
  /// The record is missing: another program created the file, or the record was lost.
  case noRecord
  /// The record cannot be read, or its proof is invalid.
  case badRecord(RecordError)
  /// The record has no valid signature by a member of the item's group.
  case badSignature
  /// A member of the item's group has signed the record, but with a key that was not valid then. The value is the key.
  case invalidSigner(Fingerprint, SignerProblem)
  /// The index does not contain the item.
  case notInIndex
  /// The encrypted file is not the one that the record describes.
  case notAsRecorded
  /// The file is not a regular file with a single name, but for example a link, a folder or a pipe.
  case notAFile
  /// The file exceeds the size limit for files of items.
  case tooLarge(limit: Int)
  /// The plaintext exceeds the size limit for secrets. A small message can decompress to a large plaintext.
  case contentsTooLarge(limit: Int)
  /// The file is not a message that is encrypted only to public keys.
  case notAMessage(MessageError)
  /// The content is damaged and cannot be decrypted.
  case corrupt

  /// True if the record has no valid signature by a member of the item's group.
  package var isOfSignature: Bool {
    switch self {
    case .badSignature, .invalidSigner: true
    default: false
    }
  }
}

/// The kinds of difference between an item and the item that was requested.
public enum BindingMismatch: Error, Sendable, Equatable {
  /// The record belongs to another keyring.
  case keyring
  /// The record describes another item, which belongs to another path.
  case place
  /// The index and the signed record differ in this attribute.
  case index(AttributeName)
  /// The record does not fulfil the caller's condition on this attribute.
  case condition(AttributeName)
  /// The signer of the record cannot read the encrypted file, so the file was taken from another item.
  case readers
  /// The record is in another group than the item was before, and no member of that group signed the move.
  case unauthorizedMove
  /// The recipient packets of the encrypted file were altered, or another program created the file.
  case recipients
}

/// The reasons not to trust a policy.
public enum PolicyDistrust: Sendable, Equatable {
  /// This machine has not accepted a policy of this keyring yet.
  case notPinned
  /// The policy is not the one that was accepted.
  case changed(generation: Int, pinned: Int)
  /// The policy is newer than the accepted one but does not follow it: another policy was created in parallel.
  case notSuccessor(generation: Int)
  /// The policy is newer than the accepted one, and the policies between them are not available here.
  case stepsMissing(generation: Int, pinned: Int)
  /// The history of the policy has a newer one that follows it, so the older one was restored.
  case restored(generation: Int, newer: Int)
  /// The history of the policy has two sides that contradict each other: each has taken the right to sign from a signer of
  /// the other one, or both end with the same generation.
  case contradictory(generation: Int, other: Int)
  /// The policy is newer than the accepted one, and the policies in the history cannot be read.
  case historyUnreadable(generation: Int)
  /// The policy has no signature file.
  case unsigned
  /// The signature of the policy is invalid, or was not made by an admin.
  case badSignature
  /// The policy cannot be read.
  case unreadable(PolicyError)
  /// The pin of this machine cannot be read.
  case pinUnreadable
  /// A member's key file is missing.
  case keyMissing(Fingerprint)
  /// A member's key file differs from the accepted one. It may be an older version that was restored, without a
  /// revocation or with a retired subkey. The values are the member's fingerprint and their name in the accepted
  /// policy.
  case keyChanged(Fingerprint, name: String)
  /// A member's key file is not the one that the policy names, so it is not covered by the policy's signature.
  case keyExchanged(Fingerprint, name: String)
  /// A key file that the policy adds or changes has a subkey of another person.
  case foreignSubkey(ForeignSubkey)
  /// A key file that the policy adds or changes has too many parts for GnuPG.
  case unusableKeyFile(Fingerprint, KeyProblem)
}

extension KeyringError {
  /// True if another process may have stored, removed or moved the item since it was found.
  package var isAboutConcurrentChange: Bool {
    switch self {
    case .itemExists, .itemNotFound, .bindingMismatch(_, .condition(.group)): true
    default: false
    }
  }
}
