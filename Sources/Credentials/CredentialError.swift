package import Keyring
package import KeyringModel
internal import Secrets

/// The reasons why a credential cannot be returned or stored for another program.
package enum CredentialError: Error, Equatable {
  /// Another program wrote something that its protocol does not allow; the text says what, without its content.
  case malformed(String)
  /// Another program wrote JSON that is none.
  case notJSON(SecretJSONError)
  /// A value of an item, or its secret, has a line end or a NUL in it, which the protocol cannot carry.
  case cannotCarry(ItemReference)
  /// A secret is not UTF-8, which JSON cannot carry.
  case notUTF8(ItemReference)
  /// Nothing was found, and damaged lines of the index might be it.
  case damagedIndex
  /// Several items are meant equally well.
  case ambiguous([ItemReference])
  /// An item of this name is there that belongs to somebody else.
  case taken(ItemReference)
  /// The item was changed by others again and again while this change was worked out.
  case contended
}

extension KeyringError {
  /// True if another process may have stored, removed or moved the item since it was found.
  var isAboutConcurrentChange: Bool {
    switch self {
    case .itemExists, .itemNotFound, .bindingMismatch(_, .condition(.group)): true
    default: false
    }
  }
}
