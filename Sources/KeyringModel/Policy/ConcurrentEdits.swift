internal import Encoding

/// The edits of one side, adapted to the policy of another side that has separated from the same policy.
///
/// A removal is never undone: a person whom the other side has removed does not return, also not with a new key. The groups,
/// the role and the removal of a person whose key the other side has replaced apply to the new key. A group that only one
/// side has deleted stays if the other one has changed its members.
package struct ConcurrentEdits: Sendable {
  /// The edits to apply to the policy of the other side.
  package private(set) var edits: [PolicyEdit] = []
  /// The people whom the other side has removed, so that edits of them were left out, sorted.
  package private(set) var removed: [Fingerprint] = []
  /// The groups that one side has deleted, and that stay because the other one has changed their members, sorted.
  package private(set) var keptGroups: [String] = []

  private let ours: Policy
  private let theirs: Policy
  private let base: Policy
  private var added: Set<Fingerprint> = []
  private var leftOut: Set<Fingerprint> = []

  /// Adapts edits.
  ///
  /// - Parameters:
  ///   - ours: The policy with the edits.
  ///   - theirs: The policy of the other side.
  ///   - base: The last policy that both have in common.
  package init(of ours: Policy, to theirs: Policy, since base: Policy) {
    (self.ours, self.theirs, self.base) = (ours, theirs, base)
    let all = ours.edits(since: base)
    for case .add(let person, _, _, _, _) in all where mayAdd(person) { added.insert(person) }
    let refused = refusedKeys(all)
    added.subtract(refused.keys)
    for group in deletedGroups { keep(group) }
    for edit in all { add(edit, refused) }
    removed = leftOut.sorted()
    keptGroups.sort { $0.precedesInBytes($1) }
  }

  /// Returns true if an edit may add a person: the other side has not removed them since.
  private func mayAdd(_ person: Fingerprint) -> Bool {
    theirs.people[person]?.removed == nil || base.people[person]?.removed == theirs.people[person]?.removed
  }

  /// Returns the new keys of people whom the other side has removed, each with the groups of the old key.
  private mutating func refusedKeys(_ all: [PolicyEdit]) -> [Fingerprint: Set<String>] {
    var refused: [Fingerprint: Set<String>] = [:]
    for case .replace(let old, let new, _) in all
    where theirs.people[theirs.newestKey(of: old)]?.removed != nil {
      leftOut.insert(old)
      refused[new, default: []].formUnion(base.groups(of: old))
    }
    return refused
  }

  private mutating func add(_ edit: PolicyEdit, _ refused: [Fingerprint: Set<String>]) {
    guard let edit = following(edit) else { return }
    switch edit {
    case .add(let person, _, _, _, _): if !added.contains(person) { return leaveOut(person, refused) }
    case .join(let person, let group):
      if let groups = refused[person], !added.contains(person), groups.contains(group) { return }
      if !isHere(person) { return leaveOut(person, refused) }
    case .role(let person, .admin):
      if refused[person] != nil { return }
      if !isHere(person) { return leaveOut(person, refused) }
    case .role(let person, _), .key(let person, _), .name(let person, _), .encrypt(let person, _):
      if !isHere(person) { return leaveOut(person, refused) }
    case .replace(let old, let new, _):
      if refused[new] != nil, !theirs.isMember(old) { return }
      // Otherwise a person with two keys would lose both.
      if theirs.isMember(old), !isHere(new) { return leaveOut(new, refused) }
    case .delete(let group): if keptGroups.contains(where: group.hasSameBytes) { return }
    default: break
    }
    edits.append(edit)
  }

  private func isHere(_ person: Fingerprint) -> Bool { theirs.isMember(person) || added.contains(person) }

  private mutating func leaveOut(_ person: Fingerprint, _ refused: [Fingerprint: Set<String>]) {
    // The person with the old key was noted, and a replaced key has a newer one.
    if refused[person] == nil, !theirs.isMember(theirs.newestKey(of: person)) { leftOut.insert(person) }
  }

  /// Returns an edit for the newest key of its person; nil if it concerns only a key that was replaced.
  private func following(_ edit: PolicyEdit) -> PolicyEdit? {
    guard let person = edit.person else { return edit }
    let newest = theirs.newestKey(of: person)
    // The key of another member is not moved into the place of the person.
    if newest == person || base.isMember(newest) { return edit }
    return switch edit {
    case .remove: .remove(newest)
    case .role(_, let role): .role(newest, role)
    case .join(_, let group): .join(newest, group: group)
    case .leave(_, let group): .leave(newest, group: group)
    case .add, .key, .name, .encrypt: nil
    default: edit
    }
  }

  /// The groups that one side has deleted while the other one has changed their members.
  private var deletedGroups: [String] {
    base.groups.compactMap { group, members in
      switch (ours.groups[group], theirs.groups[group]) {
      case (let mine?, nil): Set(mine) == Set(members) ? nil : group
      case (nil, let other?): Set(other) == Set(members) ? nil : group
      default: nil
      }
    }
  }

  private mutating func keep(_ group: String) {
    keptGroups.append(group)
    guard let members = ours.groups[group] else { return }
    edits.append(.create(group: group))
    for member in members {
      if let edit = following(.join(member, group: group)), let person = edit.person, isHere(person) {
        edits.append(edit)
      }
    }
  }
}
