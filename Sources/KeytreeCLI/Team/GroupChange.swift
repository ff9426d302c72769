internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// The changes of people and groups that a command line requests.
struct GroupChange {
  private let call: CommandCall
  private let keyring: Keyring
  private let people: TeamPeople
  private var policy: Policy { keyring.policy }

  init(_ call: CommandCall, _ keyring: Keyring) {
    (self.call, self.keyring) = (call, keyring)
    people = TeamPeople(call: call, keyring: keyring)
  }

  // MARK: Groups

  /// Creates a group with this user as its only member.
  func create(_ group: String) throws {
    guard policy.groups[group] == nil else {
      throw CommandError.other(
        .alreadyExists, message: "cannot create group \(ErrorReport.quote(group)): it already exists",
        hint: "`keytree group show \(group)` lists its members")
    }
    let me = keyring.ownFingerprint
    try make([.create(group: group), .join(me, group: group)], "create group \(group)")
    call.console.say("Created group \(group). You are its only member.")
  }

  /// Deletes a group without items.
  func delete(_ group: String) throws {
    try require(group)
    guard group != GroupName.default else {
      throw CommandError.other(
        .failure, message: "cannot delete group \"default\": every keyring has it",
        hint: "`keytree group remove default FPR` removes a person from it")
    }
    try make([.delete(group: group)], "delete group \(group)")
    call.console.say("Deleted group \(group).")
  }

  // MARK: People

  /// Adds a person to a group.
  func add(to group: String) throws {
    try require(group)
    let wishes = [GroupCommand.admin, GroupCommand.member].map { call.arguments.has($0) }
    if wishes == [true, true] {
      throw call.misuse(.conflict(GroupCommand.admin.display, GroupCommand.member.display))
    }
    let role: Person.Role? = wishes[0] ? .admin : wishes[1] ? .member : nil
    let word = call.arguments.operand(1) ?? Word("")
    let known = word.text.flatMap(TeamPeople.fingerprint).flatMap { policy.isMember($0) ? $0 : nil }
    if let known { return try join(known, group, role, isFingerprintGiven: true) }
    if let known = try people.memberWithMail(word) {
      try requireExpected(known, source: "the store")
      return try join(known, group, role, isFingerprintGiven: false)
    }
    let new = try people.newPerson(word)
    let file = new.file
    let person = file.key.fingerprint
    try requireExpected(person, source: new.source)
    // The fingerprint was compared when the person was added to the keyring.
    if policy.isMember(person) { return try join(person, group, role, isFingerprintGiven: true) }
    let name = file.key.userIDs.first ?? person.text
    let now = try call.host().clock()
    if let problem = file.key.problem(for: .encrypt, at: now) ?? file.key.problem(for: .sign, at: now) {
      throw CommandError.unusableNewKey(person, name: name, group: group, problem)
    }
    let edits: [PolicyEdit] = [
      .add(
        person, name: name, role: role ?? .member, key: ContentDigest(of: file.bytes),
        encryptTo: file.key.subkey(for: .encrypt, at: now).map { [$0.fingerprint] } ?? []),
      .join(person, group: group),
    ]
    let change = try plan(edits, [person: file.bytes])
    try confirm(person, new.facts, group, isFingerprintGiven: new.isFingerprintGiven)
    try make(change, "add a person to group \(group)")
    call.console.say("Added \(name) to group \(group).")
    tellResealed(change)
  }

  /// Adds a person of the keyring to another group, or changes their role.
  ///
  /// - Parameter isFingerprintGiven: true if the user has given the person's fingerprint, or it was compared before.
  private func join(
    _ person: Fingerprint, _ group: String, _ role: Person.Role?, isFingerprintGiven: Bool
  ) throws {
    let name = policy.people[person]?.name ?? person.text
    let isThere = policy.groups[group]?.contains(person) ?? false
    let newRole = role.flatMap { $0 == policy.people[person]?.role ? nil : $0 }
    guard !isThere || newRole != nil else {
      throw CommandError.other(
        .alreadyExists, message: "\(name) is already in group \(ErrorReport.quote(group))",
        hint: "`keytree group refresh KEYFILE` imports a renewed key")
    }
    var edits: [PolicyEdit] = []
    if let newRole { edits.append(.role(person, newRole)) }
    if !isThere { edits.append(.join(person, group: group)) }
    let change = try plan(edits)
    if !isThere {
      try confirm(person, ["\(person.text)  \(name)"], group, isFingerprintGiven: isFingerprintGiven)
    }
    try make(change, isThere ? "change a role" : "add a person to group \(group)")
    call.console.say(
      isThere
        ? "\(name) is \(newRole == .admin ? "an admin" : "no longer an admin")."
        : "Added \(name) to group \(group).")
    tellResealed(change)
  }

  /// Shows what the person will be able to read, and asks for confirmation unless the fingerprint was given.
  ///
  /// - Throws: `cancelled`; `other` if the question cannot be asked.
  private func confirm(
    _ person: Fingerprint, _ facts: [String], _ group: String, isFingerprintGiven: Bool
  ) throws {
    var all = Query(predicates: [.equal(.group, .string(group))])
    all.includesFields = true
    let count = try keyring.find(all).items.count
    let items = count == 1 ? "1 item" : "\(count) items"
    let asks = !isFingerprintGiven && !call.arguments.has(GroupCommand.fingerprint)
    let lines =
      facts + [
        "will be able to read \(items) of group \(ErrorReport.quote(group)), and all items that are added to it later."
      ]
    // `--quiet` suppresses remarks, but not the facts that a question is about.
    for line in lines { if asks { call.console.complain(line) } else { call.console.say(line) } }
    if !asks { return }
    let isConfirmed: Bool
    do {
      isConfirmed = try call.console.confirm("Have you compared the fingerprint with that person")
    } catch TerminalError.promptImpossible {
      throw CommandError.fingerprintRequired(person)
    }
    guard isConfirmed else { throw TerminalError.cancelled(action: "no person was added") }
  }

  private func requireExpected(_ person: Fingerprint, source: String) throws {
    guard let text = call.arguments.text(GroupCommand.fingerprint) else { return }
    guard let expected = TeamPeople.fingerprint(text) else {
      throw call.misuse(.other("`--fingerprint` takes all 40 or 64 digits of a fingerprint"))
    }
    guard expected == person else { throw CommandError.keyFile(.other(person), source: source) }
  }

  /// Removes people from a group, or from all groups.
  func remove(from group: String) throws {
    try require(group)
    var edits: [PolicyEdit] = []
    var words: [String] = []
    for word in call.arguments.operands.dropFirst() {
      let (edit, sentence) = try removal(of: try people.member(word.approximateText), group)
      edits.append(edit)
      words.append(sentence)
    }
    let change = try plan(edits)
    let now = try make(
      change, edits.count == 1 ? "remove a person from group \(group)" : "remove people from group \(group)")
    for sentence in words { call.console.say(sentence) }
    tellResealed(change)
    tellRotation(now)
  }

  /// Returns the edit that removes a person from a group, or from all groups, and its description.
  private func removal(of person: Fingerprint, _ group: String) throws -> (PolicyEdit, String) {
    let name = policy.people[person]?.name ?? person.text
    let groups = policy.groups(of: person)
    let isLast = call.arguments.has(GroupCommand.all) || groups == [group]
    guard isLast ? policy.isMember(person) : groups.contains(group) else {
      throw CommandError.other(
        .notFound, message: "\(name) is not in group \(ErrorReport.quote(group))",
        hint: groups.isEmpty
          ? "`keytree status` shows who is in which group"
          : "their groups are \(groups.joined(separator: ", "))")
    }
    return isLast
      ? (.remove(person), "Removed \(name) from the keyring.")
      : (.leave(person, group: group), "Removed \(name) from group \(group).")
  }

  /// The number of secrets that are listed after a removal; `rotate status` lists all.
  private static let shownSecrets = 20

  /// Lists the secrets that a removed person may have kept.
  private func tellRotation(_ keyring: Keyring) {
    // Reading a long history takes seconds, and with `--quiet` the result would not be printed.
    if call.globals.quiet { return }
    do {
      let rotations = try Rotations(call, keyring)
      let open = rotations.list.entries(.open)
      if open.isEmpty {
        return call.console.say("No secret has to be changed.")
      }
      call.console.say(
        open.count == 1
          ? "This secret has to be changed, because a former reader may have kept it:"
          : "These \(open.count) secrets have to be changed, because former readers may have kept them:")
      for entry in open.prefix(Self.shownSecrets) {
        call.console.say("  " + entry.record.reference.text)
      }
      rotations.reportGaps(call.console)
      call.console.say("hint: `keytree rotate status` lists them all; `keytree rotate next` changes one.")
    } catch {
      // The person was removed, and the user can request the list again.
      for line in ErrorReport(describing: error).lines { call.console.complain(line) }
      call.console.complain("hint: `keytree rotate status` lists the secrets that have to be changed")
    }
  }

  // MARK: Keys

  /// Imports renewed keys.
  func refresh() throws {
    var edits: [PolicyEdit] = []
    var files: [Fingerprint: [UInt8]] = [:]
    for (person, bytes, source) in try candidates() {
      guard let file = try people.renewed(person, by: bytes, source: source) else { continue }
      edits.append(.key(person, ContentDigest(of: file.bytes)))
      if let subkey = file.key.subkey(for: .encrypt, at: try call.host().clock()) {
        edits.append(.encrypt(person, to: [subkey.fingerprint]))
      }
      files[person] = file.bytes
    }
    if edits.isEmpty { return call.console.say("No key has changed.") }
    let change = try plan(edits, files)
    try make(change, edits.count == 1 ? "renew a key" : "renew \(edits.count) keys")
    for person in files.keys.sorted() { call.console.say("Renewed the key of \(policy.name(of: person)).") }
    tellResealed(change)
  }

  /// Returns keys that may be newer than those of the keyring.
  private func candidates() throws -> [(Fingerprint, [UInt8], source: String)] {
    guard let word = call.arguments.operand(0) else {
      var found: [(Fingerprint, [UInt8], source: String)] = []
      for (person, facts) in policy.people.sorted(by: { $0.key < $1.key }) where facts.removed == nil {
        guard let bytes = try people.own(person) else { continue }
        found.append((person, bytes, "the key \(person.text) in your GnuPG keyring"))
      }
      return found
    }
    let file = try people.key(word)
    let person = file.key.fingerprint
    guard policy.isMember(person) else {
      throw CommandError.other(
        .notFound, message: "no member has the key \(person.text)",
        hint: "`keytree group add GROUP KEYFILE` adds a person")
    }
    return [(person, file.bytes, word.approximateText)]
  }

  /// Re-encrypts the items whose recipients are not exactly the members of their groups.
  func reseal() throws {
    let count = try resealed()
    call.console.say(
      count == 0 ? "All items are encrypted to exactly the members of their groups." : words(count))
  }

  private func resealed() throws -> Int {
    let progress = WorkProgress("encrypt", console: call.console)
    defer { progress.finish() }
    return try keyring.reencryptOutdated { progress.advance(to: $0, of: $1) }
  }

  // MARK: Helpers

  private func require(_ group: String) throws {
    guard policy.groups[group] != nil else { throw KeyringError.unknownGroup(group) }
  }

  private func plan(
    _ edits: [PolicyEdit], _ keys: [Fingerprint: [UInt8]] = [:]
  ) throws -> TeamChange {
    let force = call.arguments.has(GroupCommand.force)
    return try keyring.plan(edits, newKeys: keys, force: force)
  }

  private func make(_ edits: [PolicyEdit], _ subject: String) throws {
    try make(try plan(edits), subject)
  }

  @discardableResult
  private func make(_ change: TeamChange, _ subject: String) throws -> Keyring {
    try call.separateChanges(of: change.items, in: keyring)
    let progress = WorkProgress("encrypt", console: call.console)
    defer { progress.finish() }
    return try call.make(change, of: keyring, subject: subject) { progress.advance(to: $0, of: $1) }
  }

  private func tellResealed(_ change: TeamChange) {
    if !change.items.isEmpty { call.console.say(words(change.items.count)) }
  }

  private func words(_ count: Int) -> String {
    count == 1 ? "Re-encrypted 1 item." : "Re-encrypted \(count) items."
  }
}
