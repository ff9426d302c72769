package import Encoding
package import Keyring
package import KeyringModel
package import OpenPGP

/// The messages and hints about a key that has expired or was revoked.
extension KeyObstacle {
  /// What failed, and why.
  package var message: String {
    switch (state, isMine) {
    case (.revoked(let revocation), _):
      return "the key of \(Person.shownName(name)) is revoked (\(revocation.word), \(revocation.created.day))"
    case (.expired(let end), true):
      guard let subkey else { return "cannot write: your key \(person.text) has expired (\(end.day))" }
      return
        "cannot write: the \(subkey.use.rawValue) subkey \(KeyID(of: subkey.fingerprint).text) of your key has "
        + "expired (\(end.day))"
    case (.expired(let end), false):
      let what = group.map { "encrypt for group \(ErrorReport.quote($0))" } ?? "write"
      return "cannot \(what): the key of \(Person.shownName(name)) has expired (\(end.day))"
    }
  }

  /// The next step.
  package var hint: String {
    let group = group ?? memberGroups.first ?? GroupName.default
    switch (state, isMine) {
    case (.revoked, _):
      return CommandError.replacementHint(person, memberGroups)
    case (.expired, true) where isRenewedHere && isAdmin:
      return "your GnuPG keyring has a newer version of it: `keytree group refresh` imports it"
    case (.expired, true) where isRenewedHere:
      return
        "send an admin the output of `gpg --armor --export \(person.text)`; they run `keytree group refresh FILE`"
    case (.expired, true): return extensionHint
    case (.expired, false):
      let admin =
        isAdmin
        ? "; `keytree group refresh KEYFILE` imports it from a file, and `keytree group remove \(group) "
          + "\(person.text)` removes that person" : ""
      return "ask \(Person.shownName(name)) to extend it and an admin to run `keytree group refresh`" + admin
    }
  }

  private var extensionHint: String {
    let commands = person.extensionCommands(ofPrimary: subkey == nil, expiredSubkeys)
    let place =
      hasPrimarySecret ? "" : " on the machine that has your primary key, then import it here"
    return "\(commands)\(place); then `keytree group refresh`"
  }
}

extension ErrorReport {
  /// Returns the words for the end of a key, such as `expires in 3 days (2027-01-31)` or `expired (2026-01-31)`.
  ///
  /// - Parameters:
  ///   - end: The end.
  ///   - now: The current time.
  package static func expiry(at end: Timestamp, now: Timestamp) -> String {
    if end <= now { return "expired (\(end.day))" }
    let days = (end.microseconds - now.microseconds) / (86_400 * 1_000_000)
    let words =
      switch days {
      case ...0: "in less than a day"
      case 1: "in 1 day"
      default: "in \(days) days"
      }
    return "expires \(words) (\(end.day))"
  }
}

extension Fingerprint {
  /// Returns the commands that extend exactly the parts of a key that have expired. GnuPG skips expired subkeys if they
  /// are given as `*`, and sets an end date also for parts without one.
  ///
  /// - Parameters:
  ///   - isExpired: True if the primary key has expired.
  ///   - subkeys: The expired subkeys.
  func extensionCommands(ofPrimary isExpired: Bool, _ subkeys: [Fingerprint]) -> String {
    var commands: [String] = []
    if isExpired { commands.append("gpg --quick-set-expire \(text) 1y") }
    if !subkeys.isEmpty {
      commands.append("gpg --quick-set-expire \(text) 1y \(subkeys.map(\.text).joined(separator: " "))")
    }
    return "`\(commands.joined(separator: " && "))`"
  }
}

extension PublicKey {
  /// Returns the commands with which the owner extends the parts of the key that have expired.
  ///
  /// - Parameters:
  ///   - listed: The subkeys that a policy names for encryption; nil for a key in no policy.
  ///   - now: The current time.
  package func extensionCommands(listed: [Fingerprint]? = nil, at now: Timestamp) -> String {
    let newest = subkeys.dropFirst().filter { $0.canEncrypt && !$0.revoked && !$0.invalid }
      .max { $0.created < $1.created }
    let parts = expiredSubkeys(listed: listed ?? newest.map { [$0.fingerprint] } ?? [], at: now)
    return fingerprint.extensionCommands(
      ofPrimary: expires.map { $0 <= now } ?? false, parts.map(\.subkey.fingerprint))
  }
}
