package import Keyring
package import KeyringModel
internal import Secrets

/// The reasons why a credential cannot be returned or stored for another program.
package enum CredentialError: Error, Equatable {
  /// Another program wrote something that its protocol does not allow. The text describes the error without the
  /// content.
  case malformed(String)
  /// Another program wrote invalid JSON.
  case notJSON(SecretJSONError)
  /// An attribute or the secret of an item contains a line end or a NUL, which the protocol cannot represent.
  case notRepresentable(ItemReference)
  /// A secret is not UTF-8, so JSON cannot represent it.
  case notUTF8(ItemReference)
  /// Nothing was found, but damaged lines of the index might be a match.
  case damagedIndex
  /// Several items match equally well.
  case ambiguous([ItemRecord])
  /// An item with this name exists, but belongs to another program.
  case taken(ItemReference)
  /// Other processes changed the item concurrently at every attempt.
  case contended
}
