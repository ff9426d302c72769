internal import Glibc
internal import Subprocess

/// The person who makes a commit.
package struct Identity: Sendable {
  /// Name and mail address in git's format: `Alice <alice@example.org>`.
  let person: String
  /// The time zone in git's format: `+0100`.
  let zone: String

  /// The person and the current time in git's format: `Alice <alice@example.org> 1700000000 +0000`.
  package var line: String { "\(person) \(time(nil)) \(zone)" }

  /// Reads the identity that is configured in git, or derives one from the user id of a key.
  ///
  /// - Parameters:
  ///   - git: Git with the settings of the user and the repository.
  ///   - fallback: The user id, such as `Alice Example <alice@example.org>`, that is used if no identity is configured.
  ///     If it has no mail address, `keytree@localhost` is used. Nil for none.
  /// - Throws: The error of git if there is no identity, and the errors of `Git.run`.
  package init(in git: Git, fallback: @autoclosure () -> String?) throws {
    // Git must not derive a name from the account and the host name, because it would be useless in the history.
    let arguments = ["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"]
    let outcome = try git.outcome(of: arguments)
    if outcome.succeeded {
      let line = String(decoding: outcome.output, as: UTF8.self).split(separator: "\n").first ?? ""
      let words = line.split(separator: " ", omittingEmptySubsequences: false)
      guard words.count > 2, let zone = words.last else { throw GitError.unexpectedOutput(command: "var") }
      person = words.dropLast(2).joined(separator: " ")
      self.zone = String(zone)
      return
    }
    guard case .exited(status: 128) = outcome.ending, let name = fallback() else {
      throw git.failure(["var"], outcome)
    }
    (person, zone) = (Self.author(from: name), "+0000")
  }

  /// Returns the name and mail address of a user id in git's format, without characters that would break it.
  static func author(from userID: String) -> String {
    let parts = userID.split(separator: "<", maxSplits: 1, omittingEmptySubsequences: false)
    let mail = parts.count > 1 ? clean(parts[1].prefix { $0 != ">" }) : ""
    let name = clean(parts[0])
    return "\(name.isEmpty ? "keytree" : name) <\(mail.isEmpty ? "keytree@localhost" : mail)>"
  }

  private static func clean(_ text: Substring) -> String {
    let kept = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F && $0 != "<" && $0 != ">" }
    return String(String.UnicodeScalarView(kept)).split(separator: " ").joined(separator: " ")
  }
}
