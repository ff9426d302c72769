public import Encoding

/// One wish about a policy, small enough to be made again on top of somebody else's.
///
/// An edit that is fulfilled already changes nothing, so that edits may be applied twice.
public enum PolicyEdit: Equatable, Sendable {
  /// Somebody belongs to the keyring; also somebody who was removed before.
  case add(Fingerprint, name: String, role: Person.Role, key: ContentDigest)
  /// Somebody belongs to it no more, and to none of its groups.
  case remove(Fingerprint)
  /// Somebody may do more, or less.
  case role(Fingerprint, Person.Role)
  /// Somebody's key file is another one, of the same key.
  case key(Fingerprint, ContentDigest)
  /// There is a group.
  case create(group: String)
  /// There is no such group; `default` stays.
  case delete(group: String)
  /// Somebody is in a group.
  case join(Fingerprint, group: String)
  /// Somebody is in a group no more.
  case leave(Fingerprint, group: String)
  /// A secret stays although somebody who left could have read it.
  case accept(ItemID, AcceptedRisk)
  /// The history may have a file beside the store.
  case allow(file: String)
  /// The history may have it no more.
  case disallow(file: String)
}

extension Policy {
  /// The policy that follows this one.
  ///
  /// - Parameters:
  ///   - edits: What is different, in this order.
  ///   - digest: The digest of this policy's exact bytes.
  ///   - now: When people who come were added, and those who go were removed.
  /// - Returns: The next generation; equal to this one but for the generation when nothing was to be done.
  /// - Throws: What makes the result no policy: ``PolicyError/noAdmin``, ``PolicyError/emptyDefaultGroup``,
  ///   ``PolicyError/unknownPerson(_:group:)`` and others.
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
    case .add(let fingerprint, let name, let role, let key):
      let known = people[fingerprint]
      if let known, known.removed == nil { return }
      // Whoever was here before keeps the day of the first time.
      people[fingerprint] = Person(name: name, role: role, added: known?.added ?? now, key: key)
    case .remove(let fingerprint):
      guard let person = people[fingerprint], person.removed == nil else { return }
      people[fingerprint]?.removed = max(now, person.added)
      for group in groups.keys { groups[group]?.removeAll { $0 == fingerprint } }
    case .role(let fingerprint, let role): people[fingerprint]?.role = role
    case .key(let fingerprint, let digest): people[fingerprint]?.key = digest
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

  /// The edits that make this policy out of an older one, for making them again on top of another one.
  ///
  /// - Parameter base: The older policy.
  /// - Returns: The edits in an order in which each finds what it needs.
  public func edits(since base: Policy) -> [PolicyEdit] {
    var edits: [PolicyEdit] = []
    for (fingerprint, person) in people.sorted(by: { $0.key < $1.key }) {
      let old = base.people[fingerprint]
      let wasHere = old.map { $0.removed == nil } ?? false
      switch (wasHere, person.removed == nil) {
      case (false, true):
        guard let key = person.key else { continue }
        edits.append(.add(fingerprint, name: person.name, role: person.role, key: key))
      case (true, false): edits.append(.remove(fingerprint))
      case (true, true):
        if let old, old.role != person.role { edits.append(.role(fingerprint, person.role)) }
        if let key = person.key, old?.key != key { edits.append(.key(fingerprint, key)) }
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

  /// Returns true if a person is a member of the keyring now.
  public func isMember(_ fingerprint: Fingerprint) -> Bool {
    people[fingerprint].map { $0.removed == nil } ?? false
  }

  /// Returns true if a person is in one of some groups.
  package func isMember(_ fingerprint: Fingerprint, ofAny names: some Sequence<String>) -> Bool {
    names.contains { groups[$0]?.contains(fingerprint) ?? false }
  }

  /// The groups that a person is in, sorted.
  public func groups(of fingerprint: Fingerprint) -> [String] {
    groups.filter { $0.value.contains(fingerprint) }.map(\.key).sorted { $0.precedesInBytes($1) }
  }
}
