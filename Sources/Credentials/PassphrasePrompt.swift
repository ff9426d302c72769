internal import Encoding
internal import Secrets

/// The program that asks for a passphrase: the parent of the process that answers.
package enum PromptCaller: Equatable, Sendable {
  /// `ssh` of OpenSSH 8.5 or later. It adds the prefix `(user@host) ` to every prompt whose text comes from a server
  /// (`input_userauth_info_req` in `sshconnect2.c`). Older versions and other clients print such a prompt unchanged.
  case ssh
  /// `ssh-add` or `ssh-keygen`, which do not connect to a server.
  case keyProgram

  /// Identifies a program.
  ///
  /// - Parameters:
  ///   - name: The name of its executable file.
  ///   - version: Returns the version that the program prints. Called only for `ssh`.
  package init?(name: String, version: () -> String?) {
    switch name {
    case "ssh-add", "ssh-keygen": self = .keyProgram
    case "ssh":
      guard let version = version(), version.hasPrefix("OpenSSH_") else { return nil }
      let numbers = version.dropFirst("OpenSSH_".count).split(
        separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      guard numbers.count == 2, let major = Int(numbers[0]),
        let minor = Int(numbers[1].prefix { ("0"..."9").contains($0) }), (major, minor) >= (8, 5)
      else { return nil }
      self = .ssh
    default: return nil
    }
  }
}

/// The request of a program of OpenSSH, parsed from its prompt.
package enum PassphrasePrompt: Equatable, Sendable {
  /// The passphrase of a key, by the path of its file.
  case key(path: [UInt8])
  /// The password of an account on a server.
  case login(account: [UInt8], host: [UInt8])

  /// Parses a prompt with a text of the program itself, as in OpenSSH 6.4 to 9.9 (`sshconnect2.c`, `ssh-add.c`).
  ///
  /// The result is nil for every other prompt: one with a text of the server, one with an unsafe character, and one
  /// that reports a wrong answer, because the answer would be the same again.
  ///
  /// - Parameters:
  ///   - prompt: The text of the prompt.
  ///   - caller: The program that asks.
  package init?(_ prompt: [UInt8], from caller: PromptCaller) {
    guard !String(decoding: prompt, as: UTF8.self).unicodeScalars.contains(where: \.isUnsafeInOutput) else {
      return nil
    }
    if let path = Self.between("Enter passphrase for key '", "': ", prompt) {
      self = .key(path: path)
      return
    }
    switch caller {
    case .keyProgram:
      guard let path = Self.between("Enter passphrase for ", ": ", prompt) else { return nil }
      // `ssh-add -c` prints this before the colon.
      let confirmed = Array(" (will confirm each use)".utf8)
      let key = path.suffix(confirmed.count) == confirmed[...] ? path.dropLast(confirmed.count) : path
      guard !key.isEmpty else { return nil }
      self = .key(path: key)
    case .ssh:
      guard let login = Self.between("", "'s password: ", prompt),
        let at = login.lastIndex(of: UInt8(ascii: "@")), at > 0,
        // A prompt of a server begins with a parenthesis and contains a space. An account does neither.
        login[0] != UInt8(ascii: "("), !login.contains(UInt8(ascii: " "))
      else { return nil }
      self = .login(account: Array(login[..<at]), host: Array(login[(at + 1)...]))
    }
  }

  /// Returns the text between a beginning and an end; nil if the text does not have both, or nothing between them.
  private static func between(_ start: String, _ end: String, _ text: [UInt8]) -> [UInt8]? {
    guard text.starts(with: start.utf8), text.count > start.utf8.count + end.utf8.count,
      text.suffix(end.utf8.count).elementsEqual(end.utf8)
    else { return nil }
    return Array(text[start.utf8.count..<(text.count - end.utf8.count)])
  }
}
