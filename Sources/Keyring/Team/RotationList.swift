package import KeyringModel
package import OpenPGP

/// The secrets that somebody could read who should not know them today, and that are still in use.
///
/// Nothing is written down for it: an entry is there for as long as the revision is the current one, and closes itself
/// with the next secret.
package struct RotationList: Equatable, Sendable {
  /// Somebody who could read a secret and may not today.
  package struct Reader: Hashable, Sendable {
    /// Why it is none of today's readers.
    package enum Reason: Hashable, Sendable {
      /// The person belongs to the keyring no more, since then.
      case left(Timestamp)
      /// The person is not in the item's group.
      case notInGroup
      /// Nobody knows whose key it is.
      case unknownKey
    }

    /// The person; nil where only the id of a key is known.
    package let person: Fingerprint?
    /// The ids of the keys that the messages name.
    package let keys: Set<KeyID>
    /// Why it is in the list.
    package let reason: Reason

    /// Puts the three together.
    package init(person: Fingerprint?, keys: Set<KeyID>, reason: Reason) {
      (self.person, self.keys, self.reason) = (person, keys, reason)
    }
  }

  /// What is to be done about an entry.
  package enum State: String, Sendable, CaseIterable {
    /// The secret has to be changed.
    case open
    /// An admin has decided that it stays.
    case accepted
    /// The item is gone; its secret may still be in use elsewhere.
    case deleted
  }

  /// One secret.
  package struct Entry: Equatable, Sendable {
    /// The item as it is, or as it last was.
    package let record: ItemRecord
    /// Its place, which a record derives anew each time.
    fileprivate let path: ItemPath
    /// What is to be done.
    package let state: State
    /// Whether the store has the item no more.
    package let isDeleted: Bool
    /// Who could read it, people before keys.
    package let readers: [Reader]
    /// The decision that it stays, where there is one for this very secret.
    package let risk: AcceptedRisk?
  }

  /// The open entries, then the accepted and the deleted ones; those of a state in the order of their paths.
  package private(set) var entries: [Entry] = []
  /// Why there may be more.
  package private(set) var gaps: Set<SecretReaders.Gap>
  /// What finding out whose keys they are has cost, beside what the keyring's own engine has done.
  package fileprivate(set) var cost = EngineStatistics()

  /// Whether nothing is missing in it, as far as this clone can tell.
  package var isComplete: Bool { gaps.isEmpty }

  /// The entries of a state.
  package func entries(_ state: State) -> [Entry] { entries.filter { $0.state == state } }

  /// Works the list out.
  ///
  /// - Parameters:
  ///   - items: The items of the store, conflict copies among them.
  ///   - readers: Who could ever read what.
  ///   - owners: Whose keys the ids are. An id that several people claim counts for each of them: anybody can bind
  ///     another person's key to their own.
  ///   - policy: Who may read what today.
  package init(
    of items: [ItemRecord], readers: SecretReaders, owners: [KeyID: [Fingerprint]], policy: Policy
  ) {
    gaps = readers.gaps
    if readers.skipped > 0 { gaps.insert(.tooLarge(readers.skipped)) }
    if readers.badLines > 0 { gaps.insert(.badLines(readers.badLines)) }
    var judge = Judge(owners: owners, policy: policy)
    for record in items {
      add(record, judge.strangers(among: readers.keys(of: record.revision), to: record.group), policy)
    }
    // A secret that an item of today has is not lost with another one.
    let known = Set(items.map { readers.secret(of: $0.revision) })
    var gone: [Entry] = []
    for record in readers.gone where !known.contains(readers.secret(of: record.revision)) {
      let group = policy.groups[record.group] == nil ? nil : record.group
      let strangers = judge.strangers(among: readers.keys(of: record.revision), to: group)
      if !strangers.isEmpty { gone.append(Entry(record, strangers, policy, isDeleted: true)) }
    }
    // Of copies of one secret that are gone the first one is enough, unless others should not know another one.
    var listed: [Revision: Set<[Reader]>] = [:]
    for entry in gone.sorted(by: Self.comesFirst)
    where listed[readers.secret(of: entry.record.revision), default: []].insert(entry.readers).inserted {
      entries.append(entry)
    }
    if !judge.strangers(among: readers.strayKeys, to: nil).isEmpty { gaps.insert(.strays(readers.strays)) }
    entries.sort { left, right in
      left.state == right.state ? Self.comesFirst(left, right) : left.state.place < right.state.place
    }
  }

  private mutating func add(_ record: ItemRecord, _ strangers: [Reader], _ policy: Policy) {
    if !strangers.isEmpty { entries.append(Entry(record, strangers, policy, isDeleted: false)) }
  }

  /// By path, which puts an item before the conflict copies of it.
  private static func comesFirst(_ left: Entry, _ right: Entry) -> Bool {
    left.path == right.path ? left.record.id.hex < right.record.id.hex : left.path < right.path
  }
}

extension RotationList.Entry {
  fileprivate init(
    _ record: ItemRecord, _ readers: [RotationList.Reader], _ policy: Policy, isDeleted: Bool
  ) {
    (self.record, self.readers, self.isDeleted) = (record, readers, isDeleted)
    path = record.path
    risk = policy.accepted[record.id].flatMap { $0.revision == record.revision ? $0 : nil }
    state = risk != nil ? .accepted : isDeleted ? .deleted : .open
  }
}

extension RotationList.State {
  fileprivate var place: Int {
    switch self {
    case .open: 0
    case .accepted: 1
    case .deleted: 2
    }
  }
}

/// Tells who of the readers of a secret may not read it today.
private struct Judge {
  let owners: [KeyID: [Fingerprint]]
  let policy: Policy
  /// Most items have the same readers, of which it need be found out once.
  private var known: [Question: [RotationList.Reader]] = [:]

  private struct Question: Hashable {
    let ids: Set<KeyID>
    let group: String?
  }

  init(owners: [KeyID: [Fingerprint]], policy: Policy) { (self.owners, self.policy) = (owners, policy) }

  /// - Parameter group: The group whose members may; nil for everybody who belongs to the keyring.
  mutating func strangers(among ids: Set<KeyID>, to group: String?) -> [RotationList.Reader] {
    let question = Question(ids: ids, group: group)
    if let answer = known[question] { return answer }
    let answer = find(question)
    known[question] = answer
    return answer
  }

  private func find(_ question: Question) -> [RotationList.Reader] {
    let members = Set(question.group.map { policy.groups[$0] ?? [] } ?? Array(policy.people.keys))
    var people: [Fingerprint: Set<KeyID>] = [:]
    var unknown: [KeyID] = []
    for id in question.ids {
      let owners = owners[id] ?? []
      if owners.isEmpty { unknown.append(id) }
      for person in owners where !(members.contains(person) && policy.isMember(person)) {
        people[person, default: []].insert(id)
      }
    }
    let named = people.sorted { $0.key < $1.key }.map { person, keys in
      RotationList.Reader(
        person: person, keys: keys,
        reason: policy.people[person]?.removed.map { .left($0) } ?? .notInGroup)
    }
    return named
      + unknown.sorted().map { RotationList.Reader(person: nil, keys: [$0], reason: .unknownKey) }
  }
}

extension Keyring {
  /// The rotation list.
  ///
  /// - Parameters:
  ///   - items: The items, as `allItems()` has found them.
  ///   - readers: Who could ever read what.
  /// - Throws: as `owners(of:)`.
  package func rotationList(of items: [ItemRecord], _ readers: SecretReaders) throws(KeyringError)
    -> RotationList
  {
    let ids = readers.keys.values.reduce(into: readers.strayKeys) { $0.formUnion($1) }
    let owners = try owners(of: ids)
    var list = RotationList(of: items, readers: readers, owners: owners.people, policy: policy)
    list.cost = owners.cost
    return list
  }
}
