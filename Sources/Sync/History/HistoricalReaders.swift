package import Keyring
package import KeyringModel
internal import OpenPGP

/// Determines who could ever decrypt each secret of a store, from the recipients of all encrypted files and from all
/// records, in the history and in the store. Nothing is decrypted.
package struct HistoricalReaders {
  /// The people who could decrypt each revision of a secret.
  package private(set) var readers = AccessHistory()
  /// The items of the store whose records were verified.
  package let items: [ItemRecord]

  private let keyring: Keyring
  /// The digest of the encrypted container of each known encrypted file, by the digest of the file.
  private var containers: [ContentDigest: ContentDigest] = [:]
  /// The sets of recipients, each kept once, because most files have one of a few sets.
  private var sets: Set<Set<KeyID>> = []

  /// Searches a store and its history.
  ///
  /// - Parameters:
  ///   - keyring: The store.
  ///   - repository: The repository of the store; nil if it does not use git.
  /// - Throws: The errors of `Git.run`; `KeyringError` if GnuPG or a file of the store cannot be used.
  package init(of keyring: Keyring, in repository: Repository?) throws {
    self.keyring = keyring
    let (current, missing) = try keyring.verifiedRecordsAndMissingFiles()
    items = current.records.map(\.record)
    let lost = missing.filter { $0.line != nil }
    readers.unverifiedPlaces = Set(current.distrusted.map(\.path) + lost.map(\.path))
    if let repository {
      try readHistory(repository)
      if !repository.shallowCommits.isEmpty { readers.gaps.insert(.cutOff) }
    } else {
      readers.gaps.insert(.noHistory)
    }
    try readStore()
  }

  // MARK: The history

  /// The results of reading a piece of the history's contents.
  private struct Found: Sendable {
    var messages: [(file: ContentDigest, container: ContentDigest, keys: Set<KeyID>)] = []
    var records: [ItemRecord] = []
    /// Record files with an id that no verified record of the store has.
    var former: [(bytes: [UInt8], record: ItemRecord)] = []
    var badRecords = 0

    /// Adds a content according to its type, which is detected from the bytes and not from the path.
    mutating func add(_ content: ArraySlice<UInt8>, present: Set<ItemID>, _ keyring: Keyring) {
      let message = unsafe content.withUnsafeBytes { bytes in
        unsafe (keyring.readers(of: bytes), keyring.containerDigest(of: bytes), ContentDigest(of: bytes))
      }
      if let keys = message.0, let container = message.1 {
        messages.append((message.2, container, Set(keys)))
        return
      }
      guard content.first == UInt8(ascii: "{") else { return }
      let bytes = Array(content)
      guard let record = ItemRecord(firstLineOf: bytes) else {
        badRecords += 1
        return
      }
      records.append(record)
      if !present.contains(record.id) { former.append((bytes, record)) }
    }
  }

  private mutating func readHistory(_ repository: Repository) throws {
    let contents = try HistoricalContents(
      below: [StoreLayout.items, StoreLayout.conflicts], limit: StoreLayout.sealedItemLimit, in: repository)
    let (keyring, present) = (keyring, Set(items.map(\.id)))
    let objects = ObjectReader(git: repository.git)
    let found = try WorkerPool(workers: 0).map(contents.pieces.count) { number in
      var found = Found()
      try objects.forEachContent(of: contents.pieces[number].contents) { content in
        found.add(content, present: present, keyring)
      }
      return found
    }
    for (file, container, keys) in found.lazy.flatMap(\.messages) { note(file, container, keys) }
    for record in found.lazy.flatMap(\.records) { join(record) }
    try readFormer(found.flatMap(\.former))
    readers.badRecords = found.reduce(0) { $0 + $1.badRecords }
    readers.skipped = contents.skipped
    if contents.missing > 0 { readers.gaps.insert(.missing(contents.missing)) }
  }

  private mutating func note(_ file: ContentDigest, _ container: ContentDigest, _ keys: Set<KeyID>) {
    containers[file] = container
    readers.add(sets.insert(keys).memberAfterInsert, to: container)
  }

  /// Joins the revision of a record with the container of its encrypted file. The record does not have to be verified,
  /// because a join only adds readers.
  private mutating func join(_ record: ItemRecord) {
    if let container = containers[record.sealed] { readers.join(record.revision, container) }
  }

  // MARK: Removed items

  private struct Version: Hashable {
    let id: ItemID
    let revision: Revision
    let group: String
  }

  /// Selects the possible last records of items that the store no longer contains: for each item the newest verified
  /// one, and all unverified ones that may be newer.
  private mutating func readFormer(_ former: [(bytes: [UInt8], record: ItemRecord)]) throws {
    let results: [Result<VerifiedRecord, RecordProblem>] = try keyring.verify(
      former.map { RecordClaim($0.bytes, path: nil) })
    var verified: [ItemID: ItemRecord] = [:]
    var others: [Version: ItemRecord] = [:]
    for (record, result) in zip(former.lazy.map(\.record), results) {
      if case .success = result {
        if verified[record.id].map({ $0.modified < record.modified }) ?? true { verified[record.id] = record }
      } else {
        let version = Version(id: record.id, revision: record.revision, group: record.group)
        if others[version].map({ $0.modified < record.modified }) ?? true { others[version] = record }
      }
    }
    for (version, record) in others {
      if let last = verified[version.id], last.revision == record.revision || record.modified <= last.modified
      {
        continue
      }
      readers.former.append(item(record, isVerified: false))
    }
    for record in verified.values { readers.former.append(item(record, isVerified: true)) }
  }

  private func item(_ record: ItemRecord, isVerified: Bool) -> AccessHistory.FormerItem {
    AccessHistory.FormerItem(record, isVerified: isVerified, container: containers[record.sealed])
  }

  // MARK: The current store

  /// Reads the encrypted files that are not committed. Local items are skipped, because they have no other readers.
  private mutating func readStore() throws {
    let shared = items.filter { !$0.isLocal }
    let unknown = shared.filter { containers[$0.sealed] == nil }
    let found: [[UInt8]?] = try keyring.messages(of: unknown)
    for (record, message) in zip(unknown, found) {
      guard let message else { continue }
      let facts = unsafe message.withUnsafeBytes { bytes in
        unsafe (keyring.readers(of: bytes), keyring.containerDigest(of: bytes))
      }
      if let keys = facts.0, let container = facts.1 { note(record.sealed, container, Set(keys)) }
    }
    for record in shared { join(record) }
    readers.currentContainers = Set(shared.compactMap { containers[$0.sealed] })
    let unreadable = shared.count { containers[$0.sealed] == nil }
    if unreadable > 0 { readers.gaps.insert(.unreadable(unreadable)) }
  }
}
