internal import Arguments
internal import CommandSupport
internal import Encoding
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// `group replace`: gives the role and the groups of a person's old key to a new key.
struct KeyReplacement: TeamOperation {
  let people: TeamPeople

  func run() throws {
    let old = try people.member(call.arguments.operand(0)?.approximateText ?? "")
    guard let entry = policy.people[old], entry.removed == nil else { throw notAMember(old) }
    let new = try people.newPerson(call.arguments.operand(1) ?? Word(""))
    let key = new.file.key
    guard key.fingerprint != old else {
      throw CommandError.other(
        .alreadyExists, message: "the new key is the old one",
        hint: "`keytree group refresh` imports its changes")
    }
    guard try keyring.isAdmin() else { throw notAnAdmin(old, key) }
    let groups = policy.groups(of: old)
    let name = try call.name(of: key)
    let addition = try addition(new.file, name: name, entry, groups)
    let removal = PolicyEdit.replace(
      old, by: key.fingerprint, isCompromised: call.arguments.has(GroupCommand.compromised))
    try confirm(new, entry, groups)
    let files = policy.isMember(key.fingerprint) ? [:] : [key.fingerprint: new.file.bytes]
    let (first, second) = try keyring.separated(addition + [removal])
    // The old key of an only admin adds the new one, which then removes it. This is the only chance to leave a key that
    // the owner has revoked.
    let needsTwo = !second.isEmpty
    if needsTwo { try requireSecret(of: key) }
    var change = try keyring.plan(first, newKeys: files)
    var now = try naming(old, key.fingerprint) {
      try TeamChangeRun(call, keyring).make(
        change, needsTwo ? "add the new key of a person" : "replace the key of a person",
        evenIfRevokedHere: needsTwo)
    }
    if needsTwo {
      do {
        change = try now.plan(second)
        now = try TeamChangeRun(call, now).make(change, "remove the old key of a person")
      } catch {
        call.console.complain(
          "The new key was added, but the old one was not removed; the same command, run again, does that.")
        throw error
      }
    }
    call.console.say("Replaced the key of \(entry.shownName) by \(key.fingerprint.text).")
    TeamChangeRun(call, now).report(change)
    if call.arguments.has(GroupCommand.compromised) {
      TeamChangeRun(call, now).tellSigned(change.resignedItems, "The old key is compromised")
      TeamChangeRun(call, now).tellRotation()
    }
  }

  /// Returns the edits that give a key the role and the groups of the old one.
  private func addition(
    _ file: KeyFile, name: String, _ entry: Person, _ groups: [String]
  ) throws -> [PolicyEdit] {
    let person = file.key.fingerprint
    var edits: [PolicyEdit] = groups.map { .join(person, group: $0) }
    if policy.isMember(person) {
      if entry.role == .admin { edits.append(.role(person, .admin)) }
      return edits
    }
    let choice = try call.usableChoice(of: file.key, name: name, group: groups.first ?? GroupName.default)
    edits.insert(
      .add(
        person, name: name, role: entry.role, key: ContentDigest(of: file.bytes), encryptTo: choice.subkeys),
      at: 0)
    return edits
  }

  /// Runs a change. If the secret of the old key, which would have to sign it, is lost, the error says who can help.
  private func naming(
    _ old: Fingerprint, _ new: Fingerprint, _ change: () throws -> Keyring
  ) throws -> Keyring {
    do {
      return try change()
    } catch KeyringError.engine(.unusableKey(old, let problem), let item) {
      switch problem {
      case .missing, .noSecretKey, .noSigningSecret: break
      default: throw KeyringError.engine(.unusableKey(old, problem), item)
      }
      let name = policy.name(of: old)
      guard policy.admins == [old] else {
        throw CommandError.other(
          .recipientUnusable,
          message: "cannot sign: the secret of your admin key \(old.text) is not on this machine",
          hint: "send another admin the output of `gpg --armor --export \(new.text)`; they run "
            + "`keytree group replace \(old.text) FILE`")
      }
      throw CommandError.other(
        .recipientUnusable,
        message:
          "cannot sign: the key of \(name) is the only admin key, and its secret is not on this machine",
        hint:
          "import its secret from a backup with `gpg --import FILE`; without it, no key can replace it, and you need "
          + "a new store: `keytree init`")
    }
  }

  /// Refuses a new key that cannot sign here, because it has to sign the removal of the old one.
  private func requireSecret(of key: PublicKey) throws {
    let (secrets, now) = (try call.secretSubkeys()[key.fingerprint] ?? [:], try call.host().clock())
    let signs = key.subkeys.contains {
      secrets[$0.fingerprint] != nil && key.problem(of: $0, for: .sign, at: now) == nil
    }
    if signs { return }
    throw CommandError.other(
      .recipientUnusable,
      message:
        "cannot replace your only admin key: the signing secret of the new key \(key.fingerprint.text) is not on this "
        + "machine",
      hint: "import it from your other machine (`gpg --export-secret-keys`), or ask another admin")
  }

  private func confirm(_ new: NewPerson, _ entry: Person, _ groups: [String]) throws {
    let person = new.file.key.fingerprint
    let isGiven = try people.isFingerprintGiven(person)
    if call.arguments.has(GroupCommand.fingerprint), !isGiven {
      throw CommandError.keyFile(.other(person), source: new.source)
    }
    // The key of another member would get that person's rights, and both would count as one person.
    let isMember = policy.isMember(person)
    let asks = !isGiven && (isMember || !new.isFingerprintGiven)
    let role = entry.role == .admin ? " as an admin" : ""
    let lines =
      new.facts + (isMember ? ["is a member already: \(policy.name(of: person))"] : []) + [
        "will replace the key of \(entry.shownName)\(role) in "
          + "\(groups.isEmpty ? "no group" : groups.joined(separator: ", "))."
      ]
    for line in lines { if asks { call.console.complain(line) } else { call.console.say(line) } }
    if !asks { return }
    try call.console.require(
      "Have you compared the fingerprint with that person", otherwise: "the key was not replaced",
      ifImpossible: CommandError.other(
        .cancelled, message: "the key was not replaced: the fingerprint must be confirmed",
        hint: "compare the fingerprint with that person, and add `--fingerprint \(person.text)`"))
  }

  private func notAMember(_ old: Fingerprint) -> CommandError {
    .other(
      .notFound, message: "\(policy.name(of: old)) is not a member",
      hint: "`keytree status` shows the people")
  }

  private func notAnAdmin(_ old: Fingerprint, _ key: PublicKey) -> CommandError {
    .other(
      .policyNotTrusted, message: "cannot change people or groups: you are not an admin of this keyring",
      hint: CommandError.replacementRequest(of: old, by: key.fingerprint))
  }
}
