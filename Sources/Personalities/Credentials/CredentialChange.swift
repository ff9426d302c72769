internal import CommandSupport
package import Credentials
package import Keyring
internal import KeyringModel
internal import Secrets
internal import Terminal

/// The way of other programs' credentials into a store, and into its history.
extension CommandCall {
  /// Makes a change for another program, and commits it.
  ///
  /// - Parameter body: Makes it; false when nothing has changed, so that there is nothing to commit.
  /// - Throws: what `body` throws; `NotCommittedError` when the change is stored and git could not commit it.
  package func changing(_ body: (Keyring) throws -> Bool) throws {
    finishMerges()
    let keyring = try openKeyring()
    defer { explain(keyring.engineStatistics) }
    let isChanged = try body(keyring)
    if isChanged { try commitPending() }
  }

  /// Returns the accounts of a keyring that were last used on this machine.
  package func recentLogins(of keyring: Keyring) -> RecentLogins {
    // Without these folders no keyring could be opened.
    RecentLogins(base: (environment.stateHome ?? "") + "/keytree", keyring: keyring.policy.keyring)
  }
}
