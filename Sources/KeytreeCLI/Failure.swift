package import Arguments
package import Keyring
package import KeyringModel
package import OpenPGP
package import Secrets
package import Sync

/// Why a command ends without having done what it was asked to do.
///
/// Every case carries what its message needs; the words are in `ErrorReport` alone. Names and paths are as
/// stored, not escaped.
package enum Failure: Error, Equatable {
  /// Why a question could not be asked.
  package enum PromptObstacle: Equatable, Sendable {
    /// `--no-input` was given.
    case inputRefused
    /// Nobody is there to answer.
    case noTerminal
    /// A program that another one has called has no terminal beside its standard input.
    case noTerminalBesideProgram
  }

  /// The command line does not follow its declaration.
  case usage(UsageError)
  /// Nothing says where the store is.
  case storeLocationUnknown(reason: String)
  /// A question that had to be asked could not be.
  case promptImpossible(question: String, PromptObstacle)
  /// The person said no, or a signal came.
  case cancelled(action: String)
  /// The new secret has no bytes.
  case emptySecret
  /// The new secret was entered differently each time.
  case secretsDiffer
  /// The new secret has more bytes than a secret may have.
  case secretTooLong(limit: Int)
  /// Standard input or the terminal cannot be read.
  case inputFailed(errno: Int32)
  /// Standard output cannot be written.
  case outputFailed(errno: Int32)
  /// The reader of standard output went away; nobody is told.
  case outputClosed
  /// No item matches the words of the command line; the names of fields that do.
  case noMatch(String, fields: [String] = [])
  /// More than one item matches; the candidates are references.
  case ambiguous(String, candidates: [String])
  /// The editor could not be used.
  case editor(EditorFailure)
  /// No item matches, but lines of the index that were looked at are damaged and might be it.
  case noMatchButDamage(String)
  /// More than one key of the user could be the owner of a store; each as shown.
  case severalKeys([String])
  /// No secret key can be the owner of a store; those that were looked at, each as shown with its reason.
  case noUsableKey(named: String?, [String], someAreUsable: Bool)
  /// The item changed while it was edited; what was made of it is another item now.
  case editedMeanwhile(ItemReference, keptAs: ItemReference)
  /// The keyring could not do it.
  case keyring(KeyringError)
  /// Another program has said what there is to say; its status becomes that of this one.
  case exit(status: Int32)
  /// Git could not do it.
  case git(GitError)
  /// The store and another repository could not be brought together.
  case sync(SyncError)
  /// The change is stored, but did not get into the history.
  case notCommitted(SyncError)
  /// A file of the person, outside of the store, could not be used.
  case file(action: String, path: String, errno: Int32)
  /// A file is not the public key of one person; the source as shown.
  case keyFile(KeyFile.Problem, source: String)
  /// More than one person of the keyring is meant; each as shown.
  case severalPeople(String, [String])
  /// Anything else that has no kind of its own.
  case other(ExitCode, message: String, hint: String)

  /// The failure that a failing prompt or a failing read is.
  package init(_ error: SecretInputError) {
    switch error {
    case .tooLong(let limit): self = .secretTooLong(limit: limit)
    case .lineTooLong(let limit):
      self = .other(
        .failure, message: "cannot take the secret: a terminal hands out lines of at most \(limit) bytes",
        hint: "give it on standard input, as in `keytree add ITEM < FILE`")
    case .endOfInput, .interrupted: self = .cancelled(action: "the question was not answered")
    case .notATerminal: self = .promptImpossible(question: "Secret", .noTerminal)
    case .readFailed(let number): self = .inputFailed(errno: number)
    }
  }
}
