internal import Keyring
internal import KeyringModel

// The problems that `verify` finds in policies, key files and branches. Each message can end a sentence.

extension ChainProblem {
  /// The reason why a policy does not follow from the previous one. Not escaped.
  package var message: String {
    switch self {
    case .missing: "it does not exist in this commit"
    case .unreadable(let error): error.message
    case .foreign: "it belongs to another keyring"
    case .unsigned: "it has no signature"
    case .badSignature: "its signature is invalid"
    case .signedByMember(let person): "it is signed by \(person.text), who is not an admin"
    case .signedByRemoved(let person): "it is signed by \(person.text), who was already removed"
    case .signedByRevoked(let person): "it is signed with the key \(person.text), which its owner has revoked"
    case .signedByExpired(let person, let end):
      "it is signed with the key \(person.text) after its expiry (\(end.day))"
    case .signedByStranger(let key):
      "it is signed with an unknown key" + (key.map { " (\($0.text))" } ?? "")
    case .signerUnknown(let admins):
      "its signer cannot be determined: the key file of \(admins.map(\.text).joined(separator: ", ")) is missing or "
        + "is not the one that the previous policy names"
    case .keyExchanged(let person):
      "the key file of \(person.text) is missing, or is not the one that the policy names"
    case .foreignSubkey(let foreign): foreign.message
    case .unusableKeyFile(let person, let problem): problem.message(ofKeyFileOf: person)
    case .older(let generation, let before):
      "it is outdated: generation \(generation) follows generation \(before)"
    case .forked(let generation): "two different policies have generation \(generation)"
    case .badMergeChoice(let generation):
      "generation \(generation) was chosen in a merge, but its signer is no longer an admin in the concurrent policy "
        + "that the merge discarded"
    case .skipped(let generation, let before):
      "generation \(generation) follows generation \(before), and the generations between them are missing"
    case .notNext(let generation):
      "generation \(generation) does not name the previous policy as its predecessor"
    case .incompleteHistory(let generation):
      "the history begins with generation \(generation), whose predecessors are missing"
    case .unexpectedSigner(let person):
      "the first policy is signed by \(person.text), not by the expected admin"
    case .notPinned(let generation, let pinned):
      generation < pinned
        ? "it has generation \(generation), but this machine has accepted generation \(pinned)"
        : "the policy that this machine has accepted (generation \(pinned)) is not in its chain"
    case .pinUnreadable: "this machine's record of the accepted policy cannot be read"
    }
  }
}

extension ForeignSubkey {
  /// The description of a key file with another person's subkey.
  package var message: String {
    "the key file of \(person.text) has the subkey \(subkey.text), which also belongs to the key of another person, "
      + owner.text
  }
}

extension KeyFileProblem {
  /// The description of a problem with a key file.
  package var message: String {
    switch self {
    case .notInPolicy: "this is not the key file that the policy names"
    case .empty: "it contains no key"
    case .others(let others):
      "it contains keys other than the one in its name: \(others.map(\.text).joined(separator: ", "))"
    case .secret: "it contains a secret key"
    case .notListed: "it was not checked, because too many other key files are wrong"
    }
  }
}

extension BranchLoss {
  /// The description of the commits or the branch that a push would remove.
  package var message: String {
    switch self {
    case .deleted: "the branch would be deleted"
    case .rewritten(let old):
      "the branch would lose commits: \(String(old.prefix(12))) is not an ancestor of the pushed commit"
    }
  }
}
