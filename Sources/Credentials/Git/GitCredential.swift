internal import Encoding
package import Secrets

/// One message of git's credential protocol (git-credential(1), input/output format).
///
/// What may be secret stays in wiped memory. Members that are not known here are passed over, as the protocol wants.
package struct GitCredential: Sendable {
  /// `protocol`: the protocol, such as `https`.
  package var scheme: [UInt8]?
  /// `host`: the host, with a port where one is said.
  package var host: [UInt8]?
  /// `path`: the path, where git is told to tell it (`credential.useHttpPath`).
  package var path: [UInt8]?
  /// `username`: the account.
  package var username: [UInt8]?
  /// `password`: the password.
  package var password: SecretSlice?
  /// `password_expiry_utc`: when the password ends, in seconds since 1970.
  package var passwordExpiry: Int64?
  /// `oauth_refresh_token`: what a new password can be had with.
  package var refreshToken: SecretSlice?
  /// `authtype`: the scheme of the header `Authorization`, in place of user name and password.
  package var authenticationType: [UInt8]?
  /// `credential`: what follows that scheme in the header.
  package var credential: SecretSlice?
  /// `ephemeral`: whether the credential must not be stored.
  package var isEphemeral = false
  /// `capability[]`: what the other side understands beyond the first form of the protocol.
  package var capabilities: Set<String> = []

  /// A message that says nothing.
  package init() {}
}

extension GitCredential {
  /// The capability that `authtype`, `credential` and `ephemeral` need.
  package static let authenticationCapability = "authtype"

  /// Reads a message up to a blank line or its end.
  ///
  /// - Parameter message: What git wrote.
  /// - Throws: `malformed` for a line without `=`, for a carriage return or NUL anywhere (git takes them out of
  ///   addresses that somebody else may have written, CVE-2024-52006).
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
      if unsafe bytes.contains(0) { throw CredentialError.malformed("a line holds a NUL") }
      if unsafe bytes.contains(UInt8(ascii: "\r")) {
        throw CredentialError.malformed("a line holds a carriage return")
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
      // An empty value takes back what was said before.
      if value.isEmpty {
        capabilities = []
      } else {
        capabilities.insert(String(decoding: value.publicBytes(), as: UTF8.self))
      }
    default: break
    }
  }

  /// A time; nil for what is none, as in git itself: then it does not end.
  private static func seconds(_ value: SecretSlice) -> Int64? {
    Int64(String(decoding: value.publicBytes(), as: UTF8.self)).flatMap { $0 < 0 ? nil : $0 }
  }

  // git-config(1), boolean.
  private static func truth(_ value: SecretSlice) -> Bool {
    let word = String(decoding: value.publicBytes(), as: UTF8.self).lowercased()
    return ["1", "true", "yes", "on"].contains(word)
  }

  /// The message as git reads it; without a blank line at its end.
  ///
  /// - Returns: Nil when a value holds a line feed, a carriage return or a NUL, which would be read as something else.
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

  /// All lines; nil when one would be read as more than one.
  consuming func text() -> SecretBytes? {
    guard isClean else { return nil }
    return content
  }
}
