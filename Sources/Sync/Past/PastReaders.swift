package import Keyring
package import KeyringModel
internal import OpenPGP
internal import Synchronization

/// Finds out who could ever decrypt which secret of a store: from its lines and the packets of its messages, in all of
/// the history and as they are now. Nothing is decrypted, and no program but git is started.
package struct PastReaders {
  /// What was found.
  package private(set) var readers = SecretReaders()

  private let keyring: Keyring
  private let present: Set<ItemID>
  /// Who can decrypt a message, by its digest, and whether a line speaks of it.
  private var messages: [ContentDigest: (keys: [KeyID]?, isKnown: Bool)] = [:]
  /// A revision that a line has said of a message, by its digest.
  private var said: [ContentDigest: Revision] = [:]
  /// Messages have one of a few lists of readers: each is kept once.
  private var lists: [[KeyID]: [KeyID]] = [:]

  /// Looks through a store and its history.
  ///
  /// - Parameters:
  ///   - keyring: The store.
  ///   - items: The items that it has now, as `Keyring.allItems()` has found them.
  ///   - repository: Its repository; nil when it uses none.
  /// - Throws: as `Git.run`, and what reading a file of the store throws.
  package init(of keyring: Keyring, items: [ItemRecord], in repository: Repository?) throws(SyncError) {
    self.keyring = keyring
    present = Set(items.map(\.id))
    if let repository {
      try readMessages(repository)
      try readLines(repository)
      if !repository.shallowCommits.isEmpty { readers.gaps.insert(.cutOff) }
    } else {
      readers.gaps.insert(.noHistory)
    }
    try read(items)
    for (keys, isKnown) in messages.values where !isKnown {
      // What is no message is nobody's secret.
      guard let keys else { continue }
      readers.strays += 1
      readers.strayKeys.formUnion(keys)
    }
  }

  // MARK: The history

  private mutating func readMessages(_ repository: Repository) throws(SyncError) {
    let contents = try PastContents(
      below: StoreLayout.itemsFolder(isLocal: false), limit: StoreLayout.sealedItemLimit, in: repository)
    let (keyring, objects) = (keyring, ObjectReader(git: repository.git))
    let found = try WorkerPool(workers: 0).map(contents.pieces.count) { number throws(SyncError) in
      var found: [(digest: ContentDigest, keys: [KeyID]?)] = []
      try objects.forEachContent(of: contents.pieces[number].names) { _, message in
        unsafe message.withUnsafeBytes { bytes in
          unsafe found.append((ContentDigest(of: bytes), keyring.readers(of: bytes)))
        }
      }
      return found
    }
    for (digest, keys) in found.joined() { messages[digest] = (keys.map { list($0) }, false) }
    note(contents)
  }

  private mutating func list(_ keys: [KeyID]) -> [KeyID] {
    if let known = lists[keys] { return known }
    lists[keys] = keys
    return keys
  }

  private mutating func readLines(_ repository: Repository) throws(SyncError) {
    let contents = try PastContents(
      below: StoreLayout.indexFolder(isLocal: false), limit: StoreLayout.shardLimit, in: repository)
    let (present, objects, seen) = (present, ObjectReader(git: repository.git), SeenLines())
    let readable = Set(messages.lazy.filter { $0.value.keys != nil }.map(\.key))
    let found = try WorkerPool(workers: 0).map(contents.pieces.count) { number throws(SyncError) in
      var found = NewLines()
      try objects.forEachContent(of: contents.pieces[number].names) { _, shard in
        for line in seen.new(in: shard) { found.read(line, present: present, readable: readable) }
      }
      return found
    }
    var gone: [ItemID: ItemRecord] = [:]
    for lines in found {
      for (revision, sealed) in lines.states { join(revision, sealed) }
      gone.merge(lines.gone) { $0.isLater(than: $1, bySecret: false) ? $0 : $1 }
      readers.badLines += lines.badLines
    }
    readers.gone = Array(gone.values)
    note(contents)
  }

  private mutating func note(_ contents: PastContents) {
    readers.skipped += contents.skipped
    if contents.missing == 0 { return }
    var missing = contents.missing
    for case .missing(let count) in readers.gaps {
      missing += count
      readers.gaps.remove(.missing(count))
    }
    readers.gaps.insert(.missing(missing))
  }

  /// A line says that a revision is in a message. What others have said of the same message is the same secret:
  /// anybody who may push can write a line.
  private mutating func join(_ revision: Revision, _ sealed: ContentDigest) {
    if let other = said[sealed] {
      readers.join(other, revision)
    } else {
      said[sealed] = revision
    }
    guard let keys = messages[sealed]?.keys else { return }
    messages[sealed]?.isKnown = true
    readers.add(keys, to: revision)
  }

  // MARK: The store as it is

  /// What is not committed counts, too; the files of what is need not be read again.
  private mutating func read(_ items: [ItemRecord]) throws(SyncError) {
    let shared = items.filter { !$0.isLocal }
    let unknown = shared.filter { messages[$0.sealed] == nil }
    let found: [[KeyID]?]
    do throws(KeyringError) {
      found = try keyring.readers(ofFilesOf: unknown)
    } catch {
      throw .keyring(error)
    }
    for (record, keys) in zip(unknown, found) { messages[record.sealed] = (keys, true) }
    for record in shared { join(record.revision, record.sealed) }
    let unreadable = shared.count { messages[$0.sealed]?.keys == nil }
    if unreadable > 0 { readers.gaps.insert(.unreadable(unreadable)) }
  }
}

/// What lines of the index say that no other ones have said before.
private struct NewLines: Sendable {
  var states: [(revision: Revision, sealed: ContentDigest)] = []
  /// Items that the store has no more, as the latest line has them that speaks of a message of the history: one that
  /// does not could have been made to hide the others.
  var gone: [ItemID: ItemRecord] = [:]
  var badLines = 0

  mutating func read(_ line: ArraySlice<UInt8>, present: Set<ItemID>, readable: Set<ContentDigest>) {
    let record: ItemRecord
    do throws(IndexLineError) {
      record = try IndexLine.parse(Array(line))
    } catch {
      badLines += 1
      return
    }
    states.append((record.revision, record.sealed))
    if present.contains(record.id) || !readable.contains(record.sealed) { return }
    if gone[record.id].map({ record.isLater(than: $0, bySecret: false) }) ?? true { gone[record.id] = record }
  }
}

/// The lines that were read already: a file of the index has most of its lines in common with the one before it.
private final class SeenLines: Sendable {
  // A number stands for a line. It is made with a key that is new in each process, so that nobody can make two lines
  // that have the same one.
  private let numbers = Mutex<Set<Int>>([])

  /// The lines of a file that no other one had.
  func new(in shard: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var lines: [(number: Int, bytes: ArraySlice<UInt8>)] = []
    for line in shard.split(separator: UInt8(ascii: "\n")) {
      var hasher = Hasher()
      unsafe line.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
      lines.append((hasher.finalize(), line))
    }
    return numbers.withLock { numbers in
      lines.filter { numbers.insert($0.number).inserted }.map(\.bytes)
    }
  }
}
