package import Encoding
package import Keyring
package import KeyringModel
package import OpenPGP

/// The messages, hints and exit codes for the errors of changes to people and groups.
extension ErrorReport {
  package init(_ error: TeamError) {
    switch error {
    case .notAnAdmin:
      self.init(
        .policyNotTrusted, "cannot change people or groups: you are not an admin of this keyring",
        hint: "`keytree status` lists the admins; ask one of them")
    case .removed(let time):
      self.init(
        .policyNotTrusted, "cannot write to the store: you were removed from it on \(time.day)",
        hint: "`keytree status` lists the admins; ask one of them")
    case .notInGroup(let group, let item):
      let action = item.map { "cannot change \($0.text): " } ?? ""
      self.init(
        .recipientUnusable, "\(action)you are not a member of group \(Self.quote(group))",
        hint: "ask an admin to add you: `keytree group add \(group) YOUR-FINGERPRINT`")
    case .keyEnded(let obstacle):
      self.init(.recipientUnusable, obstacle.message, hint: obstacle.hint)
    case .unusableKey(let person, let name, let group, let problem):
      self.init(
        .recipientUnusable,
        "cannot encrypt for group \(Self.quote(group)): the key of \(Person.shownName(name)) (\(person.text)) cannot be "
          + "used: \(problem.message)",
        hint: problem.upgradeHint
          ?? "with a renewed key, run `keytree group refresh KEYFILE`; otherwise "
          + "`keytree group remove \(group) \(person.text) --all`")
    case .unreadableKey(let person, let name, let problem):
      self.init(
        .recipientUnusable,
        "cannot judge what \(Person.shownName(name)) (\(person.text)) has signed: the key cannot be used: \(problem.message)",
        hint: problem.upgradeHint ?? problem.replacementHint(for: person)
          ?? "`keytree doctor` checks the key files; restore a damaged one from git or a backup")
    case .foreignSubkey(let foreign):
      self.init(
        .recipientUnusable, "nothing was changed: \(foreign.message)",
        hint: "ask both people whose subkey it is: anyone can add it to their own key; a key file of "
          + "\(foreign.person.text) without it is accepted")
    case .cannotReencrypt(let items, let count, let obstacle):
      let words =
        switch obstacle {
        case .notARecipient: "they are encrypted only to other people"
        case .damaged: "they are damaged"
        }
      let hint =
        switch obstacle {
        case .notARecipient:
          "ask an admin who is in all of these groups; `keytree who ITEM` lists the readers"
        case .damaged:
          "`keytree check --decrypt` shows what is wrong with them; `keytree adopt PATH --undo` restores a file that "
            + "another program has changed, and `keytree rm ITEM` removes an item whose file is lost"
        }
      self.init(
        obstacle == .damaged ? .damaged : .cannotDecrypt,
        "nothing was changed: \(count == 1 ? "1 item" : "\(count) items") cannot be re-encrypted: \(words)",
        hint: hint, details: items.map { "  " + $0.text })
    case .lastAdmin:
      self.init(
        .failure, "nothing was changed: no admin would be left who can change people or groups",
        hint: "make another person an admin first: `keytree group add GROUP FPR --admin`")
    case .losesOwnAccess(let groups):
      let what =
        groups.isEmpty
        ? "you would no longer be an admin"
        : "you could no longer read \(groups.map(Self.quote).joined(separator: ", "))"
      self.init(.failure, "nothing was changed: \(what)", hint: "`--force` changes it anyway")
    case .lastReader(let group, let items):
      self.init(
        .failure,
        "nothing was changed: no person would be able to read \(items == 1 ? "the item" : "the \(items) items") "
          + "of group \(Self.quote(group))",
        hint: "add another person first, or move the items: `keytree set ITEM --group NAME`")
    case .groupInUse(let group, let items):
      self.init(
        .failure,
        "cannot delete group \(Self.quote(group)): \(items == 1 ? "1 item belongs" : "\(items) items belong") to it",
        hint:
          "`keytree find --group \(group)` lists them; `keytree set ITEM --group NAME` moves one")
    case .invalid(.emptyDefaultGroup):
      self.init(
        .failure, "nothing was changed: group \"default\" would be empty",
        hint: "add another person to it first")
    case .invalid(let error):
      self.init(
        .failure, "nothing was changed: the new policy would be invalid: \(error.message)",
        hint: "`keytree status` shows the current people and groups")
    case .keyFileMissing(let person):
      self.init(
        .failure, "nothing was changed: the key file of \(person.text) is missing",
        hint: "`keytree group add GROUP KEYFILE` imports it from a file")
    case .keyFilesTooLarge(let limit):
      self.init(
        .failure, "the key files of all people together would be larger than \(limit >> 20) MiB",
        hint:
          "`gpg --export-options export-minimal --export FPR` exports a small key without photos and signatures"
      )
    case .overtaken:
      self.init(
        .failure, "nothing was changed: another process changed people or groups at the same time",
        hint: "check `keytree status`, then run the command again")
    case .noCommonPolicy:
      self.init(
        .policyNotTrusted,
        "cannot reapply your changes: the common predecessor of your policy and the remote policy was not found",
        hint: "`keytree trust` shows the remote policy and accepts it without your changes")
    }
  }

  /// Creates the report for a file that is not the key of one person.
  ///
  /// - Parameter source: the name of the source, as the user gave it; escaped.
  package init(_ problem: KeyFile.Problem, source: String) {
    let hint = "`gpg --show-keys FILE` shows what is in a file; `gpg --export --armor FPR` exports a key"
    switch problem {
    case .empty: self.init(.failure, "\(source) contains no public key", hint: hint)
    case .unreadable(let needed):
      let problem = KeyProblem.unreadable(needs: needed)
      self.init(
        .recipientUnusable, "cannot use the key in \(source): \(problem.message)",
        hint: problem.upgradeHint ?? hint)
    case .nameless(let key):
      self.init(
        .recipientUnusable, "the key \(key.text) has no user id in \(source), so GnuPG does not import it",
        hint: "ask its owner for the output of `gpg --armor --export \(key.text)`, which has the user ids")
    case .several(let keys):
      self.init(
        .ambiguous, "\(source) contains \(keys.count) keys",
        hint: "give a file that contains only the intended key",
        details: keys.map { "  " + $0.text })
    case .secret:
      self.init(
        .failure, "\(source) contains a secret key, which must not be shared", hint: hint)
    case .other(let found):
      self.init(
        .recipientUnusable, "\(source) contains another key: \(found.text)",
        hint: "compare the fingerprints with that person")
    case .engine(let error): self.init(error, item: nil)
    }
  }
}

extension CommandError {
  /// Returns the error for the unusable key of a person who is not a member yet.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - name: the name in the key.
  ///   - group: the group to which the person was to be added.
  ///   - problem: the reason why the key cannot be used.
  ///   - now: the current time.
  package static func unusableNewKey(
    _ key: PublicKey, name: String, group: String, _ problem: KeyProblem, at now: Timestamp
  ) -> CommandError {
    let person = key.fingerprint
    let repair =
      problem.isExpired
      ? "the owner extends the key with \(key.extensionCommands(at: now)), and sends"
      : "the owner sends a usable key:"
    return .other(
      .recipientUnusable,
      message: "cannot add \(name) (\(person.text)): the key cannot be used: \(problem.message)",
      hint: "\(repair) the output of `gpg --armor --export \(person.text)`; then run "
        + "`keytree group add \(group) FILE` again")
  }

  /// Returns the error for a key whose owner has revoked it.
  ///
  /// - Parameters:
  ///   - person: the fingerprint of the key.
  ///   - name: the name of the person.
  ///   - revocation: the reason and the time.
  ///   - groups: the groups of the person.
  package static func revokedKey(
    _ person: Fingerprint, name: String, _ revocation: KeyRevocation, groups: [String]
  ) -> CommandError {
    .other(
      .recipientUnusable,
      message: "the key of \(name) is revoked (\(revocation.word), \(revocation.created.day))",
      hint: replacementHint(person, groups))
  }

  /// Returns the hint for a person whose key is revoked.
  ///
  /// - Parameters:
  ///   - person: the fingerprint of the key.
  ///   - groups: the groups of the person. Only a person who is in none of them is removed from the keyring.
  static func replacementHint(_ person: Fingerprint, _ groups: [String]) -> String {
    let group = groups.first ?? GroupName.default
    return "`keytree group replace \(person.text) NEWKEY`, or `keytree group remove \(group) \(person.text)"
      + (groups.count == 1 ? "`" : " --all`")
  }

  /// Returns the hint for a user whose key another admin has to replace.
  ///
  /// - Parameters:
  ///   - old: the fingerprint of the key in the policy.
  ///   - new: the fingerprint of the new key.
  package static func replacementRequest(of old: Fingerprint, by new: Fingerprint) -> String {
    "send an admin the output of `gpg --armor --export \(new.text)`; they run `keytree group replace \(old.text) FILE`"
  }

  /// Returns the error for a member who cannot import a changed key.
  ///
  /// - Parameter person: the fingerprint of the key.
  package static func notAnAdmin(sending person: Fingerprint) -> CommandError {
    .other(
      .policyNotTrusted, message: "cannot change people or groups: you are not an admin of this keyring",
      hint: "send an admin the output of `gpg --armor --export \(person.text)`; they run "
        + "`keytree group refresh FILE`")
  }

  /// Returns the error for a question about a new person that cannot be asked.
  ///
  /// - Parameter person: the fingerprint of the key.
  package static func fingerprintRequired(_ person: Fingerprint) -> CommandError {
    .other(
      .cancelled, message: "no person was added: the fingerprint must be confirmed",
      hint: "compare the fingerprint with that person, and add `--fingerprint \(person.text)`")
  }
}
