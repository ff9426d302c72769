public import KeyringModel

/// Why a policy in a history does not follow from the one before it.
public enum ChainProblem: Error, Sendable, Equatable {
  /// There is none any more.
  case missing
  /// It cannot be read.
  case unreadable(PolicyError)
  /// It is of another keyring.
  case foreign
  /// It has no signature file.
  case unsigned
  /// What is in its signature file is no signature of these bytes.
  case badSignature
  /// It is signed by a member who is no admin.
  case signedByMember(Fingerprint)
  /// It is signed by somebody who had been removed.
  case signedByRemoved(Fingerprint)
  /// It is signed with a key that its owner has revoked.
  case signedByRevoked(Fingerprint)
  /// It is signed by nobody in the policy before it; the key, as far as the signature names it.
  case signedByStranger(Fingerprint?)
  /// The key files of these admins, one of whom may have signed, are missing or not those that the policy before names.
  case signerUnknown([Fingerprint])
  /// The key file that it names for this person is not beside it.
  case keyExchanged(Fingerprint)
  /// It is older than the one before.
  case older(generation: Int, before: Int)
  /// It has the generation of another policy and another content.
  case forked(generation: Int)
  /// Of two policies made at the same time a merge has taken one that somebody has signed whom the other one has removed
  /// or made a member.
  case takenOver(generation: Int)
  /// Policies between it and the one before are missing.
  case skipped(generation: Int, before: Int)
  /// It says that it follows another policy than the one before.
  case notNext(generation: Int)
  /// The history begins with a policy that is not the first one.
  case beginsLate(generation: Int)
  /// The first policy is signed by this person, who was not expected.
  case notAnchored(Fingerprint)
  /// What this machine has accepted is not on the chain, or newer than all of it.
  case notPinned(generation: Int, pinned: Int)
  /// What this machine has accepted cannot be read.
  case pinUnreadable
}
