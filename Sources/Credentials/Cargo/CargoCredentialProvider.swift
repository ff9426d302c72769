package import Keyring
internal import KeyringModel
package import Secrets

/// Stores cargo's tokens in a keyring (The Cargo Book, credential provider protocol).
///
/// A token is a generic password whose service is `cargo-registry:` and the URL of the registry's index, without an
/// account. Cargo's own provider for Apple's keychain uses the same form.
package struct CargoCredentialProvider {
  /// The greeting of a provider: the versions of the protocol that it supports.
  package static let greeting = "{\"v\":[1]}"

  private let keyring: Keyring

  /// Makes a provider for a keyring.
  package init(_ keyring: Keyring) { self.keyring = keyring }

  /// Returns the response to `get`: a line of JSON, without its line feed; nil if there is no token.
  ///
  /// - Throws: `notUTF8`, `ambiguous`, `damagedIndex`, `KeyringError`.
  package func token(of indexURL: String) throws -> SecretBytes? {
    let item = item(indexURL)
    guard let record = try item.find() else { return nil }
    let token = try item.secret(of: record)
    guard unsafe token.withBytes({ unsafe SecretText.isUTF8($0) }) else {
      throw CredentialError.notUTF8(record.reference)
    }
    var line = SecretBytes(capacity: token.count * 2 + 128)
    line.append("{\"Ok\":{\"kind\":\"get\",\"token\":")
    unsafe token.withBytes { unsafe line.append(jsonString: $0) }
    line.append(",\"cache\":\"session\",\"operation_independent\":true}}")
    return line
  }

  /// Stores a token, replacing an existing one.
  ///
  /// - Returns: True if anything has changed.
  /// - Throws: `ambiguous`, `damagedIndex`, `KeyringError`, `contended`.
  package func store(_ token: SecretSlice, for request: CargoRequest) throws -> Bool {
    let name =
      request.name ?? String(decoding: Endpoint.publicURL(Array(request.indexURL.utf8)), as: UTF8.self)
    return try item(request.indexURL).store(token, [.label: .string("Cargo registry \(name)")])
  }

  /// Erases a token.
  ///
  /// - Returns: True if there was one.
  /// - Throws: `ambiguous`, `damagedIndex`, `KeyringError`.
  package func erase(_ indexURL: String) throws -> Bool { try item(indexURL).erase() }

  private func item(_ indexURL: String) -> ServiceItem {
    let url = String(decoding: Endpoint.publicURL(Array(indexURL.utf8)), as: UTF8.self)
    return ServiceItem(keyring: keyring, service: .string("cargo-registry:\(url)"), account: "")
  }
}
