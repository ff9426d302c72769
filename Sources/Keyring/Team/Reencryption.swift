internal import KeyringModel
internal import OpenPGP
internal import Secrets
internal import Synchronization

/// Updates items for the current members of their groups. Re-encrypts an item whose recipients differ from the members,
/// and re-signs an item whose signer is no longer a member, or whose signature a new key file makes invalid.
struct Reencryption: Sendable {
  /// The current keyring: verifies and decrypts.
  let keyring: Keyring
  /// The keyring with the new people: encrypts and signs.
  let successor: Keyring

  /// The result of preparing one item.
  private enum Outcome: Sendable {
    case prepared(Piece)
    /// The item has changed since it was found. It is checked again later.
    case overtaken
    /// Another member will re-encrypt the item.
    case left
    /// The item cannot be decrypted here, or is damaged.
    case failed(ItemReference, KeyringError)
  }

  /// The number of items in a batch.
  private static let portion = 256

  /// The groups whose items may be outdated: those with changed members, keys or recipients, or all groups if the policy
  /// does not change. Faults in other groups are not part of this change.
  ///
  /// A policy that replaces the accepted one differs from it in any group.
  private var groups: Set<String> {
    let (old, new) = (keyring.policy.groups, successor.policy.groups)
    if keyring.policy == successor.policy || keyring.trusted.isReplacing { return Set(new.keys) }
    return Set(
      new.keys.filter { group in
        old[group] != new[group]
          || keyring.policy.recipients(of: group) != successor.policy.recipients(of: group)
          || new[group]?.contains { keyring.trusted.keys[$0] != successor.trusted.keys[$0] } ?? false
      })
  }

  /// Finds the outdated items, from records and packets alone. Needs no secret key.
  ///
  /// It does not use the index: a line that names another group could prevent the re-encryption of an item.
  ///
  /// - Parameters:
  ///   - wanted: The groups to check; nil for those that the change affects.
  ///   - records: All records of the store; nil to read them.
  /// - Throws: `KeyringError.team` with `unusableKey` when the key of a member shares a subkey with that of another one;
  ///   `.itemDamaged` or `.bindingMismatch` for an item that is not verified, since it may belong to
  ///   any group; `.engine`, or a file error.
  func outdated(
    in wanted: Set<String>? = nil, among records: VerifiedRecords? = nil
  ) throws(KeyringError) -> [Outdated] {
    let groups = wanted ?? self.groups
    if groups.isEmpty { return [] }
    let all = if let records { records } else { try keyring.verifiedRecords() }
    if let (path, fault) = all.distrusted.first { throw fault.error(about: .path(path)) }
    var candidates: [(verified: VerifiedRecord, copy: ConflictCopy?)] =
      all.records.filter { groups.contains($0.record.group) }.map { ($0, nil) }
    for copy in try keyring.conflictCopies()
    where copy.signer != nil && groups.contains(copy.record.group) {
      do throws(KeyringError) {
        candidates.append((try keyring.storedItem(of: copy).verified, copy))
      } catch {
        // A copy whose encrypted file is missing has no readers. `check` reports it.
        if case .itemDamaged(_, .missing) = error { continue }
        // It was resolved just now.
        guard error == .itemNotFound else { throw error }
      }
    }
    let names = Set(candidates.map(\.verified.record.group))
    let expected = try recipients(ofGroups: names)
    let unusable = try successor.unusableKeys(ofMembersOf: names)
    let invalidated = try invalidated(candidates.map(\.verified))
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
      let isRight = recipients.map { expected[record.group]?.areExactly($0) ?? false } ?? false
      let isByMember = successor.policy.isMember(verified.signer, ofAny: [record.group])
      let isSigned = isByMember && !invalidated.contains(verified.file.bytes)
      if isRight && isSigned { return nil }
      let members = Set(successor.policy.groups[record.group] ?? [])
      var readers: Set<Fingerprint> = []
      var hasOtherReaders = false
      do throws(EngineError) {
        for id in recipients ?? [] {
          let owners = successor.policy.owners(of: id, among: try successor.engine.owners(of: id))
          readers.formUnion(owners)
          hasOtherReaders = hasOtherReaders || members.isDisjoint(with: owners)
        }
      } catch {
        throw .engine(error, record.reference)
      }
      let obstacle = isRight ? nil : unusable.first { $0.groups.contains(record.group) }
      return Outdated(
        verified: verified, needsEncryption: !isRight && obstacle == nil,
        lacksReaders: !readers.isSuperset(of: members), hasOtherReaders: hasOtherReaders, isSigned: isSigned,
        losesSignature: isByMember && !isSigned, waitsFor: obstacle.map { ($0.person, $0.problem) },
        copy: copy)
    }.compactMap { $0 }
  }

  /// Refuses to give an item to new readers while it cannot be encrypted to another member of its group.
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - isComplete: True to refuse also what takes readers away.
  /// - Throws: `KeyringError.team` with `unusableKey` or `keyEnded`.
  func requireEncryption(of items: [Outdated], isComplete: Bool = false) throws(KeyringError) {
    for item in items where item.lacksReaders || isComplete {
      guard let (person, problem) = item.waitsFor else { continue }
      throw ItemEncryptor(keyring: successor).failure(
        .unusableKey(person, problem), group: item.record.group, item: nil)
    }
  }

  /// Returns the records whose signatures are not valid with the new key file of their signer, for example because it
  /// revokes the subkey that signed.
  private func invalidated(_ records: [VerifiedRecord]) throws(KeyringError) -> Set<[UInt8]> {
    let changed = records.filter { record in
      successor.trusted.keys[record.signer].map { $0 != keyring.trusted.keys[record.signer] } ?? false
    }
    if changed.isEmpty { return [] }
    let results = try successor.verify(
      changed.map { RecordClaim($0.file.bytes, path: nil, isLocal: $0.record.isLocal) })
    return Set(
      zip(changed, results).compactMap { record, result in
        guard case .failure(.damage(let damage)) = result, damage.isOfSignature else { return nil }
        return record.file.bytes
      })
  }

  /// Returns the subkeys that the items of each group have to be encrypted to.
  private func recipients(ofGroups groups: Set<String>) throws(KeyringError) -> [String: Set<KeyID>] {
    var expected: [String: Set<KeyID>] = [:]
    for group in groups.sorted() {
      guard let subkeys = successor.policy.recipients(of: group) else { throw .unknownGroup(group) }
      expected[group] = subkeys
    }
    return expected
  }

  /// Prepares new versions of items. Uses several threads only after one item was decrypted: otherwise there would be
  /// several passphrase prompts, and more after the user cancels one (threat T36).
  ///
  /// - Parameters:
  ///   - items: The items.
  ///   - keepsMessages: True to keep finished work in case the operation is interrupted.
  ///   - progress: Receives the number of finished items and of all items, on any thread.
  /// - Returns: The new versions; items that have changed concurrently are left out.
  /// - Throws: `KeyringError.team` with `cannotReencrypt` when some items cannot be decrypted, after all were tried. An
  ///   error that would occur for every item is thrown at once.
  func prepare(
    _ items: [Outdated], keepsMessages: Bool = true, progress: @escaping @Sendable (Int, Int) -> Void
  ) throws(KeyringError) -> [Piece] {
    let cache = keepsMessages ? ReencryptedMessageCache(keyring) : nil
    defer { cache?.finish() }
    let versions = CopyVersions(of: items)
    var outcomes: [Outcome] = []
    var isUnlocked = false
    let pool = WorkerPool(workers: keyring.host.workers, startsPrograms: true)
    let counter = Counter(total: items.count, progress)
    while outcomes.count < items.count {
      let done = outcomes.count
      let count = isUnlocked ? min(Self.portion, items.count - done) : 1
      outcomes += try pool.map(count) { (number) throws(KeyringError) -> Outcome in
        let outcome = try prepare(items[done + number], cache, versions)
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
      case .overtaken, .left: break
      }
    }
    if let first = failed.first {
      throw .team(.cannotReencrypt(failed.prefix(10).map(\.0), count: failed.count, reason: first.1.reason))
    }
    return Self.joiningDuplicates(pieces)
  }

  /// Joins new conflict copies of the same version.
  ///
  /// Each member who re-encrypts a copy creates a new file, and a merge keeps all of them, so their number would double
  /// with each change of the group. Existing copies never replace each other: if two members each kept another one, a
  /// merge would remove both.
  private static func joiningDuplicates(_ pieces: [Piece]) -> [Piece] {
    var result: [Piece] = []
    var known: [CopyVersion: Int] = [:]
    for piece in pieces {
      if let version = piece.version {
        if let same = known[version] {
          result[same].duplicates.append(piece.outdated.name)
          continue
        }
        known[version] = result.count
      }
      result.append(piece)
    }
    return result
  }

  private func prepare(
    _ outdated: Outdated, _ cache: ReencryptedMessageCache?, _ versions: CopyVersions
  ) throws(KeyringError) -> Outcome {
    let record = outdated.record
    let reader = ItemReader(keyring: keyring)
    do throws(KeyringError) {
      guard let stored = try stored(outdated), stored.verified.file == outdated.verified.file else {
        return .overtaken
      }
      // This user's signature makes the new version valid, so the previous signer must be one of the readers.
      try reader.requireSignerAmongReaders(of: stored)
      guard outdated.needsEncryption else {
        return .prepared(
          Piece(outdated: outdated, item: PreparedItem(record: record, message: stored.message)))
      }
      let mayHaveDuplicates = versions.mayHaveDuplicates(outdated)
      let name = ReencryptedMessageCache.name(of: record, for: successor.policy.groups[record.group] ?? [])
      // Only a decrypted copy can be compared with others.
      if !mayHaveDuplicates, let message = cache?.message(name),
        successor.isSealed(message, to: record.group)
      {
        return .prepared(Piece(outdated: outdated, item: PreparedItem(record: record, message: message)))
      }
      let secret = try reader.secret(of: stored)
      let item = try ItemEncryptor(keyring: successor).prepare(record, secret: secret)
      cache?.keep(item.message, name)
      let version = mayHaveDuplicates ? versions.version(of: record, secret) : nil
      return .prepared(Piece(outdated: outdated, item: item, version: version))
    } catch {
      guard error.isAboutOneItem else { throw error }
      if leaves(outdated, after: error) { return .left }
      return .failed(record.reference, error)
    }
  }

  /// Returns the files of an outdated item as they are now, or nil if they do not exist any more.
  private func stored(_ outdated: Outdated) throws(KeyringError) -> StoredItem? {
    guard let copy = outdated.copy else {
      return try ItemReader(keyring: keyring).stored(
        at: outdated.record.path, isLocal: outdated.record.isLocal)
    }
    do throws(KeyringError) {
      return try keyring.storedItem(of: copy)
    } catch {
      guard error == .itemNotFound else { throw error }
      return nil
    }
  }

  /// Returns true if an item stays as it is, although its recipients differ from the members of its group.
  ///
  /// Both sides of a merge may have created the same group, or have added items to a group that one of them has left.
  /// Changes of people that are reapplied on top of the remote's policy must not fail because of items that only other
  /// members can decrypt. Those members re-encrypt them, as after any merge.
  private func leaves(_ outdated: Outdated, after error: KeyringError) -> Bool {
    guard keyring.trusted.isReplacing, outdated.isSigned, case .engine(.notARecipient, _) = error else {
      return false
    }
    return true
  }

  /// Writes new versions to the store. Items that were changed or added since are prepared here.
  ///
  /// - Parameter addsReaders: True to include items that a member of their group cannot decrypt yet.
  /// - Returns: The number of updated items and conflict copies, with the copies that were joined with others.
  func place(
    _ pieces: [Piece], of groups: Set<String>? = nil, addsReaders: Bool = true,
    in changes: inout WriteTransaction
  ) throws(KeyringError) -> Int {
    // An item that is added concurrently has to be re-encrypted as well.
    changes.dependOnSearch()
    let all = try outdated(in: groups).filter { $0.isDue && (addsReaders || !$0.lacksReaders) }
    let prepared = try complete(pieces, for: all)
    // A copy is removed only if the one that replaces it is written.
    let duplicates = Set(prepared.values.flatMap(\.duplicates))
    var count = 0
    for outdated in all {
      if let piece = prepared[outdated.name] {
        if let copy = outdated.copy {
          changes.put(piece.item, replacing: copy)
        } else if try !changes.reseal(piece.item, of: outdated.verified) {
          throw .itemDamaged(outdated.record.reference, .notAsRecorded)
        }
      } else if duplicates.contains(outdated.name), let copy = outdated.copy {
        for file in copy.files { changes.removeFile(file) }
      } else if keyring.trusted.isReplacing, outdated.isSigned {
        continue
      } else {
        throw .itemDamaged(outdated.record.reference, .notAsRecorded)
      }
      count += 1
    }
    return count
  }

  /// Returns the given pieces that still apply, and new pieces for the outdated items that none of them replaces.
  private func complete(
    _ pieces: [Piece], for all: [Outdated]
  ) throws(KeyringError) -> [Name: Piece] {
    let current = Dictionary(all.map { ($0.name, $0.verified) }) { first, _ in first }
    var complete: [Name: Piece] = [:]
    for piece in pieces where current[piece.outdated.name] == piece.outdated.verified {
      complete[piece.outdated.name] = piece
    }
    let done = Set(complete.keys).union(complete.values.flatMap(\.duplicates))
    let missing = all.filter { !done.contains($0.name) }
    if missing.isEmpty { return complete }
    for piece in try prepare(missing, keepsMessages: false, progress: { _, _ in }) {
      complete[piece.outdated.name] = piece
    }
    return complete
  }
}

/// A counter of steps on several threads.
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
  /// True if the error concerns one item only.
  fileprivate var isAboutOneItem: Bool {
    switch self {
    case .itemDamaged, .bindingMismatch, .attributesTooLarge: true
    case .engine(let error, _): error.isAboutTheItem
    default: false
    }
  }

  /// The reason why an item cannot be re-encrypted.
  fileprivate var reason: TeamError.ReencryptionObstacle {
    switch self {
    case .engine: .notARecipient
    default: .damaged
    }
  }
}
