package import Encoding
package import KeyringModel
package import OpenPGP

/// The reason why a policy in a history is not a valid successor of the one before it.
package enum ChainProblem: Error, Sendable, Equatable {
  /// The policy is missing.
  case missing
  /// The policy cannot be read.
  case unreadable(PolicyError)
  /// It belongs to another keyring.
  case foreign
  /// The policy has no signature file.
  case unsigned
  /// The content of its signature file is not a signature of its bytes.
  case badSignature
  /// It is signed by a member who is not an admin.
  case signedByMember(Fingerprint)
  /// It is signed by a person who had been removed.
  case signedByRemoved(Fingerprint)
  /// It is signed with a key that its owner has revoked.
  case signedByRevoked(Fingerprint)
  /// It is signed with a key after that had expired at the given time.
  case signedByExpired(Fingerprint, Timestamp)
  /// It is signed by a key that is not in the policy before it. The value is the key, if the signature names it.
  case signedByStranger(Fingerprint?)
  /// The signer may be one of these admins, whose key files are missing or differ from the previous policy.
  case signerUnknown([Fingerprint])
  /// The key file of this person is missing or differs from the digest in the policy.
  case keyExchanged(Fingerprint)
  /// It adds or changes a key file that has a subkey of another person.
  case foreignSubkey(ForeignSubkey)
  /// It adds or changes a key file that has too many parts for GnuPG.
  case unusableKeyFile(Fingerprint, KeyProblem)
  /// It is older than the one before it.
  case older(generation: Int, before: Int)
  /// It has the generation of another policy but different content.
  case forked(generation: Int)
  /// A merge of two concurrent policies chose one whose signer the other policy has removed or demoted to a member.
  case badMergeChoice(generation: Int)
  /// Policies between it and the one before it are missing.
  case skipped(generation: Int, before: Int)
  /// It names a policy other than the one before it as its predecessor.
  case notNext(generation: Int)
  /// The history begins with a policy that is not the first one.
  case incompleteHistory(generation: Int)
  /// The first policy is signed by this person, who is not one of the expected signers.
  case unexpectedSigner(Fingerprint)
  /// The policy that this machine has accepted is not on the chain, or is newer than the whole chain.
  case notPinned(generation: Int, pinned: Int)
  /// The pin of this machine cannot be read.
  case pinUnreadable
}
