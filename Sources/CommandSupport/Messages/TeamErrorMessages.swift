package import Keyring
internal import KeyringModel
package import OpenPGP

/// The words, hints and exit codes for what stands in the way of people and groups.
extension ErrorReport {
  package init(_ error: TeamError) {
    switch error {
    case .notAnAdmin:
      self.init(
        .policyNotTrusted, "cannot change people or groups: you are no admin of this keyring",
        hint: "`keytree status` names the admins; ask one of them")
    case .removed(let time):
      self.init(
        .policyNotTrusted, "cannot write to the store: you were removed from it on \(time.rfc3339)",
        hint: "`keytree status` names the admins; ask one of them")
    case .notInGroup(let group):
      self.init(
        .recipientUnusable, "cannot seal for group \(Self.quote(group)): you are not in it",
        hint: "`keytree group show \(group)` names its members; ask an admin among them")
    case .unusableKey(let person, let name, let group, let problem):
      self.init(
        .recipientUnusable,
        "cannot seal for group \(Self.quote(group)): the key of \(name) (\(person.text)) cannot be "
          + "used: \(problem.words)",
        hint: "with the prolonged key: `keytree group refresh KEYFILE`; without it: "
          + "`keytree group remove \(group) \(person.text) --all`")
    case .cannotReencrypt(let items, let count, let obstacle):
      let words =
        switch obstacle {
        case .notARecipient: "they are sealed to other people only"
        case .damaged: "they are damaged"
        }
      let hint =
        switch obstacle {
        case .notARecipient:
          "an admin who is in all groups concerned can do it; `keytree who ITEM` names the readers"
        case .damaged: "`keytree check --decrypt` shows what is wrong with them"
        }
      self.init(
        obstacle == .damaged ? .damaged : .cannotDecrypt,
        "nothing was changed: \(count == 1 ? "1 item" : "\(count) items") cannot be sealed again: \(words)",
        hint: hint, details: items.map { "  " + $0.text })
    case .lastAdmin:
      self.init(
        .failure, "nothing was changed: nobody would be left who can change people or groups",
        hint: "make somebody else an admin first: `keytree group add GROUP FPR --admin`")
    case .losesOwnAccess(let groups):
      let what =
        groups.isEmpty
        ? "you would be no admin any more"
        : "you could not read \(groups.map(Self.quote).joined(separator: ", ")) any more"
      self.init(.failure, "nothing was changed: \(what)", hint: "`--force` does it all the same")
    case .lastReader(let group, let items):
      self.init(
        .failure,
        "nothing was changed: nobody could read \(items == 1 ? "the item" : "the \(items) items") of group "
          + "\(Self.quote(group)) any more",
        hint: "add somebody else first, or move the items: `keytree set ITEM --group NAME`")
    case .groupInUse(let group, let items):
      self.init(
        .failure,
        "cannot delete group \(Self.quote(group)): \(items == 1 ? "1 item belongs" : "\(items) items belong") to it",
        hint:
          "`keytree find --group \(group)` lists them; `keytree set ITEM --group NAME` moves one")
    case .invalid(.emptyDefaultGroup):
      self.init(
        .failure, "nothing was changed: nobody would be left in group \"default\"",
        hint: "add somebody else to it first")
    case .invalid(let error):
      self.init(
        .failure, "nothing was changed: the policy would be none: \(error.words)",
        hint: "`keytree status` shows people and groups as they are")
    case .keyFileMissing(let person):
      self.init(
        .failure, "nothing was changed: there is no key file of \(person.text)",
        hint: "`keytree group add GROUP KEYFILE` takes it from a file")
    case .keyFilesTooLarge(let limit):
      self.init(
        .failure, "the key files of all people together would have more than \(limit >> 20) MiB",
        hint:
          "`gpg --export-options export-minimal --export FPR` gives a small key without photos and signatures"
      )
    case .overtaken:
      self.init(
        .failure, "nothing was changed: somebody else has changed people or groups meanwhile",
        hint: "look at `keytree status`, and run it again")
    case .noCommonPolicy:
      self.init(
        .policyNotTrusted,
        "cannot put your changes on top of theirs: the policy that both come from is not known here",
        hint: "`keytree trust` shows their policy and takes it, without your changes")
    }
  }

  /// The report of a file that is not the key of one person.
  ///
  /// - Parameter source: What was read, as the person named it; escaped.
  package init(_ problem: KeyFile.Problem, source: String) {
    let hint = "`gpg --show-keys FILE` shows what is in a file; `gpg --export --armor FPR` makes one"
    switch problem {
    case .empty: self.init(.failure, "\(source) holds no public key", hint: hint)
    case .several(let keys):
      self.init(
        .ambiguous, "\(source) holds \(keys.count) keys", hint: "give a file with the one key that is meant",
        details: keys.map { "  " + $0.text })
    case .secret:
      self.init(
        .failure, "\(source) holds a secret key, which its owner shows to nobody", hint: hint)
    case .other(let found):
      self.init(
        .recipientUnusable, "\(source) holds another key: \(found.text)",
        hint: "compare the fingerprints with the person")
    case .engine(let error): self.init(error, item: nil)
    }
  }
}
