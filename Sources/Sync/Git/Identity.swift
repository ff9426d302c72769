internal import Glibc
internal import Subprocess

/// The person who makes a commit.
struct Identity: Sendable {
  /// Name and mail address, as git writes them: `Alice <alice@example.org>`.
  let person: String
  /// The time zone, as git writes it: `+0100`.
  let zone: String

  /// The person and the present time, as git writes them: `Alice <alice@example.org> 1700000000 +0000`.
  var line: String { "\(person) \(time(nil)) \(zone)" }

  /// The person whom git knows, else somebody made of the user id of a key.
  ///
  /// - Parameters:
  ///   - git: Git, with the settings of the person and the repository.
  ///   - fallback: `Alice Example <alice@example.org>`, where git knows nobody; without a mail address in it
  ///     `keytree@localhost` stands for one. nil for nobody.
  /// - Throws: what git says when there is nobody, and as `Git.run`.
  init(in git: Git, fallback: @autoclosure () -> String?) throws {
    // A name made of the account and the machine helps nobody who reads the history.
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

  /// Name and mail of a user id, without what would end them.
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
