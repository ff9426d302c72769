internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// The changes of people and groups that a command line requests.
struct GroupChange: TeamOperation {
  let people: TeamPeople
  private var run: TeamChangeRun { TeamChangeRun(call, keyring) }

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

  /// Adds people to a group. One that cannot be added does not prevent the others.
  ///
  /// - Returns: The exit code of the first person who could not be added; `done` if there is none.
  func add(to group: String) throws -> ExitCode {
    try require(group)
    let wishes = [GroupCommand.admin, GroupCommand.member].map { call.arguments.has($0) }
    if wishes == [true, true] {
      throw call.misuse(.conflict(GroupCommand.admin.display, GroupCommand.member.display))
    }
    let role: Person.Role? = wishes[0] ? .admin : wishes[1] ? .member : nil
    let words = Array(call.arguments.operands.dropFirst())
    for option in [GroupCommand.name, GroupCommand.encryptTo]
    where words.count > 1 && call.arguments.has(option) {
      throw call.misuse(.other("`--\(option.name)` is for one key"))
    }
    var keyring = keyring
    var result = ExitCode.done
    for word in words {
      do {
        keyring = try GroupChange(people: TeamPeople(call: call, keyring: keyring)).add(word, to: group, role)
      } catch  where words.count > 1 {
        if case TerminalError.cancelled = error { throw error }
        let report = ErrorReport(describing: error)
        for line in report.lines { call.console.complain(line) }
        if result == .done { result = report.exitCode }
      }
    }
    return result
  }

  /// Adds one person to a group.
  ///
  /// - Returns: The keyring with the person.
  private func add(_ word: Word, to group: String, _ role: Person.Role?) throws -> Keyring {
    let known = word.text.flatMap(TeamPeople.fingerprint).flatMap { policy.isMember($0) ? $0 : nil }
    if let known {
      try call.refuseOptionsOfNewPeople()
      return try join(known, group, role, isFingerprintGiven: true)
    }
    if let known = try people.memberWithMail(word) {
      try call.refuseOptionsOfNewPeople()
      try requireExpected(known, source: "the store")
      return try join(known, group, role, isFingerprintGiven: try people.isFingerprintGiven(known))
    }
    let new = try people.newPerson(word)
    let file = new.file
    let person = file.key.fingerprint
    try requireExpected(person, source: new.source)
    // The file may be that of another person than the user thinks, so this is a question, too.
    if policy.isMember(person) {
      try call.refuseOptionsOfNewPeople()
      let isGiven = try people.isFingerprintGiven(person) || new.isFingerprintGiven
      return try join(person, group, role, isFingerprintGiven: isGiven)
    }
    let name = try call.name(of: file.key)
    let choice = try call.usableChoice(of: file.key, name: name, group: group)
    let edits: [PolicyEdit] = [
      .add(
        person, name: name, role: role ?? .member, key: ContentDigest(of: file.bytes),
        encryptTo: choice.subkeys),
      .join(person, group: group),
    ]
    let change = try plan(edits, [person: file.bytes])
    let isGiven = try people.isFingerprintGiven(person) || new.isFingerprintGiven
    let admin = role == .admin ? ["will be an admin, who decides about people, groups and keys."] : []
    try confirm(person, new.facts + admin + [try reach(of: group)], isFingerprintGiven: isGiven)
    let now = try run.make(change, "add a person to group \(group)")
    call.console.say("Added \(name) to group \(group).")
    call.tellSkipped(choice)
    run.report(change)
    return now
  }

  /// Adds a person of the keyring to another group, or changes their role.
  ///
  /// - Parameter isFingerprintGiven: true if the user has given the person's fingerprint, or it was compared before.
  private func join(
    _ person: Fingerprint, _ group: String, _ role: Person.Role?, isFingerprintGiven: Bool
  ) throws -> Keyring {
    let name = policy.name(of: person)
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
    var facts = ["\(person.text)  \(name)"]
    if newRole == .admin { facts.append("will be an admin, who decides about people, groups and keys.") }
    if !isThere { facts.append(try reach(of: group)) }
    if newRole == .admin || !isThere { try confirm(person, facts, isFingerprintGiven: isFingerprintGiven) }
    let now = try run.make(change, isThere ? "change a role" : "add a person to group \(group)")
    call.console.say(
      isThere
        ? "\(name) is \(newRole == .admin ? "an admin" : "no longer an admin")."
        : "Added \(name) to group \(group).")
    run.report(change)
    return now
  }

  /// Returns the sentence about what a new member of a group will be able to read.
  private func reach(of group: String) throws -> String {
    var all = Query(predicates: [.equal(.group, .string(group))])
    all.includesFields = true
    let count = try keyring.find(all).items.count
    let items = count == 1 ? "1 item" : "\(count) items"
    return
      "will be able to read \(items) of group \(ErrorReport.quote(group)), and all items that are added to it later."
  }

  /// Shows what the person will be able to do, and asks for confirmation unless the fingerprint was given.
  ///
  /// - Throws: `cancelled`; `other` if the question cannot be asked.
  private func confirm(_ person: Fingerprint, _ lines: [String], isFingerprintGiven: Bool) throws {
    let asks = !isFingerprintGiven
    // `--quiet` suppresses remarks, but not the facts that a question is about.
    for line in lines { if asks { call.console.complain(line) } else { call.console.say(line) } }
    if !asks { return }
    try call.console.require(
      "Have you compared the fingerprint with that person", otherwise: "no person was added",
      ifImpossible: CommandError.fingerprintRequired(person))
  }

  /// Refuses a key if other fingerprints were given.
  private func requireExpected(_ person: Fingerprint, source: String) throws {
    guard call.arguments.has(GroupCommand.fingerprint) else { return }
    guard try people.isFingerprintGiven(person) else {
      throw CommandError.keyFile(.other(person), source: source)
    }
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
    let now = try run.make(
      change, edits.count == 1 ? "remove a person from group \(group)" : "remove people from group \(group)")
    for sentence in words { call.console.say(sentence) }
    run.report(change)
    TeamChangeRun(call, now).tellRotation()
  }

  /// Returns the edit that removes a person from a group, or from all groups, and its description.
  private func removal(of person: Fingerprint, _ group: String) throws -> (PolicyEdit, String) {
    let name = policy.name(of: person)
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

  // MARK: Items

  /// Re-encrypts the items whose recipients are not exactly the members of their groups.
  func reseal() throws {
    let count = try resealed()
    call.console.say(
      count == 0
        ? "All items are encrypted to exactly the members of their groups." : TeamChangeRun.words(count))
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
    try run.make(try plan(edits), subject)
  }
}
