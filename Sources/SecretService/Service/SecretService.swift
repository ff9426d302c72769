internal import Encoding
package import Keyring
internal import KeyringModel

/// The rules of the Secret Service API over a store, without a bus.
///
/// One thread owns a service and makes all calls. No call decrypts, signs, or waits for the user: it returns ``Work``
/// for another thread instead. After every call and every ``finish(_:)``, the owner sends the signals of
/// ``takeEvents()`` before the reply.
package final class SecretService {
  let options: ServiceOptions
  let store: OpenStore
  let agent: any KeyAgent
  let agentState: AgentState
  let started: UInt64
  /// The folder for the state of the keyring on this machine.
  let stateFolder: String
  var local: LocalState
  var senders = SenderTable()
  var memory = MemoryItems()
  /// The items of the store as clients know them. They are read by ``readItems()``, or by other work.
  var known = KnownItems()
  /// True if ``known`` was read.
  private var isKnown = false
  /// True if the store has changed before its items were read.
  private var hasChangedUnread = false
  /// The collections that `Lock` has locked.
  var flagged: Set<CollectionID> = []
  /// The property `Locked` of the collections of the store, as clients know it.
  var reportedLocks: [CollectionID: Bool] = [:]
  var prompts: [PromptID: PendingPrompt] = [:]
  var roundTrip: RoundTrip?
  var roundTripCount = 0
  var events = EventQueue()
  /// The keyring of the last call.
  private var adopted: Keyring?
  /// The groups of the user, sorted, `default` first.
  private(set) var groups: [String] = []

  /// Opens the store. Its items are read later: by ``readingWork()``, or by the first call that needs them.
  ///
  /// - Parameters:
  ///   - options: The settings.
  ///   - opening: Opens the store. It is called again after another policy was accepted. The host should keep the
  ///     index in memory.
  ///   - agent: Replaces the agent of GnuPG, for tests.
  /// - Throws: The error of `opening`; `failed` if the local state is damaged.
  package init(
    options: ServiceOptions, opening: @escaping @Sendable () throws -> Keyring, agent: (any KeyAgent)? = nil
  ) throws {
    self.options = options
    let store = OpenStore(opening: opening)
    self.store = store
    let agent = agent ?? KeyringAgent(store: store)
    self.agent = agent
    agentState = AgentState(agent, clock: options.clock, patience: options.agentPatience)
    started = options.date()
    stateFolder = "\(options.stateBase)/\(try store.keyring().policy.keyring.hex)"
    do {
      local = try LocalState(in: stateFolder)
    } catch {
      throw SecretServiceError(.failed, "The state of the service cannot be read.", cause: error)
    }
    if !options.asksLate { agentState.prepare() }
    _ = try keyring()
    events = EventQueue()
  }

  // MARK: The owner

  /// Finds the object that has a path.
  ///
  /// - Parameters:
  ///   - path: The path of a call. An alias names its collection.
  ///   - sender: The caller.
  /// - Returns: The object, with aliases replaced.
  /// - Throws: `noSuchObject`; `noSession` for a session of another sender; `failed` if the store cannot be read.
  package func object(at path: ObjectPath, for sender: Sender) throws -> ServiceObject {
    switch ServicePath(path) {
    case .service?: return .service
    case .session(let id)?:
      guard let owner = senders.sender(of: id) else { throw SecretServiceError.noSuchObject }
      guard owner == sender else { throw SecretServiceError(.noSession, "There is no such session.") }
      return .session(id)
    case .prompt(let id)?:
      guard prompts[id]?.sender == sender else { throw SecretServiceError.noSuchObject }
      return .prompt(id)
    default:
      guard let object = try storedObject(at: path) else { throw SecretServiceError.noSuchObject }
      return object
    }
  }

  /// Completes finished work: updates what the service knows, and queues the signals.
  ///
  /// - Parameter outcome: The result of `Work.run()`.
  /// - Returns: The value for the reply.
  /// - Throws: ``SecretServiceError`` for the reply.
  package func finish<Value>(_ outcome: Outcome<Value>) throws -> Value {
    senders.end(outcome.sender)
    apply(outcome.effect)
    do {
      return try outcome.result.get()
    } catch {
      throw SecretServiceError(reporting: error)
    }
  }

  private func apply(_ effect: WorkEffect) {
    switch effect {
    case .none, .item(.unchanged): break
    case .read(let records, let isComplete): use(records, isComplete: isComplete)
    case .item(.stored(let record)): note(known.note(record))
    case .item(.removed(let address)): note(known.noteRemoved(address))
    case .forgot:
      agentState.invalidate()
      reportLocks()
    case .roundTrip(let id, let isUnlocked): finishRoundTrip(id, isUnlocked: isUnlocked)
    case .createdGroup(let id, let group): finishCreation(id, group)
    case .deletedGroup(let id, let isDeleted): finishDeletion(id, isDeleted: isDeleted)
    }
  }

  private func note(_ difference: KnownItems.Difference?) { if let difference { queue([difference]) } }

  /// Returns the signals that are due now, in the order in which they must be sent.
  package func takeEvents() -> [ServiceEvent] {
    events.take(at: options.clock()) { collection in try? items(of: collection) }
  }

  /// The time on the clock of the options at which ``takeEvents()`` must be called again; nil if no signal waits.
  package var nextEventTime: Duration? { events.nextTime }

  /// Ends the sessions and prompts of a sender that has left the bus.
  package func senderVanished(_ sender: Sender) {
    events.removeAll(to: sender)
    for prompt in senders.remove(sender) { abandon(prompt) }
  }

  /// Compares the store with what the service knows, and queues the signals for the changes of other processes. Called
  /// when files of the store have changed.
  ///
  /// If the store cannot be read, nothing is reported. The next call of a client fails with the reason.
  package func storeChanged() {
    // See above.
    guard let keyring = try? keyring() else { return }
    guard isKnown else {
      hasChangedUnread = true
      return
    }
    guard let differences = try? compare(with: keyring) else { return }
    queue(differences)
  }

  /// The folders whose files the owner watches for changes. Some of them may not exist.
  package var watchedFolders: [String] {
    guard let path = adopted?.path else { return [] }
    return [path, "\(path)/index", "\(path)/local/index", "\(path)/keys", "\(path)/.keytree", stateFolder]
  }

  // MARK: The store

  /// Returns the store with its current policy.
  ///
  /// - Throws: `failed` if it cannot be opened.
  func keyring() throws -> Keyring {
    let keyring: Keyring
    do {
      keyring = try store.keyring()
    } catch {
      throw SecretServiceError(reporting: error)
    }
    if keyring !== adopted { adopt(keyring) }
    return keyring
  }

  /// Replaces the collections by those of a policy.
  private func adopt(_ keyring: Keyring) {
    let me = keyring.ownFingerprint
    let mine = keyring.policy.groups.filter { $0.value.contains(me) }.keys
    let new = mine.sorted { left, right in
      if (left == GroupName.default) != (right == GroupName.default) { return left == GroupName.default }
      return left.precedesInBytes(right)
    }
    let old = groups
    (adopted, groups) = (keyring, new)
    if new == old { return }
    for group in old where !new.contains(group) {
      flagged.remove(.group(group))
      reportedLocks[.group(group)] = nil
      events.add(.collectionDeleted(ObjectPath(.group(group))))
    }
    for group in new where !old.contains(group) {
      events.add(.collectionCreated(ObjectPath(.group(group))))
    }
    events.add(.serviceProperties([.collections(collections)]))
  }

  private func compare(with keyring: Keyring) throws -> [KnownItems.Difference] {
    let found = try ItemSearch(keyring: keyring).all()
    isKnown = true
    return known.update(
      to: found.items.filter(\.isServed), isComplete: found.isComplete, groups: Set(groups))
  }

  /// Reads the items of the store, if that was not done yet. Waits for the work that reads them, if it runs.
  ///
  /// - Throws: `failed`.
  func readItems() throws {
    if isKnown { return }
    let keyring = try keyring()
    do {
      // The items of a group that was not known before are no changes.
      _ = try compare(with: keyring)
    } catch {
      throw SecretServiceError(reporting: error)
    }
  }

  /// Returns the work that reads the items of the store, so that the first call that needs them is answered sooner; nil
  /// if they were read.
  package func readingWork() -> Work<Void>? {
    if isKnown { return nil }
    let store = store
    // Fails only if too many calls are waiting, and one of them reads the items.
    return try? work(.read, for: Sender("")) {
      do {
        let found = try ItemSearch(keyring: try store.keyring()).all()
        return (.success(()), .read(found.items, isComplete: found.isComplete))
      } catch {
        // The first call that needs the items reports the error.
        return (.success(()), .none)
      }
    }
  }

  /// Uses the items that other work has read, unless a call did not wait for it.
  private func use(_ records: [ItemRecord], isComplete: Bool) {
    if isKnown { return }
    isKnown = true
    _ = known.update(to: records.filter(\.isServed), isComplete: isComplete, groups: Set(groups))
    if hasChangedUnread { storeChanged() }
  }

  /// Queues the signals for changes of items.
  private func queue(_ differences: [KnownItems.Difference]) {
    var touched: Set<CollectionID> = []
    for difference in differences {
      switch difference {
      case .created(let record):
        let address = ItemAddress(.group(record.group), record.id)
        events.add(.itemCreated(ObjectPath(address), collection: ObjectPath(address.collection)))
        queueItems(of: address.collection)
        touched.insert(address.collection)
      case .changed(let record):
        let address = ItemAddress(.group(record.group), record.id)
        queueChange(
          of: address, label: record.serviceLabel, record.serviceAttributes, modified: record.modified.seconds
        )
        touched.insert(address.collection)
      case .deleted(let address):
        events.add(.itemDeleted(ObjectPath(address), collection: ObjectPath(address.collection)))
        queueItems(of: address.collection)
        touched.insert(address.collection)
      }
    }
    for collection in touched { queueModified(collection) }
  }

  func queueChange(
    of address: ItemAddress, label: String, _ attributes: ServiceAttributes, modified: UInt64
  ) {
    events.add(.itemChanged(ObjectPath(address), collection: ObjectPath(address.collection)))
    events.add(
      .itemProperties(
        ObjectPath(address), [.label(label), .attributes(attributes), .modified(modified)]))
  }

  /// Queues the signal for the property `Items` of a collection.
  func queueItems(of collection: CollectionID) {
    let count =
      switch collection {
      case .session: memory.count
      case .group(let group): known.groups[group]?.count ?? 0
      }
    events.itemsChanged(in: collection, count: count, at: options.clock())
  }

  func queueModified(_ collection: CollectionID) {
    events.add(.collectionProperties(ObjectPath(collection), [.modified(times(of: collection).modified)]))
  }

  // MARK: Objects

  /// Returns the collection or item that has a path, or nil.
  func storedObject(at path: ObjectPath) throws -> ServiceObject? {
    var lookups = 1
    return try storedObject(at: path, lookups: &lookups)
  }

  /// Returns the collection or item that has a path, or nil.
  ///
  /// - Parameter lookups: The number of unknown items for which the store may still be searched.
  func storedObject(at path: ObjectPath, lookups: inout Int) throws -> ServiceObject? {
    switch ServicePath(path) {
    case .collection(let collection)?: return try exists(collection) ? .collection(collection) : nil
    case .alias(let alias)?: return try collection(ofAlias: alias).map { .collection($0) }
    case .item(let address)?: return try exists(address, &lookups) ? .item(address) : nil
    case .aliasItem(let alias, let id)?:
      guard let collection = try collection(ofAlias: alias) else { return nil }
      let address = ItemAddress(collection, id)
      return try exists(address, &lookups) ? .item(address) : nil
    case .service?, .session?, .prompt?, nil: return nil
    }
  }

  func exists(_ collection: CollectionID) throws -> Bool {
    guard case .group(let group) = collection else { return true }
    _ = try keyring()
    return groups.contains(group)
  }

  func collection(ofAlias alias: String) throws -> CollectionID? {
    guard let collection = local.collection(of: alias), try exists(collection) else { return nil }
    return collection
  }

  private func exists(_ address: ItemAddress, _ lookups: inout Int) throws -> Bool {
    switch address.collection {
    case .session: return memory[address.id] != nil
    case .group(let group):
      guard try exists(address.collection) else { return false }
      try readItems()
      if known.groups[group]?[address.id] != nil { return true }
      // Another process may have added it a moment ago.
      guard lookups > 0 else { return false }
      lookups -= 1
      do {
        _ = try record(address)
        return true
      } catch let error as SecretServiceError where error.kind == .noSuchObject {
        return false
      }
    }
  }

  /// Returns the record of an item of the store.
  func record(_ address: ItemAddress) throws -> ItemRecord {
    guard try exists(address.collection) else { throw SecretServiceError.noSuchItem }
    do {
      return try ItemSearch(keyring: try keyring()).item(address)
    } catch {
      throw SecretServiceError(reporting: error)
    }
  }

  /// Creates work.
  ///
  /// - Throws: `limitsExceeded`.
  func work<Value>(
    _ kind: Work<Value>.Kind, for sender: Sender,
    _ body: @escaping @Sendable () -> (result: Result<Value, any Error>, effect: WorkEffect)
  ) throws -> Work<Value> {
    try senders.begin(sender)
    return Work(kind: kind, sender: sender, body: body)
  }
}

extension SecretServiceError {
  /// Returns the error that a client gets for an error of the store.
  init(reporting error: any Error) {
    switch error {
    case let error as SecretServiceError: self = error
    case KeyringError.itemNotFound: self = Self.noSuchItem
    case KeyringError.invalidAttribute, KeyringError.attributesTooLarge:
      self.init(.invalidArguments, "The item has too many or too long attributes.", cause: error)
    case KeyringError.secretTooLarge:
      self.init(.invalidArguments, "The secret is larger than 1 MiB.", cause: error)
    case KeyringError.shared(.removal, _):
      self.init(.failed, "Other people use this item, too. The command keytree rm removes it.", cause: error)
    case KeyringError.shared(.newReaders, _):
      self.init(
        .failed,
        "Other people can read new items of the default collection. The command keytree rm removes it.",
        cause: error)
    case KeyringError.shared(.similar, _):
      self.init(
        .failed,
        "Another group may have an item for this account, which fewer people can read. Name a collection.",
        cause: error)
    case KeyringError.shared(.removed, _):
      self.init(
        .failed,
        "Another person has removed the item of this account from a group. Name a collection.", cause: error)
    case KeyringError.shared:
      self.init(
        .failed, "Another group has an item with these attributes. Name its collection.", cause: error)
    case KeyringError.team(.notInGroup(_, .some)):
      self.init(.failed, "A group of other people has an item with these attributes.", cause: error)
    case KeyringError.unknownGroup, KeyringError.team(.notInGroup):
      self.init(.noSuchObject, "There is no such collection.", cause: error)
    case KeyringError.unfinished:
      self.init(.failed, "The change is stored, but finishing it failed.", cause: error)
    default: self.init(.failed, "The store cannot be used.", cause: error)
    }
  }
}
