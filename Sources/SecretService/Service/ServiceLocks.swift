internal import Keyring
internal import KeyringModel
internal import OpenPGP

extension SecretServiceError {
  static let isLocked = SecretServiceError(.isLocked, "The collection is locked.")
}

extension SecretService {
  // MARK: State

  /// Returns true if a collection is locked: by `Lock`, or because the agent has to ask for a passphrase.
  func isLocked(_ collection: CollectionID) -> Bool {
    guard collection != .session else { return false }
    reportLocks()
    return reportedLocks[collection] ?? true
  }

  private var isAgentLocked: Bool { !options.asksLate && agentState.isLocked() }

  /// Queues the signals for collections that were locked or unlocked since their property was read.
  func reportLocks() {
    let isAgentLocked = isAgentLocked
    for collection in groups.map(CollectionID.group) {
      let isLocked = isAgentLocked || flagged.contains(collection)
      guard let old = reportedLocks.updateValue(isLocked, forKey: collection), old != isLocked else {
        continue
      }
      events.add(.collectionProperties(ObjectPath(collection), [.locked(isLocked)]))
      events.add(.collectionChanged(ObjectPath(collection)))
    }
  }

  // MARK: Calls

  /// `Unlock`.
  ///
  /// - Throws: `limitsExceeded`, `failed`.
  package func unlock(_ paths: [ObjectPath], for sender: Sender) throws -> LockResult {
    var done: [ObjectPath] = []
    var waiting: [ObjectPath] = []
    let isAgentLocked = isAgentLocked
    for (path, object) in try lockable(paths) {
      if isAgentLocked, object.collection != .session {
        waiting.append(path)
      } else {
        clear(object)
        done.append(path)
      }
    }
    reportLocks()
    let prompt = waiting.isEmpty ? .none : try add(.unlock(waiting), for: sender)
    return LockResult(paths: done, prompt: prompt)
  }

  /// `Lock`. The agent forgets all passphrases, because it tries the last one for every key.
  ///
  /// - Throws: `limitsExceeded`, `failed`.
  package func lock(_ paths: [ObjectPath], for sender: Sender) throws -> Answer<LockResult> {
    let objects = try lockable(paths)
    let result = LockResult(paths: objects.map(\.path), prompt: .none)
    let stored = objects.filter { $0.object.collection != .session }
    if stored.isEmpty { return .now(result) }
    let (agent, options) = (agent, options)
    let work: Work<LockResult> = try work(.agent, for: sender) {
      do {
        try agent.forget()
      } catch {
        // The collections are locked, but the agent may still have the passphrases.
        options.report(error)
      }
      return (.success(result), .forgot)
    }
    for (_, object) in stored where flagged.insert(object.collection).inserted {
      if let item = object.item { events.add(.itemProperties(ObjectPath(item), [.locked(true)])) }
    }
    reportLocks()
    return .later(work)
  }

  /// An object that can be locked.
  private struct Lockable {
    let collection: CollectionID
    /// The item; nil for the collection itself.
    let item: ItemAddress?
  }

  /// Returns the paths that name collections or items, with their objects.
  private func lockable(_ paths: [ObjectPath]) throws -> [(path: ObjectPath, object: Lockable)] {
    guard paths.count <= ServiceLimits.pathsPerUnlock else {
      throw SecretServiceError(.limitsExceeded, "A call locks or unlocks at most 4096 objects.")
    }
    var lookups = ServiceLimits.lookupsPerCall
    return try paths.compactMap { path in
      switch try storedObject(at: path, lookups: &lookups) {
      case .collection(let collection)?: (path, Lockable(collection: collection, item: nil))
      case .item(let item)?: (path, Lockable(collection: item.collection, item: item))
      default: nil
      }
    }
  }

  /// Removes the flag that `Lock` has set.
  private func clear(_ object: Lockable) {
    guard flagged.remove(object.collection) != nil, let item = object.item else { return }
    events.add(.itemProperties(ObjectPath(item), [.locked(false)]))
  }

  // MARK: Prompts

  /// Creates a prompt.
  ///
  /// - Throws: `limitsExceeded`.
  func add(_ action: PendingPrompt.Action, for sender: Sender) throws -> ObjectPath {
    var generator = SystemRandomNumberGenerator()
    let id = PromptID(using: &generator)
    try senders.add(id, of: sender)
    prompts[id] = PendingPrompt(sender: sender, action: action)
    return ObjectPath(id)
  }

  /// `Prompt.Prompt`.
  ///
  /// - Returns: The work to start after the reply; nil if the prompt shares a dialog that is already shown.
  /// - Throws: `noSuchObject`, `alreadyExists`, `limitsExceeded`.
  package func prompt(_ id: PromptID, for sender: Sender) throws -> Work<Void>? {
    let prompt = try prompt(id, of: sender)
    guard prompt.started == nil else {
      throw SecretServiceError(.alreadyExists, "The prompt is already shown.")
    }
    let work: Work<Void>?
    switch prompt.action {
    case .unlock: work = try startRoundTrip(id, for: sender)
    case .createGroup(let group, _, _): work = try startCreation(id, of: group, for: sender)
    case .deleteGroup(let group): work = try startDeletion(id, of: group, for: sender)
    }
    prompts[id]?.started = options.clock()
    return work
  }

  /// `Prompt.Dismiss`.
  ///
  /// - Throws: `noSuchObject`.
  package func dismiss(_ id: PromptID, for sender: Sender) throws {
    let prompt = try prompt(id, of: sender)
    complete(id, isDismissed: true, prompt.emptyResult)
    leave(id, prompt)
  }

  private func prompt(_ id: PromptID, of sender: Sender) throws -> PendingPrompt {
    guard let prompt = prompts[id], prompt.sender == sender else { throw SecretServiceError.noSuchObject }
    return prompt
  }

  /// Removes a prompt whose sender has left the bus.
  func abandon(_ id: PromptID) {
    guard let prompt = prompts.removeValue(forKey: id) else { return }
    leave(id, prompt)
  }

  /// Ends the dialog of a removed prompt, unless other prompts share it.
  private func leave(_ id: PromptID, _ prompt: PendingPrompt) {
    prompt.cancellation?.cancel()
    guard roundTrip?.prompts.remove(id) != nil, roundTrip?.prompts.isEmpty == true else { return }
    roundTrip?.cancellation.cancel()
    roundTrip = nil
  }

  /// The shortest time between the start of a prompt and its completion: some clients subscribe to the signal only after
  /// the call has returned.
  private static let promptDelay = Duration.milliseconds(100)

  /// Removes a prompt, and queues its signal.
  func complete(_ id: PromptID, isDismissed: Bool, _ result: PromptResult) {
    guard let prompt = prompts.removeValue(forKey: id) else { return }
    senders.remove(id, of: prompt.sender)
    events.add(
      .promptCompleted(ObjectPath(id), to: prompt.sender, isDismissed: isDismissed, result),
      notBefore: prompt.started.map { $0 + Self.promptDelay })
  }

  // MARK: Unlocking

  private func startRoundTrip(_ id: PromptID, for sender: Sender) throws -> Work<Void>? {
    if roundTrip != nil {
      roundTrip?.prompts.insert(id)
      return nil
    }
    roundTripCount += 1
    let trip = RoundTrip(
      id: RoundTripID(number: roundTripCount), cancellation: Cancellation(), prompts: [id])
    let (agent, options) = (agent, options)
    let work: Work<Void> = try work(.agent, for: sender) {
      do {
        try agent.roundTrip(trip.cancellation)
        return (.success(()), .roundTrip(trip.id, isUnlocked: true))
      } catch {
        if !error.isCancelled { options.report(error) }
        return (.success(()), .roundTrip(trip.id, isUnlocked: false))
      }
    }
    roundTrip = trip
    return work
  }

  func finishRoundTrip(_ id: RoundTripID, isUnlocked: Bool) {
    agentState.invalidate()
    guard let trip = roundTrip, trip.id == id else { return reportLocks() }
    roundTrip = nil
    var results: [(PromptID, PromptResult)] = []
    for id in trip.prompts {
      guard let prompt = prompts[id], case .unlock(let paths) = prompt.action else { continue }
      guard isUnlocked else {
        results.append((id, prompt.emptyResult))
        continue
      }
      // Objects that no longer exist are left out, and so are all if the store cannot be read now.
      let objects = (try? lockable(paths)) ?? []
      for (_, object) in objects { clear(object) }
      results.append((id, .paths(objects.map(\.path))))
    }
    reportLocks()
    for (id, result) in results { complete(id, isDismissed: !isUnlocked, result) }
  }
}

extension Error {
  /// True if the user or the client has ended a dialog.
  var isCancelled: Bool {
    switch self as? KeyringError {
    case .engine(.cancelled, _)?, .engine(.badPassphrase, _)?: true
    default: false
    }
  }
}
