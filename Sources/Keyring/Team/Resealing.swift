internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Synchronization

/// Seals items again whose messages are not for exactly the members of their groups.
struct Resealing: Sendable {
  /// The store as it is: decrypts.
  let keyring: Keyring
  /// The store with the people that it is to have: seals.
  let successor: Keyring

  /// A message that takes the place of another one.
  struct Piece: Sendable {
    /// The item as it was.
    let record: ItemRecord
    /// The item as it will be.
    let item: PreparedItem
  }

  /// What became of one item.
  private enum Outcome: Sendable {
    case sealed(Piece)
    /// It has changed since it was found; it is looked at again under the lock.
    case overtaken
    /// It cannot be decrypted here, or is damaged.
    case failed(ItemReference, KeyringError)
  }

  /// How many items are handed to the threads at once.
  private static let portion = 256

  /// The groups whose items may have to be sealed again: those with other members or other keys than before, or all where
  /// nothing changes. What is wrong with the others is not this change's business.
  private var groups: Set<String> {
    let (old, new) = (keyring.policy.groups, successor.policy.groups)
    if keyring.policy == successor.policy { return Set(new.keys) }
    return Set(
      new.keys.filter { group in
        old[group] != new[group]
          || new[group]?.contains { keyring.trusted.keys[$0] != successor.trusted.keys[$0] } ?? false
      })
  }

  /// The items that have to be sealed again, from the index and packets alone: no key, no process.
  ///
  /// - Parameter wanted: The groups that are looked at; nil for those that the change concerns.
  /// - Throws: `KeyringError.team` with `unusableKey` when nothing can be sealed to a member of a group that has items;
  ///   `.shardDamaged` when a line cannot be read, since it may be that of an item; `.itemDamaged` for one without a
  ///   file, or a file error.
  func outdated(in wanted: Set<String>? = nil) throws(KeyringError) -> [ItemRecord] {
    let groups = wanted ?? self.groups
    if groups.isEmpty { return [] }
    var all = Query()
    all.includesConflictCopies = true
    let matches = try keyring.index.findInFiles(all)
    if let problem = matches.problems.first { throw .shardDamaged(file: problem.file, [problem.problem]) }
    let items = matches.items.filter { groups.contains($0.group) }
    let expected = try recipients(ofGroups: Set(items.map(\.group)))
    let pool = WorkerPool(workers: keyring.host.workers)
    let isRight = try pool.map(items.count) { (number) throws(KeyringError) -> Bool in
      let record = items[number]
      guard let message = try ItemReader(keyring: keyring).message(of: record) else {
        throw .itemDamaged(record.reference, .missing)
      }
      guard let found = try? successor.engine.recipients(of: message) else { return false }
      return Set(found) == expected[record.group] && found.count == expected[record.group]?.count
    }
    return zip(items, isRight).filter { !$0.1 }.map(\.0)
  }

  /// The subkeys that the items of each group are to be sealed to.
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

  /// Seals items again, on several threads once it is known that decrypting works: several would ask for a passphrase
  /// several times, and again after a refusal (threat T36).
  ///
  /// - Parameters:
  ///   - records: The items.
  ///   - progress: Told how many of how many are done, from any thread.
  /// - Returns: The new messages, without those of items that have changed meanwhile.
  /// - Throws: `KeyringError.team` with `cannotReseal` when some cannot be decrypted, after all were tried; at once
  ///   what would fail for every item.
  func seal(
    _ records: [ItemRecord], progress: @escaping @Sendable (Int, Int) -> Void
  ) throws(KeyringError) -> [Piece] {
    let cache = ResealedMessages(keyring)
    var outcomes: [Outcome] = []
    var isUnlocked = false
    let pool = WorkerPool(workers: keyring.host.workers)
    let counter = Counter(total: records.count, progress)
    while outcomes.count < records.count {
      let done = outcomes.count
      let count = isUnlocked ? min(Self.portion, records.count - done) : 1
      outcomes += try pool.map(count) { (number) throws(KeyringError) -> Outcome in
        let outcome = try seal(records[done + number], cache)
        counter.step()
        return outcome
      }
      if case .sealed? = outcomes.last { isUnlocked = true }
    }
    var pieces: [Piece] = []
    var failed: [(ItemReference, KeyringError)] = []
    for outcome in outcomes {
      switch outcome {
      case .sealed(let piece): pieces.append(piece)
      case .failed(let reference, let error): failed.append((reference, error))
      case .overtaken: break
      }
    }
    if let first = failed.first {
      throw .team(.cannotReseal(failed.prefix(10).map(\.0), count: failed.count, reason: first.1.reason))
    }
    return pieces
  }

  private func seal(_ record: ItemRecord, _ cache: ResealedMessages) throws(KeyringError) -> Outcome {
    let signer = successor.policy.signatures == .required ? successor.trusted.signer : nil
    let name = ResealedMessages.name(
      of: record, for: successor.policy.groups[record.group] ?? [], signer: signer)
    // Kept only where line and item agree, so that the line is what was sealed.
    if let message = cache.message(name), successor.isSealed(message, to: record.group) {
      var sealed = record
      sealed.sealed = ContentDigest(of: message)
      return .sealed(Piece(record: record, item: PreparedItem(record: sealed, message: message)))
    }
    let reader = ItemReader(keyring: keyring)
    do throws(KeyringError) {
      guard let message = try reader.message(of: record), ContentDigest(of: message) == record.sealed else {
        let now = try keyring.index.findInFiles(Query(predicates: [.id(record.id), .path(record.path)])).items
          .first
        guard now == record else { return .overtaken }
        return .failed(record.reference, .itemDamaged(record.reference, .notAsIndexed))
      }
      let item = try reader.open(message, record, nil)
      var current = record
      // What is signed anew is what the item has said itself, not what a line says of it.
      (current.revision, current.secretModified) = (item.header.revision, item.header.secretModified)
      let sealed = try ItemSealer(keyring: successor).seal(current, secret: item.secret)
      if current == record { cache.keep(sealed.message, name) }
      return .sealed(Piece(record: record, item: sealed))
    } catch {
      guard error.isAboutOneItem else { throw error }
      return .failed(record.reference, error)
    }
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

  /// One word for why an item cannot be sealed again.
  fileprivate var reason: TeamError.ResealObstacle {
    switch self {
    case .engine: .notARecipient
    default: .damaged
    }
  }
}
