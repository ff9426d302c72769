internal import Encoding
package import Secrets

/// A credential that docker passes to a helper: one JSON object.
package struct DockerCredential: Sendable {
  /// `ServerURL`: the URL of the registry, with or without a scheme.
  package let serverURL: [UInt8]
  /// `Username`: the account, or `<token>` for an identity token.
  package let username: [UInt8]
  /// `Secret`: the password or token.
  package let secret: SecretSlice

  /// Parses an object. Missing members are empty, as in docker's own helpers.
  ///
  /// - Parameter message: The bytes from docker.
  /// - Throws: `notJSON`; `malformed` when it is not an object or a member is not a string.
  package init(_ message: borrowing SecretBytes) throws {
    let object: SecretJSON
    do {
      object = try SecretJSON(message)
    } catch {
      throw CredentialError.notJSON(error)
    }
    guard case .object = object else { throw CredentialError.malformed("the message is not a JSON object") }
    serverURL = try Self.text("ServerURL", of: object).publicBytes()
    username = try Self.text("Username", of: object).publicBytes()
    secret = try Self.text("Secret", of: object)
  }

  private static func text(_ name: String, of object: SecretJSON) throws -> SecretSlice {
    switch object[name] {
    case nil, .null: return SecretSlice(SecretBytes())
    case .string(let text): return text
    default: throw CredentialError.malformed("`\(name)` is not a string")
    }
  }
}
