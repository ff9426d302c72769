package import KeyringModel
package import OpenPGP

/// Who could ever decrypt which secret, as a store and its history tell it without a key: the recipients of all sealed
/// messages, by the revision of the secret that is in them.
///
/// A revision changes exactly when the secret does. It stays the same through renames, moves to other groups, new
/// seals and conflict copies, so whoever could read a revision once knows the secret for as long as it is the current
/// one.
package struct SecretReaders: Equatable, Sendable {
  /// Why there may be readers that nobody can tell here.
  package enum Gap: Hashable, Sendable {
    /// The store uses no git: only what it is now is known.
    case noHistory
    /// The clone has only the later part of the history.
    case cutOff
    /// The clone has not fetched all contents; how many are missing.
    case missing(Int)
    /// Messages of today's secrets are not in the store or cannot be read; how many.
    case unreadable(Int)
    /// Messages of the history are of no item that a line tells of, and others than today's members could read some
    /// of them; how many there are.
    case strays(Int)
    /// Contents of the history are too large to be read; how many.
    case tooLarge(Int)
    /// Lines of the history cannot be read; how many.
    case badLines(Int)
  }

  /// The ids of the keys that messages with a secret were sealed to, by its revision: the one of `secret(of:)`.
  package var keys: [Revision: Set<KeyID>] = [:]
  /// What stands for revisions that are the same secret as another one.
  private var others: [Revision: Revision] = [:]
  /// Items that the store has no more, as they last were.
  package var gone: [ItemRecord] = []
  /// What is missing.
  package var gaps: Set<Gap> = []
  /// How many messages of the history no line of the index speaks of, as a merge by plain git or damage leaves them:
  /// which secret is in them only their readers know.
  package var strays = 0
  /// The keys that such messages were sealed to.
  package var strayKeys: Set<KeyID> = []
  /// How many contents were skipped, since nothing in a store may be as large.
  package var skipped = 0
  /// How many lines of the history cannot be read.
  package var badLines = 0

  /// Nothing known.
  package init() {}

  /// The revision that stands for all that lines have said of the same messages: nobody signs a line, so that one with
  /// another revision alone is no other secret.
  package func secret(of revision: Revision) -> Revision {
    var revision = revision
    while let other = others[revision] { revision = other }
    return revision
  }

  /// The keys that a secret was ever sealed to, whatever revision a line says that it has.
  package func keys(of revision: Revision) -> Set<KeyID> { keys[secret(of: revision)] ?? [] }

  /// Notes that two revisions are the same secret.
  package mutating func join(_ one: Revision, _ other: Revision) {
    let (one, other) = (secret(of: one), secret(of: other))
    if one == other { return }
    others[other] = one
    guard let keys = keys.removeValue(forKey: other) else { return }
    self.keys[one, default: []].formUnion(keys)
  }

  /// Notes that a secret was sealed to keys.
  package mutating func add(_ keys: [KeyID], to revision: Revision) {
    self.keys[secret(of: revision), default: []].formUnion(keys)
  }
}

extension Keyring {
  /// The items of the store, conflict copies among them, and those that are kept on this machine now: the history may
  /// have these, too.
  ///
  /// - Throws: as `find(_:)`.
  package func allItems() throws(KeyringError) -> Matches {
    var query = Query()
    query.includesConflictCopies = true
    return try find(query)
  }

  /// Who can decrypt a message, from its packets alone; nil for what is no message.
  ///
  /// - Parameter message: All of it.
  package func readers(of message: UnsafeRawBufferPointer) -> [KeyID]? {
    // Why it is none does not matter to those who look for readers; `check` says it.
    unsafe try? engine.recipients(of: message)
  }

  /// Who can decrypt items as their files are now, from the packets alone.
  ///
  /// - Parameter records: Items of the store.
  /// - Returns: The ids for each item, in the same order; nil where the file is missing, is another one than the line
  ///   says, or is no message.
  /// - Throws: a file error.
  package func readers(ofFilesOf records: [ItemRecord]) throws(KeyringError) -> [[KeyID]?] {
    try WorkerPool(workers: host.workers).map(records.count) { number throws(KeyringError) in
      let record = records[number]
      let message: [UInt8]?
      do throws(KeyringError) {
        message = try ItemReader(keyring: self).message(of: record)
      } catch {
        guard case .itemDamaged = error else { throw error }
        return [KeyID]?.none
      }
      guard let message, ContentDigest(of: message) == record.sealed else { return nil }
      return unsafe message.withUnsafeBytes { unsafe self.readers(of: $0) }
    }
  }

  /// Whose keys ids are, people among them who were removed: their key files stay in the store.
  ///
  /// - Parameter ids: Ids from the packets of messages.
  /// - Returns: The people by id, in their order, of nobody's id nothing; and what it cost beside `engineStatistics`.
  ///   Processes are started only for a set of people that GnuPG has not seen yet.
  /// - Throws: `KeyringError.engine`, or a file error.
  package func owners(
    of ids: Set<KeyID>
  ) throws(KeyringError) -> (people: [KeyID: [Fingerprint]], cost: EngineStatistics) {
    if ids.isEmpty { return ([:], EngineStatistics()) }
    let former = try keysOfFormerPeople()
    let wider =
      former.isEmpty ? engine : engine.with(keys: trusted.keys.merging(former) { kept, _ in kept })
    var owners: [KeyID: [Fingerprint]] = [:]
    do throws(EngineError) {
      for id in ids where id != .hidden {
        let found = try wider.owners(of: id)
        if !found.isEmpty { owners[id] = found }
      }
    } catch {
      throw .engine(error, nil)
    }
    return (owners, former.isEmpty ? EngineStatistics() : wider.statistics)
  }

  /// The key files of people who were removed, as far as they are there and are those that the policy speaks of.
  ///
  /// A file that is missing, or was exchanged since, only leaves the ids in it without a name.
  private func keysOfFormerPeople() throws(KeyringError) -> [Fingerprint: [UInt8]] {
    var keys: [Fingerprint: [UInt8]] = [:]
    for (fingerprint, person) in policy.people where person.removed != nil {
      let file = StoreLayout.keyFile(fingerprint)
      let bytes: [UInt8]?
      do throws(FileError) {
        bytes = try tree.read(file, limit: StoreLayout.smallFileLimit)
      } catch {
        guard case .system = error.reason else { continue }
        throw .file(error)
      }
      guard let bytes, person.key == nil || person.key == ContentDigest(of: bytes) else { continue }
      keys[fingerprint] = bytes
    }
    return keys
  }
}
