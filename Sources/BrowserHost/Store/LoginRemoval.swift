package import Keyring

/// Removes a login for the extension.
package struct LoginRemoval {
  private let keyring: Keyring
  private let settings: BrowserSettings

  /// Creates a remover.
  package init(_ keyring: Keyring, _ settings: BrowserSettings) {
    (self.keyring, self.settings) = (keyring, settings)
  }

  /// Removes the login that a request names and all of its fields, in one transaction.
  ///
  /// - Throws: `notAPasswordFile`; `cannotDelete` if no login has the name; `KeyringError`.
  package func remove(_ request: BrowserRequest) throws {
    let name = try LoginName(requested: request.file)
    guard let name, let login = try LoginSearch(keyring.index, settings).login(named: name).login else {
      throw BrowserError(.cannotDelete, "no such login; reload the list of the extension")
    }
    let fields = try LoginFields(of: login.record, in: keyring.index).records
    try keyring.delete([login.record] + fields)
  }
}
