package import Secrets

/// A secret as clients send and receive it: the structure `(oayays)` of the Secret Service API.
package struct WireSecret: Sendable {
  /// The session with which the value was encrypted.
  package let session: ObjectPath
  /// The parameters of the algorithm: an initialization vector, or nothing for `plain`.
  package let parameters: [UInt8]
  /// The value, which is the secret itself for `plain`.
  package let value: SecretSlice
  /// The media type of the secret.
  package let contentType: String

  /// Creates a secret.
  package init(session: ObjectPath, parameters: [UInt8], value: SecretSlice, contentType: String) {
    self.session = session
    self.parameters = parameters
    self.value = value
    self.contentType = contentType
  }
}

/// The secret of an item in the reply to `GetSecrets`.
package struct ItemSecret: Sendable {
  /// The path of the item as the client gave it.
  package let item: ObjectPath
  /// The secret.
  package let secret: WireSecret
}
