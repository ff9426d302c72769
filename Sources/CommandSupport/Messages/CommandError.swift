package import OpenPGP

/// The reason why a command failed.
///
/// Every case carries the facts for its message; the text is in `ErrorReport` alone. Names and paths are as stored,
/// not escaped.
package enum CommandError: Error, Equatable {
  /// No option and no variable names the location of the store.
  case storeLocationUnknown(reason: String)
  /// No item has a name or, if `isNamed` is false, matches further attributes as well. The fields are those that match; the candidates are items with similar names.
  case noMatch(String, isNamed: Bool = true, fields: [String] = [], candidates: [String] = [])
  /// More than one item matches; the candidates are references.
  case ambiguous(String, candidates: [String])
  /// No item matches, but damaged lines of the index might be the item.
  case noMatchButDamage(String)
  /// More than one key of the user could be the owner of a store; each as displayed.
  case severalKeys([String])
  /// No secret key can be the owner of a store. The keys are those examined, each as displayed with its reason.
  case noUsableKey(named: String?, [String], someAreUsable: Bool)
  /// The item changed while it was edited. The edited version was kept as a conflict copy.
  case editedMeanwhile(String)
  /// Another program has already reported the error. Its exit status becomes the status of this program.
  case exit(status: Int32)
  /// A file is not the public key of exactly one person; the source as displayed.
  case keyFile(KeyFile.Problem, source: String)
  /// More than one person of the keyring matches; each as displayed.
  case severalPeople(String, [String])
  /// More than one key in the user's GnuPG keyring has a mail address; each as displayed.
  case severalKeysWithMail(String, [String])
  /// Any other failure.
  case other(ExitCode, message: String, hint: String)

  /// Neither `HOME` nor the password database names the home folder, and the folders of Keytree are not set either.
  package static let noHome = CommandError.other(
    .failure,
    message: "the folders for accepted policies and for GnuPG are unknown: `HOME` is not set",
    hint: "set `HOME` to an absolute path, or `XDG_STATE_HOME` and `XDG_RUNTIME_DIR`")
}

/// The error for a change that was stored but not committed to the history.
package struct NotCommittedError: Error {
  /// The reason.
  package let cause: any Error

  /// Wraps the error of a commit.
  package init(_ cause: any Error) { self.cause = cause }
}
