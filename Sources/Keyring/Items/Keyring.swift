public import KeyringModel
public import OpenPGP
public import Secrets

/// An open store: finds items by their attributes, decrypts those that were asked for, and changes them.
///
/// Several threads may use one keyring, and several processes one store: changes are made under the
/// store's lock, each from a fresh look at what is there.
public final class Keyring: Sendable {
  /// The attributes of all items.
  public let index: Index
  let tree: FileTree
  let trusted: TrustedPolicy
  let engine: any SealingEngine
  let host: HostContext
  /// The signatures that were verified on this machine.
  let roots: VerifiedRoots
  /// The policy that this machine had accepted before, when opening the store has accepted the one that follows it.
  package let policyBefore: Policy?

  /// Who belongs to the keyring: the policy that this machine has accepted.
  public var policy: Policy { trusted.policy }

  /// Why nothing can be written: the store's policy is not the accepted one. `nil` when all is well.
  public var distrust: PolicyDistrust? { trusted.distrust }

  init(
    tree: FileTree, trusted: TrustedPolicy, engine: any SealingEngine, host: HostContext,
    policyBefore: Policy? = nil
  ) {
    self.tree = tree
    self.trusted = trusted
    self.engine = engine
    self.host = host
    self.policyBefore = policyBefore
    roots = VerifiedRoots(base: host.stateBase, keyring: trusted.policy.keyring, keys: trusted.keys)
    index = Index(tree: tree, host: host)
  }

  /// Opens the store at a path; GnuPG is not started before it is needed.
  ///
  /// A policy that is not the accepted one stops writing, and ``distrust`` says so. One that an accepted admin has
  /// signed is accepted by the command `keytree`, which tells of it, or by ``Trust``.
  ///
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - host: what to know of the machine; its ``HostContext/keepsIndex`` decides whether questions are answered
  ///     from memory.
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, `.policyNotTrusted`, or a file error.
  public static func open(at path: String, host: HostContext) throws(KeyringError) -> Keyring {
    let tree = try StoreFolder.open(path)
    let trusted = try TrustedPolicy.settled(in: tree, host: host)
    let engine = host.engine(for: trusted.policy.keyring, keys: trusted.keys)
    return Keyring(tree: tree, trusted: trusted, engine: engine, host: host)
  }

  /// Opens a store, and accepts its policy when that follows the accepted one and is signed by an admin of it: whoever
  /// calls this tells what changes, see ``policyBefore``.
  ///
  /// - Parameters:
  ///   - faults: Faults that are planned, for tests.
  ///   - engine: A stand-in for GnuPG, for tests.
  ///   - past: The policies of the history; asked for when the store is several generations ahead.
  /// - Throws: as `open(at:host:)`; `.engine` when the policy has changed and GnuPG cannot be used.
  package static func open(
    at path: String, host: HostContext, faults: FaultPlan?, engine: (any SealingEngine)?,
    past: () throws(KeyringError) -> PastPolicySteps = { PastPolicySteps([]) }
  ) throws(KeyringError) -> Keyring {
    let tree = try StoreFolder.open(path, faults: faults)
    let before = try TrustedPolicy.settled(in: tree, host: host)
    func makeEngine(_ keyring: KeyringID, _ keys: [Fingerprint: [UInt8]]) -> any SealingEngine {
      engine?.with(keys: keys) ?? host.engine(for: keyring, keys: keys)
    }
    let trusted = try withoutActuallyEscaping(past) { past throws(KeyringError) in
      try PolicyAcceptance(tree: tree, host: host, engine: makeEngine, past: past).settle(before)
    }
    return Keyring(
      tree: tree, trusted: trusted, engine: makeEngine(trusted.policy.keyring, trusted.keys), host: host,
      policyBefore: trusted.policy == before.policy ? nil : before.policy)
  }

  /// Starts what decrypting will need, in the background, while the index is being searched.
  public func warmUp() { engine.warmUp() }

  /// What cryptography was done so far, and the processes it took.
  public var engineStatistics: EngineStatistics { engine.statistics }

  // MARK: Reading

  /// The items that match a query: attributes only.
  ///
  /// - Throws: as `Index.find(_:)`.
  public func find(_ query: Query) throws(KeyringError) -> Matches { try index.find(query) }

  /// Decrypts the secret of one item.
  ///
  /// - Parameters:
  ///   - record: the item, as `find` returned it.
  ///   - query: the query that found it; its conditions must hold on the signed record, because the index could lie.
  ///   - asksAgain: whether the agent forgets the passphrases that it keeps, all of them, so that somebody is asked
  ///     before this secret is released. A program of the person's that keeps a passphrase elsewhere, such as a
  ///     pinentry with a password manager of its own, can still answer in their place.
  /// - Returns: the secret's exact bytes.
  /// - Throws: `KeyringError.itemDamaged`, `.bindingMismatch`, `.engine` with the reason why GnuPG could not
  ///   decrypt, or a file error. Nothing of the content is ever part of an error. With `asksAgain` also `.engine`
  ///   with `noPromptPossible` when nobody may be asked, and with `unusableKey` for a key without a passphrase
  ///   or on a card: nothing is forgotten then.
  public func secret(
    for record: ItemRecord, matching query: Query? = nil, asksAgain: Bool = false
  ) throws(KeyringError) -> SecretBytes {
    try secret(for: record, matching: query) { _ in asksAgain }
  }

  /// The same, where the item itself says whether somebody is asked: as it is when it is opened, which may be another
  /// moment than when it was found.
  package func secret(
    for record: ItemRecord, matching query: Query?, asksAgain: (ItemRecord) -> Bool
  ) throws(KeyringError) -> SecretBytes {
    try withoutActuallyEscaping(asksAgain) { asksAgain throws(KeyringError) in
      let reader = ItemReader(keyring: self, asksAgain: asksAgain)
      return try reader.secret(of: try reader.item(for: record, matching: query))
    }
  }

  /// Makes sure that the key of this machine's person has a passphrase to be asked for.
  ///
  /// - Throws: `KeyringError.engine` with `unusableKey` when it has none, is on a card, or is not there; or what
  ///   concerns GnuPG and its agent.
  public func checkPassphrase() throws(KeyringError) {
    do {
      try engine.checkPassphrase(of: trusted.signer)
    } catch {
      throw .engine(error, nil)
    }
  }

  // MARK: Writing

  /// Adds an item.
  ///
  /// - Returns: the new item's record.
  /// - Throws: `KeyringError.itemExists` when an item has this primary key already, `.invalidAttribute`,
  ///   `.attributesTooLarge`, `.secretTooLarge`, `.unknownGroup`, `.unsafeFolder` when others can write where the
  ///   item would go, `.shardDamaged`, `.policyNotTrusted`, `.engine`, `.busy`, or a file error. After any but a
  ///   file error the store is as it was. A file error may also strike after the change was decided, for one on a
  ///   disk that is full: then the change stands and whoever takes the lock next brings it to its end.
  @discardableResult
  public func add(_ item: NewItem, secret: borrowing SecretBytes) throws(KeyringError) -> ItemRecord {
    try requireTrust()
    let prepared = try ItemSealer(keyring: self).prepare(item, secret: secret)
    return try transaction { changes throws(KeyringError) in try changes.add(prepared) }
  }

  /// Makes a second item with the same secret and other attributes.
  ///
  /// It has the revision of the first one: who could read that secret could read this one.
  ///
  /// - Returns: the new item's record.
  /// - Throws: as `secret(for:matching:)` and `add`.
  @discardableResult
  public func duplicate(_ record: ItemRecord, as item: NewItem) throws(KeyringError) -> ItemRecord {
    try transaction { changes throws(KeyringError) in try changes.duplicate(record, as: item) }
  }

  /// Changes attributes of an item; its secret stays. It is decrypted only if its group changes.
  ///
  /// The item is looked up again, so of two writers the last one wins, whole.
  ///
  /// - Returns: the record as it is now.
  /// - Throws: `KeyringError.itemNotFound` when it was removed, `.itemExists` when another item has the new primary key,
  ///   `.itemDamaged` or `.bindingMismatch` when it is not what a member of its group has signed, or not what the index
  ///   says; and as `add`.
  @discardableResult
  public func update(_ record: ItemRecord, _ changes: AttributeChanges) throws(KeyringError) -> ItemRecord {
    try transaction { staged throws(KeyringError) in try staged.update(record, changes) }
  }

  /// Replaces an item's secret, and changes attributes with it.
  ///
  /// - Returns: the record as it is now, with a new revision.
  /// - Throws: as `update(_:_:)`; `.bindingMismatch` with `condition(.group)` when the item was moved to another group.
  @discardableResult
  public func update(
    _ record: ItemRecord, _ changes: AttributeChanges = AttributeChanges(), secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    try transaction { staged throws(KeyringError) in
      try staged.update(record, changes, secret: secret)
    }
  }

  /// Replaces the secret of an item unless somebody else has replaced it, or has moved the item to other readers.
  ///
  /// - Parameters:
  ///   - record: the item with the revision that the new secret is made from.
  ///   - secret: the new secret.
  /// - Returns: the record as it is now; nil, and nothing is done, when the item has another revision or group, or is
  ///   gone.
  /// - Throws: as `update(_:_:)`, but for `itemNotFound`.
  public func replaceSecret(
    of record: ItemRecord, with secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord? {
    do throws(KeyringError) {
      return try transaction { changes throws(KeyringError) in
        let latest = try changes.latest(record)
        guard latest.revision == record.revision, latest.group.hasSameBytes(as: record.group) else {
          return nil
        }
        return try changes.update(record, AttributeChanges(), secret: secret)
      }
    } catch .itemNotFound {
      return nil
    }
  }

  /// Removes items, all or none.
  ///
  /// - Throws: `KeyringError.itemNotFound` when one is gone already, `.shardDamaged`, `.policyNotTrusted`,
  ///   `.busy`, or a file error.
  public func delete(_ records: [ItemRecord]) throws(KeyringError) {
    try transaction { changes throws(KeyringError) in
      for record in records { try changes.delete(record) }
    }
  }

  /// Removes items, all or none, where somebody may be replacing their secrets at the same time.
  ///
  /// - Parameters:
  ///   - records: the items with the secrets that the caller means.
  ///   - ifUnchanged: whether nothing is removed when one of them has another secret by now.
  /// - Returns: whether they were removed.
  /// - Throws: as `delete(_:)`.
  package func delete(_ records: [ItemRecord], ifUnchanged: Bool) throws(KeyringError) -> Bool {
    try transaction { changes throws(KeyringError) in
      for record in records where ifUnchanged {
        guard try changes.latest(record).revision == record.revision else { return false }
      }
      for record in records { try changes.delete(record) }
      return true
    }
  }

  /// Makes several changes that happen together or not at all.
  ///
  /// Each change sees those before it. `find` and `secret(for:matching:)` do not: they see the store as it is.
  ///
  /// - Parameter body: makes the changes; when it throws, none of them happens. It runs without the store's lock, since a
  ///   dialog for a passphrase may stay open for long, and is run again when somebody else has changed what it has looked
  ///   at; after three times under the lock: by then the passphrase was given.
  /// - Throws: what `body` throws, and as `add`.
  public func transaction<R>(
    _ body: (inout Changes) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    try transaction(subject: nil, body)
  }

  /// Does the same, with words of the caller's own for the history.
  ///
  /// - Parameters:
  ///   - subject: one line of printable ASCII without a secret; nil for what the changes themselves say.
  ///   - successor: the keyring with the people that the change brings, by whose policy records are signed; nil for this.
  ///   - body: makes the changes.
  package func transaction<R>(
    subject: String?, signingAs successor: Keyring? = nil, _ body: (inout Changes) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    try requireTrust()
    for _ in 0..<Self.attempts {
      let before = try ReaderSnapshot(of: tree)
      if before.isPending {
        try withoutWriters {}
        continue
      }
      var changes = Changes(keyring: self)
      let result: R
      do throws(KeyringError) {
        result = try body(&changes)
        try changes.sign(as: successor ?? self)
      } catch {
        // A writer may have been at work between two files of an item.
        if error.isAboutFilesOfAnItem, try ReaderSnapshot(of: tree) != before { continue }
        throw error
      }
      if try commit(changes, subject, since: before) { return result }
    }
    let lock = try lockForWriting()
    var changes = Changes(keyring: self)
    let result = try body(&changes)
    try changes.sign(as: successor ?? self)
    try changes.commit(under: lock, subject: subject)
    return result
  }

  private static let attempts = 3

  /// Takes the lock and commits changes; false, and nothing happens, when what they were made from has changed.
  private func commit(
    _ changes: consuming Changes, _ subject: String?, since before: ReaderSnapshot
  ) throws(KeyringError) -> Bool {
    let lock = try lockForWriting()
    if changes.dependsOnSearch, try ReaderSnapshot(of: tree).count != before.count { return false }
    guard try changes.stillApplies() else { return false }
    try changes.commit(under: lock, subject: subject)
    return true
  }

  /// Takes the lock, finishes what was cut off before, and makes sure that the policy is still the accepted one.
  private func lockForWriting() throws(KeyringError) -> StoreLock {
    let lock = try StoreLock(tree, timeout: host.lockTimeout)
    try Transaction.recover(in: tree, under: lock)
    try checkPolicy()
    return lock
  }

  /// The policy may have changed since the store was opened: then its recipients are not to be used.
  private func checkPolicy() throws(KeyringError) {
    if trusted.isReplacing {
      let stored = try TrustedPolicy.read(in: tree).policy
      let pin = try PinStore(base: host.stateBase, keyring: stored.keyring).readPin()
      guard stored == policy, pin == trusted.pin else { throw .team(.overtaken) }
      return
    }
    let current = try TrustedPolicy(in: tree, stateBase: host.stateBase)
    if let distrust = current.distrust { throw .policyNotTrusted(distrust) }
    guard current.policy == policy else {
      throw .policyNotTrusted(.changed(generation: current.policy.generation, pinned: policy.generation))
    }
    // What was accepted may have changed as well, and the engine has the keys from before.
    for (fingerprint, bytes) in current.keys where trusted.keys[fingerprint] != bytes {
      throw .policyNotTrusted(.keyChanged(fingerprint, name: policy.people[fingerprint]?.name ?? ""))
    }
    // An account whose state cannot be written keeps its old pin, which is good for all it was good for before.
    try? current.adoptKeys(stateBase: host.stateBase)
  }

  /// Refuses a change before anything is encrypted, or anybody asked for a passphrase for it.
  func requireTrust() throws(KeyringError) { try trusted.requireMembership() }
}
