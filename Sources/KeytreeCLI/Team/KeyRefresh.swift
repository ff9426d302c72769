internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// `group refresh`: imports renewed keys of members.
struct KeyRefresh: TeamOperation {
  let people: TeamPeople

  /// A key file that may be newer than those of the keyring.
  private struct Candidate {
    let bytes: [UInt8]
    let source: String
    /// The member whose key it is, if the user has named them.
    let person: Fingerprint?
  }

  /// Imports the keys. One that cannot be used does not prevent the import of the others.
  ///
  /// - Returns: The exit code of the first key that could not be used; `done` if there is none.
  func run() throws -> ExitCode {
    var refused: [any Error] = []
    let renewals = try renewals(&refused)
    if renewals.isEmpty, refused.count == 1 { throw refused[0] }
    for error in refused {
      for line in ErrorReport(describing: error).lines { call.console.complain(line) }
    }
    let reported = refused.count
    if !renewals.isEmpty {
      guard try keyring.isAdmin() else { throw notAnAdmin(renewals) }
      try make(renewals, &refused)
    } else if refused.isEmpty {
      call.console.say("No key has changed.")
    }
    for error in refused.dropFirst(reported) {
      for line in ErrorReport(describing: error).lines { call.console.complain(line) }
    }
    return refused.first.map { ErrorReport(describing: $0).exitCode } ?? .done
  }

  private func make(_ wanted: [KeyRenewal], _ refused: inout [any Error]) throws {
    guard let (change, renewals) = try plan(wanted, &refused) else { return }
    let resigned = Set(change.invalidatedItems.isEmpty ? [] : renewals.map(\.person))
    for renewal in renewals where renewal.needsConfirmation || resigned.contains(renewal.person) {
      try confirm(renewal)
    }
    let subject = renewals.count == 1 ? "renew a key" : "renew \(renewals.count) keys"
    let now = try TeamChangeRun(call, keyring).make(change, subject)
    for renewal in renewals {
      call.console.say(
        "Renewed the key of \(Person.shownName(renewal.name)): \(renewal.changes.joined(separator: "; ")).")
      if let choice = renewal.choice { call.tellSkipped(choice) }
    }
    TeamChangeRun(call, now).report(change)
    tellResigned(change, renewals)
    if !renewals.allSatisfy(\.compromised.isEmpty) { TeamChangeRun(call, now).tellRotation() }
  }

  /// Plans the imports. A key that cannot be imported does not prevent the import of the others.
  ///
  /// - Returns: The change with its imports; nil if no key can be imported.
  /// - Throws: The error of the change, if it concerns all keys together.
  private func plan(
    _ renewals: [KeyRenewal], _ refused: inout [any Error]
  ) throws -> (change: TeamChange, renewals: [KeyRenewal])? {
    func change(_ renewals: [KeyRenewal]) throws -> TeamChange {
      let files = Dictionary(renewals.map { ($0.person, $0.after.bytes) }) { _, last in last }
      return try keyring.plan(renewals.flatMap(\.edits), newKeys: files)
    }
    do {
      return (try change(renewals), renewals)
    } catch  where renewals.count > 1 {
      var rest: [KeyRenewal] = []
      for renewal in renewals {
        do {
          _ = try change([renewal])
          rest.append(renewal)
        } catch {
          refused.append(error)
        }
      }
      if rest.isEmpty { return nil }
      // If each key can be imported alone, the error is about all of them.
      guard rest.count < renewals.count else { throw error }
      return (try change(rest), rest)
    }
  }

  // MARK: Candidates

  private func renewals(_ refused: inout [any Error]) throws -> [KeyRenewal] {
    let stored = try keyring.publicKeys()
    var files: [Fingerprint: KeyFile] = [:]
    var wanted: Set<Fingerprint> = []
    for candidate in try candidates(&refused) {
      do {
        for file in try merged(candidate, known(files)) { files[file.key.fingerprint] = file }
        if let person = candidate.person { wanted.insert(person) }
      } catch {
        refused.append(error)
      }
    }
    let secrets = try call.secretSubkeys()
    try call.requireOwnersOfGivenSubkeys(among: stored + files.values.map(\.key))
    var renewals: [KeyRenewal] = []
    for (person, entry) in policy.people.sorted(by: { $0.key < $1.key })
    where files[person] != nil || wanted.contains(person) {
      guard let before = stored.first(where: { $0.fingerprint == person }),
        let bytes = keyring.keyFile(of: person)
      else { continue }
      let after = files[person] ?? KeyFile(key: before, bytes: bytes)
      let choice = try call.encryptionChoice(
        of: after.key, listed: entry.encryptTo, secrets: secrets[person],
        known: Set(before.subkeys.map(\.fingerprint)))
      let renewal = KeyRenewal(person: person, entry: entry, before: before, after: after, choice: choice)
      do {
        try check(renewal, renewals)
        if renewal.isChange { renewals.append(renewal) } else if let choice { call.tellSkipped(choice) }
      } catch {
        refused.append(error)
      }
    }
    return renewals
  }

  /// Returns the given keys, or those of all members that the user's own GnuPG keyring has.
  private func candidates(_ refused: inout [any Error]) throws -> [Candidate] {
    var found: [Candidate] = []
    if call.arguments.operands.isEmpty {
      for person in policy.activePeople.sorted() {
        guard let bytes = try people.own(person) else { continue }
        found.append(
          Candidate(bytes: bytes, source: "the key \(person.text) in your GnuPG keyring", person: person))
      }
      return found
    }
    for word in call.arguments.operands {
      do {
        found.append(try candidate(word))
      } catch {
        refused.append(error)
      }
    }
    return found
  }

  private func candidate(_ word: Word) throws -> Candidate {
    let named = word.text.flatMap(TeamPeople.fingerprint)
    guard let person = try named ?? people.memberWithMail(word, inKeyring: true) else {
      let path = word.approximateText
      return Candidate(bytes: try TeamPeople.bytes(path), source: path, person: nil)
    }
    guard policy.isMember(person) else { throw Self.notAMember(person) }
    guard let bytes = try people.own(person) else {
      throw KeyringError.engine(.unusableKey(person, .missing), nil)
    }
    return Candidate(bytes: bytes, source: person.text, person: person)
  }

  /// Returns the key files of all members, with the imports so far.
  private func known(_ files: [Fingerprint: KeyFile]) -> [Fingerprint: [UInt8]] {
    var known: [Fingerprint: [UInt8]] = [:]
    for person in policy.activePeople {
      known[person] = files[person]?.bytes ?? keyring.keyFile(of: person)
    }
    return known
  }

  /// Returns the members' keys to which a file adds something.
  private func merged(_ candidate: Candidate, _ known: [Fingerprint: [UInt8]]) throws -> [KeyFile] {
    let expected = candidate.person.map { person in known.filter { $0.key == person } }
    let locations = try call.host().engineLocations
    let found: (changed: [KeyFile], others: [Fingerprint])
    do {
      found = try KeyFile.merging(candidate.bytes, onto: expected ?? known, locations: locations)
    } catch {
      throw CommandError.keyFile(error, source: candidate.source)
    }
    if let other = found.others.first, found.changed.isEmpty { throw Self.notAMember(other) }
    return found.changed
  }

  private static func notAMember(_ person: Fingerprint) -> CommandError {
    .other(
      .notFound, message: "no member has the key \(person.text)",
      hint: "`keytree group add GROUP KEYFILE` adds a person")
  }

  // MARK: Rules

  /// Refuses a revoked key, a key that nothing can be encrypted to any more, and the address of another person.
  ///
  /// - Parameters:
  ///   - renewal: The import.
  ///   - others: The imports that were accepted before it.
  private func check(_ renewal: KeyRenewal, _ others: [KeyRenewal]) throws {
    let (person, name) = (renewal.person, renewal.entry.shownName)
    do {
      try renewal.after.requireSize()
    } catch {
      throw CommandError.keyFile(error, source: "the key of \(name)")
    }
    if let revocation = renewal.after.key.revocation, renewal.before.revocation == nil {
      throw CommandError.revokedKey(
        person, name: name, revocation, groups: policy.groups(of: person))
    }
    let isRevoked = renewal.entry.encryptTo.contains { listed in
      renewal.after.key.subkeys.contains { $0.fingerprint == listed && $0.revoked }
    }
    if renewal.choice == nil, isRevoked {
      throw CommandError.other(
        .recipientUnusable, message: "the key of \(name) has no subkey left that items can be encrypted to",
        hint:
          "its owner adds one with `gpg --quick-add-key \(person.text) cv25519 encr`, and sends the key again"
      )
    }
    for address in renewal.newAddresses.sorted() {
      let owner =
        try people.people(withMail: address).first { $0 != person }
        ?? others.first { $0.newAddresses.contains(address) }?.person
      if let other = owner {
        throw CommandError.other(
          .recipientUnusable,
          message: "the key of \(name) has the address \(ErrorReport.quote(address)) of another person, "
            + policy.name(of: other),
          hint: "ask both who owns the address; its user id can be revoked")
      }
    }
  }

  private func confirm(_ renewal: KeyRenewal) throws {
    if try people.isFingerprintGiven(renewal.person) { return }
    call.console.complain("\(renewal.person.text)  \(renewal.entry.shownName)")
    for change in renewal.changes { call.console.complain("  \(change)") }
    try call.console.require(
      "Have you checked this change with that person", otherwise: "no key was imported",
      ifImpossible: CommandError.other(
        .cancelled, message: "no key was imported: the changes must be confirmed",
        hint: "check them with that person, and add `--fingerprint \(renewal.person.text)`"))
  }

  // MARK: Reports

  /// Lists the changes that an admin has to import, and returns the error.
  private func notAnAdmin(_ renewals: [KeyRenewal]) -> CommandError {
    for renewal in renewals {
      call.console.complain(
        "The key of \(Person.shownName(renewal.name)) has changed: \(renewal.changes.joined(separator: "; "))."
      )
    }
    let own = renewals.first { $0.person == keyring.ownFingerprint } ?? renewals.first
    return .notAnAdmin(sending: own?.person ?? keyring.ownFingerprint)
  }

  /// Lists the items whose signatures this user's signature has replaced.
  private func tellResigned(_ change: TeamChange, _ renewals: [KeyRenewal]) {
    let items = change.invalidatedItems
    if items.isEmpty { return }
    let signers = renewals.flatMap(\.compromised).filter(\.canSign)
    let names = signers.map { "\($0.keyID.text) is revoked \($0.revocation?.message ?? "")" }
    let reason =
      names.isEmpty
      ? "A changed key had ended before it signed some items" : names.joined(separator: "; ")
    TeamChangeRun(call, keyring).tellSigned(items, reason)
  }
}
