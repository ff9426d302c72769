package import KeyringModel
package import OpenPGP

/// Who could ever decrypt which secret, as the store and its history show it without a key: the recipients of all
/// encrypted files, by the revision of the secret in them.
///
/// A revision changes only when the secret does. It stays through renames, moves to other groups and re-encryption, so
/// a person who could decrypt one file of a revision knows the secret for as long as the revision is the current one.
///
/// Files are joined by the digest of their encrypted container: files that differ only in their recipients or in how
/// their packets are written hold one secret. A record joins its revision to the container of its file, whether anybody
/// believes the record or not: a join can only add readers.
package struct SecretReaders: Sendable {
  /// Why there may be readers who are not known here.
  package enum Gap: Hashable, Sendable {
    /// The store uses no git: only its present state is known.
    case noHistory
    /// The clone has only the later part of the history.
    case cutOff
    /// The clone has not fetched all contents; how many are missing.
    case missing(Int)
    /// Encrypted files of current items are neither in the store nor in the history, or cannot be read; how many.
    case unreadable(Int)
    /// Records of current items are missing or not believed, so that their revisions are not known; how many.
    case unverified(Int)
    /// Encrypted files of the history belong to no record, and others than the current members could read some of them;
    /// how many there are.
    case strays(Int)
    /// Contents of the history are too large to be read; how many.
    case tooLarge(Int)
    /// Records of the history cannot be read; how many.
    case badRecords(Int)
  }

  /// A record of an item whose id no verified record of the store has.
  package struct FormerItem: Sendable {
    /// The item as the record has it.
    package let record: ItemRecord
    /// Whether a member of the item's group has signed the record.
    package let isVerified: Bool
    /// The digest of the encrypted container of its file; nil where the file is not known.
    package let container: ContentDigest?

    /// Brings all parts together.
    package init(_ record: ItemRecord, isVerified: Bool, container: ContentDigest?) {
      (self.record, self.isVerified, self.container) = (record, isVerified, container)
    }
  }

  /// What is joined.
  private enum Node: Hashable {
    case revision(Revision)
    case container(ContentDigest)
  }

  private var numbers: [Node: Int] = [:]
  /// The node that each node was joined to; itself for one that represents others.
  private var parents: [Int] = []
  private var sizes: [Int] = []
  /// The recipients of all containers that a node represents.
  private var keys: [Set<KeyID>] = []
  /// What the history says about items that the store has no longer, or whose record is not believed. Those of one id
  /// that are not verified may contradict each other, and all of them count.
  package var former: [FormerItem] = []
  /// The places of items whose records are missing or not believed.
  package var unverifiedPlaces: Set<ItemPath> = []
  /// The containers of the files of current items.
  package var currentContainers: Set<ContentDigest> = []
  /// What is missing.
  package var gaps: Set<Gap> = []
  /// How many contents were skipped because nothing in a store may be as large.
  package var skipped = 0
  /// How many records of the history cannot be read.
  package var badRecords = 0

  /// Nothing known.
  package init() {}

  /// Notes that a container was encrypted to keys.
  package mutating func add(_ recipients: Set<KeyID>, to container: ContentDigest) {
    // In two steps: a call on `self` takes the value that it had before its arguments.
    let number = number(of: .container(container))
    let root = root(of: number)
    if keys[root].isEmpty { keys[root] = recipients } else { keys[root].formUnion(recipients) }
  }

  /// Notes that a record says that a revision is in a container.
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

  /// The keys that a secret was ever encrypted to.
  package func keys(of revision: Revision) -> Set<KeyID> {
    numbers[.revision(revision)].map { keys[root(of: $0)] } ?? []
  }

  /// The recipients of each container that no record belongs to: which secret is in it only they know.
  package var strays: [Set<KeyID>] {
    numbers.compactMap { node, number in
      // A container is joined to nothing but revisions.
      guard case .container = node, parents[number] == number, sizes[number] == 1 else { return nil }
      return keys[number]
    }
  }

  /// All keys that anything was ever encrypted to.
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
  /// The recipients of a message, from its packets alone; nil for bytes that are not a message.
  ///
  /// - Parameter message: The whole message.
  package func readers(of message: UnsafeRawBufferPointer) -> [KeyID]? {
    // The reason does not matter here; `check` reports it.
    unsafe try? engine.recipients(of: message)
  }

  /// The digest of the encrypted data of a message, without its recipients; nil for bytes that are not a message.
  ///
  /// - Parameter message: The whole message.
  package func containerDigest(of message: UnsafeRawBufferPointer) -> ContentDigest? {
    // The reason does not matter here; `check` reports it.
    unsafe try? engine.containerDigest(of: message)
  }

  /// The encrypted files of items as they are now; nil where the file is missing or is not the one of the record.
  ///
  /// - Parameter records: Items of the store.
  /// - Throws: a file error.
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

  /// Whose keys ids are, people among them who were removed: their key files stay in the store.
  ///
  /// - Parameter ids: Ids from the packets of messages.
  /// - Returns: The people by id, in their order, of nobody's id nothing.
  ///   Processes are started only for a set of people that GnuPG has not seen yet.
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
        let found = try wider.owners(of: id)
        if !found.isEmpty { owners[id] = found }
      }
    } catch {
      throw .engine(error, nil)
    }
    return owners
  }

  /// The key files of people who were removed, as far as they are there and are those that the policy speaks of.
  ///
  /// A file that is missing, or was exchanged since, only leaves the ids in it without a name.
  private func keysOfFormerPeople() throws(KeyringError) -> [Fingerprint: [UInt8]] {
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
