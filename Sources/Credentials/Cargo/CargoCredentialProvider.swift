package import Keyring
internal import KeyringModel
package import Secrets

/// Keeps cargo's tokens in a keyring (The Cargo Book, credential provider protocol).
///
/// A token is a generic password whose service is `cargo-registry:` and the URL of the registry's index, without an
/// account, as cargo's own provider for Apple's keychain has it.
package struct CargoCredentialProvider {
  /// What a provider says before it is asked anything: the versions of the protocol that it speaks.
  package static let greeting = "{\"v\":[1]}"

  private let keyring: Keyring

  /// A provider over a keyring.
  package init(_ keyring: Keyring) { self.keyring = keyring }

  /// The answer to `get`: a line of JSON, without its line feed; nil when there is no token.
  ///
  /// - Throws: `notUTF8`, `keyring`.
  package func token(of indexURL: String) throws(CredentialError) -> SecretBytes? {
    guard let record = try item(indexURL) else { return nil }
    let query = Query(itemClass: .genericPassword, predicates: [.equal(.service, service(indexURL))])
    let token = try asCredential(keyring.secret(for: record, matching: query))
    guard token.isUTF8 else { throw .notUTF8(record.reference) }
    var line = SecretBytes(capacity: token.count * 2 + 128)
    line.append("{\"Ok\":{\"kind\":\"get\",\"token\":")
    unsafe token.withBytes { unsafe line.append(jsonString: $0) }
    line.append(",\"cache\":\"session\",\"operation_independent\":true}}")
    return line
  }

  /// Stores a token in place of the one that is there.
  ///
  /// - Returns: Whether anything has changed.
  /// - Throws: `keyring`.
  package func store(_ token: SecretSlice, for request: CargoRequest) throws(CredentialError) -> Bool {
    if let record = try item(request.indexURL) {
      let known = SecretSlice(try asCredential(keyring.secret(for: record)))
      if known.isEqual(to: token) { return false }
      _ = try asCredential(keyring.update(record, secret: token.copy()))
      return true
    }
    var attributes: Attributes = [.service: service(request.indexURL)]
    attributes[.label] = .string("Cargo registry \(request.name ?? request.indexURL)")
    let item = NewItem(itemClass: .genericPassword, attributes: attributes)
    _ = try asCredential(keyring.add(item, secret: token.copy()))
    return true
  }

  /// Forgets a token.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: `keyring`.
  package func erase(_ indexURL: String) throws(CredentialError) -> Bool {
    guard let record = try item(indexURL) else { return false }
    try asCredential(keyring.delete([record]))
    return true
  }

  private func service(_ indexURL: String) -> AttributeValue { .string("cargo-registry:\(indexURL)") }

  private func item(_ indexURL: String) throws(CredentialError) -> ItemRecord? {
    let query = Query(
      itemClass: .genericPassword,
      predicates: [.equal(.service, service(indexURL)), .equal(.account, "")], limit: .one)
    return try asCredential(keyring.find(query)).items.first
  }
}
