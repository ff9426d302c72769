internal import Keyring
internal import KeyringModel

// Messages for the problems that `verify` finds in policies, key files and branches. Each one can end a sentence.

extension ChainProblem {
  /// The reason why a policy does not follow from the previous one. Not escaped.
  package var words: String {
    switch self {
    case .missing: "there is none here"
    case .unreadable(let error): error.words
    case .foreign: "it is of another keyring"
    case .unsigned: "it has no signature"
    case .badSignature: "its signature does not fit it"
    case .signedByMember(let person): "it is signed by \(person.text), who is no admin"
    case .signedByRemoved(let person): "it is signed by \(person.text), who had been removed"
    case .signedByRevoked(let person): "it is signed with the key \(person.text), which its owner has revoked"
    case .signedByStranger(let key):
      "it is signed by a stranger" + (key.map { " (\($0.text))" } ?? "")
    case .signerUnknown(let admins):
      "who has signed it cannot be told: the key file of \(admins.map(\.text).joined(separator: ", ")) is missing or "
        + "not the one that the policy before it names"
    case .keyExchanged(let person): "the key file of \(person.text) that it names is not beside it"
    case .older(let generation, let before):
      "it is an old one: generation \(generation) after generation \(before)"
    case .forked(let generation): "there are two different ones of generation \(generation)"
    case .badMergeChoice(let generation):
      "generation \(generation) is signed by somebody who is no admin any more in another one of the same origin, "
        + "which a merge has left behind"
    case .skipped(let generation, let before):
      "generation \(generation) follows generation \(before), and those between are missing"
    case .notNext(let generation):
      "generation \(generation) does not name the policy before it as its predecessor"
    case .incompleteHistory(let generation):
      "the history begins with generation \(generation), and nothing says where that came from"
    case .unexpectedSigner(let person):
      "the first one is signed by \(person.text), not by the admin who was expected"
    case .notPinned(let generation, let pinned):
      generation < pinned
        ? "it has generation \(generation), this machine has accepted generation \(pinned)"
        : "the one that this machine has accepted (generation \(pinned)) is not on its chain"
    case .pinUnreadable: "what this machine has accepted cannot be read"
    }
  }
}

extension KeyFileProblem {
  /// The description of a problem with a key file.
  package var words: String {
    switch self {
    case .notInPolicy: "this is not the key file that the policy names"
    case .empty: "there is no key in it"
    case .others(let others):
      "it holds other keys than the one that it is named after: \(others.map(\.text).joined(separator: ", "))"
    case .secret: "it holds a secret key"
    case .notListed: "it was not looked at, because too many other key files are wrong"
    }
  }
}

extension BranchLoss {
  /// The loss that a push would cause.
  package var words: String {
    switch self {
    case .deleted: "the branch would be deleted"
    case .rewritten(let old):
      "the branch would lose commits: \(String(old.prefix(12))) is not before what is pushed"
    }
  }
}
