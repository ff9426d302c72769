public import KeyringModel
internal import OpenPGP

/// A change of the people of a keyring that was worked out and is not made yet.
public struct TeamChange: Sendable {
  /// The policy as it is.
  public let before: Policy
  /// The policy as it will be.
  public let after: Policy
  /// The items that have to be encrypted again.
  public var items: [ItemRecord] { outdated.filter(\.needsEncryption).map(\.record) }
  let outdated: [Resealing.Outdated]
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
    let records = try verifiedRecords()
    try TeamRules(keyring: self, successor: successor).check(records, force: force)
    let outdated = try Resealing(keyring: self, successor: successor).outdated(among: records)
    return TeamChange(before: policy, after: next, outdated: outdated, newKeys: newKeys)
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
    let pieces = try resealing.prepare(change.outdated, progress: progress)
    try transaction(subject: subject, signingAs: successor) { changes throws(KeyringError) in
      _ = try resealing.place(pieces, in: &changes)
      changes.place(step, change.after, newKeys: Array(change.newKeys.keys))
    }
    // The store is not locked any more. What another process has accepted since stays: mostly a change on top of this one.
    _ = try PinStore(base: host.stateBase, keyring: policy.keyring).write(
      policy: change.after, bytes: bytes, keys: successor.trusted.keys, signer: trusted.signer,
      replacing: trusted.pin)
    ResealedMessages.removeAll(of: self)
    return successor
  }

  /// The items whose messages are not for exactly the members of their groups.
  ///
  /// - Parameter groups: The groups that are looked at; nil for all.
  /// - Throws: as `plan(_:newKeys:force:)`.
  public func outdatedItems(in groups: Set<String>? = nil) throws(KeyringError) -> [ItemRecord] {
    try Resealing(keyring: self, successor: self).outdated(in: groups).filter(\.needsEncryption).map(\.record)
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
    try reseal(in: groups, addsReaders: true, progress: progress).count
  }

  /// Encrypts items again that people outside of their groups can read, as a merge may leave them. Nobody gets to read an
  /// item by this: an old file that somebody has put back would else be encrypted to people who were not to have it.
  ///
  /// - Parameters:
  ///   - groups: The groups that are looked at; nil for all.
  ///   - progress: Told how many of how many items are encrypted, from any thread.
  /// - Returns: How many were encrypted again, and the items that a member of their group cannot read.
  /// - Throws: as `make(_:subject:progress:)`.
  package func removeOutsiders(
    in groups: Set<String>? = nil,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> (count: Int, waiting: [ItemRecord]) {
    try reseal(in: groups, addsReaders: false, progress: progress)
  }

  private func reseal(
    in groups: Set<String>?, addsReaders: Bool, progress: @escaping @Sendable (Int, Int) -> Void
  ) throws(KeyringError) -> (count: Int, waiting: [ItemRecord]) {
    try requireTrust()
    let resealing = Resealing(keyring: self, successor: self)
    // An item that a member of its group has signed, and that is for all of them, is right, whoever else is a member.
    let outdated = try resealing.outdated(in: groups).filter(\.needsEncryption)
    let items = outdated.filter { addsReaders || !$0.lacksReaders }
    let waiting = addsReaders ? [] : outdated.filter(\.lacksReaders).map(\.record)
    if items.isEmpty { return (0, waiting) }
    let pieces = try resealing.prepare(items, progress: progress)
    let subject = items.count == 1 ? "encrypt 1 item again" : "encrypt \(items.count) items again"
    let count = try transaction(subject: subject) { changes throws(KeyringError) in
      try resealing.place(pieces, of: groups, addsReaders: addsReaders, in: &changes)
    }
    ResealedMessages.removeAll(of: self)
    return (count, waiting)
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
    guard keys.values.reduce(0, { $0 + $1.count }) <= StoreLayout.keyFilesLimit else {
      throw .team(.keyFilesTooLarge(limit: StoreLayout.keyFilesLimit))
    }
    let trusted = TrustedPolicy(policy: next, signer: trusted.signer, keys: keys)
    return Keyring(tree: tree, trusted: trusted, engine: engine.with(keys: keys), host: host)
  }
}

/// What must not happen to people and groups.
struct TeamRules {
  let keyring: Keyring
  let successor: Keyring

  /// - Parameters:
  ///   - all: All records of the store.
  ///   - force: Whether this user may lose access herself.
  /// - Throws: `KeyringError.team` with the rule that would be broken.
  func check(_ all: VerifiedRecords, force: Bool) throws(KeyringError) {
    let (old, new) = (keyring.policy, successor.policy)
    var items: [String: Int] = [:]
    for verified in all.records { items[verified.record.group, default: 0] += 1 }
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
