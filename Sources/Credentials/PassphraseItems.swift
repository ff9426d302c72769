package import Keyring
package import KeyringModel
package import Secrets

/// Finds passphrases of keys and passwords of servers for `ssh`.
///
/// The passphrase of a key is a generic password of the service `ssh` whose account is the path of the key's file, or
/// the last part of that path. The password of a server is an internet password.
package struct PassphraseItems {
  private static let service: AttributeValue = "ssh"

  private let keyring: Keyring

  /// Makes a lookup in a keyring.
  package init(_ keyring: Keyring) { self.keyring = keyring }

  /// Finds the secret that a prompt asks for.
  ///
  /// - Returns: The secret and its item; nil if there is none.
  /// - Throws: `ambiguous` if several passwords of the server, or passphrases of several groups, match; `damagedIndex`,
  ///   `KeyringError`.
  package func secret(for prompt: PassphrasePrompt) throws -> (SecretSlice, ItemReference)? {
    switch prompt {
    case .key(let path):
      let name = path.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? path
      var found: [(item: ServiceItem, record: ItemRecord)] = []
      for account in path == name ? [path] : [path, name] {
        let item = ServiceItem(
          keyring: keyring, service: Self.service, account: AttributeValue(text: account))
        if let record = try item.find() { found.append((item, record)) }
      }
      try found.map(\.record).requireOneGroup()
      guard let (item, record) = found.first else { return nil }
      return (try item.secret(of: record), record.reference)
    case .login(let account, let host):
      guard let host = HostName(authority: host) else { return nil }
      let items = LoginItems(keyring: keyring)
      let all = try items.find(
        at: Endpoint(scheme: "ssh", host: host), account: account, where: LoginItems.isPassword)
      try all.rivals.requireOneGroup()
      let found = try all.settled()
      guard found.count < 2 else { throw CredentialError.ambiguous(found) }
      guard let record = found.first else { return nil }
      return (try items.secret(of: record), record.reference)
    }
  }
}
