package import KeyringModel
internal import OpenPGP

/// A planned change to the people and groups of a keyring.
package struct TeamChange: Sendable {
  /// The current policy.
  package let before: Policy
  /// The new policy.
  package let after: Policy
  /// The items that have to be re-encrypted.
  package var items: [ItemRecord] { outdated.filter(\.needsEncryption).map(\.record) }
  /// The items that this user signs anew, because their signer has left the group, or because a new key file makes the
  /// signature invalid.
  package var resignedItems: [ItemRecord] { outdated.filter { !$0.isSigned }.map(\.record) }
  /// Those whose signatures a new key file makes invalid, because it revokes the subkey that made them as compromised.
  /// The user should check them.
  package var invalidatedItems: [ItemRecord] {
    outdated.filter { $0.losesSignature && $0.copy == nil }.map(\.record)
  }
  let outdated: [Reencryption.Outdated]
  let newKeys: [Fingerprint: [UInt8]]
  /// The number of items that keep their recipients until the key of a member is renewed, or the member is removed.
  package let waiting: Int
}

/// An item that is encrypted to other recipients than the members of its group, and stays so until the user requests
/// that members who cannot read it become its readers.
package struct WaitingItem: Sendable {
  /// The item.
  package let record: ItemRecord
  /// True if a member of the group cannot decrypt it.
  package let lacksReaders: Bool
  /// True if a key outside the group can decrypt it.
  package let hasOtherReaders: Bool
}

extension Keyring {
  /// Plans a change to the people and groups, without writing anything.
  ///
  /// - Parameters:
  ///   - edits: The edits of the policy.
  ///   - newKeys: The key files of new people, and replacements of existing key files.
  ///   - force: True to allow a change that takes access away from this user.
  /// - Returns: The change; apply it with ``make(_:subject:progress:)``.
  /// - Throws: `KeyringError.policyNotTrusted`; `.team` with `notAnAdmin`, `removed`, `lastAdmin`, `losesOwnAccess`,
  ///   `lastReader`, `groupInUse`, `unusableKey`, `foreignSubkey`, `keyFileMissing` or `invalid`; `.unknownGroup`
  ///   when an item has a group that the policy does not have; `.shardDamaged`, `.itemDamaged`, or a file error.
  package func plan(
    _ edits: [PolicyEdit], newKeys: [Fingerprint: [UInt8]] = [:], force: Bool = false
  ) throws(KeyringError) -> TeamChange {
    try requireTrust()
    guard try isAdmin() else { throw .team(.notAnAdmin) }
    // Before the policy is made, which would refuse an encryption subkey of two people without naming them.
    try requireOwnSubkeys(newKeys)
    let next = try successor(by: edits, at: host.clock())
    let successor = try successor(with: next, newKeys: newKeys)
    let records = try verifiedRecords()
    try TeamRules(keyring: self, successor: successor).check(records, force: force)
    let reencryption = Reencryption(keyring: self, successor: successor)
    let outdated = try reencryption.outdated(among: records)
    try reencryption.requireEncryption(of: outdated)
    return TeamChange(
      before: policy, after: next, outdated: outdated.filter(\.isDue), newKeys: newKeys,
      waiting: outdated.count { $0.waitsFor != nil })
  }

  /// Checks that edits give a valid policy.
  ///
  /// - Parameter edits: The edits of the policy, in order.
  /// - Throws: `KeyringError.team` with `lastAdmin` or `invalid`.
  package func checkPolicy(after edits: [PolicyEdit]) throws(KeyringError) {
    _ = try successor(by: edits, at: policy.people.values.map(\.added).max() ?? .latest)
  }

  private func successor(by edits: [PolicyEdit], at time: Timestamp) throws(KeyringError) -> Policy {
    do throws(PolicyError) {
      return try policy.successor(by: edits, previous: ContentDigest(of: policy.encode()), at: time)
    } catch {
      throw .team(error == .noAdmin ? .lastAdmin : .invalid(error))
    }
  }

  /// Splits edits that end the right to sign of each admin as whom this user can sign. Newcomers judge a policy by its own
  /// people, so the edits that end that right need a second policy, which an admin signs who stays one.
  ///
  /// - Parameter edits: The edits of the policy, in order.
  /// - Returns: The edits of the first policy, and those of the second one; no second ones in the usual case.
  /// - Throws: `KeyringError.engine`.
  package func separated(
    _ edits: [PolicyEdit]
  ) throws(KeyringError) -> (first: [PolicyEdit], second: [PolicyEdit]) {
    let own = Set(try ownPeople()).union([trusted.signer]).intersection(policy.admins)
    let ending = edits.filter { edit in
      switch edit {
      case .remove(let person), .replace(let person, _, _): own.contains(person)
      default: false
      }
    }
    let first = edits.filter { !ending.contains($0) }
    // An invalid edit is reported when the policy is planned. Someone has to stay an admin to sign the second policy.
    let next = try? policy.successor(by: edits, previous: ContentDigest(of: []), at: .latest)
    guard !first.isEmpty, !ending.isEmpty, let next, own.isDisjoint(with: next.admins) else {
      return (edits, [])
    }
    return (first, ending)
  }

  /// Applies a change to the people and groups. It re-encrypts the affected items with new session keys, and writes
  /// them, the policy and the key files in one transaction.
  ///
  /// The store is changed only after all items are re-encrypted. If the change is interrupted before that, a second
  /// call continues the work.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - subject: The commit subject: one line of printable ASCII.
  ///   - isRevokedHere: True to sign even with a key that the user's own keyring revokes. An only admin could not leave
  ///     such a key otherwise.
  ///   - isInterim: True if another change follows that belongs to this one. This machine does not accept the policy before,
  ///     so that the work can be continued if it is interrupted. Only for a keyring with a policy that is not accepted yet.
  ///   - progress: Receives the number of re-encrypted items and of all items, on any thread.
  /// - Returns: The keyring with its new people.
  /// - Throws: `KeyringError.team` with `overtaken` when the policy was changed since the plan, `cannotReencrypt` when
  ///   items cannot be decrypted; and the errors of `plan(_:newKeys:force:)` and `add`.
  package func make(
    _ change: TeamChange, subject: String = "change people and groups",
    evenIfRevokedHere isRevokedHere: Bool = false, isInterim: Bool = false,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> Keyring {
    try requireTrust()
    guard change.before == policy else { throw .team(.overtaken) }
    let successor = try successor(with: change.after, newKeys: change.newKeys)
    let bytes = change.after.encode()
    // Without a process in the usual case: the preferred person is an admin and stays one.
    let stays = policy.admins.contains(trusted.signer) && change.after.admins.contains(trusted.signer)
    let first = stays ? trusted.signer : try policySigners(for: change.after)[0]
    // The new keys are used, because the signer may have renewed an expired key.
    let (signature, _) = try successor.signing(
      as: first, or: { () throws(KeyringError) in try policySigners(for: change.after) }
    ) { signer throws(EngineError) in
      try successor.engine.signDetached(bytes, signer: signer, evenIfRevokedHere: isRevokedHere)
    }
    let step = PolicyStep(bytes: bytes, signature: signature, keys: change.newKeys)
    // Checks that every other machine will accept the policy.
    let start = PolicyChain.Link(
      policy: policy, digest: ContentDigest(of: policy.encode()), keys: trusted.keys)
    let link = try PolicyChain(engine: engine).follow([step], from: start)
    guard link.keys == successor.trusted.keys else { throw .team(.overtaken) }
    let resealing = Reencryption(keyring: self, successor: successor)
    let pieces = try resealing.prepare(change.outdated, progress: progress)
    try transaction(subject: subject, signingAs: successor) { changes throws(KeyringError) in
      _ = try resealing.place(pieces, in: &changes)
      changes.place(step, change.after, newKeys: Array(change.newKeys.keys))
    }
    if isInterim, let pin = trusted.pin, let replaced = trusted.replaced {
      let interim = TrustedPolicy(
        policy: change.after, signer: successor.trusted.signer, keys: successor.trusted.keys,
        replacing: (replaced, pin))
      return Keyring(tree: tree, trusted: interim, engine: successor.engine, host: host)
    }
    // The store is no longer locked, so another process may have written a pin. That pin is kept: usually it is for a
    // change on top of this one.
    do {
      _ = try PinStore(base: host.stateBase, keyring: policy.keyring).write(
        policy: change.after, bytes: bytes, keys: successor.trusted.keys, signer: successor.trusted.signer,
        replacing: trusted.pin)
    } catch {
      // The policy is stored, and this machine accepts it when it opens the store.
      if case .file(let error) = error { throw .unfinished(error) }
      throw error
    }
    ReencryptedMessageCache.removeAll(of: self)
    return successor
  }

  /// Signs the policy again, without changing people, groups or items, until it has at least a given generation.
  ///
  /// If a merge has dropped a policy, the last policy of the history must not be older than that one. Otherwise all
  /// machines would report that an old policy was restored.
  ///
  /// - Parameters:
  ///   - generation: The generation.
  ///   - subject: The commit subject of each new policy: one line of printable ASCII.
  ///   - commit: Commits pending changes. A history must contain every generation.
  /// - Returns: The keyring with the last policy; this keyring if its policy has the generation already.
  /// - Throws: `KeyringError.policyNotTrusted`; `.team` with `notAnAdmin` or `overtaken`; `.engine`; a file error; and
  ///   the errors of `commit`.
  package func raiseGeneration(
    to generation: Int, subject: String, commit: () throws -> Void
  ) throws -> Keyring {
    var keyring = self
    while keyring.policy.generation < generation {
      try commit()
      keyring = try keyring.signPolicyAgain(subject: subject)
    }
    try commit()
    return keyring
  }

  private func signPolicyAgain(subject: String) throws(KeyringError) -> Keyring {
    try requireTrust()
    guard try isAdmin() else { throw .team(.notAnAdmin) }
    let next = try successor(by: [], at: host.clock())
    return try make(
      TeamChange(before: policy, after: next, outdated: [], newKeys: [:], waiting: 0), subject: subject)
  }

  /// Returns the items whose recipients are not exactly the members of their groups.
  ///
  /// - Parameter groups: The groups to check; nil for all.
  /// - Throws: The errors of `plan(_:newKeys:force:)`.
  package func outdatedItems(in groups: Set<String>? = nil) throws(KeyringError) -> [ItemRecord] {
    try Reencryption(keyring: self, successor: self).outdated(in: groups).filter(\.needsEncryption).map(
      \.record)
  }

  /// Re-encrypts items whose recipients are not exactly the members of their groups, which a merge can cause.
  ///
  /// - Parameters:
  ///   - groups: The groups to check; nil for all.
  ///   - progress: Receives the number of re-encrypted items and of all items, on any thread.
  /// - Returns: The number of re-encrypted items.
  /// - Throws: The errors of `make(_:subject:progress:)`.
  @discardableResult
  package func reencryptOutdated(
    in groups: Set<String>? = nil,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> Int {
    try reseal(in: groups, addsReaders: true, progress: progress).count
  }

  /// Re-encrypts items that people outside of their groups can read, which a merge can cause. It never adds readers:
  /// otherwise an old file that was restored would be encrypted to people who must not have it.
  ///
  /// - Parameters:
  ///   - groups: The groups to check; nil for all.
  ///   - progress: Receives the number of re-encrypted items and of all items, on any thread.
  /// - Returns: The number of re-encrypted items, and the items that a member of their group cannot read.
  /// - Throws: The errors of `make(_:subject:progress:)`.
  package func removeUnauthorizedReaders(
    in groups: Set<String>? = nil,
    progress: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
  ) throws(KeyringError) -> (count: Int, waiting: [WaitingItem]) {
    try reseal(in: groups, addsReaders: false, progress: progress)
  }

  /// Writes the list of recipients for other programs if it is not that of the policy. A merge leaves it unchanged
  /// while the new policy is not accepted.
  ///
  /// - Returns: True if the file has changed.
  /// - Throws: The errors of `make(_:subject:progress:)`.
  package func renewPassRecipients() throws(KeyringError) -> Bool {
    try requireTrust()
    let (path, wanted) = (StoreLayout.passRecipients, policy.passRecipients)
    let bytes: [UInt8]?
    do throws(FileError) {
      bytes = try tree.read(path, limit: StoreLayout.smallFileLimit)
    } catch {
      // `check` reports a file that cannot be read.
      return false
    }
    if bytes == wanted { return false }
    try transaction(subject: "renew the recipients for other programs") { changes throws(KeyringError) in
      changes.put(wanted, asFile: path)
    }
    return true
  }

  /// Refuses a new key file with a subkey of another person, removed people included: their signatures in the history
  /// stay valid, and the rotation list names the items that they could read.
  private func requireOwnSubkeys(_ newKeys: [Fingerprint: [UInt8]]) throws(KeyringError) {
    let changed = Set(newKeys.filter { trusted.keys[$0.key] != $0.value }.keys)
    if changed.isEmpty { return }
    // Those whom this change removes are included, too.
    let keys = try keysOfFormerPeople().merging(trusted.keys) { $1 }.merging(newKeys) { $1 }
    if let foreign = ForeignSubkey(of: changed, inFiles: keys) { throw .team(.foreignSubkey(foreign)) }
  }

  private func reseal(
    in groups: Set<String>?, addsReaders: Bool, progress: @escaping @Sendable (Int, Int) -> Void
  ) throws(KeyringError) -> (count: Int, waiting: [WaitingItem]) {
    try requireTrust()
    let resealing = Reencryption(keyring: self, successor: self)
    // Items that only need a new signature are not changed here.
    let all = try resealing.outdated(in: groups)
    if addsReaders { try resealing.requireEncryption(of: all, isComplete: true) }
    let outdated = all.filter(\.needsEncryption)
    let items = outdated.filter { addsReaders || !$0.lacksReaders }
    let waiting =
      addsReaders
      ? []
      : all.filter { $0.needsEncryption ? $0.lacksReaders : $0.waitsFor != nil && $0.hasOtherReaders }.map {
        WaitingItem(
          record: $0.record, lacksReaders: $0.lacksReaders, hasOtherReaders: $0.hasOtherReaders)
      }
    if items.isEmpty { return (0, waiting) }
    let pieces = try resealing.prepare(items, progress: progress)
    let subject = items.count == 1 ? "re-encrypt 1 item" : "re-encrypt \(items.count) items"
    let count = try transaction(subject: subject) { changes throws(KeyringError) in
      try resealing.place(pieces, of: groups, addsReaders: addsReaders, in: &changes)
    }
    ReencryptedMessageCache.removeAll(of: self)
    return (count, waiting)
  }

  /// Returns a keyring for the same store with another policy.
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
    let signer = try engine.preferred(trusted.signer, in: next)
    let trusted = TrustedPolicy(policy: next, signer: signer, keys: keys)
    return Keyring(tree: tree, trusted: trusted, engine: engine.with(keys: keys), host: host)
  }
}

/// The rules for changes to people and groups.
struct TeamRules {
  let keyring: Keyring
  let successor: Keyring

  /// Checks a change.
  ///
  /// - Parameters:
  ///   - all: All records of the store.
  ///   - force: True to allow a change that takes access away from this user.
  /// - Throws: `KeyringError.team` with the rule that the change breaks.
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
    if force { return }
    // A user with several keys in the policy keeps what any of them may do.
    let me = keyring.trusted.signer
    let isSame = new.admins.contains(me) && Set(new.groups(of: me)).isSuperset(of: old.groups(of: me))
    let own = isSame ? [me] : Set(try keyring.ownPeople()).union(try successor.ownPeople()).union([me])
    let lost = Set(own.flatMap(old.groups(of:))).filter { group in
      new.groups[group].map { own.isDisjoint(with: $0) } ?? false
    }
    guard lost.isEmpty, !own.isDisjoint(with: new.admins) else {
      throw .team(.losesOwnAccess(groups: lost.sorted { $0.precedesInBytes($1) }))
    }
  }
}
