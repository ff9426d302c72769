internal import Encoding
internal import Secrets

/// The program that asks for a passphrase: the parent of the process that answers.
package enum PromptCaller: Equatable, Sendable {
  /// `ssh` of OpenSSH 8.5 or later. It adds the prefix `(user@host) ` to every prompt whose text comes from a server
  /// (`input_userauth_info_req` in `sshconnect2.c`). Older versions and other clients print such a prompt unchanged.
  case ssh
  /// `ssh-add` or `ssh-keygen`, which do not connect to a server, and the path of the key that the arguments of
  /// `ssh-keygen` name, because some of its prompts do not; nil if they name none.
  case keyProgram(key: [UInt8]?)

  /// Identifies a program.
  ///
  /// - Parameters:
  ///   - name: The name of its executable file.
  ///   - arguments: Returns its arguments, without its own name. Called only for `ssh-keygen`.
  ///   - version: Returns the version that the program prints. Called only for `ssh`.
  package init?(name: String, arguments: () -> [[UInt8]], version: () -> String?) {
    switch name {
    case "ssh-add": self = .keyProgram(key: nil)
    case "ssh-keygen": self = .keyProgram(key: Self.key(in: arguments()))
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

  /// The options of `ssh-keygen` that have a value (the call of `getopt` in `ssh-keygen.c`).
  private static let optionsWithValue = Set("CDEFIMNOPRVYZabfmnrstwz".utf8)

  /// Returns the private key that the arguments of `ssh-keygen` name: the key of a certification authority (`-s`), or
  /// the file (`-f`), which can also be the public key beside it.
  private static func key(in arguments: [[UInt8]]) -> [UInt8]? {
    var values: [UInt8: [UInt8]] = [:]
    var rest = arguments[...]
    // Options end at the first other argument.
    while let word = rest.popFirst(), word.count > 1, word[0] == UInt8(ascii: "-"), word != Array("--".utf8) {
      guard let place = word.dropFirst().firstIndex(where: optionsWithValue.contains) else { continue }
      let value = Array(word[(place + 1)...])
      values[word[place]] = value.isEmpty ? rest.popFirst() : value
    }
    guard let key = values[UInt8(ascii: "s")] ?? values[UInt8(ascii: "f")], !key.isEmpty else { return nil }
    let ending = Array(".pub".utf8)
    return key.count > ending.count && key.suffix(ending.count) == ending[...]
      ? key.dropLast(ending.count) : key
  }
}

/// The request of a program of OpenSSH, parsed from its prompt.
package enum PassphrasePrompt: Equatable, Sendable {
  /// The passphrase of a key, by the path of its file.
  case key(path: [UInt8])
  /// The password of an account on a server.
  case login(account: [UInt8], host: [UInt8])

  /// Parses a prompt with a text of the program itself, as in OpenSSH 6.4 to 10 (`sshconnect2.c`, `ssh-add.c`,
  /// `ssh-keygen.c`).
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
    for quote in ["'", "\""] {
      guard let path = Self.between("Enter passphrase for key \(quote)", "\(quote): ", prompt) else {
        continue
      }
      self = .key(path: path)
      return
    }
    switch caller {
    case .keyProgram(let named):
      if ["Enter passphrase: ", "Enter old passphrase: "].contains(where: { prompt.elementsEqual($0.utf8) }) {
        guard let named else { return nil }
        self = .key(path: named)
        return
      }
      let starts = ["Enter passphrase for ", "Enter old passphrase for "]
      guard var key = starts.lazy.compactMap({ Self.between($0, ": ", prompt) }).first else { return nil }
      // `ssh-add -c` prints this before the colon.
      let confirmed = Array(" (will confirm each use)".utf8)
      if key.suffix(confirmed.count) == confirmed[...] { key.removeLast(confirmed.count) }
      // OpenSSH 9.5 and later quote the path in `ssh-keygen`.
      key = Self.between("\"", "\"", key) ?? key
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
