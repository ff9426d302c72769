internal import Encoding
package import Secrets

/// One message of git's credential protocol (git-credential(1), input/output format).
///
/// Values that may be secret stay in wiped memory. Unknown keys are ignored, as the protocol requires.
package struct GitCredential: Sendable {
  /// `protocol`: the protocol, such as `https`.
  package var scheme: [UInt8]?
  /// `host`: the host, with a port if one is given.
  package var host: [UInt8]?
  /// `path`: the path, if git is configured to send it (`credential.useHttpPath`).
  package var path: [UInt8]?
  /// `username`: the account.
  package var username: [UInt8]?
  /// `password`: the password.
  package var password: SecretSlice?
  /// `password_expiry_utc`: the time when the password expires, in seconds since 1970.
  package var passwordExpiry: Int64?
  /// `oauth_refresh_token`: the token for requesting a new password.
  package var refreshToken: SecretSlice?
  /// `authtype`: the scheme of the header `Authorization`, instead of user name and password.
  package var authenticationType: [UInt8]?
  /// `credential`: the value after that scheme in the header.
  package var credential: SecretSlice?
  /// `ephemeral`: true if the credential must not be stored.
  package var isEphemeral = false
  /// `capability[]`: the extensions of the protocol that the sender supports.
  package var capabilities: Set<String> = []

  /// Makes an empty message.
  package init() {}
}

extension GitCredential {
  /// The capability that `authtype`, `credential` and `ephemeral` require.
  package static let authenticationCapability = "authtype"

  /// Parses a message up to a blank line or its end.
  ///
  /// - Parameter message: The bytes from git.
  /// - Throws: `malformed` for a line without `=`, and for a carriage return or NUL anywhere (git removes them from
  ///   URLs that an attacker may have written, CVE-2024-52006).
  package init(_ message: SecretSlice) throws {
    var start = 0
    while start < message.count {
      let rest = message.part(start..<message.count)
      let length = unsafe rest.withBytes { unsafe $0.firstIndex(of: UInt8(ascii: "\n")) ?? $0.count }
      if length == 0 { return }
      try read(rest.part(0..<length))
      start += length + 1
    }
  }

  private mutating func read(_ line: SecretSlice) throws {
    let equals = try unsafe line.withBytes { bytes in
      if unsafe bytes.contains(0) { throw CredentialError.malformed("a line contains a NUL character") }
      if unsafe bytes.contains(UInt8(ascii: "\r")) {
        throw CredentialError.malformed("a line contains a carriage return")
      }
      guard let equals = unsafe bytes.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
        throw CredentialError.malformed("a line is not `key=value`")
      }
      return equals
    }
    let value = line.part(equals + 1..<line.count)
    switch String(decoding: line.part(0..<equals).publicBytes(), as: UTF8.self) {
    case "protocol": scheme = value.publicBytes()
    case "host": host = value.publicBytes()
    case "path": path = value.publicBytes()
    case "username": username = value.publicBytes()
    case "password": password = value
    case "password_expiry_utc": passwordExpiry = Self.seconds(value)
    case "oauth_refresh_token": refreshToken = value
    case "authtype": authenticationType = value.publicBytes()
    case "credential": credential = value
    case "ephemeral": isEphemeral = Self.truth(value)
    case "capability[]":
      // An empty value clears the list.
      if value.isEmpty {
        capabilities = []
      } else {
        capabilities.insert(String(decoding: value.publicBytes(), as: UTF8.self))
      }
    default: break
    }
  }

  /// Returns a time; nil if the value is not a time. As in git, the password then never expires.
  private static func seconds(_ value: SecretSlice) -> Int64? {
    Int64(String(decoding: value.publicBytes(), as: UTF8.self)).flatMap { $0 < 0 ? nil : $0 }
  }

  // git-config(1), boolean.
  private static func truth(_ value: SecretSlice) -> Bool {
    let word = String(decoding: value.publicBytes(), as: UTF8.self).lowercased()
    return ["1", "true", "yes", "on"].contains(word)
  }

  /// Returns the message in git's format, without a blank line at its end.
  ///
  /// - Returns: Nil if a value contains a line feed, a carriage return or a NUL, which git would misinterpret.
  package func encoded() -> SecretBytes? {
    var lines = GitCredentialLines()
    for capability in capabilities.sorted() { lines.add("capability[]", Array(capability.utf8)) }
    lines.add("protocol", scheme)
    lines.add("host", host)
    lines.add("path", path)
    lines.add("username", username)
    lines.add("password", password)
    lines.add("password_expiry_utc", passwordExpiry.map { Array(String($0).utf8) })
    lines.add("oauth_refresh_token", refreshToken)
    lines.add("authtype", authenticationType)
    lines.add("credential", credential)
    return lines.text()
  }
}

/// The lines of a message that is being written.
private struct GitCredentialLines: ~Copyable {
  private var content = SecretBytes(capacity: 1024)
  private var isClean = true

  mutating func add(_ name: String, _ value: SecretSlice?) {
    guard let value else { return }
    content.append(name + "=")
    if unsafe value.withBytes({ unsafe $0.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }) {
      isClean = false
    }
    unsafe value.withBytes { unsafe content.append(contentsOf: $0) }
    content.append("\n")
  }

  mutating func add(_ name: String, _ value: [UInt8]?) {
    if let value { add(name, SecretSlice(SecretBytes(copying: value))) }
  }

  /// Returns all lines; nil if a value contains a line feed, a carriage return or a NUL.
  consuming func text() -> SecretBytes? {
    guard isClean else { return nil }
    return content
  }
}
