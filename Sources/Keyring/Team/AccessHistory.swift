package import KeyringModel
package import OpenPGP

/// The keys that each secret was ever encrypted to, determined without a secret key: the recipients of all encrypted
/// files in the store and its history, by the revision of the secret.
///
/// A revision changes only when the secret changes. Renames, moves to other groups and re-encryption keep it, so a
/// person who could decrypt one file of a revision knows the secret for as long as the revision is current.
///
/// Files are joined by the digest of their encrypted container: files that differ only in their recipients or in their
/// packet format contain the same secret. A record joins its revision to the container of its file, even if the record
/// is not verified: a join can only add readers.
package struct AccessHistory: Sendable {
  /// A reason why the list of readers may be incomplete.
  package enum Gap: Hashable, Sendable {
    /// The store uses no git, so only its current state is known.
    case noHistory
    /// The clone is shallow: it has only the later part of the history.
    case cutOff
    /// The number of blobs that the clone has not fetched.
    case missing(Int)
    /// The number of encrypted files of current items that cannot be read, or that are neither in the store nor in the
    /// history.
    case unreadable(Int)
    /// The number of current items whose records are missing or not verified, so that their revisions are not known.
    case unverified(Int)
    /// The number of encrypted files in the history that belong to no record. Some of them are readable by people other
    /// than the current members.
    case strays(Int)
    /// The number of blobs in the history that are too large to read.
    case tooLarge(Int)
    /// The number of records in the history that cannot be read.
    case badRecords(Int)
  }

  /// A record of an item whose id is in no verified record of the store.
  package struct FormerItem: Sendable {
    /// The item as described by the record.
    package let record: ItemRecord
    /// True if a member of the item's group has signed the record.
    package let isVerified: Bool
    /// The digest of the encrypted container of its file; nil if the file is not known.
    package let container: ContentDigest?

    /// Creates a former item from its parts.
    package init(_ record: ItemRecord, isVerified: Bool, container: ContentDigest?) {
      (self.record, self.isVerified, self.container) = (record, isVerified, container)
    }
  }

  /// An element of the union-find structure.
  private enum Node: Hashable {
    case revision(Revision)
    case container(ContentDigest)
  }

  private var numbers: [Node: Int] = [:]
  /// The parent of each node in the union-find forest. A root is its own parent.
  private var parents: [Int] = []
  private var sizes: [Int] = []
  /// The recipients of all containers below a root.
  private var keys: [Set<KeyID>] = []
  /// The items in the history that the store no longer has, or whose current record is not verified. Unverified
  /// records of one id may contradict each other, and all of them are listed.
  package var former: [FormerItem] = []
  /// The paths of items whose records are missing or not verified.
  package var unverifiedPlaces: Set<ItemPath> = []
  /// The containers of the files of current items.
  package var currentContainers: Set<ContentDigest> = []
  /// The reasons why the list may be incomplete.
  package var gaps: Set<Gap> = []
  /// The number of blobs that were skipped because they exceed the size limit of every file of a store.
  package var skipped = 0
  /// The number of records in the history that cannot be read.
  package var badRecords = 0

  /// Creates an empty list.
  package init() {}

  /// Adds the recipients of a container.
  package mutating func add(_ recipients: Set<KeyID>, to container: ContentDigest) {
    // These are two statements, because a call on `self` reads `self` before its arguments are evaluated.
    let number = number(of: .container(container))
    let root = root(of: number)
    if keys[root].isEmpty { keys[root] = recipients } else { keys[root].formUnion(recipients) }
  }

  /// Joins a revision and a container that a record names together.
  package mutating func join(_ revision: Revision, _ container: ContentDigest) {
    let ends = (number(of: .revision(revision)), number(of: .container(container)))
    var (small, large) = (root(of: ends.0), root(of: ends.1))
    if small == large { return }
    if sizes[small] > sizes[large] { swap(&small, &large) }
    parents[small] = large
    sizes[large] += sizes[small]
    keys[large].formUnion(keys[small])
    keys[small] = []
  }

  /// Returns the keys that a secret was ever encrypted to.
  package func keys(of revision: Revision) -> Set<KeyID> {
    numbers[.revision(revision)].map { keys[root(of: $0)] } ?? []
  }

  /// The recipients of each container that belongs to no record. The revision of the secret in it is not known.
  package var strays: [Set<KeyID>] {
    numbers.compactMap { node, number in
      // Containers are joined to revisions only.
      guard case .container = node, parents[number] == number, sizes[number] == 1 else { return nil }
      return keys[number]
    }
  }

  /// All keys that any message was ever encrypted to.
  package var allKeys: Set<KeyID> { keys.reduce(into: []) { $0.formUnion($1) } }

  private mutating func number(of node: Node) -> Int {
    if let number = numbers[node] { return number }
    let number = parents.count
    numbers[node] = number
    parents.append(number)
    sizes.append(1)
    keys.append([])
    return number
  }

  private func root(of number: Int) -> Int {
    var number = number
    while parents[number] != number { number = parents[number] }
    return number
  }
}

extension Keyring {
  /// Returns the recipients of a message, from its packets alone; nil for bytes that are not a message.
  ///
  /// - Parameter message: The whole message.
  package func readers(of message: UnsafeRawBufferPointer) -> [KeyID]? {
    // The reason does not matter here; `check` reports it.
    unsafe try? engine.recipients(of: message)
  }

  /// Returns the digest of the encrypted data of a message, without its recipients; nil for bytes that are not a
  /// message.
  ///
  /// - Parameter message: The whole message.
  package func containerDigest(of message: UnsafeRawBufferPointer) -> ContentDigest? {
    // The reason does not matter here; `check` reports it.
    unsafe try? engine.containerDigest(of: message)
  }

  /// Returns the current encrypted files of items; nil for a file that is missing or has a different digest than the
  /// record.
  ///
  /// - Parameter records: Items of the store.
  /// - Throws: A file error.
  package func messages(of records: [ItemRecord]) throws(KeyringError) -> [[UInt8]?] {
    try WorkerPool(workers: host.workers).map(records.count) { number throws(KeyringError) in
      let record = records[number]
      do throws(KeyringError) {
        let message = try ItemReader(keyring: self).message(of: record)
        return message.flatMap { ContentDigest(of: $0) == record.sealed ? $0 : nil }
      } catch {
        guard case .itemDamaged = error else { throw error }
        return [UInt8]?.none
      }
    }
  }

  /// Returns the owners of keys, including removed people, whose key files stay in the store.
  ///
  /// - Parameter ids: Ids from the packets of messages.
  /// - Returns: The sorted owners by id. An unknown id has no entry. Processes are started only for a set of people
  ///   that GnuPG has not listed yet.
  /// - Throws: `KeyringError.engine`, or a file error.
  package func owners(
    of ids: Set<KeyID>
  ) throws(KeyringError) -> [KeyID: [Fingerprint]] {
    if ids.isEmpty { return [:] }
    let former = try keysOfFormerPeople()
    let wider =
      former.isEmpty ? engine : engine.with(keys: trusted.keys.merging(former) { kept, _ in kept })
    var owners: [KeyID: [Fingerprint]] = [:]
    do throws(EngineError) {
      for id in ids where id != .hidden {
        let found = policy.owners(of: id, among: try wider.owners(of: id))
        if !found.isEmpty { owners[id] = found }
      }
    } catch {
      throw .engine(error, nil)
    }
    return owners
  }

  /// Returns an engine that also has the keys that newer ones have replaced, for a message that is encrypted to one of
  /// them.
  ///
  /// - Parameter ids: The recipients of the message.
  /// - Returns: nil if none of the recipients is such a key, or its file is missing or was replaced.
  /// - Throws: `KeyringError.file` if the file cannot be read.
  func engineOfReplacedKeys(with ids: [KeyID]) throws(KeyringError) -> (any OpenPGPEngine)? {
    let replaced = policy.people.keys.filter { person in
      policy.people[person]?.replacedBy != nil
        && policy.recipients(for: person).contains(where: ids.contains)
    }
    if replaced.isEmpty { return nil }
    let own = try keysOfFormerPeople().filter { replaced.contains($0.key) }
    return own.isEmpty ? nil : engine.with(keys: trusted.keys.merging(own) { kept, _ in kept })
  }

  /// Returns the key files of removed people that exist and match the policy.
  ///
  /// If a file is missing or was replaced, the owners of the ids in it stay unknown.
  func keysOfFormerPeople() throws(KeyringError) -> [Fingerprint: [UInt8]] {
    var reader = KeyFileReader(tree)
    var keys: [Fingerprint: [UInt8]] = [:]
    for (fingerprint, person) in policy.people.sorted(by: { $0.key < $1.key }) where person.removed != nil {
      let bytes: [UInt8]?
      do throws(FileError) {
        bytes = try reader.read(fingerprint)
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
