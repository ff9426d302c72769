public import KeyringModel
internal import OpenPGP

/// A change of the people of a keyring that was worked out and is not made yet.
public struct TeamChange: Sendable {
  /// The policy as it is.
  public let before: Policy
  /// The policy as it will be.
  public let after: Policy
  /// The items that have to be sealed again.
  public let items: [ItemRecord]
  let newKeys: [Fingerprint: [UInt8]]
}

extension Keyring {
  /// Works out what a change of the people comes to; changes nothing.
  ///
  /// - Parameters:
  ///   - edits: What is wished.
  ///   - newKeys: The key files of people who come, and those that take the place of others.
  ///   - force: Whether this user may lose access herself.
  /// - Returns: The change; ``make(_:subject:progress:)`` makes it.
  /// - Throws: `KeyringError.policyNotTrusted`; `.team` with `notAnAdmin`, `removed`, `lastAdmin`, `locksOut`,
  ///   `lastReader`, `groupInUse`, `unusableKey`, `keyFileMissing` or `invalid`; `.unknownGroup` when an item has a
  ///   group that the policy does not have; `.shardDamaged`, `.itemDamaged`, or a file error.
  public func plan(
    _ edits: [PolicyEdit], newKeys: [Fingerprint: [UInt8]] = [:], force: Bool = false
  ) throws(KeyringError) -> TeamChange {
    try requireTrust()
    guard policy.admins.contains(trusted.signer) else { throw .team(.notAnAdmin) }
    let next: Policy
    do throws(PolicyError) {
      let digest = ContentDigest(of: policy.encode())
      next = try policy.successor(by: edits, previous: digest, at: host.clock())
    } catch {
      throw .team(error == .noAdmin ? .lastAdmin : .invalid(error))
    }
    let successor = try successor(with: next, newKeys: newKeys)
    try TeamRules(keyring: self, successor: successor).check(force: force)
    let items = try Resealing(keyring: self, successor: successor).outdated()
    return TeamChange(before: policy, after: next, items: items, newKeys: newKeys)
  }

  /// Makes a change of the people: every item that has to be is sealed again with a fresh session key, and these
  /// messages, the policy and the key files take their places in one transaction.
  ///
  /// Nothing is touched before all of it is sealed. When it is cut off before, doing it again goes on where it was.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - subject: What is done, for the history; one line of printable ASCII.
  ///   - progress: Told how many of how many items are sealed, from any thread.
  /// - Returns: The keyring with its new people.
  /// - Throws: `KeyringError.team` with `overtaken` when somebody else has changed the policy, `cannotReseal` when items
  ///   cannot be decrypted; and as `plan(_:newKeys:force:)` and `add`.
  public func make(
    _ change: TeamChange, subject: String = "change people and groups",
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> Keyring {
    try requireTrust()
    guard change.before == policy else { throw .team(.overtaken) }
    let successor = try successor(with: change.after, newKeys: change.newKeys)
    let bytes = change.after.encode()
    let signature: [UInt8]
    do {
      // With the keys as they will be: who has let her own key expire has prolonged it now.
      signature = try successor.engine.signDetached(bytes, signer: trusted.signer)
    } catch {
      throw .engine(error, nil)
    }
    let step = PolicyStep(bytes: bytes, signature: signature, keys: change.newKeys)
    // What is written must be what every other machine will accept.
    let start = PolicyChain.Link(
      policy: policy, digest: ContentDigest(of: policy.encode()), keys: trusted.keys)
    let link = try PolicyChain(engine: engine).follow([step], from: start)
    guard link.keys == successor.trusted.keys else { throw .team(.overtaken) }
    let resealing = Resealing(keyring: self, successor: successor)
    let pieces = try resealing.seal(change.items, progress: progress)
    try transaction(subject: subject) { changes throws(KeyringError) in
      _ = try resealing.place(pieces, in: &changes)
      try changes.place(step, newKeys: Array(change.newKeys.keys))
    }
    try PinStore(base: host.stateBase, keyring: policy.keyring).write(
      policy: change.after, bytes: bytes, keys: successor.trusted.keys, signer: trusted.signer)
    ResealedMessages(self).removeAll()
    return successor
  }

  /// The items whose messages are not for exactly the members of their groups.
  ///
  /// - Parameter groups: The groups that are looked at; nil for all.
  /// - Throws: as `plan(_:newKeys:force:)`.
  public func outdatedItems(in groups: Set<String>? = nil) throws(KeyringError) -> [ItemRecord] {
    try Resealing(keyring: self, successor: self).outdated(in: groups)
  }

  /// Seals items again whose messages are not for exactly the members of their groups, as a merge may leave them.
  ///
  /// - Parameters:
  ///   - groups: The groups that are looked at; nil for all.
  ///   - progress: Told how many of how many items are sealed, from any thread.
  /// - Returns: How many were sealed again.
  /// - Throws: as `make(_:subject:progress:)`.
  @discardableResult
  public func resealOutdated(
    in groups: Set<String>? = nil,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> Int {
    try requireTrust()
    let resealing = Resealing(keyring: self, successor: self)
    let records = try resealing.outdated(in: groups)
    if records.isEmpty { return 0 }
    let pieces = try resealing.seal(records, progress: progress)
    let subject = records.count == 1 ? "seal 1 item again" : "seal \(records.count) items again"
    let count = try transaction(subject: subject) { changes throws(KeyringError) in
      try resealing.place(pieces, of: groups, in: &changes)
    }
    ResealedMessages(self).removeAll()
    return count
  }

  /// The same store with other people.
  func successor(with next: Policy, newKeys: [Fingerprint: [UInt8]]) throws(KeyringError) -> Keyring {
    var keys: [Fingerprint: [UInt8]] = [:]
    for (fingerprint, person) in next.people where person.removed == nil {
      let file = newKeys[fingerprint] ?? trusted.keys[fingerprint]
      guard let file, person.key == nil || person.key == ContentDigest(of: file) else {
        throw .team(.keyFileMissing(fingerprint))
      }
      keys[fingerprint] = file
    }
    let trusted = TrustedPolicy(policy: next, signer: trusted.signer, keys: keys)
    return Keyring(tree: tree, trusted: trusted, engine: engine.with(keys: keys), host: host)
  }
}

extension Resealing {
  /// Puts new messages into their places, and seals under the lock what has changed or come since.
  ///
  /// - Returns: How many messages were placed.
  func place(
    _ pieces: [Piece], of groups: Set<String>? = nil, in changes: inout Changes
  ) throws(KeyringError) -> Int {
    let byID = Dictionary(pieces.map { ($0.record.id, $0) }) { first, _ in first }
    var count = 0
    for record in try outdated(in: groups) {
      let piece: Piece
      if let known = byID[record.id], known.record == record {
        piece = known
      } else {
        guard let fresh = try seal([record], progress: { _, _ in }).first else {
          throw .itemDamaged(record.reference, .notAsIndexed)
        }
        piece = fresh
      }
      guard try changes.apply(.sealed(piece.item), to: piece.record) != nil else {
        throw .itemDamaged(record.reference, .notAsIndexed)
      }
      count += 1
    }
    return count
  }
}

/// What must not happen to people and groups.
struct TeamRules {
  let keyring: Keyring
  let successor: Keyring

  /// - Parameter force: Whether this user may lose access herself.
  /// - Throws: `KeyringError.team` with the rule that would be broken.
  func check(force: Bool) throws(KeyringError) {
    let (old, new) = (keyring.policy, successor.policy)
    var items: [String: Int] = [:]
    var all = Query()
    all.includesConflictCopies = true
    for record in try keyring.index.findInFiles(all).items { items[record.group, default: 0] += 1 }
    for group in old.groups.keys.sorted() {
      let count = items[group] ?? 0
      guard let members = new.groups[group] else {
        if count > 0 { throw .team(.groupInUse(group, items: count)) }
        continue
      }
      if members.isEmpty, count > 0 { throw .team(.lastReader(group: group, items: count)) }
    }
    let me = keyring.trusted.signer
    let lost = old.groups(of: me).filter { group in
      new.groups[group].map { !$0.contains(me) } ?? false
    }
    let losesRole = !new.admins.contains(me)
    guard force || (lost.isEmpty && !losesRole) else { throw .team(.locksOut(groups: lost)) }
  }
}
