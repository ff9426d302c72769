public import KeyringModel
public import FileSystem
public import OpenPGP

/// Everything that can go wrong with a keyring: what failed and on what, never what to do about it.
public enum KeyringError: Error, Equatable, Sendable {
  // MARK: The store

  /// No store is at this path.
  case noStore(path: String)
  /// A store is at this path already.
  case storeExists(path: String)
  /// The folder holds other things, so no store is made in it.
  case folderNotEmpty(path: String)
  /// Somebody else owns the folder or could write to it, or to one above it.
  case unsafeFolder(path: String, UnsafeFolderReason)
  /// Another process holds the store's lock.
  case busy(holder: Int32?)
  /// A file operation failed.
  case file(FileError)

  // MARK: The question

  /// The query breaks a rule; with the secret of *all* matches it is Apple's `errSecParam`.
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
  /// The item's file is damaged or is not what the index says.
  case itemDamaged(ItemReference, ItemDamage)
  /// What was decrypted is not the item that was asked for.
  case bindingMismatch(ItemReference, BindingMismatch)
  /// A line or a shard of the index is damaged, so nothing is written to it.
  case shardDamaged(file: String, [ShardProblem])
  /// A shard cannot take a line.
  case shardRefused(file: String, ShardError)
  /// A transaction's record cannot be read, so nothing is written before it is looked at.
  case transactionDamaged(folder: String)
  /// The store has changed since a transaction was cut off, so it is not finished; the record may be from another machine.
  case transactionOutdated(folder: String)
  /// A newer version of Keytree was cut off while it changed the store, and only such a one can finish.
  case transactionUnknown(folder: String)

  // MARK: Keys and policy

  /// GnuPG could not do what it was asked; the item, where one was concerned.
  case engine(EngineError, ItemReference?)
  /// The policy is not what this machine has accepted.
  case policyNotTrusted(PolicyDistrust)
  /// The item's group is not in the policy.
  case unknownGroup(String)
  /// The people of the keyring stand in the way, or cannot be changed.
  case team(TeamError)
}

/// What is wrong with the files of an item.
public enum ItemDamage: Error, Sendable, Equatable {
  /// The encrypted file is missing.
  case missing
  /// The record is missing: another program has made the file, or the record was lost.
  case noRecord
  /// The record cannot be read, or its proof does not hold.
  case badRecord(RecordError)
  /// The record is not signed by a member of the item's group with a good signature.
  case badSignature
  /// The index does not have the item.
  case notInIndex
  /// The encrypted file is not the one that the record describes.
  case notAsRecorded
  /// It is not a regular file of its own: a link, a folder, a pipe.
  case notAFile
  /// It is larger than the file of any item.
  case tooLarge(limit: Int)
  /// The plaintext is larger than any secret: a message can be made that is small and holds much.
  case contentsTooLarge(limit: Int)
  /// It is not a message that is only encrypted to public keys.
  case notAMessage(MessageError)
  /// The content is damaged: no one can decrypt it.
  case corrupt
}

/// In what an item differs from the item that was asked for.
public enum BindingMismatch: Error, Sendable, Equatable {
  /// The record belongs to another keyring.
  case keyring
  /// The record is that of another item, which belongs elsewhere.
  case place
  /// The index says something else about this attribute than the signed record.
  case index(AttributeName)
  /// The record does not fulfil the condition on this attribute under which the item was asked for.
  case condition(AttributeName)
  /// The person who signed the record cannot read the encrypted file, and so has taken it from another item.
  case readers
  /// The record is in another group than the item was, and no member of that group signed the move.
  case unauthorizedMove
  /// The encrypted file was made for other recipients than those in front of it, or by another program.
  case recipients
}

/// Why a policy is not trusted.
public enum PolicyDistrust: Sendable, Equatable {
  /// This machine has not accepted any policy of this keyring yet.
  case notPinned
  /// The policy is not the one that was accepted.
  case changed(generation: Int, pinned: Int)
  /// It is newer than the accepted one and does not follow it: somebody has made another one beside those between.
  case notSuccessor(generation: Int)
  /// It is newer than the accepted one, and the policies between are not known here.
  case stepsMissing(generation: Int, pinned: Int)
  /// It has no signature file.
  case unsigned
  /// Its signature is bad, or not by an admin.
  case badSignature
  /// It cannot be read.
  case unreadable(PolicyError)
  /// What this machine has accepted cannot be read.
  case pinUnreadable
  /// A person's key file is missing.
  case keyMissing(Fingerprint)
  /// A person's key file is not the one that was accepted: it may be an older one that somebody put back, without
  /// a revocation or with a subkey that was retired. Whose it is, and that person's name in the accepted policy.
  case keyChanged(Fingerprint, name: String)
  /// A person's key file is not the one that the policy names, so that nobody has signed it.
  case keyExchanged(Fingerprint, name: String)
}
