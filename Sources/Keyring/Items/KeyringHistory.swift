internal import KeyringModel

extension Keyring {
  /// Commits all pending changes to the history of the store, if it has one and git is installed.
  ///
  /// Changes are committed without this call, too: in the background at most a second later, together with the changes
  /// of other threads; before the version that they have made is replaced or removed; and when the keyring is released
  /// or the process exits. If the process is killed before that, the next program that changes the store commits them.
  ///
  /// - Throws: `KeyringError.history` if git fails, `.busy`, or a file error. The changes are stored and stay pending.
  public func commitHistory() throws(KeyringError) { try history.commit() }
}
