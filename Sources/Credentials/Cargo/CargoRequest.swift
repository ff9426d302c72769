internal import Encoding
package import Secrets

/// One request of cargo to a credential provider: a line of JSON.
package struct CargoRequest: Sendable {
  /// The requests of cargo.
  package enum Kind: Sendable {
    /// The token of a registry.
    case get
    /// To store a token; nil when the person is to be asked for it.
    case login(token: SecretSlice?, page: String?)
    /// To forget the token.
    case logout
    /// Something that a later version of cargo knows.
    case unknown
  }

  /// The request.
  package let kind: Kind
  /// `registry.index-url`: which registry.
  package let indexURL: String
  /// `registry.name`: what the person calls it.
  package let name: String?

  /// Reads a request.
  ///
  /// - Parameter line: A line, without its line feed.
  /// - Throws: `notJSON`; `malformed` for another version, and without a kind or a registry.
  package init(_ line: borrowing SecretBytes) throws {
    let object: SecretJSON
    do {
      object = try SecretJSON(line)
    } catch {
      throw CredentialError.notJSON(error)
    }
    guard object["v"]?.integer == 1 else {
      throw CredentialError.malformed("the request is not of version 1")
    }
    guard let registry = object["registry"], let url = Self.text(registry["index-url"]), !url.isEmpty,
      let kind = Self.text(object["kind"])
    else { throw CredentialError.malformed("the request has no kind or no registry") }
    indexURL = url
    name = Self.text(registry["name"])
    switch kind {
    case "get": self.kind = .get
    case "login": self.kind = .login(token: object["token"]?.text, page: Self.text(object["login-url"]))
    case "logout": self.kind = .logout
    default: self.kind = .unknown
    }
  }

  private static func text(_ value: SecretJSON?) -> String? {
    value?.text.map { String(decoding: $0.publicBytes(), as: UTF8.self) }
  }
}
