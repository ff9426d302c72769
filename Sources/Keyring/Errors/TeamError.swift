public import KeyringModel
public import OpenPGP

/// The reasons why the people of a keyring cannot be changed, or why an item cannot be written for a group.
public enum TeamError: Error, Equatable, Sendable {
  /// Only an admin can sign a policy, and this user is not an admin.
  case notAnAdmin
  /// This user was removed from the keyring at that time.
  case removed(Timestamp)
  /// This user is not in the group, so they could neither sign items for it nor read the items that they write. The
  /// item is the existing one that they wanted to change or remove; nil for a new one.
  case notInGroup(String, ItemReference? = nil)
  /// The key of a member has expired or was revoked.
  case keyEnded(KeyObstacle)
  /// The key of this member of the group cannot be used for encryption.
  case unusableKey(Fingerprint, name: String, group: String, KeyProblem)
  /// A signature may be of this person, whose key GnuPG on this machine cannot read, or cannot read in full. So it is not
  /// known to be bad, and nothing may be refused because of it.
  case unreadableKey(Fingerprint, name: String, KeyProblem)
  /// A new key file has a subkey of another person.
  case foreignSubkey(ForeignSubkey)
  /// Items that have to be re-encrypted cannot be decrypted here, or are damaged: some of the items, their number, and
  /// the reason for the first one.
  case cannotReencrypt([ItemReference], count: Int, reason: ReencryptionObstacle)
  /// No admin would be left.
  case lastAdmin
  /// This user would lose access to these groups, or their role as an admin.
  case losesOwnAccess(groups: [String])
  /// This group has items and would lose its last member.
  case lastReader(group: String, items: Int)
  /// The group to remove has items.
  case groupInUse(String, items: Int)
  /// The result is not a valid policy.
  case invalid(PolicyError)
  /// A person's key file is missing or differs from the one in the policy.
  case keyFileMissing(Fingerprint)
  /// The total size of all key files would exceed the limit, in bytes.
  case keyFilesTooLarge(limit: Int)
  /// The policy was changed since the change was planned.
  case overtaken
  /// The accepted policy and the policy in the store have no common ancestor that is known here.
  case noCommonPolicy

  /// The reason why an item cannot be re-encrypted.
  public enum ReencryptionObstacle: Sendable, Equatable {
    /// The item is encrypted to other people only.
    case notARecipient
    /// The item is damaged, or differs from the index.
    case damaged
  }
}
