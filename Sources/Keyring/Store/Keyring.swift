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
  ///   - query: the question that found it; its conditions on primary-key attributes must hold on what the
  ///     item says about itself, because the index could lie.
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
      let item = try ItemReader(keyring: self, asksAgain: asksAgain).read(record, matching: query)
      return item.secret
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
    // Sealed before the lock is taken, so that adding processes wait for each other's files only.
    let sealed = try ItemSealer(keyring: self).seal(new: item, secret: secret)
    return try transaction { changes throws(KeyringError) in try changes.add(sealed) }
  }

  /// Makes a second item with the same secret and other attributes.
  ///
  /// It has the revision of the first one: who could read that secret could read this one.
  ///
  /// - Returns: the new item's record.
  /// - Throws: as `secret(for:matching:)` and `add`.
  @discardableResult
  public func duplicate(_ record: ItemRecord, as item: NewItem) throws(KeyringError) -> ItemRecord {
    try requireTrust()
    let original = try ItemReader(keyring: self).read(record)
    let sealed = try ItemSealer(keyring: self)
      .seal(new: item, secret: original.secret, age: SecretAge(of: original.header))
    return try transaction { changes throws(KeyringError) in try changes.add(sealed) }
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

  /// Makes several changes that happen together or not at all.
  ///
  /// Each change sees those before it. `find` and `secret(for:matching:)` do not: they see the store as it is.
  ///
  /// - Parameter body: makes the changes; when it throws, none of them happens. The store's lock is held
  ///   while it runs, also while a change in it seals: when that asks for a passphrase, other writers wait.
  /// - Throws: what `body` throws, and as `add`.
  public func transaction<R>(
    _ body: (inout Changes) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    try transaction(subject: nil, body)
  }

  /// Does the same, with words of the caller's own for the history.
  ///
  /// - Parameter subject: one line of printable ASCII without a secret; nil for what the changes themselves say.
  package func transaction<R>(
    subject: String?, _ body: (inout Changes) throws(KeyringError) -> R
  ) throws(KeyringError) -> R {
    var changes = try Changes(keyring: self)
    let result: R
    do {
      result = try body(&changes)
    } catch {
      changes.abandon()
      throw error
    }
    try changes.commit(subject: subject)
    return result
  }
}
