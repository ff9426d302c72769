package import Encoding

/// One change to a policy, small enough to be reapplied to another person's version of the policy.
///
/// An edit whose result already exists changes nothing, so edits may be applied twice.
package enum PolicyEdit: Equatable, Sendable {
  /// Adds a person to the keyring, or adds a removed person again.
  case add(
    Fingerprint, name: String, role: Person.Role, key: ContentDigest, encryptTo: [Fingerprint])
  /// Removes a person from the keyring and from all of its groups.
  case remove(Fingerprint)
  /// Removes a person whose key was replaced by that of another entry, perhaps because others may have used it.
  case replace(Fingerprint, by: Fingerprint, isCompromised: Bool = false)
  /// Changes a person's role.
  case role(Fingerprint, Person.Role)
  /// Replaces a person's key file with another one of the same key.
  case key(Fingerprint, ContentDigest)
  /// Changes a person's name.
  case name(Fingerprint, String)
  /// Changes the subkeys that items are encrypted to for a person.
  case encrypt(Fingerprint, to: [Fingerprint])
  /// Creates a group.
  case create(group: String)
  /// Deletes a group. The group `default` is never deleted.
  case delete(group: String)
  /// Adds a person to a group.
  case join(Fingerprint, group: String)
  /// Removes a person from a group.
  case leave(Fingerprint, group: String)
  /// Records the decision not to change a secret that a removed person could have read.
  case accept(ItemID, AcceptedRisk)
  /// Allows a file beside the store in the history.
  case allow(file: String)
  /// Disallows such a file.
  case disallow(file: String)
}

extension PolicyEdit {
  /// The person whose entry or groups are changed; nil for the other edits.
  package var person: Fingerprint? {
    switch self {
    case .add(let person, _, _, _, _), .remove(let person), .replace(let person, _, _), .role(let person, _),
      .key(let person, _), .name(let person, _), .encrypt(let person, _), .join(let person, _),
      .leave(let person, _):
      person
    case .create, .delete, .accept, .allow, .disallow: nil
    }
  }
}

extension Policy {
  /// Returns the policy that follows this one.
  ///
  /// - Parameters:
  ///   - edits: The edits, in the order in which they are applied.
  ///   - digest: The digest of this policy's exact bytes.
  ///   - now: The time that is recorded for people who are added or removed.
  /// - Returns: The next generation. If the edits change nothing, it differs only in `generation` and `previous`.
  /// - Throws: ``PolicyError`` if the result is not a valid policy: ``PolicyError/noAdmin``,
  ///   ``PolicyError/emptyDefaultGroup``, ``PolicyError/unknownPerson(_:group:)`` and others.
  package func successor(
    by edits: [PolicyEdit], previous digest: ContentDigest, at now: Timestamp
  ) throws(PolicyError) -> Policy {
    var next = self
    next.generation += 1
    next.previous = digest
    for edit in edits { next.apply(edit, at: now) }
    try next.validate()
    return next
  }

  private mutating func apply(_ edit: PolicyEdit, at now: Timestamp) {
    switch edit {
    case .add(let fingerprint, let name, let role, let key, let encryptTo):
      let known = people[fingerprint]
      if let known, known.removed == nil { return }
      // A person who was a member before keeps the time when they were first added.
      people[fingerprint] = Person(
        name: name, role: role, added: known?.added ?? now, key: key, encryptTo: encryptTo)
    case .remove(let fingerprint):
      guard let person = people[fingerprint], person.removed == nil else { return }
      people[fingerprint]?.removed = max(now, person.added)
      for group in groups.keys { groups[group]?.removeAll { $0 == fingerprint } }
    case .replace(let fingerprint, let next, let isCompromised):
      let isMember = isMember(fingerprint)
      apply(.remove(fingerprint), at: now)
      if isMember {
        people[fingerprint]?.replacedBy = next
        people[fingerprint]?.isCompromised = isCompromised
      }
    case .role(let fingerprint, let role): people[fingerprint]?.role = role
    case .key(let fingerprint, let digest): people[fingerprint]?.key = digest
    case .name(let fingerprint, let name): people[fingerprint]?.name = name
    case .encrypt(let fingerprint, let subkeys): people[fingerprint]?.encryptTo = Set(subkeys).sorted()
    case .create(let group): groups[group] = groups[group] ?? []
    case .delete(let group): if group != GroupName.default { groups[group] = nil }
    case .join(let fingerprint, let group):
      let members = groups[group] ?? []
      groups[group] = Set(members + [fingerprint]).sorted()
    case .leave(let fingerprint, let group): groups[group]?.removeAll { $0 == fingerprint }
    case .accept(let item, let risk): accepted[item] = risk
    case .allow(let file): files.insert(file)
    case .disallow(let file): files.remove(file)
    }
  }

  /// Returns the edits that turn an older policy into this one, so that they can be reapplied to another policy.
  ///
  /// - Parameter base: The older policy.
  /// - Returns: The edits, in an order that satisfies their dependencies.
  package func edits(since base: Policy) -> [PolicyEdit] {
    var edits: [PolicyEdit] = []
    for (fingerprint, person) in people.sorted(by: { $0.key < $1.key }) {
      let old = base.people[fingerprint]
      let wasHere = old.map { $0.removed == nil } ?? false
      switch (wasHere, person.removed == nil) {
      case (false, true):
        guard let key = person.key else { continue }
        edits.append(
          .add(
            fingerprint, name: person.name, role: person.role, key: key, encryptTo: person.encryptTo))
      case (true, false):
        edits.append(
          person.replacedBy.map { .replace(fingerprint, by: $0, isCompromised: person.isCompromised) }
            ?? .remove(fingerprint))
      case (true, true):
        if let old { edits += Self.edits(of: fingerprint, from: old, to: person) }
      case (false, false): break
      }
    }
    for group in groups.keys.sorted(by: { $0.precedesInBytes($1) }) where base.groups[group] == nil {
      edits.append(.create(group: group))
    }
    for group in Set(groups.keys).union(base.groups.keys).sorted(by: { $0.precedesInBytes($1) }) {
      guard let members = groups[group] else {
        edits.append(.delete(group: group))
        continue
      }
      let before = base.groups[group] ?? []
      let (old, new) = (Set(before), Set(members))
      for member in members where !old.contains(member) { edits.append(.join(member, group: group)) }
      for member in before where !new.contains(member) && people[member]?.removed == nil {
        edits.append(.leave(member, group: group))
      }
    }
    for (item, risk) in accepted.sorted(by: { $0.key.hex.precedesInBytes($1.key.hex) })
    where base.accepted[item] != risk { edits.append(.accept(item, risk)) }
    for file in files.union(base.files).sorted(by: { $0.precedesInBytes($1) }) {
      switch (base.files.contains(file), files.contains(file)) {
      case (false, true): edits.append(.allow(file: file))
      case (true, false): edits.append(.disallow(file: file))
      default: continue
      }
    }
    return edits
  }

  /// Returns the edits that turn the entry of a member into a later one.
  private static func edits(of fingerprint: Fingerprint, from old: Person, to new: Person) -> [PolicyEdit] {
    var edits: [PolicyEdit] = []
    if old.role != new.role { edits.append(.role(fingerprint, new.role)) }
    if let key = new.key, old.key != key { edits.append(.key(fingerprint, key)) }
    if !old.name.hasSameBytes(as: new.name) { edits.append(.name(fingerprint, new.name)) }
    if Set(old.encryptTo) != Set(new.encryptTo) { edits.append(.encrypt(fingerprint, to: new.encryptTo)) }
    return edits
  }

  /// Returns true if a person is a current member of the keyring.
  package func isMember(_ fingerprint: Fingerprint) -> Bool {
    people[fingerprint].map { $0.removed == nil } ?? false
  }

  /// Returns the entry of the same person with the newest key.
  ///
  /// - Parameter fingerprint: The key of a person.
  /// - Returns: The same fingerprint unless other keys have replaced it.
  package func newestKey(of fingerprint: Fingerprint) -> Fingerprint {
    var newest = fingerprint
    // A policy could name entries in a circle.
    for _ in people {
      guard let next = people[newest]?.replacedBy else { break }
      newest = next
    }
    return newest
  }

  /// Returns true if a person is in at least one of the groups.
  package func isMember(_ fingerprint: Fingerprint, ofAny names: some Sequence<String>) -> Bool {
    names.contains { groups[$0]?.contains(fingerprint) ?? false }
  }

  /// Returns the groups of a person, sorted.
  package func groups(of fingerprint: Fingerprint) -> [String] {
    groups.filter { $0.value.contains(fingerprint) }.map(\.key).sorted { $0.precedesInBytes($1) }
  }
}
