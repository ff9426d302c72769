public import KeyringModel
public import OpenPGP

/// Why the people of a keyring cannot be changed, or somebody cannot write for them.
public enum TeamError: Error, Equatable, Sendable {
  /// Only an admin signs a policy, and this user is none.
  case notAnAdmin
  /// This user was removed from the keyring, at that time.
  case removed(Timestamp)
  /// This user is not in the group, and could neither sign for it nor read what she has written.
  case notInGroup(String)
  /// Nothing can be sealed to this member of the group now.
  case unusableKey(Fingerprint, name: String, group: String, KeyProblem)
  /// Items that would have to be sealed again cannot be decrypted here, or are damaged: some of them, how many there
  /// are, and why the first one cannot be.
  case cannotReseal([ItemReference], count: Int, reason: ResealObstacle)
  /// Nobody could change the policy any more.
  case lastAdmin
  /// This user could not read these groups any more.
  case locksOut(groups: [String])
  /// Nobody could read the items of this group any more.
  case lastReader(group: String, items: Int)
  /// The group that is to go has items.
  case groupInUse(String, items: Int)
  /// The result is no policy.
  case invalid(PolicyError)
  /// A key file is not what its place in the policy needs.
  case keyFileMissing(Fingerprint)
  /// The key files of all people together would have more bytes than every machine reads.
  case keyFilesTooLarge(limit: Int)
  /// Somebody has changed the policy since the change was planned.
  case overtaken
  /// What this machine has accepted and what the store has do not come from one policy that is known here.
  case noCommonPolicy

  /// Why an item cannot be sealed again.
  public enum ResealObstacle: Sendable, Equatable {
    /// It is sealed to other people only.
    case notARecipient
    /// It is damaged, or not what the index says.
    case damaged
  }
}
