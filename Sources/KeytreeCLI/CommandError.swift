package import KeyringModel
package import OpenPGP

/// Why a command ends without having done what it was asked to do.
///
/// Every case carries what its message needs; the words are in `ErrorReport` alone. Names and paths are as
/// stored, not escaped.
package enum CommandError: Error, Equatable {
  /// Nothing says where the store is.
  case storeLocationUnknown(reason: String)
  /// No item matches the words of the command line; the names of fields that do.
  case noMatch(String, fields: [String] = [])
  /// More than one item matches; the candidates are references.
  case ambiguous(String, candidates: [String])
  /// No item matches, but lines of the index that were looked at are damaged and might be it.
  case noMatchButDamage(String)
  /// More than one key of the user could be the owner of a store; each as shown.
  case severalKeys([String])
  /// No secret key can be the owner of a store; those that were looked at, each as shown with its reason.
  case noUsableKey(named: String?, [String], someAreUsable: Bool)
  /// The item changed while it was edited; what was made of it is another item now.
  case editedMeanwhile(ItemReference, keptAs: ItemReference)
  /// Another program has said what there is to say; its status becomes that of this one.
  case exit(status: Int32)
  /// A file is not the public key of one person; the source as shown.
  case keyFile(KeyFile.Problem, source: String)
  /// More than one person of the keyring is meant; each as shown.
  case severalPeople(String, [String])
  /// Anything else that has no kind of its own.
  case other(ExitCode, message: String, hint: String)
}

/// A change that is stored and that did not get into the history.
package struct NotCommittedError: Error {
  /// The reason.
  package let cause: any Error

  /// Wraps the error of a commit.
  package init(_ cause: any Error) { self.cause = cause }
}
