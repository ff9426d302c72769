internal import Encoding
package import Secrets

/// A request from cargo to a credential provider: one line of JSON.
package struct CargoRequest: Sendable {
  /// The kinds of requests.
  package enum Kind: Sendable {
    /// Returns the token of a registry.
    case get
    /// Stores a token. If the token is nil, the user has to be asked for it.
    case login(token: SecretSlice?, page: String?)
    /// Erases the token.
    case logout
    /// A request of a later version of cargo.
    case unknown
  }

  /// The kind of request.
  package let kind: Kind
  /// `registry.index-url`: the URL of the registry's index.
  package let indexURL: String
  /// `registry.name`: the user's name for the registry.
  package let name: String?

  /// Parses a request.
  ///
  /// - Parameter line: A line, without its line feed.
  /// - Throws: `notJSON`; `malformed` if the request has another version, or no kind or registry.
  package init(_ line: borrowing SecretBytes) throws {
    let object: SecretJSON
    do {
      object = try SecretJSON(line)
    } catch {
      throw CredentialError.notJSON(error)
    }
    guard object["v"]?.integer == 1 else {
      throw CredentialError.malformed("the request does not have version 1")
    }
    guard let registry = object["registry"], let url = Self.text(registry["index-url"]), !url.isEmpty,
      let kind = Self.text(object["kind"])
    else { throw CredentialError.malformed("the request has no kind or registry") }
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
