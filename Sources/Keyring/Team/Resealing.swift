internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Synchronization

/// Brings items up to date with the members of their groups: encrypts again what is for other people, and has signed anew
/// what somebody has signed who is no member any more.
struct Resealing: Sendable {
  /// The store as it is: verifies and decrypts.
  let keyring: Keyring
  /// The store with the people that it is to have: encrypts and signs.
  let successor: Keyring

  /// An item that is not up to date.
  struct Outdated: Sendable {
    /// The record as it is.
    let verified: VerifiedRecord
    /// Whether its file has to be encrypted again; else the record is only signed anew.
    let needsEncryption: Bool
    /// Whether a member of its group cannot read it yet.
    let lacksReaders: Bool
    /// The conflict copy that it is; nil for an item that has its place.
    let copy: ConflictCopy?

    /// The attributes of the item.
    var record: ItemRecord { verified.record }
  }

  /// A version of an item that takes the place of another one.
  struct Piece: Sendable {
    let outdated: Outdated
    let item: PreparedItem
  }

  /// What came of one item.
  private enum Outcome: Sendable {
    case prepared(Piece)
    /// It has changed since it was found; it is looked at again.
    case overtaken
    /// It cannot be decrypted here, or is damaged.
    case failed(ItemReference, KeyringError)
  }

  /// How many items are handed to the threads at once.
  private static let portion = 256

  /// The groups whose items may be outdated: those with other members or other keys than before, or all where nothing
  /// changes. What is wrong with the others is not this change's business.
  private var groups: Set<String> {
    let (old, new) = (keyring.policy.groups, successor.policy.groups)
    if keyring.policy == successor.policy { return Set(new.keys) }
    return Set(
      new.keys.filter { group in
        old[group] != new[group]
          || new[group]?.contains { keyring.trusted.keys[$0] != successor.trusted.keys[$0] } ?? false
      })
  }

  /// Finds the items that are not up to date, from records and packets alone: no secret key.
  ///
  /// The index has no say in it: a line that names another group would keep an item from being encrypted again.
  ///
  /// - Parameters:
  ///   - wanted: The groups that are looked at; nil for those that the change concerns.
  ///   - records: All records of the store; nil for those that it has now.
  /// - Throws: `KeyringError.team` with `unusableKey` when nothing can be encrypted to a member of a group that has items;
  ///   `.itemDamaged` or `.bindingMismatch` for an item that is not believed, since it may be of any group; `.engine`, or
  ///   a file error.
  func outdated(
    in wanted: Set<String>? = nil, among records: VerifiedRecords? = nil
  ) throws(KeyringError) -> [Outdated] {
    let groups = wanted ?? self.groups
    if groups.isEmpty { return [] }
    try requireOwnSubkeys(in: groups)
    let all = if let records { records } else { try keyring.verifiedRecords() }
    if let (path, fault) = all.distrusted.first { throw fault.error(about: .path(path)) }
    var candidates: [(verified: VerifiedRecord, copy: ConflictCopy?)] =
      all.records.filter { groups.contains($0.record.group) }.map { ($0, nil) }
    for copy in try keyring.conflictCopies()
    where copy.signer != nil && groups.contains(copy.record.group) {
      candidates.append((try keyring.storedItem(of: copy).verified, copy))
    }
    let expected = try recipients(ofGroups: Set(candidates.map(\.verified.record.group)))
    let found = candidates
    let (keyring, successor) = (keyring, successor)
    let pool = WorkerPool(workers: keyring.host.workers)
    return try pool.map(found.count) { (number) throws(KeyringError) -> Outdated? in
      let (verified, copy) = found[number]
      let record = verified.record
      let reader = ItemReader(keyring: keyring)
      let message =
        if let copy { try keyring.storedItem(of: copy).message } else { try reader.message(of: record) }
      guard let message else { throw .itemDamaged(record.reference, .missing) }
      let recipients = try? successor.engine.recipients(of: message)
      let isRight =
        recipients.map { Set($0) == expected[record.group] && $0.count == expected[record.group]?.count }
        ?? false
      let isSigned = successor.policy.isMember(verified.signer, ofAny: [record.group])
      if isRight && isSigned { return nil }
      var readers: Set<Fingerprint> = []
      do throws(EngineError) {
        for id in recipients ?? [] { readers.formUnion(try successor.engine.owners(of: id)) }
      } catch {
        throw .engine(error, record.reference)
      }
      let lacksReaders = !readers.isSuperset(of: successor.policy.groups[record.group] ?? [])
      return Outdated(verified: verified, needsEncryption: !isRight, lacksReaders: lacksReaders, copy: copy)
    }.compactMap { $0 }
  }

  /// Refuses a key with the encryption subkey of another person, also in a group that has no items yet: nobody could tell
  /// which of the two is the reader of an item.
  private func requireOwnSubkeys(in groups: Set<String>) throws(KeyringError) {
    for group in groups.sorted() {
      // One by one, so that another problem of one person does not hide this one of the next.
      for person in successor.policy.groups[group] ?? [] {
        do throws(EngineError) {
          _ = try successor.engine.expectedRecipients([person])
        } catch {
          // Any other problem matters where the group has items.
          guard case .unusableKey(_, .sharedSubkey) = error else { continue }
          throw ItemSealer(keyring: successor).failure(error, group: group, item: nil)
        }
      }
    }
  }

  /// The subkeys that the items of each group are to be encrypted to.
  private func recipients(ofGroups groups: Set<String>) throws(KeyringError) -> [String: Set<KeyID>] {
    var expected: [String: Set<KeyID>] = [:]
    for group in groups.sorted() {
      guard let members = successor.policy.groups[group] else { throw .unknownGroup(group) }
      do {
        expected[group] = try successor.engine.expectedRecipients(members)
      } catch {
        throw ItemSealer(keyring: successor).failure(error, group: group, item: nil)
      }
    }
    return expected
  }

  /// Prepares items, on several threads once it is known that decrypting works: several would ask for a passphrase
  /// several times, and again after a refusal (threat T36).
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - keepsMessages: Whether what is done is kept for the case that the work is cut off.
  ///   - progress: Told how many of how many are done, from any thread.
  /// - Returns: The new versions, without those of items that have changed since.
  /// - Throws: `KeyringError.team` with `cannotReseal` when some cannot be decrypted, after all were tried; at once
  ///   what would fail for every item.
  func prepare(
    _ items: [Outdated], keepsMessages: Bool = true, progress: @escaping @Sendable (Int, Int) -> Void
  ) throws(KeyringError) -> [Piece] {
    let cache = keepsMessages ? ResealedMessages(keyring) : nil
    defer { cache?.finish() }
    var outcomes: [Outcome] = []
    var isUnlocked = false
    let pool = WorkerPool(workers: keyring.host.workers, startsPrograms: true)
    let counter = Counter(total: items.count, progress)
    while outcomes.count < items.count {
      let done = outcomes.count
      let count = isUnlocked ? min(Self.portion, items.count - done) : 1
      outcomes += try pool.map(count) { (number) throws(KeyringError) -> Outcome in
        let outcome = try prepare(items[done + number], cache)
        counter.step()
        return outcome
      }
      if case .prepared(let piece)? = outcomes.last, piece.outdated.needsEncryption { isUnlocked = true }
    }
    var pieces: [Piece] = []
    var failed: [(ItemReference, KeyringError)] = []
    for outcome in outcomes {
      switch outcome {
      case .prepared(let piece): pieces.append(piece)
      case .failed(let reference, let error): failed.append((reference, error))
      case .overtaken: break
      }
    }
    if let first = failed.first {
      throw .team(.cannotReseal(failed.prefix(10).map(\.0), count: failed.count, reason: first.1.reason))
    }
    return pieces
  }

  private func prepare(_ outdated: Outdated, _ cache: ResealedMessages?) throws(KeyringError) -> Outcome {
    let record = outdated.record
    let reader = ItemReader(keyring: keyring)
    do throws(KeyringError) {
      let stored =
        if let copy = outdated.copy { try keyring.storedItem(of: copy) } else {
          try reader.stored(at: record.path, isLocal: record.isLocal)
        }
      guard let stored, stored.verified.file == outdated.verified.file else { return .overtaken }
      guard outdated.needsEncryption else {
        // This user's signature would make it an item that the signer before could not have made.
        try reader.requireSignerAmongReaders(of: stored)
        return .prepared(
          Piece(outdated: outdated, item: PreparedItem(record: record, message: stored.message)))
      }
      let name = ResealedMessages.name(of: record, for: successor.policy.groups[record.group] ?? [])
      if let message = cache?.message(name), successor.isSealed(message, to: record.group) {
        return .prepared(Piece(outdated: outdated, item: PreparedItem(record: record, message: message)))
      }
      let item = try ItemSealer(keyring: successor).prepare(record, secret: try reader.secret(of: stored))
      cache?.keep(item.message, name)
      return .prepared(Piece(outdated: outdated, item: item))
    } catch {
      guard error.isAboutOneItem else { throw error }
      return .failed(record.reference, error)
    }
  }

  /// Puts new versions into their places, and prepares what has changed or come since.
  ///
  /// - Parameter addsReaders: Whether items that a member of their group cannot read are among them.
  /// - Returns: How many items were brought up to date.
  func place(
    _ pieces: [Piece], of groups: Set<String>? = nil, addsReaders: Bool = true, in changes: inout Changes
  ) throws(KeyringError) -> Int {
    // An item that is added meanwhile has to be encrypted again as well.
    changes.dependOnSearch()
    let known = Dictionary(pieces.map { ($0.outdated.verified.file.line, $0) }) { first, _ in first }
    var count = 0
    for outdated in try outdated(in: groups) where addsReaders || !outdated.lacksReaders {
      let piece: Piece
      if let prepared = known[outdated.verified.file.line], prepared.outdated.verified == outdated.verified {
        piece = prepared
      } else {
        guard let fresh = try prepare([outdated], keepsMessages: false, progress: { _, _ in }).first else {
          throw .itemDamaged(outdated.record.reference, .notAsRecorded)
        }
        piece = fresh
      }
      if let copy = outdated.copy {
        changes.put(piece.item, replacing: copy)
      } else if try !changes.reseal(piece.item, of: outdated.verified) {
        throw .itemDamaged(outdated.record.reference, .notAsRecorded)
      }
      count += 1
    }
    return count
  }
}

/// Counts steps that several threads make.
private final class Counter: Sendable {
  private let done = Mutex(0)
  private let total: Int
  private let progress: @Sendable (Int, Int) -> Void

  init(total: Int, _ progress: @escaping @Sendable (Int, Int) -> Void) {
    (self.total, self.progress) = (total, progress)
  }

  func step() {
    let count = done.withLock { done in
      done += 1
      return done
    }
    progress(count, total)
  }
}

extension KeyringError {
  /// Whether the next item may go better.
  fileprivate var isAboutOneItem: Bool {
    switch self {
    case .itemDamaged, .bindingMismatch, .attributesTooLarge: true
    case .engine(let error, _): error.isAboutTheItem
    default: false
    }
  }

  /// One word for why an item cannot be encrypted again.
  fileprivate var reason: TeamError.ResealObstacle {
    switch self {
    case .engine: .notARecipient
    default: .damaged
    }
  }
}
