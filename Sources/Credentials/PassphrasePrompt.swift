/// What `ssh` and `ssh-add` ask a program for that they find in `SSH_ASKPASS`, read from the words of the question.
package enum PassphrasePrompt: Equatable, Sendable {
  /// The passphrase of a key, by the path of its file.
  case key(path: [UInt8])
  /// The password of an account on a server.
  case login(account: [UInt8], host: [UInt8])

  /// The question that a prompt puts; nil for every other one, also for one that says that the answer before was
  /// wrong: it would be the same once more.
  ///
  /// The words are those of OpenSSH 6.4 to 9.9 (`ssh-add.c`, `sshconnect2.c`).
  package init?(_ prompt: [UInt8]) {
    if let path = Self.between("Enter passphrase for key '", "': ", prompt) {
      self = .key(path: path)
    } else if let path = Self.between("Enter passphrase for ", ": ", prompt) {
      // `ssh-add -c` says so in front of the colon.
      let confirmed = Array(" (will confirm each use)".utf8)
      self = .key(
        path: path.suffix(confirmed.count) == confirmed[...] ? path.dropLast(confirmed.count) : path)
    } else if let login = Self.between("", "'s password: ", prompt),
      let at = login.lastIndex(of: UInt8(ascii: "@")),
      at > 0
    {
      self = .login(account: Array(login[..<at]), host: Array(login[(at + 1)...]))
    } else {
      return nil
    }
  }

  /// What stands between a beginning and an end; nil when the text has not both, or nothing between them.
  private static func between(_ start: String, _ end: String, _ text: [UInt8]) -> [UInt8]? {
    // Some programs leave the space at the end out.
    let text = text.last == UInt8(ascii: " ") ? text : text + [UInt8(ascii: " ")]
    guard text.starts(with: start.utf8), text.count > start.utf8.count + end.utf8.count,
      text.suffix(end.utf8.count).elementsEqual(end.utf8)
    else { return nil }
    return Array(text[start.utf8.count..<(text.count - end.utf8.count)])
  }
}
