package import Keyring

/// Removes a login for the extension.
package struct LoginRemoval {
  private let keyring: Keyring
  private let settings: BrowserSettings

  /// Creates a remover.
  package init(_ keyring: Keyring, _ settings: BrowserSettings) {
    (self.keyring, self.settings) = (keyring, settings)
  }

  /// Removes the login that a request names and all of its fields, in one transaction, unless other people can read one
  /// of them.
  ///
  /// - Throws: `notAPasswordFile`; `cannotDelete` if no login has the name, or if logins of several groups
  ///   would have it; `KeyringError`.
  package func remove(_ request: BrowserRequest) throws {
    let name = try LoginName(requested: request.file)
    let match = try name.map { try LoginSearch(keyring.index, settings).login(named: $0).match }
    if case .contested = match { throw BrowserError.contested(.cannotDelete) }
    guard case .login(let login) = match else {
      throw BrowserError(.cannotDelete, "no such login; \(BrowserError.reload)")
    }
    let fields = try LoginFields(of: login.record, in: keyring.index).records
    try keyring.requireRemovable([login.record] + fields)
    try keyring.delete([login.record] + fields)
  }
}
