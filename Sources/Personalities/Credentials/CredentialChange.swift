internal import CommandSupport
package import Credentials
package import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// Changes of a store on behalf of other programs.
extension CommandCall {
  /// Changes the store for another program and commits the change.
  ///
  /// - Parameter body: makes the change; returns false if nothing changed and no commit is needed.
  /// - Throws: the errors of `body`; `NotCommittedError` if the change is stored but git could not commit it.
  package func changing(_ body: (Keyring) throws -> Bool) throws {
    finishMerges()
    let keyring = try openKeyring()
    defer { explain(keyring.engineStatistics) }
    let isChanged = try body(keyring)
    if isChanged { try commitPending() }
  }

  /// Returns the accounts of a keyring that were used most recently on this machine.
  package func recentLogins(of keyring: Keyring) -> RecentLogins {
    // A keyring can be opened only if the state folder is known.
    RecentLogins(base: (environment.stateHome ?? "") + "/keytree", keyring: keyring.policy.keyring)
  }
}
