internal import Encoding
internal import FileSystem

/// An address of a repository, interpreted as git does (git-fetch(1), "Git URLs").
package struct RemoteAddress: Sendable, Equatable {
  /// The address.
  package let text: String
  /// The transport by which git connects, as in the setting `protocol.NAME.allow`; empty if no setting allows only this
  /// address.
  package let transport: String

  /// Interprets an address.
  package init(_ text: String) {
    (self.text, transport) = (text, Self.transport(of: text))
  }

  /// The address for messages: without the user name and the password of a URL, because some servers take a token as a
  /// user name.
  package var shown: String {
    var (shown, rest) = ([UInt8](), Array(text.utf8)[...])
    while let start = rest.indices.first(where: { rest[$0...].starts(with: "://".utf8) }) {
      shown += rest[..<(start + 3)]
      rest = rest[(start + 3)...]
      let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      if let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
    }
    return String(decoding: shown + rest, as: UTF8.self)
  }

  /// True if git enters the repository on this machine.
  package var isLocal: Bool { transport == "file" }

  /// True if an address has the form of a path.
  package var isPath: Bool { isLocal && !text.utf8.starts(with: Self.fileScheme.utf8) }

  /// True if the address begins with the name of its transport, as in `NAME::x` or `NAME://x`.
  package var namesTransport: Bool {
    let rest = text.utf8.dropFirst(Self.scheme(of: Array(text.utf8)).count)
    return rest.starts(with: "::".utf8) || rest.starts(with: "://".utf8)
  }

  /// Returns the path of a repository on this machine.
  ///
  /// - Parameters:
  ///   - folder: The folder in which git runs.
  ///   - home: The user's home folder.
  /// - Returns: An absolute path; nil if the address has none that Keytree can determine.
  package func path(in folder: String, home: String?) -> String? {
    if !isPath {
      guard let decoded = Self.decoded(text) else { return nil }
      // Git ignores the host.
      let rest = decoded.utf8.dropFirst(Self.fileScheme.utf8.count).drop { $0 != UInt8(ascii: "/") }
      return String(decoding: rest, as: UTF8.self)
    }
    if text.utf8.first == UInt8(ascii: "~") {
      // Git itself looks up the home folders of other users.
      guard let home, text.utf8.count == 1 || text.utf8.starts(with: "~/".utf8) else { return nil }
      return home + (String(text.utf8.dropFirst()) ?? "")
    }
    return text.utf8.first == UInt8(ascii: "/") ? text : "\(folder)/\(text)"
  }

  /// The transports that git itself implements and that no setting has to allow, with git's own rule for each. Git runs
  /// a program `git-remote-NAME` for any other address such as `NAME::x` (threat T51).
  static let usualTransports = [
    "file": "user", "git": "always", "http": "always", "https": "always", "ssh": "always",
  ]

  /// Returns true if git itself implements a transport.
  package static func isUsual(transport: String) -> Bool { usualTransports[transport] != nil }

  private static let fileScheme = "file://"

  /// Returns true if a text can be the scheme of a URL or the name of a transport.
  static func isScheme(_ text: String) -> Bool {
    !text.isEmpty && scheme(of: Array(text.utf8)).count == text.utf8.count
  }

  private static func transport(of address: String) -> String {
    let bytes = Array(address.utf8)
    let scheme = scheme(of: bytes)
    let name = String(decoding: scheme, as: UTF8.self)
    let rest = bytes[scheme.endIndex...]
    if rest.starts(with: "::".utf8) {
      // Git would run `git-remote-ssh`, for example, and check whether the transport `ssh` is allowed.
      return usualTransports[name] == nil ? name : ""
    }
    if rest.starts(with: "://".utf8), !scheme.isEmpty {
      return ["git+ssh", "ssh+git"].contains(name) ? "ssh" : name
    }
    // Git takes anything before `://` for a scheme, and refuses this one.
    if address.contains(bytesOf: "://") { return "" }
    return bytes.prefix { $0 != UInt8(ascii: "/") }.contains(UInt8(ascii: ":")) ? "ssh" : "file"
  }

  private static func scheme(of bytes: [UInt8]) -> ArraySlice<UInt8> {
    let isAlphanumeric = { (byte: UInt8) in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    guard let first = bytes.first, isAlphanumeric(first) else { return [] }
    return bytes.prefix { isAlphanumeric($0) || "+-.".utf8.contains($0) }
  }

  /// Returns a URL without percent encoding; nil if that is not UTF-8.
  private static func decoded(_ url: String) -> String? {
    var (rest, bytes) = (Array(url.utf8)[...], [UInt8]())
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      let isEncoded = byte == UInt8(ascii: "%") && digits.utf8.count == 2 && digits.allSatisfy(\.isHexDigit)
      // Git does not decode NUL.
      guard isEncoded, let value = UInt8(digits, radix: 16), value != 0 else {
        bytes.append(byte)
        continue
      }
      rest = rest.dropFirst(2)
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
