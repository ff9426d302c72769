public import KeyringModel
package import OpenPGP
public import Secrets

/// An open store: finds items by their attributes, decrypts requested items, and changes items.
///
/// Several threads may use one keyring, and several processes one store. Changes are made under the store's lock and
/// are based on the current state of the store.
public final class Keyring: Sendable {
  /// The searchable attributes of all items.
  public let index: Index
  let tree: FileTree
  let trusted: TrustedPolicy
  let engine: any OpenPGPEngine
  let host: HostContext
  /// The signatures that this machine has verified.
  let roots: VerifiedRoots
  /// The facts about items that this machine remembers.
  let memory: ItemMemory
  /// The decrypted secrets in memory; nil unless the host wants to keep them.
  let keptSecrets: KeptSecrets?
  /// The records that this process has verified; nil unless the host keeps secrets, so that the same items are read
  /// again and again.
  let rememberedRecords: RememberedRecords?
  let ownPeopleCache = OwnPeople()
  /// The changes of threads that wait for each other.
  let waitingChanges = WaitingChanges()
  /// Commits the changes to the history.
  let history: HistoryWriter
  /// The previously accepted policy, if opening the store has accepted its successor.
  package let policyBefore: Policy?

  /// The policy that this machine has accepted: the members and groups of the keyring.
  public var policy: Policy { trusted.policy }

  /// The reason why nothing can be written; `nil` if the store's policy is the accepted one.
  public var distrust: PolicyDistrust? { trusted.distrust }

  init(
    tree: FileTree, trusted: TrustedPolicy, engine: any OpenPGPEngine, host: HostContext,
    policyBefore: Policy? = nil
  ) {
    self.tree = tree
    self.trusted = trusted
    self.engine = engine
    self.host = host
    self.policyBefore = policyBefore
    roots = VerifiedRoots(base: host.stateBase, keyring: trusted.policy.keyring, keys: trusted.keys)
    memory = ItemMemory(base: host.stateBase, keyring: trusted.policy.keyring)
    index = Index(tree: tree, host: host)
    history = HistoryWriter(of: tree, host: host) { Keyring.ownName(in: tree, host: host) }
    let lifetime = host.secretLifetime
    keptSecrets =
      lifetime > .zero ? KeptSecrets(lifetime: lifetime, clock: host.fileClock) : nil
    rememberedRecords = lifetime > .zero ? RememberedRecords() : nil
  }

  deinit {
    keptSecrets?.forgetAll()
    history.close()
  }

  /// Opens the store at a path. GnuPG is not started before it is needed.
  ///
  /// If the store's policy is not the accepted one, writing fails and ``distrust`` has the reason. A policy that an
  /// accepted admin has signed is accepted by the command `keytree`, which reports it.
  ///
  /// - Parameters:
  ///   - path: The store's folder.
  ///   - host: The context of this machine. Its ``HostContext/keepsIndex`` determines whether queries are answered
  ///     from memory.
  /// - Throws: `KeyringError.noStore`, `.unsafeFolder`, `.policyNotTrusted`, or a file error.
  public static func open(at path: String, host: HostContext) throws(KeyringError) -> Keyring {
    let tree = try StoreFolder.open(path)
    let trusted = try TrustedPolicy.settled(in: tree, host: host)
    let engine = host.engine(for: trusted.policy.keyring, keys: trusted.keys)
    return Keyring(
      tree: tree, trusted: try trusted.reselectingSigner(engine, host), engine: engine, host: host)
  }

  /// Opens the store that the command `keytree` would use with the same environment variables. GnuPG is not started before
  /// it is needed.
  ///
  /// - Parameters:
  ///   - name: The name of a store in the user's settings (`keytree config`), or its folder; nil for `KEYTREE_STORE`, else
  ///     the setting `defaultStore`, else `keytree` in `$XDG_DATA_HOME` (`~/.local/share`).
  ///   - variables: The variables of the process; see ``HostContext/init(environment:)``.
  /// - Throws: `KeyringError.location`; the errors of ``open(at:host:)``.
  public static func open(
    store name: String? = nil, environment variables: [String: String]
  ) throws(KeyringError) -> Keyring {
    guard let host = HostContext(environment: variables) else { throw .location(.homeUnknown) }
    return try open(at: StoreLocation.path(of: name, environment: variables), host: host)
  }

  /// Opens a store, and accepts its policy if that follows the accepted one and is signed by one of its admins.
  ///
  /// The caller reports the change of the policy, see ``policyBefore``.
  ///
  /// - Parameters:
  ///   - faults: The faults to inject, for tests.
  ///   - engine: A test double for GnuPG.
  ///   - past: Returns the policies in the history. Called if the store has a newer policy.
  /// - Throws: The errors of `open(at:host:)`; `.engine` if the policy has changed and GnuPG cannot be used.
  package static func open(
    at path: String, host: HostContext, faults: FaultPlan?, engine: (any OpenPGPEngine)?,
    past: () throws(KeyringError) -> HistoricalPolicies = { HistoricalPolicies([]) }  // for tests
  ) throws(KeyringError) -> Keyring {
    var host = host
    if let engine { host.engineFactory = { _, keys in engine.with(keys: keys) } }
    return try open(in: try StoreFolder.open(path, faults: faults), host: host, past: past)
  }

  /// Opens a store whose folder was opened and checked, as the method above does.
  package static func open(
    in tree: FileTree, host: HostContext, past: () throws(KeyringError) -> HistoricalPolicies
  ) throws(KeyringError) -> Keyring {
    let before = try TrustedPolicy.settled(in: tree, host: host)
    let trusted = try PolicyAcceptance(tree: tree, host: host, engine: host.engine).settle(before, past: past)
    let engine = host.engine(for: trusted.policy.keyring, keys: trusted.keys)
    return Keyring(
      tree: tree, trusted: try trusted.reselectingSigner(engine, host), engine: engine, host: host,
      policyBefore: trusted.policy == before.policy ? nil : before.policy)
  }

  /// Starts the processes that decryption needs, in the background, while the index is searched.
  public func warmUp() { engine.warmUp() }

  /// The cryptographic operations so far, and the processes that they started.
  package var engineStatistics: EngineStatistics { engine.statistics }

  // MARK: Reading

  /// Returns the attributes of the items that match a query.
  ///
  /// - Throws: The errors of `Index.find(_:)`.
  public func find(_ query: Query) throws(KeyringError) -> Matches { try index.find(query) }

  /// Decrypts the secret of one item.
  ///
  /// - Parameters:
  ///   - record: The item, as `find` returned it.
  ///   - query: The query that found it. The signed record must fulfil its conditions, because the index may be wrong.
  ///   - asksAgain: True if the agent must forget all cached passphrases, so that the user is asked before this secret
  ///     is released. A program that stores passphrases elsewhere, such as a pinentry with its own password manager,
  ///     can still answer instead of the user.
  /// - Returns: The exact bytes of the secret.
  /// - Throws: `KeyringError.itemDamaged`, `.bindingMismatch`, `.engine` with the reason why GnuPG could not decrypt,
  ///   or a file error. Errors never contain any part of the secret. With `asksAgain`, also `.engine` with
  ///   `noPromptPossible` if prompts are not allowed, and with `unusableKey` for a key without a passphrase or on a
  ///   card. In these two cases the agent keeps its cached passphrases.
  public func secret(
    for record: ItemRecord, matching query: Query? = nil, asksAgain: Bool = false
  ) throws(KeyringError) -> SecretBytes {
    try secret(for: record, matching: query, keeps: false) { _ in asksAgain }
  }

  /// Decrypts the secret of one item, where the item determines whether the user is asked for the passphrase. A secret
  /// that is released without asking stays in memory if the host keeps secrets.
  ///
  /// - Parameter asksAgain: Receives the item just before it is decrypted. It may have changed since it was found.
  package func secret(
    for record: ItemRecord, matching query: Query?, asksAgain: (ItemRecord) -> Bool
  ) throws(KeyringError) -> SecretBytes {
    try secret(for: record, matching: query, keeps: true, asksAgain: asksAgain)
  }

  private func secret(
    for record: ItemRecord, matching query: Query?, keeps: Bool, asksAgain: (ItemRecord) -> Bool
  ) throws(KeyringError) -> SecretBytes {
    // Under a policy that the user has not accepted, nothing is verified.
    guard isAccepted else { throw .policyNotTrusted(.notPinned) }
    return try withoutActuallyEscaping(asksAgain) { asksAgain throws(KeyringError) in
      let reader = ItemReader(
        keyring: self, asksAgain: asksAgain, keptSecrets: keeps ? keptSecrets : nil)
      return try reader.secret(of: try reader.item(for: record, matching: query))
    }
  }

  /// Checks that this user's key has a passphrase to ask for.
  ///
  /// - Throws: `KeyringError.engine` with `unusableKey` if the key has no passphrase, is on a card, or is missing; or
  ///   another failure of GnuPG or its agent.
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
  /// - Returns: The new item's record.
  /// - Throws: `KeyringError.itemExists` if an item already has this primary key, `.invalidAttribute`,
  ///   `.attributesTooLarge`, `.secretTooLarge`, `.unknownGroup`, `.unsafeFolder` if other users can write to the
  ///   item's folder, `.shardDamaged`, `.policyNotTrusted`, `.engine`, `.busy`, or a file error. After any error except
  ///   a file error the store is unchanged. A file error, for example on a full disk, may also occur after the
  ///   transaction was committed. The change is valid then, and the next process that takes the lock completes it.
  @discardableResult
  public func add(_ item: NewItem, secret: borrowing SecretBytes) throws(KeyringError) -> ItemRecord {
    try requireTrust()
    let prepared = try ItemEncryptor(keyring: self).prepare(item, secret: secret)
    return try transaction { changes throws(KeyringError) in try changes.add(prepared) }
  }

  /// Adds a second item with the same secret and other attributes.
  ///
  /// It has the revision of the original, because a person who could read that secret can also read this one.
  ///
  /// - Returns: The new item's record.
  /// - Throws: The errors of `secret(for:matching:)` and `add`.
  @discardableResult
  public func duplicate(_ record: ItemRecord, as item: NewItem) throws(KeyringError) -> ItemRecord {
    try transaction { changes throws(KeyringError) in try changes.duplicate(record, as: item) }
  }

  /// Changes attributes of an item but not its secret. The secret is decrypted only if the group changes.
  ///
  /// The changes are applied to the current version of the item. Of two writers of an attribute, the last one wins.
  ///
  /// - Returns: The new record.
  /// - Throws: `KeyringError.itemNotFound` if the item was removed, `.itemExists` if another item has the new primary
  ///   key, `.team` with `notInGroup` if this user is not in its group, `.itemDamaged` or `.bindingMismatch` if the item is not signed by a member of its group or differs from
  ///   the index; and the errors of `add`.
  @discardableResult
  public func update(_ record: ItemRecord, _ changes: AttributeChanges) throws(KeyringError) -> ItemRecord {
    try transaction { staged throws(KeyringError) in try staged.update(record, changes) }
  }

  /// Replaces an item's secret and changes its attributes.
  ///
  /// - Returns: The new record, with a new revision.
  /// - Throws: The errors of `update(_:_:)`; `.bindingMismatch` with `condition(.group)` if the item was moved to
  ///   another group.
  @discardableResult
  public func update(
    _ record: ItemRecord, _ changes: AttributeChanges = AttributeChanges(), secret: borrowing SecretBytes
  ) throws(KeyringError) -> ItemRecord {
    try transaction { staged throws(KeyringError) in
      try staged.update(record, changes, secret: secret)
    }
  }

  /// Replaces the secret of an item, unless the secret was replaced or the item was moved to another group
  /// concurrently.
  ///
  /// - Parameters:
  ///   - record: The item, with the revision on which the new secret is based.
  ///   - secret: The new secret.
  /// - Returns: The new record; nil if nothing was changed because the item has another revision or group, or no
  ///   longer exists.
  /// - Throws: The errors of `update(_:_:)`, except `itemNotFound`.
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

  /// Removes all of the given items or none.
  ///
  /// - Throws: `KeyringError.itemNotFound` if one no longer exists, `.team` with `notInGroup` if this user is not in the
  ///   group of one of them, `.shardDamaged`, `.policyNotTrusted`, `.busy`, or a file error.
  public func delete(_ records: [ItemRecord]) throws(KeyringError) {
    try delete(records, asAdmin: false)
  }

  /// Removes all of the given items or none, like `delete(_:)`.
  ///
  /// - Parameter asAdmin: True to let an admin remove items of groups that they are not in, for example after the only
  ///   member has lost their key.
  package func delete(_ records: [ItemRecord], asAdmin: Bool) throws(KeyringError) {
    try transaction { changes throws(KeyringError) in
      for record in records { try changes.delete(record, asAdmin: asAdmin) }
    }
  }

  /// Removes all of the given items or none, optionally only if their secrets have not been replaced concurrently.
  ///
  /// - Parameters:
  ///   - records: The items, with the revisions that the caller expects.
  ///   - ifUnchanged: True to remove nothing if one of the items has a different revision.
  /// - Returns: True if the items were removed.
  /// - Throws: The errors of `delete(_:)`.
  package func delete(_ records: [ItemRecord], ifUnchanged: Bool) throws(KeyringError) -> Bool {
    try transaction { changes throws(KeyringError) in
      for record in records where ifUnchanged {
        guard try changes.latest(record).revision == record.revision else { return false }
      }
      for record in records { try changes.delete(record) }
      return true
    }
  }
}
