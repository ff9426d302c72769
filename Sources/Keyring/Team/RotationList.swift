package import KeyringModel
package import OpenPGP

/// The current secrets that could be read by people who are no longer allowed to read them.
///
/// The list is not stored. An entry exists for as long as the revision is current, and closes when a verified record
/// has another revision.
package struct RotationList: Equatable, Sendable {
  /// A person who could read a secret and is not allowed to read it today.
  package struct Reader: Hashable, Sendable {
    /// The reason why a person is not allowed to read the secret today.
    package enum Reason: Hashable, Sendable {
      /// The person was removed from the keyring at that time.
      case left(Timestamp)
      /// The person is not in the item's group.
      case notInGroup
      /// The subkey is one of a member who has revoked it as compromised, so a thief may have it.
      case compromised
      /// No member has this key.
      case unknownKey
    }

    /// The person; nil if only the id of a key is known.
    package let person: Fingerprint?
    /// The ids of the keys that the messages name.
    package let keys: Set<KeyID>
    /// The reason why the reader is in the list.
    package let reason: Reason

    /// Creates a reader from its parts.
    package init(person: Fingerprint?, keys: Set<KeyID>, reason: Reason) {
      (self.person, self.keys, self.reason) = (person, keys, reason)
    }
  }

  /// The state of an entry.
  package enum State: String, Sendable, CaseIterable {
    /// The secret has to be changed.
    case open
    /// An admin has decided to keep the secret.
    case accepted
    /// The item no longer exists; its secret may still be in use elsewhere.
    case deleted
  }

  /// An entry for one secret.
  package struct Entry: Equatable, Sendable {
    /// The current record of the item, or its last one.
    package let record: ItemRecord
    /// The path of the item, cached because the record computes it on each access.
    fileprivate let path: ItemPath
    /// The state of the entry.
    package let state: State
    /// True if the store no longer has the item.
    package let isDeleted: Bool
    /// The readers: people first, then unknown keys.
    package let readers: [Reader]
    /// The decision to keep this revision of the secret, if there is one.
    package let risk: AcceptedRisk?
  }

  /// The entries: open, then accepted, then deleted ones, each sorted by path.
  package private(set) var entries: [Entry] = []
  /// The reasons why the list may be incomplete.
  package private(set) var gaps: Set<AccessHistory.Gap>

  /// True if the list is complete, as far as this clone can tell.
  package var isComplete: Bool { gaps.isEmpty }

  /// Returns the entries with a state.
  package func entries(_ state: State) -> [Entry] { entries.filter { $0.state == state } }

  /// Computes the list.
  ///
  /// - Parameters:
  ///   - items: The items of the store with verified records. Only these records can close an entry.
  ///   - readers: The keys that every secret was ever encrypted to.
  ///   - owners: The owners of the keys by id. An id with several owners counts for each of them, because anyone can
  ///     bind another person's key to their own.
  ///   - policy: The current policy.
  ///   - compromised: The subkeys that their owners have revoked as compromised.
  package init(
    of items: [ItemRecord], readers: AccessHistory, owners: [KeyID: [Fingerprint]], policy: Policy,
    compromised: Set<KeyID> = []
  ) {
    gaps = readers.gaps
    if readers.skipped > 0 { gaps.insert(.tooLarge(readers.skipped)) }
    if readers.badRecords > 0 { gaps.insert(.badRecords(readers.badRecords)) }
    if !readers.unverifiedPlaces.isEmpty { gaps.insert(.unverified(readers.unverifiedPlaces.count)) }
    var judge = Judge(owners: owners, policy: policy, compromised: compromised)
    for record in items {
      let strangers = judge.strangers(among: readers.keys(of: record.revision), to: record.group)
      if !strangers.isEmpty { entries.append(Entry(record, strangers, policy, isDeleted: false)) }
    }
    entries += Self.former(items, readers, &judge, policy)
    let strays = readers.strays
    if strays.contains(where: { !judge.strangers(among: $0, to: nil).isEmpty }) {
      gaps.insert(.strays(strays.count))
    }
    entries.sort { left, right in
      left.state == right.state ? Self.comesFirst(left, right) : left.state.place < right.state.place
    }
  }

  /// Returns the entries of items that the store no longer has, or whose record is not verified.
  private static func former(
    _ items: [ItemRecord], _ readers: AccessHistory, _ judge: inout Judge, _ policy: Policy
  ) -> [Entry] {
    // A former item whose secret a current item still has needs no entry. Joins are not used here: anyone can write a
    // record that joins two secrets, and the entry of one must not hide the entry of the other.
    let current = Set(items.map(\.revision))
    let lost = readers.former.filter { item in
      !current.contains(item.record.revision)
        && !(item.container.map(readers.currentContainers.contains) ?? false)
    }
    let found = lost.sorted { left, right in
      left.isVerified == right.isVerified ? comesFirst(left.record, right.record) : left.isVerified
    }.map { item in
      let group = policy.groups[item.record.group] == nil ? nil : item.record.group
      return (item, judge.strangers(among: readers.keys(of: item.record.revision), to: group))
    }
    var entries: [Entry] = []
    var listed: Set<Listed> = []
    var containers: [ContentDigest: Set<Reader>] = [:]
    for (item, strangers) in found where !strangers.isEmpty {
      // One entry per secret and set of readers is enough. A record that is not verified cannot suppress the entry of
      // another item.
      let id = item.isVerified ? nil : item.record.id
      guard listed.insert(Listed(revision: item.record.revision, id: id, readers: strangers)).inserted else {
        continue
      }
      if let container = item.container {
        if !item.isVerified, containers[container]?.isSuperset(of: strangers) ?? false { continue }
        if item.isVerified { containers[container, default: []].formUnion(strangers) }
      }
      let isDeleted = !readers.unverifiedPlaces.contains(item.record.path)
      entries.append(Entry(item.record, strangers, policy, isDeleted: isDeleted))
    }
    return entries
  }

  /// The properties in which duplicate entries of former items agree.
  private struct Listed: Hashable {
    let revision: Revision
    let id: ItemID?
    let readers: [Reader]
  }

  private static func comesFirst(_ left: Entry, _ right: Entry) -> Bool {
    left.path == right.path ? left.record.id.hex < right.record.id.hex : left.path < right.path
  }

  private static func comesFirst(_ left: ItemRecord, _ right: ItemRecord) -> Bool {
    let paths = (left.path, right.path)
    return paths.0 == paths.1 ? left.id.hex < right.id.hex : paths.0 < paths.1
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

/// Finds the readers of a secret who are not allowed to read it today.
private struct Judge {
  let owners: [KeyID: [Fingerprint]]
  let policy: Policy
  let compromised: Set<KeyID>
  /// A cache of the results, because most items have the same readers.
  private var known: [Question: [RotationList.Reader]] = [:]

  private struct Question: Hashable {
    let ids: Set<KeyID>
    let group: String?
  }

  init(owners: [KeyID: [Fingerprint]], policy: Policy, compromised: Set<KeyID>) {
    (self.owners, self.policy, self.compromised) = (owners, policy, compromised)
  }

  /// Returns the readers who are not allowed to read a secret today.
  ///
  /// - Parameter group: The group whose members may read it; nil for all people of the keyring.
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
      for person in owners where compromised.contains(id) || !mayRead(person, members) {
        people[person, default: []].insert(id)
      }
    }
    let named = people.sorted { $0.key < $1.key }.map { person, keys in
      RotationList.Reader(person: person, keys: keys, reason: reason(of: person, members))
    }
    return named
      + unknown.sorted().map { RotationList.Reader(person: nil, keys: [$0], reason: .unknownKey) }
  }

  /// Returns true if a person may read a secret today, also with a key that replaces an older one.
  private func mayRead(_ person: Fingerprint, _ members: Set<Fingerprint>) -> Bool {
    if policy.people[person]?.isCompromised == true { return false }
    let newest = policy.newestKey(of: person)
    return members.contains(newest) && policy.isMember(newest)
  }

  private func reason(
    of person: Fingerprint, _ members: Set<Fingerprint>
  ) -> RotationList.Reader.Reason {
    if mayRead(person, members) { return .compromised }
    return policy.people[person]?.removed.map { .left($0) } ?? .notInGroup
  }
}

extension Keyring {
  /// Returns the rotation list.
  ///
  /// - Parameters:
  ///   - items: The items with verified records.
  ///   - readers: The keys that every secret was ever encrypted to.
  /// - Throws: The errors of `owners(of:)`.
  package func rotationList(of items: [ItemRecord], _ readers: AccessHistory) throws(KeyringError)
    -> RotationList
  {
    RotationList(
      of: items, readers: readers, owners: try owners(of: readers.allKeys), policy: policy,
      compromised: try compromisedSubkeys())
  }

  /// Returns the subkeys that members have revoked as compromised, or without a reason.
  private func compromisedSubkeys() throws(KeyringError) -> Set<KeyID> {
    do throws(EngineError) {
      let subkeys = try engine.publicKeys().flatMap(\.subkeys)
      return Set(subkeys.filter { $0.revocation?.isHard ?? false }.map(\.keyID))
    } catch {
      throw .engine(error, nil)
    }
  }
}
