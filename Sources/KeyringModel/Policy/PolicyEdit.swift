public import Encoding

/// One change to a policy, small enough to be reapplied to another person's version of the policy.
///
/// An edit whose result already exists changes nothing, so edits may be applied twice.
public enum PolicyEdit: Equatable, Sendable {
  /// Adds a person to the keyring, or adds a removed person again.
  case add(
    Fingerprint, name: String, role: Person.Role, key: ContentDigest, encryptTo: [Fingerprint])
  /// Removes a person from the keyring and from all of its groups.
  case remove(Fingerprint)
  /// Removes a person whose key was replaced by that of another entry.
  case replace(Fingerprint, by: Fingerprint)
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
    case .add(let person, _, _, _, _), .remove(let person), .replace(let person, _), .role(let person, _),
      .key(let person, _), .name(let person, _), .encrypt(let person, _), .join(let person, _),
      .leave(let person, _):
      person
    case .create, .delete, .accept, .allow, .disallow: nil
    }
  }

  /// True if the edit is for a member of the policy, or makes a person one.
  fileprivate var changesMember: Bool {
    switch self {
    case .add, .role, .key, .name, .encrypt, .join: true
    default: false
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
  public func successor(
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
    case .replace(let fingerprint, let next):
      let isMember = isMember(fingerprint)
      apply(.remove(fingerprint), at: now)
      if isMember { people[fingerprint]?.replacedBy = next }
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
  public func edits(since base: Policy) -> [PolicyEdit] {
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
        edits.append(person.replacedBy.map { .replace(fingerprint, by: $0) } ?? .remove(fingerprint))
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

  /// Adapts edits of another policy to this one, which may have replaced the keys of people or removed people since both
  /// have separated.
  ///
  /// A removal is never undone: changes to the entry or the groups of a removed person are left out, and so is a new key
  /// that replaces the key of a removed person. The groups, the role and the removal of a person whose key this policy has
  /// replaced apply to the new key.
  ///
  /// - Parameter edits: The edits, in order.
  /// - Returns: The edits to apply to this policy, and the removed people because of whom others were left out, sorted.
  package func adapt(_ edits: [PolicyEdit]) -> (edits: [PolicyEdit], removed: [Fingerprint]) {
    var removed: Set<Fingerprint> = []
    var added: Set<Fingerprint> = []
    var refused: Set<Fingerprint> = []
    for edit in edits {
      switch edit {
      case .add(let person, _, _, _, _): added.insert(person)
      case .replace(let old, let new):
        guard people[newestKey(of: old)]?.removed != nil else { continue }
        removed.insert(old)
        refused.insert(new)
      default: break
      }
    }
    var adapted: [PolicyEdit] = []
    for edit in edits {
      guard let edit = following(edit) else { continue }
      guard let person = edit.person, edit.changesMember else {
        adapted.append(edit)
        continue
      }
      if refused.contains(person) { continue }
      if isMember(person) || added.contains(person) {
        adapted.append(edit)
      } else {
        removed.insert(person)
      }
    }
    return (adapted, removed.sorted())
  }

  /// Returns an edit for the newest key of its person; nil if it concerns only a key that was replaced.
  private func following(_ edit: PolicyEdit) -> PolicyEdit? {
    guard let person = edit.person else { return edit }
    let newest = newestKey(of: person)
    if newest == person { return edit }
    return switch edit {
    case .remove: .remove(newest)
    case .role(_, let role): .role(newest, role)
    case .join(_, let group): .join(newest, group: group)
    case .leave(_, let group): .leave(newest, group: group)
    case .key, .name, .encrypt: nil
    default: edit
    }
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
  public func isMember(_ fingerprint: Fingerprint) -> Bool {
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
  public func groups(of fingerprint: Fingerprint) -> [String] {
    groups.filter { $0.value.contains(fingerprint) }.map(\.key).sorted { $0.precedesInBytes($1) }
  }
}
